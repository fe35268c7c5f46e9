"""Parameters of the feed-forward part, layer by layer: dense MLPs, routed and shared experts."""

from __future__ import annotations

from .fields import Fields, words
from .types import Feed

__all__ = ["dense_mlp", "feeds", "is_gated", "moe_feed"]

# Two matrices (up, down) instead of three (gate, up, down).
_PLAIN_MLP = words(
    "gpt2 gpt-sw3 gptj gpt_neox gpt_neo codegen opt bloom falcon mpt phi phi-msft starcoder2 gpt_bigcode persimmon nemotron biogpt xglm arcee apertus "
    "jais2 nemotron_h bart mbart pegasus marian m2m_100 whisper nanochat blenderbot plbart moss"
)
_MLP_BIASED = words("gpt2 gpt-sw3 gptj gpt_neox gpt_neo codegen opt bloom phi phi-msft starcoder2 gpt_bigcode persimmon biogpt xglm jais jais2")
_WIDTH = ("intermediate_size", "ffn_hidden_size", "n_inner", "ffn_dim", "d_ff", "block_ff_dim", "decoder_ffn_dim", "inner_hidden_size")
_EXPERTS = ("n_routed_experts", "num_experts", "num_local_experts", "moe_num_experts")
_PER_TOKEN = ("num_experts_per_tok", "num_experts_per_token", "experts_per_token", "moe_topk", "moe_top_k", "top_k_experts", "moe_k", "num_selected_experts")
_SHARED = ("n_shared_experts", "num_shared_experts", "moe_num_shared_experts", "num_shared_expert")


def is_gated(fields: Fields) -> bool:
    """Whether the MLP has a gate matrix beside up and down."""
    return fields.kind not in _PLAIN_MLP


def _width(fields: Fields, layer: int, layers: int) -> int | None:
    """Width of the dense MLP of one layer: a number, a list, or the class's four times the hidden size."""
    name = fields.first("dense_intermediate_size", *_WIDTH)
    if name is not None and isinstance(fields.values[name], list):
        listed = fields.numbers(name, least=0)
        return listed[layer] if listed and layer < len(listed) and len(listed) >= layers else None
    width = fields.given("dense_intermediate_size", "intermediate_size_mlp", *_WIDTH)
    if width is None:
        width = fields.maybe(*_WIDTH)
    if width is None:
        ratio = fields.given("expansion_ratio", least=1)
        if ratio or fields.kind in _PLAIN_MLP:
            return (ratio or 4) * fields.hidden()
        return None
    return _adjusted(fields, width)


