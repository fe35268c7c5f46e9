"""One door to all families: a table from model_type to the reader that knows its layers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from ...cost.layers import (
    Chunked,
    CrossAttention,
    FullAttention,
    Indexer,
    Layer,
    LayerGroup,
    MlaLatent,
    Recurrent,
    SharedKv,
    SlidingWindow,
)
from ...cost.model import Model
from ...errors import KvcostError, Notice
from .context import context_limit
from .defaults import class_defaults
from .dense import dense
from .dtype import checkpoint_dtype, kv_dtype, weight_dtype
from .encdec import bart, mllama, t5, whisper
from .fields import Fields, shown, words
from .hybrid import bailing_linear, bamba, falcon_h1, gated_delta, granite_hybrid, jamba, kimi_linear, lfm2, minimax, minimax_m3, recurrent_gemma
from .mla import longcat, mla
from .nested import TextConfig, text_config
from .params import sizes, tied_embeddings, vocab_size
from .ssm import mamba2_only, mamba_only, nemotron_h, plamo2, rwkv, zamba
from .towers import tower_params
from .types import SERVING, Conventions, Decoder, ImportedModel
from .uneven import decilm, gemma3n, gemma4, mimo, openelm, step
from .unread import refuse_unread, refuse_unusual

__all__ = ["KNOWN_TYPES", "read_hf_config"]

Reader = Callable[[Fields, Conventions], Decoder]

_DENSE = (
    "afmoe apertus apertus1p5_text aquila arcee aria_text baichuan biogpt bitnet bloom chatglm codegen cohere cohere2 cohere2_moe cwm dbrx diffllama "
    "dots1 dots_ocr dream emu3_text_model ernie4_5 ernie4_5_moe ernie4_5_vl_moe_text exaone exaone4 exaone_moe falcon flex_olmo gemma gemma2 gemma3_text glm "
    "glm4 glm4_moe glm4v_text glm4v_moe_text gpt-sw3 gpt2 gpt_bigcode gpt_neo gpt_neox gpt_oss gptj granite granite_swa granitemoe granitemoe_swa "
    "granitemoeshared grok-1 h2ovl helium hunyuan hunyuan_v1_dense hunyuan_v1_moe hunyuan_vl_text hy_v3 hyperclovax internlm internlm2 internlm3 jais jais2 "
    "laguna llama llama4_text mellum minicpm minimax_m2 ministral ministral3 mistral mixtral mpt nanochat nemotron olmo olmo2 olmo3 olmoe opt orion "
    "bailing_moe bailing_moe_v2 persimmon plamo3 phi phi-msft phi3 phi3_v phi4_multimodal phi4mm phimoe qwen qwen2 qwen2_5_omni_text qwen2_5_vl_text qwen2_moe "
    "qwen2_vl_text qwen3 qwen3_moe qwen3_omni_moe_text qwen3_vl_moe_text qwen3_vl_text sarvam_moe seed_oss skywork smollm3 solar solar_open stablelm "
    "beam cohere_compass_text deepseek flint kolibri1 mimo muse_glimmer_text "
    "stablelm_epoch starcoder2 step1 step3_text telechat telechat2 vaultgemma voxtral_realtime_text xglm xverse yi"
)
_MLA = "axk1 axk2 hy_v4 hy_v4_vl_text deepseek_v2 deepseek_v3 deepseek_v32 glm4_moe_lite glm_moe_dsa minicpm3 mistral4 sarvam_mla youtu pangu_ultra_moe"
_READERS: dict[str, Reader] = {
    **dict.fromkeys(_DENSE.split(), dense),
    **dict.fromkeys(_MLA.split(), mla),
    **dict.fromkeys(("longcat_flash",), longcat),
    **dict.fromkeys(("mamba", "falcon_mamba"), mamba_only),
    **dict.fromkeys(("rwkv", "rwkv5", "rwkv6", "rwkv7"), rwkv),
    **dict.fromkeys(("zamba", "zamba2"), zamba),
    **dict.fromkeys(("qwen3_next", "qwen3_5_text", "qwen3_5_moe_text", "olmo_hybrid", "lara_mini"), gated_delta),
    **dict.fromkeys(("minimax", "minimax_m1", "minimax_text_01"), minimax),
    **dict.fromkeys(("minimax_m3_vl_text", "minimax_m3_text", "minimax_m3"), minimax_m3),
    **dict.fromkeys(("lfm2", "lfm2_moe", "lfm3"), lfm2),
    **dict.fromkeys(("kimi_linear", "bailing_hybrid"), kimi_linear),
    **dict.fromkeys(("bailing_moe_linear", "bailing_moe_v2_5"), bailing_linear),
    **dict.fromkeys(("deci", "decilm", "nemotron-nas"), decilm),
    **dict.fromkeys(("mimo_v2", "mimo_v2_flash", "mimo_v2_omni"), mimo),
    **dict.fromkeys(("step3p5",), step),
    **dict.fromkeys(("gemma4_text", "gemma4_unified_text"), gemma4),
    **dict.fromkeys(("t5", "mt5", "umt5"), t5),
    **dict.fromkeys(("bart", "mbart", "pegasus", "marian", "m2m_100", "blenderbot", "blenderbot-small", "plbart"), bart),
    "bamba": bamba,
    "falcon_h1": falcon_h1,
    "gemma3n_text": gemma3n,
    "granitemoehybrid": granite_hybrid,
    "jamba": jamba,
    "mamba2": mamba2_only,
    "mllama_text_model": mllama,
    "nemotron_h": nemotron_h,
    "openelm": openelm,
    "plamo2": plamo2,
    "recurrent_gemma": recurrent_gemma,
    "whisper": whisper,
}
_ALIASES = {
    "RefinedWeb": "falcon",
    "RefinedWebModel": "falcon",
    "kimi_k2": "deepseek_v3",
    "Yi": "yi",
}
_BY_ARCHITECTURE = {"Grok1ForCausalLM": "grok-1", "Grok1ModelForCausalLM": "grok-1"}
_ENCODERS = words(
    "bert bert-generation big_bird camembert clip data2vec-text deberta deberta-v2 distilbert electra ernie megatron-bert modernbert rembert roberta "
    "roberta-prelayernorm roc_bert roformer siglip vit xlm-roberta xlm-roberta-xl xmod"
)
_REFUSED = {
    "deepseek_v4": "caches compressed rows beside a window, with a state of their own",
    "deepseek_v41": "caches compressed rows beside a window, with a state of their own",
    "glm5_next_text": "pools its indexer keys",
    "gemma4_assistant": "drafts for another model and reads that model's cache",
    **dict.fromkeys(_ENCODERS, "is an encoder and has no KV cache"),
}
KNOWN_TYPES = frozenset(_READERS)
_ORDER = (FullAttention, MlaLatent, Indexer, SlidingWindow, Chunked, CrossAttention, Recurrent, SharedKv)


def _groups(decoder: Decoder) -> tuple[LayerGroup, ...]:
    """Equal layers counted together, full attention first."""
    keyed: dict[tuple[type, Layer], int] = {}
    for block in decoder.blocks:
        for layer in block.cache:
            key = (type(layer), layer)
            keyed[key] = keyed.get(key, 0) + 1
    ordered = sorted(keyed.items(), key=lambda item: _ORDER.index(item[0][0]))
    return tuple(LayerGroup(count, layer) for (_, layer), count in ordered)


def _resolve(config: Mapping[str, Any], found: TextConfig) -> str:
    """The type whose reader applies, aliases and mislabelled files resolved."""
    architectures = config.get("architectures")
    if isinstance(architectures, list) and architectures and isinstance(architectures[0], str) and architectures[0] in _BY_ARCHITECTURE:
        return _BY_ARCHITECTURE[architectures[0]]
    kind = _ALIASES.get(found.kind, found.kind)
    if kind in _REFUSED:
        raise KvcostError(f"model_type '{kind}' {_REFUSED[kind]}: it is not modelled here", hint="describe the layers by hand in a catalog entry")
    return kind


def _decode(fields: Fields, conventions: Conventions) -> Decoder:
    reader = _READERS.get(fields.kind)
    if reader is not None:
        decoder = reader(fields, conventions)
        refuse_unread(fields)
        return decoder
    refuse_unusual(fields)
    kind = f"model_type '{fields.kind}' is not known here" if fields.kind else "model_type is missing"
    fields.note(
        "unknown-type", f"{kind}: read as plain attention in every layer, with a gated MLP", "check the layers and the parameters against the model's own code"
    )
    return dense(fields, conventions)


def _warnings(fields: Fields) -> tuple[Notice, ...]:
    found = [Notice(*note) for note in fields.notes]
    if fields.assumed:
        listed = ", ".join(f"{name} = {value}" for name, value in sorted(fields.assumed.items()))
        source = f"the class of model_type '{fields.kind}'" if class_defaults(fields.kind) else "the rule for files of this kind"
        found.insert(0, Notice("class-default", f"the file leaves out fields, filled in by {source}: {listed}", "add them to the file to be sure"))
    return tuple(found)


def read_hf_config(config: Mapping[str, Any], *, name: str, hf_quant: Mapping[str, Any] | None = None, conventions: Conventions = SERVING) -> ImportedModel:
    """The model that a Hugging Face config describes: its cache layer by layer, its context limit and its parameters.

    `config` is the parsed config.json, `hf_quant` the parsed hf_quant_config.json beside it. Every
    assumption is in `warnings`.

    >>> llama = {"model_type": "llama", "num_hidden_layers": 80, "hidden_size": 8192, "num_attention_heads": 64, "num_key_value_heads": 8,
    ...          "intermediate_size": 28672, "vocab_size": 128256, "torch_dtype": "bfloat16", "max_position_embeddings": 8192}
    >>> read_hf_config(llama, name="mine").model.groups
    (LayerGroup(layers=80, layer=FullAttention(kv_heads=8, k_dim=128, v_dim=128)),)

    Raises KvcostError for a field that is wrong or missing, and for a type whose cache is not modelled.

    Source: configuration classes of transformers 5.24; layer kinds and page sizes of vLLM 0.33.
    """
    if not isinstance(config, Mapping):
        raise KvcostError(f"a config is an object, not {shown(config)}", hint="give a config.json with { ... } at its top")
    found = text_config(config)
    kind = _resolve(config, found)
    fields = Fields(found.values, kind, inside=f"{found.key}." if found.key else "")
    top = fields if not found.key else Fields(config, kind, defaults={})
    decoder = _decode(fields, conventions)
    if not any(block.cache for block in decoder.blocks):
        raise KvcostError("no layer of this config caches anything", hint="check its layer map")
    model = _model(name, config, hf_quant, Reading(fields, top, decoder))
    warnings = _warnings(fields)
    return ImportedModel(model._replace(notes=warnings), warnings)


class Reading(NamedTuple):
    """The fields of the decoder and of the whole, and what the family's reader made of them."""

    fields: Fields
    top: Fields
    decoder: Decoder


