"""Decoders that mix attention with layers of constant state: one layer map per family."""

from __future__ import annotations

from collections.abc import Callable

from ...cost.layers import FullAttention, Indexer
from .dense import attention_layer, attention_params, read_heads
from .feed import feeds
from .fields import Fields
from .mla import latent, mla, mla_head_dim, mla_params
from .recurrent import delta, kimi_delta, lightning, mamba1, mamba2, rg_lru, short_conv
from .types import Block, Conventions, Decoder
from .windows import CHUNK, FULL, LINEAR, SLIDING, canonical_kind

__all__ = [
    "bailing_linear",
    "bamba",
    "falcon_h1",
    "gated_delta",
    "granite_hybrid",
    "jamba",
    "kimi_linear",
    "lfm2",
    "minimax",
    "minimax_m3",
    "recurrent_gemma",
]


def _from_list(fields: Fields, layers: int) -> list[str] | None:
    """The layer map as layer_types or layers_block_type give it."""
    for name in ("layer_types", "layers_block_type"):
        words = fields.words(name, layers)
        if words is not None:
            return [canonical_kind(fields, name, word) for word in words]
    return None


def _mixed(fields: Fields, conventions: Conventions, kinds: list[str], linear: Callable[[Fields, Conventions], Block]) -> Decoder:
    """Attention with heads where the map says so, the family's constant state elsewhere."""
    heads, hidden = read_heads(fields), fields.hidden()
    params = attention_params(fields, heads, hidden)
    state = linear(fields, conventions) if LINEAR in kinds else None
    fields.skip("mamba_", "linear_", "conv", "lru_")
    blocks = []
    for kind in kinds:
        if kind == LINEAR and state is not None:
            blocks.append(state)
        elif kind in (FULL, SLIDING, CHUNK):
            blocks.append(Block((attention_layer(fields, conventions, kind, heads),), params))
        else:
            raise fields.fail("layer_types", f"names '{kind}' layers, which model_type '{fields.kind}' has no rule for", "the reader does not know this mix")
    return Decoder(tuple(blocks), feeds(fields, len(kinds)), heads.query, heads.k_dim)


def _indices(fields: Fields, name: str, layers: int) -> list[str]:
    """The map of a family that lists its attention layers by number, counted from 0."""
    chosen = fields.numbers(name)
    if chosen is None:
        raise fields.fail(name, "is missing", "say which layers hold attention")
    if beyond := [i for i in chosen if i >= layers]:
        raise fields.fail(name, f"names layer {beyond[0]} of {layers}", "layers count from 0")
    return [FULL if i in chosen else LINEAR for i in range(layers)]


def _mamba2_ssd(fields: Fields, conventions: Conventions) -> Block:
    """Mamba 2 by the names of Bamba, Granite 4 H and Falcon-H1."""
    heads = fields.count("mamba_n_heads")
    inner = (fields.maybe("mamba_d_ssm") if fields.kind == "falcon_h1" else None) or fields.count("mamba_expand") * fields.hidden()
    fields.read.add("mamba_expand")
    written = fields.raw("mamba_d_head")
    width = inner // heads if written in (None, "auto") else fields.count("mamba_d_head")
    groups, state, kernel = fields.count("mamba_n_groups"), fields.count("mamba_d_state"), fields.count("mamba_d_conv")
    return mamba2(fields, conventions, inner=inner, heads=heads, width=width, groups=groups, state=state, kernel=kernel)


def bamba(fields: Fields, conventions: Conventions) -> Decoder:
    """Bamba: Mamba 2, attention at attn_layer_indices."""
    layers = fields.layers()
    kinds = _from_list(fields, layers) or _indices(fields, "attn_layer_indices", layers)
    return _mixed(fields, conventions, kinds, _mamba2_ssd)


def granite_hybrid(fields: Fields, conventions: Conventions) -> Decoder:
    """Granite 4 H: Mamba 2 and attention by layer_types; without the list the class makes every layer Mamba, so it is asked for."""
    layers = fields.layers()
    kinds = _from_list(fields, layers)
    if kinds is None:
        kinds = _indices(fields, "attn_layer_indices", layers)
    return _mixed(fields, conventions, kinds, _mamba2_ssd)


def falcon_h1(fields: Fields, conventions: Conventions) -> Decoder:
    """Falcon-H1: attention and Mamba 2 side by side in every layer."""
    layers = fields.layers()
    fields.read.update(("attn_layer_indices", "layer_types", "layers_block_type"))
    heads = read_heads(fields)
    state = _mamba2_ssd(fields, conventions)
    block = Block((FullAttention(heads.kv, heads.k_dim, heads.v_dim), *state.cache), state.params + attention_params(fields, heads, fields.hidden()))
    return Decoder((block,) * layers, feeds(fields, layers), heads.query, heads.k_dim)


def jamba(fields: Fields, conventions: Conventions) -> Decoder:
    """Jamba: Mamba, attention at every attn_layer_period-th layer from attn_layer_offset."""
    layers = fields.layers()
    kinds = _from_list(fields, layers)
    if kinds is None:
        period, offset = fields.count("attn_layer_period"), fields.count("attn_layer_offset", least=0)
        kinds = [FULL if i % period == offset % period else LINEAR for i in range(layers)]
    return _mixed(fields, conventions, kinds, mamba1)


def gated_delta(fields: Fields, conventions: Conventions) -> Decoder:
    """Qwen3-Next, Qwen3.5, OLMo hybrid: gated delta nets, full attention every full_attention_interval-th layer."""
    layers = fields.layers()
    kinds = _from_list(fields, layers)
    if kinds is None:
        period = fields.given("full_attention_interval", least=1)
        if period is None:
            period = 4
            fields.assumed["full_attention_interval"] = "4"
        kinds = [FULL if (i + 1) % period == 0 else LINEAR for i in range(layers)]
    fields.read.add("full_attention_interval")
    return _mixed(fields, conventions, kinds, delta)


