"""Decoders whose layers differ in their heads: per-layer lists, and families with other heads in windowed layers."""

from __future__ import annotations

import math

from ...cost.layers import Layer, SharedKv, SlidingWindow
from .dense import Heads, attention_layer, attention_params, read_heads
from .feed import feeds
from .fields import Fields
from .types import Block, Conventions, Decoder, Feed
from .windows import FULL, SLIDING, attention_kinds

__all__ = ["decilm", "gemma3n", "gemma4", "mimo", "openelm", "step"]


def _block_config(fields: Fields, index: int, heads: int, width: int, conventions: Conventions) -> tuple[tuple[Layer, ...], int, int]:
    """Cache, KV heads and MLP width of one entry of block_configs."""
    values = fields.raw("block_configs")[index]
    entry = Fields({"block": values}, fields.kind, defaults={}).table("block") or Fields({}, fields.kind, defaults={})
    attention, feed = entry.table("attention"), entry.table("ffn")
    if attention is None or feed is None:
        raise fields.fail(f"block_configs[{index}]", "lacks attention or ffn", "give both in every entry")
    hidden = fields.hidden()
    ratio = feed.raw("ffn_mult")
    wide = feed.given("intermediate_size") or 0
    if ratio is not None:
        if isinstance(ratio, bool) or not isinstance(ratio, int | float) or not math.isfinite(ratio) or not 0 < ratio < 1000:
            raise fields.fail(f"block_configs[{index}].ffn.ffn_mult", f"is not a positive number: {ratio!r}", "write a number such as 2.625")
        wide = -(-int(2 * ratio * hidden / 3) // 256) * 256
    if feed.flag("no_op"):
        wide = 0
    elif feed.flag("replace_with_linear"):
        wide = -(-hidden // 3)
    if attention.flag("no_op") or attention.flag("replace_with_linear"):
        return (), 0, wide
    group = attention.count("n_heads_in_group")
    if heads % group:
        raise fields.fail(f"block_configs[{index}].attention.n_heads_in_group", f"does not divide the query heads: {heads} / {group}", "mend one of the two")
    kv = heads // group
    window = attention.given("window_length", least=1)
    if window is not None:
        return (SlidingWindow(kv, width, width, window),), kv, wide
    return (attention_layer(fields, conventions, FULL, Heads(heads, kv, width, width)),), kv, wide


def decilm(fields: Fields, conventions: Conventions) -> Decoder:
    """DeciLM and Nemotron-NAS: block_configs give query heads per KV head, or no attention at all; DeciLM-7B lists KV heads."""
    layers, hidden, heads = fields.layers(), fields.hidden(), fields.heads()
    width = fields.per_head(hidden, heads)
    fields.read.add("num_key_value_heads")
    listed = fields.numbers("num_key_value_heads_per_layer", layers, least=1)
    if listed is None:
        configs = fields.raw("block_configs")
        if not isinstance(configs, list) or len(configs) != layers:
            raise fields.fail("block_configs", f"is not a list of {layers} entries", "give one entry per layer, or num_key_value_heads_per_layer")
    blocks, found = [], []
    for i in range(layers):
        if listed is not None:
            kv, wide = listed[i], fields.count("intermediate_size")
            if heads % kv:
                raise fields.fail(f"num_key_value_heads_per_layer[{i}]", f"does not divide the query heads: {heads} / {kv}", "mend one of the two")
            cache: tuple[Layer, ...] = (attention_layer(fields, conventions, FULL, Heads(heads, kv, width, width)),)
        else:
            cache, kv, wide = _block_config(fields, i, heads, width, conventions)
        params = attention_params(fields, Heads(heads, kv, width, width), hidden) if kv else 0
        blocks.append(Block(cache, params))
        found.append(Feed(3 * hidden * wide))
    return Decoder(tuple(blocks), tuple(found), heads, width)


def openelm(fields: Fields, conventions: Conventions) -> Decoder:
    """OpenELM: query heads, KV heads and MLP widths listed layer by layer."""
    layers, hidden = fields.layers("num_transformer_layers"), fields.hidden()
    query, kv = fields.numbers("num_query_heads", layers, least=1), fields.numbers("num_kv_heads", layers, least=1)
    if query is None or kv is None:
        raise fields.fail("num_kv_heads" if kv is None else "num_query_heads", "is missing", "list the heads of every layer")
    width = fields.count("head_dim")
    multipliers = fields.raw("ffn_multipliers")
    divisor = fields.given("ffn_dim_divisor", least=1) or 256
    blocks, found = [], []
    for i in range(layers):
        if query[i] % kv[i]:
            raise fields.fail(f"num_kv_heads[{i}]", f"does not divide the query heads: {query[i]} / {kv[i]}", "mend one of the two lists")
        heads = Heads(query[i], kv[i], width, width)
        blocks.append(Block((attention_layer(fields, conventions, FULL, heads),), attention_params(fields, heads, hidden)))
        ratio = multipliers[i] if isinstance(multipliers, list) and len(multipliers) == layers else None
        usable = isinstance(ratio, int | float) and not isinstance(ratio, bool) and math.isfinite(ratio) and 0 < ratio < 1000
        wide = max(divisor, int(ratio * hidden + divisor / 2) // divisor * divisor) if usable and ratio is not None else 0
        found.append(Feed(3 * hidden * wide) if usable else None)
    complete = None if None in found else tuple(feed for feed in found if feed is not None)
    return Decoder(tuple(blocks), complete, max(query), width)


def _by_kind(fields: Fields, conventions: Conventions, sliding: Heads, full: Heads) -> Decoder:
    """One set of heads for windowed layers, another for full ones."""
    for heads in (sliding, full):
        if heads.query % heads.kv:
            raise fields.fail("KV heads", f"do not divide the query heads: {heads.query} / {heads.kv}", "mend the head counts")
    layers, hidden = fields.layers(), fields.hidden()
    blocks = []
    for kind in attention_kinds(fields, layers):
        heads = sliding if kind == SLIDING else full
        blocks.append(Block((attention_layer(fields, conventions, kind, heads),), attention_params(fields, heads, hidden)))
    return Decoder(tuple(blocks), feeds(fields, layers), full.query, full.k_dim)


def mimo(fields: Fields, conventions: Conventions) -> Decoder:
    """MiMo-V2: swa_* fields for the windowed layers; K and V differ in width."""
    full = read_heads(fields)
    query = fields.given("swa_num_attention_heads", least=1) or full.query
    kv = fields.given("swa_num_key_value_heads", least=1)
    if kv is None:
        kv = 2 * full.kv
        fields.assumed["swa_num_key_value_heads"] = f"twice num_key_value_heads = {kv}"
    fields.read.add("attention_chunk_size")
    k_dim = fields.given("swa_head_dim", least=1) or full.k_dim
    v_dim = fields.given("swa_v_head_dim", least=1) or full.v_dim
    return _by_kind(fields, conventions, Heads(query, kv, k_dim, v_dim), full)


def step(fields: Fields, conventions: Conventions) -> Decoder:
    """Step 3.5: num_attention_groups KV heads; attention_other_setting for the windowed layers."""
    full = read_heads(fields)
    other = fields.table("attention_other_setting")
    sliding = full
    if other is not None and "sliding_attention" in (fields.words("layer_types") or ()):
        query = other.given("num_attention_heads", least=1) or full.query
        kv = other.given("num_attention_groups", least=1) or full.kv
        width = other.given("head_dim", least=1) or full.k_dim
        sliding = Heads(query, kv, width, width)
    return _by_kind(fields, conventions, sliding, full)


def gemma3n(fields: Fields, conventions: Conventions) -> Decoder:
    """Gemma 3n: the last num_kv_shared_layers read the cache of earlier layers; embeddings per layer, AltUp and LAuReL beside."""
    layers, hidden, heads = fields.layers(), fields.hidden(), read_heads(fields)
    kinds, params = attention_kinds(fields, layers), attention_params(fields, heads, hidden)
    first_shared = _first_shared(fields, layers)
    blocks = [Block((SharedKv() if i >= first_shared else attention_layer(fields, conventions, kind, heads),), params) for i, kind in enumerate(kinds)]
    inputs = fields.given("altup_num_inputs", least=1) or 4
    rank = fields.given("laurel_rank", least=1) or 64
    other = 2 * (inputs - 1) * hidden * hidden + layers * (2 * hidden * rank + inputs * (2 * hidden + inputs * inputs))
    return Decoder(tuple(blocks), feeds(fields, layers), heads.query, heads.k_dim, other + _per_layer_inputs(fields, layers, hidden))


def _first_shared(fields: Fields, layers: int) -> int:
    shared = fields.maybe("num_kv_shared_layers", least=0)
    if shared is None:
        fields.assumed["num_kv_shared_layers"] = "0"
        return layers
    if shared >= layers:
        raise fields.fail("num_kv_shared_layers", f"leaves no layer of {layers} that owns a cache: {shared}", "it must be below num_hidden_layers")
    return layers - shared


def _per_layer_inputs(fields: Fields, layers: int, hidden: int) -> int:
    """Embeddings per layer: a table of vocabulary x layers x width, and the projections into and out of it."""
    width = fields.given("hidden_size_per_layer_input")
    width = 256 if width is None and "hidden_size_per_layer_input" not in fields.values else width or 0
    vocab = fields.given("vocab_size_per_layer_input", least=1) or 262144
    return width * layers * (vocab + 3 * hidden)


def gemma4(fields: Fields, conventions: Conventions) -> Decoder:
    """Gemma 4: full layers have global_head_dim and num_global_key_value_heads; K and V are both stored where they are equal."""
    layers, hidden, sliding = fields.layers(), fields.hidden(), read_heads(fields)
    width = fields.given("global_head_dim", least=1)
    if width is None:
        width = 512
        fields.assumed["global_head_dim"] = "512"
    equal = fields.flag("attention_k_eq_v")
    given = fields.given("num_global_key_value_heads", least=1)
    kv = given if given is not None and equal else sliding.kv
    full = Heads(sliding.query, kv, width, width)
    if full.query % full.kv:
        raise fields.fail("num_global_key_value_heads", f"does not divide the query heads: {full.query} / {full.kv}", "mend the head counts")
    fields.read.add("per_layer_config")
    other = _per_layer_inputs(fields, layers, hidden) if fields.kind == "gemma4_text" else 0
    first_shared, kinds = _first_shared(fields, layers), attention_kinds(fields, layers)
    blocks = []
    for i, kind in enumerate(kinds):
        heads = sliding if kind == SLIDING else full
        values = hidden * full.kv * full.v_dim if equal and kind == FULL else 0
        params = attention_params(fields, heads, hidden) - values
        if i >= first_shared:
            params -= hidden * heads.kv * 2 * heads.k_dim - values
        blocks.append(Block((SharedKv() if i >= first_shared else attention_layer(fields, conventions, kind, heads),), params))
    return Decoder(tuple(blocks), _gemma4_feeds(fields, layers, first_shared), full.query, sliding.k_dim, other)


def _global_override(fields: Fields, full: Heads, layers: int) -> Heads:
    """The heads of the full layers where a file of transformers 5 lists them layer by layer; they must agree."""
    table = fields.raw("per_layer_config")
    if table is None:
        return full
    if not isinstance(table, dict) or not table:
        raise fields.fail("per_layer_config", "is not an object of layers", "write {layer number: {field: value}}")
    found = {Heads(full.query, entry.given("num_key_value_heads", least=1) or full.kv, *_widths(entry)) for entry in _entries(fields, table, layers)}
    if len(found) > 1:
        raise fields.fail("per_layer_config", "gives full layers different heads", "the reader knows one set of heads for full layers")
    return found.pop()


def _entries(fields: Fields, table: dict[str, object], layers: int) -> list[Fields]:
    wrapped = Fields(table, fields.kind, inside=f"{fields.inside}per_layer_config.", defaults={})
    entries = []
    for name in table:
        entry = wrapped.table(name)
        if entry is None or not isinstance(name, str) or not name.isdecimal() or int(name) >= layers:
            raise fields.fail("per_layer_config", f"names a layer that does not exist: {name!r}", f"layers count from 0 to {layers - 1}")
        if unknown := set(entry.values) - {"head_dim", "num_key_value_heads"}:
            raise fields.fail("per_layer_config", f"overrides a field that is not known here: {min(map(str, unknown))}", "known are head_dim and KV heads")
        entries.append(entry)
    return entries


def _widths(entry: Fields) -> tuple[int, int]:
    width = entry.count("head_dim")
    return width, width


def _gemma4_feeds(fields: Fields, layers: int, first_shared: int) -> tuple[Feed, ...] | None:
    """A dense MLP in every layer (twice as wide where the cache is shared), experts beside it where enable_moe_block is on."""
    hidden, width = fields.hidden(), fields.count("intermediate_size")
    double = fields.flag("use_double_wide_mlp")
    experts = feeds(fields, layers) if fields.flag("enable_moe_block") else None
    found = []
    for i in range(layers):
        mlp = 3 * hidden * width * (2 if double and i >= first_shared else 1)
        found.append(experts[i]._replace(always=experts[i].always + mlp) if experts else Feed(mlp))
    return tuple(found)