def _model(name: str, config: Mapping[str, Any], hf_quant: Mapping[str, Any] | None, reading: Reading) -> Model:
    fields, top, decoder = reading
    hidden = fields.hidden()
    outer = config.get("model_type")
    towers = tower_params(config, outer if isinstance(outer, str) else fields.kind, hidden)
    counted = sizes(fields, top, decoder, towers)
    return Model(
        name=name,
        title=name,
        groups=_groups(decoder),
        query_heads=decoder.query_heads,
        head_dim=decoder.head_dim,
        hidden_size=hidden,
        dtype=checkpoint_dtype(fields, top),
        kv_dtype=kv_dtype((fields.values, config), hf_quant),
        context_limit_tokens=_context(fields),
        params_total=counted.total,
        params_active=counted.active,
        params_input_embedding=counted.input_embedding,
        tied_embeddings=tied_embeddings(fields, top),
        params_towers=towers or 0,
        vocab_size=vocab_size(fields, top),
        experts=counted.experts,
        provenance="spec" if fields.kind in _READERS else "estimate",
        source=f"config.json of {name}",
        weight_dtype=weight_dtype((fields.values, config), hf_quant),
    )


def _context(fields: Fields) -> int | None:
    limit = context_limit(fields)
    if limit is None and fields.kind not in ("mamba", "mamba2", "falcon_mamba", "recurrent_gemma"):
        fields.note("no-context", "the file gives no context limit; vLLM assumes 2048 tokens", "add max_position_embeddings")
    return limit