def minimax(fields: Fields, conventions: Conventions) -> Decoder:
    """MiniMax-Text-01 and M1: lightning attention, softmax attention where attn_type_list is 1."""
    layers = fields.layers()
    kinds = _from_list(fields, layers)
    types = fields.numbers("attn_type_list", layers)
    if kinds is None and types is not None:
        kinds = [FULL if kind else LINEAR for kind in types]
    if kinds is None:
        raise fields.fail("attn_type_list", "is missing, and so is layer_types", "say which layers hold softmax attention")
    return _mixed(fields, conventions, kinds, lightning)


def lfm2(fields: Fields, conventions: Conventions) -> Decoder:
    """LFM2: short convolutions, attention by layer_types or full_attn_idxs."""
    layers = fields.layers()
    kinds = _from_list(fields, layers) or _indices(fields, "full_attn_idxs", layers)
    return _mixed(fields, conventions, kinds, short_conv)


def recurrent_gemma(fields: Fields, conventions: Conventions) -> Decoder:
    """RecurrentGemma: RG-LRU and windowed attention, block_types repeated over the layers."""
    layers = fields.layers()
    kinds = _from_list(fields, layers)
    if kinds is None:
        cycle = fields.words("block_types")
        if not cycle:
            fields.assumed["block_types"] = "recurrent, recurrent, attention"
        cycle = cycle or ("recurrent", "recurrent", "attention")
        kinds = [canonical_kind(fields, "block_types", cycle[i % len(cycle)]) for i in range(layers)]
    fields.read.add("block_types")
    decoder = _mixed(fields, conventions, [SLIDING if kind == FULL else kind for kind in kinds], rg_lru)
    # intermediate_size counts both halves of the gated MLP.
    halved = tuple(feed._replace(always=feed.always // 2) for feed in decoder.feeds) if decoder.feeds else None
    return decoder._replace(feeds=halved)


def kimi_linear(fields: Fields, conventions: Conventions) -> Decoder:
    """Kimi-Linear and Ling 3: Kimi delta attention and MLA; full_attn_layers and kda_layers count from 1."""
    layers, hidden, heads = fields.layers(), fields.hidden(), fields.heads()
    kinds = _from_list(fields, layers)
    table = fields.table("linear_attn_config")
    if kinds is None and table is not None:
        full = table.numbers("full_attn_layers", least=1)
        if full is None:
            raise fields.fail("linear_attn_config.full_attn_layers", "is missing", "say which layers hold full attention, counted from 1")
        kinds = [FULL if i + 1 in full else LINEAR for i in range(layers)]
    if kinds is None:
        group = fields.given("layer_group_size", least=1)
        if group is None:
            raise fields.fail("layer_types", "is missing, and so is linear_attn_config", "say which layers hold full attention")
        kinds = [FULL if (i + 1) % group == 0 or i >= layers // group * group else LINEAR for i in range(layers)]
    fields.read.update(("num_key_value_heads", "head_dim", "layer_group_size"))
    if set(kinds) - {FULL, LINEAR}:
        return mla(fields, conventions)
    full_block = Block((latent(fields),), mla_params(fields, hidden, heads))
    state = kimi_delta(fields, conventions) if LINEAR in kinds else full_block
    blocks = tuple(full_block if kind == FULL else state for kind in kinds)
    return Decoder(blocks, feeds(fields, layers), heads, mla_head_dim(fields))


def bailing_linear(fields: Fields, conventions: Conventions) -> Decoder:
    """Ring-linear and Ling 2.5: lightning attention, full attention (heads or MLA) at the end of every layer_group_size layers."""
    layers = fields.layers()
    kinds = _from_list(fields, layers)
    if kinds is None:
        group = fields.count("layer_group_size")
        kinds = [FULL if (i + 1) % group == 0 or i >= layers // group * group else LINEAR for i in range(layers)]
    if not fields.has("kv_lora_rank"):
        return _mixed(fields, conventions, kinds, lightning)
    full = Block((latent(fields),), mla_params(fields, fields.hidden(), fields.heads()))
    state = lightning(fields, conventions)
    return Decoder(tuple(full if kind == FULL else state for kind in kinds), feeds(fields, layers), fields.heads(), mla_head_dim(fields))


def minimax_m3(fields: Fields, _conventions: Conventions) -> Decoder:
    """MiniMax M3: grouped-query attention, and a 16-bit indexer key in the layers that sparse_attention_freq marks."""
    layers, hidden, heads = fields.layers(), fields.hidden(), read_heads(fields)
    table, kinds = fields.table("sparse_attention_config"), fields.words("layer_types", layers)
    marks = table.numbers("sparse_attention_freq", layers) if table else None
    if marks is None and kinds is not None:
        marks = tuple(int(canonical_kind(fields, "layer_types", kind) == "indexed") for kind in kinds)
    if marks is None:
        raise fields.fail("sparse_attention_config.sparse_attention_freq", "is missing, and so is layer_types", "say which layers own an indexer")
    nested = table.given("sparse_index_dim", least=1) if table else None
    width = nested or fields.count("index_head_dim")
    count = (table.given("sparse_num_index_heads", least=1) if table else None) or fields.given("index_n_heads", least=1) or 1
    params = attention_params(fields, heads, hidden)
    plain = FullAttention(heads.kv, heads.k_dim, heads.v_dim)
    indexed = Block((plain, Indexer(2 * width)), params + hidden * width * (count + 1) + 2 * width)
    return Decoder(tuple(indexed if mark else Block((plain,), params) for mark in marks), feeds(fields, layers), heads.query, heads.k_dim)