def _adjusted(fields: Fields, width: int) -> int:
    """LFM2 rounds two thirds of the written width to a multiple; Qwen 1 and Jais write the width of both gate halves."""
    if fields.kind == "qwen":
        return width // 2
    if fields.kind != "lfm2" or not fields.flag("block_auto_adjust_ff_dim", True):
        return width
    multiple = fields.given("block_multiple_of", least=1) or 256
    two_thirds = 2 * width // 3
    return -(-two_thirds // multiple) * multiple


def dense_mlp(fields: Fields, width: int, hidden: int) -> int:
    """(3 if gated else 2) x h x width, and biases where the class has them."""
    biased = fields.kind in _MLP_BIASED or fields.flag("mlp_bias")
    return (3 if is_gated(fields) else 2) * hidden * width + ((width + hidden) if biased else 0)


def _at(fields: Fields, name: str, layer: int) -> int:
    """A count that may be a number or a list with one entry per layer."""
    value = fields.raw(name)
    if isinstance(value, list):
        listed = fields.numbers(name) or (0,)
        return listed[min(layer, len(listed) - 1)]
    return fields.number(name, value, 0)


def _expert_width(fields: Fields, layer: int) -> int | None:
    name = fields.first("moe_intermediate_size", "expert_ffn_hidden_size", "moe_ffn_hidden_size", "expert_intermediate_size")
    if name is not None:
        if fields.kind == "ernie4_5_vl_moe_text":
            return _at(fields, name, 0)
        return _at(fields, name, layer)
    if fields.kind == "afmoe" or "moe_intermediate_size" in fields.defaults:
        return fields.maybe("moe_intermediate_size")
    return fields.maybe(*_WIDTH)


def _shared_params(fields: Fields, width: int, hidden: int, layer: int) -> int:
    """Experts that every token visits: a count of routed width, or a width of their own."""
    matrices = 3 if is_gated(fields) else 2
    name = fields.first("shared_expert_intermediate_size", "shared_intermediate_size", "share_expert_dim", "moe_shared_expert_intermediate_size", *_SHARED)
    if name is None:
        fallback = next((n for n in ("shared_expert_intermediate_size", *_SHARED) if n in fields.defaults), None)
        if fallback is None:
            return matrices * hidden * width if fields.kind == "llama4_text" else 0
        value = fields.maybe(fallback, least=0) or 0
        return matrices * hidden * (value if fallback.endswith("size") else value * width)
    own_width = name not in _SHARED
    value = _at(fields, name, layer)
    extra = hidden if fields.kind in ("qwen2_moe", "qwen3_next", "qwen3_5_moe_text") and value else 0
    return matrices * hidden * (value if own_width else value * width) + extra


def moe_feed(fields: Fields, experts: int, layer: int, hidden: int) -> Feed | None:
    """One layer's experts: E x matrices x h x width routed, shared ones and the router for every token."""
    table = fields.table("ffn_config")
    width = table.given("ffn_hidden_size", least=1) if table is not None else None
    width = _expert_width(fields, layer) if width is None else width
    top = fields.first(*_PER_TOKEN)
    if top is not None:
        per_token: int | None = _at(fields, top, layer)
    else:
        per_token = table.given("moe_top_k", least=1) if table is not None else fields.maybe(*_PER_TOKEN)
        if per_token is None:
            per_token = next((fields.maybe(n) for n in _PER_TOKEN if n in fields.defaults), None)
    if width is None or per_token is None:
        return None
    if per_token > experts:
        raise fields.fail(top or _PER_TOKEN[0], f"asks for {per_token} of {experts} experts", "it cannot exceed the number of experts")
    one = (3 if is_gated(fields) else 2) * hidden * width
    if fields.kind == "gpt_oss":
        one += 2 * width + hidden
    router = hidden * (experts + (fields.given("zero_expert_num") or 0))
    if fields.kind == "ernie4_5_vl_moe_text":
        # As many experts of the second width serve image tokens; a text token runs none of them.
        images = _at(fields, "moe_intermediate_size", 1) if isinstance(fields.raw("moe_intermediate_size"), list) else 0
        one += 3 * hidden * images
    return Feed(_shared_params(fields, width, hidden, layer) + router, experts * one, experts, per_token)


def _expert_count(fields: Fields) -> int:
    table = fields.table("ffn_config")
    if table is not None and (found := table.given("moe_num_experts")) is not None:
        return found
    name = fields.first(*_EXPERTS)
    if name is not None:
        return max(fields.numbers(name) or (0,)) if isinstance(fields.values[name], list) else fields.number(name, fields.values[name], 0, 2**20)
    if any(n in fields.values for n in _EXPERTS):
        return 0
    return next((fields.maybe(n) or 0 for n in _EXPERTS if n in fields.defaults), 0)


def _sparse_layers(fields: Fields, layers: int) -> list[bool]:
    """Which layers route: every family writes it in its own way."""
    kinds = fields.words("mlp_layer_types", layers)
    if kinds is not None:
        return [kind != "dense" for kind in kinds]
    listed = fields.raw("moe_layer_freq")
    if isinstance(listed, list):
        return [bool(frequency) for frequency in fields.numbers("moe_layer_freq", layers) or ()]
    enumerated = fields.raw("moe_layers_enum")
    if isinstance(enumerated, str):
        chosen = {int(word) for word in enumerated.split(",") if word.strip().isdecimal()}
        return [i in chosen for i in range(layers)]
    for name in ("moe_layers_enum", "moe_layers"):
        if fields.has(name):
            chosen = set(fields.numbers(name) or ())
            return [i in chosen for i in range(layers)]
    return _by_period(fields, layers)


def _by_period(fields: Fields, layers: int) -> list[bool]:
    start = fields.maybe("first_k_dense_replace", "num_dense_layers", "moe_layer_start_index", "moe_layer_num_skipped", least=0) or 0
    end = fields.given("moe_layer_end_index")
    period = fields.given("moe_layer_freq", "moe_layer_interval", "decoder_sparse_step", least=1) or 1
    only_dense = set(fields.numbers("mlp_only_layers") or ())
    offset = fields.given("expert_layer_offset")
    if (every := fields.maybe("expert_layer_period")) is not None:
        return [i % every == (1 if offset is None else offset) for i in range(layers)]
    if (step := fields.maybe("interleave_moe_layer_step")) is not None:
        return [(i + 1) % step == 0 for i in range(layers)]
    stepped = "decoder_sparse_step" in fields.values
    chosen = []
    for i in range(layers):
        on_beat = (i + 1) % period == 0 if stepped else i % period == 0
        chosen.append(i >= start and on_beat and i not in only_dense and (end is None or end < 0 or i <= end))
    return chosen


def feeds(fields: Fields, layers: int) -> tuple[Feed, ...] | None:
    """The feed-forward part of every layer; None where the file does not tell its width."""
    hidden, experts = fields.hidden(), _expert_count(fields)
    sparse = _sparse_layers(fields, layers) if experts > 1 else [False] * layers
    found = []
    for i in range(layers):
        if sparse[i]:
            feed = moe_feed(fields, experts, i, hidden)
        else:
            width = _width(fields, i, layers)
            feed = None if width is None else Feed(dense_mlp(fields, width, hidden) + _always_on(fields, hidden, experts))
        if feed is None:
            return None
        found.append(feed)
    return tuple(found)


def _always_on(fields: Fields, hidden: int, experts: int) -> int:
    """Granite's shared MLP, which stands in a layer without experts as well."""
    if experts > 1 or fields.kind not in ("granitemoehybrid", "granitemoeshared"):
        return 0
    width = fields.given("shared_intermediate_size")
    return 3 * hidden * width if width else 0
