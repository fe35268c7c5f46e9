"""Attention with heads (MHA, GQA, MQA): full, sliding, chunked, shared between layers."""

from __future__ import annotations

from typing import NamedTuple

from ...cost.layers import Chunked, FullAttention, Layer, SharedKv, SlidingWindow
from .context import context_tokens
from .feed import feeds
from .fields import Fields, words
from .types import Block, Conventions, Decoder
from .windows import CHUNK, FULL, SLIDING, attention_kinds, window_tokens

__all__ = ["Heads", "attention_layer", "attention_params", "dense", "read_heads"]

# Classes whose files never carry a KV head count: every query head has its own K and V.
_MHA_ONLY = words(
    "gpt2 gpt-sw3 gptj gpt_neox gpt_neo codegen opt bloom biogpt xglm mpt persimmon baichuan qwen phi-msft jais gpt_bigcode t5 openelm orion "
    "chatglm stablelm_epoch moss"
)
_BIASED = words("gpt2 gpt-sw3 gpt_neox opt bloom gpt_bigcode starcoder2 phi phi-msft biogpt xglm jais gpt_oss jais2")
_QKV_BIASED = words("mimo qwen qwen2 qwen2_moe qwen2_vl qwen2_vl_text qwen2_5_vl qwen2_5_vl_text qwen2_5_omni_text glm4v_text dream")

_BIAS_FLAGS = ("attention_bias", "add_qkv_bias", "qkv_bias", "use_qkv_bias", "add_bias_linear")
_KV_NAMES = (
    "num_key_value_heads",
    "num_kv_heads",
    "n_head_kv",
    "multi_query_group_num",
    "num_attention_groups",
    "num_query_groups",
    "n_kv_heads",
    "kv_n_heads",
)


class Heads(NamedTuple):
    """Query heads, KV heads and the widths of K and V."""

    query: int
    kv: int
    k_dim: int
    v_dim: int


def _kv_heads(fields: Fields, heads: int) -> int:
    """KV heads by whatever name the family uses; missing = one per query head."""
    kind = fields.kind
    if kind == "falcon":
        return _falcon_kv_heads(fields, heads)
    if kind == "gpt_bigcode":
        return 1 if fields.flag("multi_query", True) else heads
    if kind == "chatglm":
        return _chatglm_kv_heads(fields, heads)
    attention = fields.table("attn_config")
    if attention is not None and (found := attention.given("kv_n_heads", least=1)) is not None:
        return found
    if fields.flag("multi_query") and fields.first(*_KV_NAMES) is None:
        return 1
    found = fields.maybe(*_KV_NAMES, most=2**16)
    if found is None:
        if kind not in _MHA_ONLY:
            fields.assumed["num_key_value_heads"] = f"num_attention_heads = {heads}"
        return heads
    return found


def _chatglm_kv_heads(fields: Fields, heads: int) -> int:
    """ChatGLM: multi_query_attention means multi_query_group_num heads, not one."""
    if fields.raw("multi_query_attention") is None and fields.has("multi_query_group_num"):
        fields.assumed["multi_query_attention"] = "false"
    if not fields.flag("multi_query_attention"):
        fields.read.add("multi_query_group_num")
        return heads
    return fields.count("multi_query_group_num", most=2**16)


def _new_falcon(fields: Fields) -> bool:
    """The first 40B files say it by n_head_kv alone."""
    return fields.flag("new_decoder_architecture", "n_head_kv" in fields.values and not fields.has("multi_query"))


def _falcon_kv_heads(fields: Fields, heads: int) -> int:
    """Falcon: num_kv_heads counts only with the new decoder architecture; else multi_query means one head."""
    given = fields.given("num_kv_heads", "n_head_kv", least=1, most=2**16)
    if given not in (None, heads) and not fields.has("new_decoder_architecture") and "n_head_kv" not in fields.values:
        fields.assumed["new_decoder_architecture"] = "false"
    if _new_falcon(fields):
        if given is None:
            fields.assumed["num_kv_heads"] = f"num_attention_heads = {heads}"
        return heads if given is None else given
    if not fields.has("multi_query"):
        fields.assumed["multi_query"] = "true"
    return 1 if fields.flag("multi_query", True) else heads


def read_heads(fields: Fields) -> Heads:
    """The heads of an ordinary attention layer, checked against each other."""
    query = fields.heads()
    kv = _kv_heads(fields, query)
    if query % kv:
        raise fields.fail("num_key_value_heads", f"does not divide the query heads: {query} / {kv}", "mend num_attention_heads or num_key_value_heads")
    width = fields.per_head(fields.hidden(), query)
    v_dim = fields.maybe("v_head_dim")
    if v_dim is None:
        v_dim = width
        if fields.kind.startswith("mimo_v2"):
            fields.assumed["v_head_dim"] = f"head_dim = {width}"
    return Heads(query, kv, width, v_dim)


def attention_layer(fields: Fields, conventions: Conventions, kind: str, heads: Heads) -> Layer:
    """What one layer of a kind caches, under the conventions."""
    kv = heads.query if conventions.hf_run and fields.kind == "falcon" and _new_falcon(fields) else heads.kv
    shorter = 1 if conventions.hf_run or conventions.window_minus_one else 0
    if kind == SLIDING:
        window = window_tokens(fields)
        if window is None:
            raise fields.fail("sliding_window", "is missing or switched off, and the layer map names sliding layers", "say how long the window is")
        limit = context_tokens(fields)
        if limit is not None and window >= limit:
            return FullAttention(kv, heads.k_dim, heads.v_dim)
        return SlidingWindow(kv, heads.k_dim, heads.v_dim, max(1, window - shorter))
    if kind == CHUNK:
        chunk = fields.count("attention_chunk_size")
        if conventions.hf_run:
            return SlidingWindow(kv, heads.k_dim, heads.v_dim, max(1, chunk - 1))
        return Chunked(kv, heads.k_dim, heads.v_dim, chunk)
    if kind == FULL:
        return FullAttention(kv, heads.k_dim, heads.v_dim)
    raise fields.fail("layer_types", f"names '{kind}' layers, which model_type '{fields.kind}' has no rule for", "the reader does not know this mix of layers")


def attention_params(fields: Fields, heads: Heads, hidden: int) -> int:
    """Parameters of the projections: h x (Hq d_k x gate + Hkv (d_k + d_v)) + Hq d_v h, and biases where the class has them."""
    gate = 2 if fields.flag("attn_output_gate", fields.kind in ("qwen3_next", "qwen3_5_text", "qwen3_5_moe_text")) else 1
    q_out, kv_out = heads.query * heads.k_dim * gate, heads.kv * (heads.k_dim + heads.v_dim)
    total = hidden * (q_out + kv_out) + heads.query * heads.v_dim * hidden
    qkv = any(fields.flag(name) for name in _BIAS_FLAGS)
    if qkv or fields.kind in _BIASED or fields.kind in _QKV_BIASED or (fields.kind == "falcon" and fields.flag("bias")):
        total += q_out + kv_out
    return total + (hidden if fields.kind in _BIASED else 0)


def _shared(fields: Fields, layers: int) -> set[int]:
    """Layers that read the cache of another one."""
    last = fields.maybe("num_kv_shared_layers", least=0) or 0
    if last >= layers and last:
        raise fields.fail("num_kv_shared_layers", f"leaves no layer of {layers} that owns a cache: {last}", "it must be below num_hidden_layers")
    factor = fields.given("cla_share_factor", least=1)
    shared = set(range(layers - last, layers))
    if fields.flag("use_cla"):
        if factor is None:
            raise fields.fail("cla_share_factor", "is missing while use_cla is true", "say how many layers share one cache")
        shared |= {i for i in range(layers) if i % factor}
    return shared


def dense(fields: Fields, conventions: Conventions) -> Decoder:
    """A decoder whose every layer is attention with one set of heads."""
    layers, hidden, heads = fields.layers(), fields.hidden(), read_heads(fields)
    kinds, shared = attention_kinds(fields, layers), _shared(fields, layers)
    params = attention_params(fields, heads, hidden)
    blocks = []
    for i, kind in enumerate(kinds):
        layer = SharedKv() if i in shared else attention_layer(fields, conventions, kind, heads)
        blocks.append(Block((layer,), params))
    return Decoder(tuple(blocks), feeds(fields, layers), heads.query, heads.k_dim)
