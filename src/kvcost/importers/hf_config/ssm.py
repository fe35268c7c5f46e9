"""Decoders of state-space layers alone, and those whose map names MLP and expert layers too (Nemotron-H, Zamba)."""

from __future__ import annotations

from ...cost.layers import FullAttention, Layer, Recurrent
from .dense import attention_layer, attention_params, read_heads
from .feed import dense_mlp, moe_feed
from .fields import MAX_LAYERS, Fields
from .recurrent import mamba1, mamba2, state_bits
from .types import Block, Conventions, Decoder, Feed
from .windows import FULL, LINEAR, canonical_kind

__all__ = ["mamba2_only", "mamba_only", "nemotron_h", "plamo2", "rwkv", "zamba"]

_LETTERS = {"M": LINEAR, "*": FULL, "-": "mlp", "E": "moe"}


def mamba_only(fields: Fields, conventions: Conventions) -> Decoder:
    """Mamba and Falcon-Mamba: a state per layer, no cache that grows."""
    layers = fields.layers()
    block = mamba1(fields, conventions, prefix="")
    return Decoder((block,) * layers, (Feed(),) * layers, 0, 0)


def mamba2_only(fields: Fields, conventions: Conventions) -> Decoder:
    """Mamba 2 by its original names."""
    layers, hidden = fields.layers(), fields.hidden()
    heads, width = fields.count("num_heads"), fields.count("head_dim")
    inner = fields.count("expand") * hidden
    groups, state, kernel = fields.count("n_groups"), fields.count("state_size"), fields.count("conv_kernel")
    block = mamba2(fields, conventions, inner=inner, heads=heads, width=width, groups=groups, state=state, kernel=kernel)
    return Decoder((block,) * layers, (Feed(),) * layers, 0, 0)


def rwkv(fields: Fields, conventions: Conventions) -> Decoder:
    """RWKV: two shifted hidden vectors a layer, and the time-mix state.

    Version 4: three fp32 vectors of attention_hidden_size; version 5 and later: hidden x head_size fp32.
    """
    layers, hidden = fields.layers(), fields.hidden()
    attention = fields.given("attention_hidden_size", "dim_att", least=1) or hidden
    feed = fields.given("intermediate_size", "dim_ffn", least=1) or 4 * hidden
    fields.read.update(("attention_hidden_size", "context_length"))
    state = 3 * attention if fields.kind == "rwkv" else attention * fields.count("head_size", "head_dim", "head_size_a")
    bits = state_bits(fields, conventions, 32)
    fields.note("rwkv-state", "the state of an RWKV layer is counted as the reference code holds it", "check the engine's own state")
    params = 3 * hidden * attention + attention * hidden + 2 * hidden * feed + hidden * hidden
    return Decoder((Block((Recurrent(2 * hidden, state, 16, bits),), params),) * layers, (Feed(),) * layers, 0, 0)


def _nemotron_map(fields: Fields) -> list[str]:
    """M Mamba, * attention, - MLP, E experts; or the same as a list of words."""
    pattern = fields.text("hybrid_override_pattern")
    for name in ("layers_block_type", "layer_types"):
        words = fields.words(name)
        if pattern is None and words is not None:
            return [canonical_kind(fields, name, word) for word in words]
    if not pattern:
        raise fields.fail("hybrid_override_pattern", "is missing, and so is layers_block_type", "say what each layer is, such as MEM*E")
    if unknown := set(pattern) - set(_LETTERS):
        raise fields.fail("hybrid_override_pattern", f"names a layer that is not known here: '{min(unknown)}'", "M Mamba, * attention, - MLP, E experts")
    layers = fields.given("num_hidden_layers", least=1, most=MAX_LAYERS)
    if len(pattern) > MAX_LAYERS or (layers is not None and layers != len(pattern)):
        raise fields.fail("hybrid_override_pattern", f"has {len(pattern)} letters for {layers or MAX_LAYERS} layers", "give one letter per layer")
    return [_LETTERS[letter] for letter in pattern]


def nemotron_h(fields: Fields, conventions: Conventions) -> Decoder:
    """Nemotron-H and Nemotron 3: each layer is one thing, Mamba 2 (scan state in fp32), attention, MLP or experts."""
    kinds, heads, hidden = _nemotron_map(fields), read_heads(fields), fields.hidden()
    fields.read.update(("num_hidden_layers", "mtp_hybrid_override_pattern", "mtp_layers_block_type", "layer_types", "sliding_window", "expand", "mamba_expand"))
    fields.skip("mamba_", "ssm_", "conv_")
    state: Block | None = None
    if LINEAR in kinds:
        count, width = fields.count("mamba_num_heads"), fields.count("mamba_head_dim")
        groups, kernel = fields.count("n_groups", "mamba_n_groups"), fields.count("conv_kernel", "mamba_d_conv")
        size = fields.count("ssm_state_size")
        state = mamba2(fields, conventions, inner=count * width, heads=count, width=width, groups=groups, state=size, kernel=kernel, default_bits=32)
    blocks, found, params = [], [], attention_params(fields, heads, hidden)
    for i, kind in enumerate(kinds):
        cache: tuple[Layer, ...] = ()
        feed: Feed | None = Feed()
        own = 0
        if kind == LINEAR and state is not None:
            cache, own = state
        elif kind == FULL:
            cache, own = (attention_layer(fields, conventions, kind, heads),), params
        elif kind == "mlp":
            feed = Feed(dense_mlp(fields, fields.count("intermediate_size"), hidden))
        elif kind == "moe":
            feed = _nemotron_experts(fields, i, hidden)
        else:
            raise fields.fail("layers_block_type", f"names '{kind}' layers, which Nemotron-H has no rule for", "the reader does not know this mix")
        blocks.append(Block(cache, own))
        found.append(feed)
    feeds = None if None in found else tuple(feed for feed in found if feed is not None)
    return Decoder(tuple(blocks), feeds, heads.query, heads.k_dim)


def _nemotron_experts(fields: Fields, layer: int, hidden: int) -> Feed | None:
    """Routed experts, in the latent width where moe_latent_size is set."""
    experts = fields.count("n_routed_experts")
    latent = fields.given("moe_latent_size", least=1)
    feed = moe_feed(fields, experts, layer, hidden)
    if feed is None or latent is None:
        return feed
    return feed._replace(routed=feed.routed * latent // hidden, always=feed.always + 2 * hidden * latent)


def _zamba_kinds(fields: Fields, layers: int) -> list[str]:
    words = fields.words("layers_block_type", layers)
    if words is not None:
        return [canonical_kind(fields, "layers_block_type", word) for word in words]
    chosen = fields.numbers("hybrid_layer_ids")
    if chosen is None and fields.kind == "zamba":
        period, offset = fields.count("attn_layer_period"), fields.count("attn_layer_offset", least=0)
        return [("hybrid" if i == 2 or (i > 2 and (i - 3) % period == offset) else LINEAR) for i in range(layers)]
    if chosen is None:
        raise fields.fail("layers_block_type", "is missing, and so is hybrid_layer_ids", "say which layers are hybrid")
    return ["hybrid" if i in chosen else LINEAR for i in range(layers)]


def zamba(fields: Fields, conventions: Conventions) -> Decoder:
    """Zamba and Zamba 2: Mamba in every layer; each hybrid position has its own KV although the attention weights are shared."""
    layers, hidden, heads = fields.layers(), fields.hidden(), fields.heads()
    kinds = _zamba_kinds(fields, layers)
    kv = fields.maybe("num_key_value_heads") or heads
    width = fields.given("attention_head_dim", least=1) or 2 * hidden // heads
    fields.read.update(("hybrid_layer_ids", "attention_hidden_size", "kv_channels", "num_query_groups", "attn_layer_period", "attn_layer_offset"))
    if fields.kind == "zamba":
        state = mamba1(fields, conventions)
        fields.read.update(("n_mamba_heads",))
    else:
        count = fields.count("n_mamba_heads")
        inner = fields.count("mamba_expand") * hidden
        wide = fields.given("mamba_headdim", least=1) or inner // count
        groups, kernel = fields.count("mamba_ngroups"), fields.count("mamba_d_conv")
        state = mamba2(fields, conventions, inner=inner, heads=count, width=wide, groups=groups, state=fields.count("mamba_d_state"), kernel=kernel)
    attention = FullAttention(kv, width, width)
    blocks = tuple(Block((attention, *state.cache) if kind == "hybrid" else state.cache, state.params) for kind in kinds)
    return Decoder(blocks, (Feed(),) * layers, heads, width, _zamba_shared(fields, kinds.count("hybrid"), heads * width, kv * width))


def _zamba_shared(fields: Fields, positions: int, q_out: int, kv_out: int) -> int:
    """Parameters of the shared blocks (their input is twice as wide), of the adapters, and of one linear layer per position."""
    hidden, width = fields.hidden(), fields.count("intermediate_size")
    if fields.kind == "zamba":
        return 2 * hidden * (q_out + 2 * kv_out) + q_out * hidden + 3 * hidden * width + positions * hidden * hidden
    blocks = fields.given("num_mem_blocks", least=1) or 1
    rank = fields.given("adapter_rank", least=1) or 128
    shared = 2 * hidden * (q_out + 2 * kv_out) + q_out * hidden + 3 * hidden * width
    adapters = positions * rank * (hidden + 2 * width)
    if fields.flag("use_shared_attention_adapter"):
        adapters += positions * 3 * rank * (2 * hidden + q_out)
    return blocks * shared + adapters + positions * hidden * hidden


def plamo2(fields: Fields, conventions: Conventions) -> Decoder:
    """PLaMo 2: Mamba 2 and windowed attention in turn (mamba_step)."""
    layers, hidden = fields.layers(), fields.hidden()
    step = fields.count("mamba_step")
    if not fields.flag("mamba_enabled", True):
        kinds = [FULL] * layers
    elif layers <= step // 2:
        kinds = [LINEAR] * (layers - 1) + [FULL]
    else:
        kinds = [LINEAR if i % step != step // 2 else FULL for i in range(layers)]
    heads = read_heads(fields)
    window = fields.given("attention_window_size", "sliding_window", least=1)
    count, width = fields.count("mamba_num_heads"), fields.given("hidden_size_per_head", "mamba_head_dim", least=1) or hidden // heads.query
    kernel, size = fields.count("mamba_d_conv"), fields.count("mamba_d_state")
    bits = state_bits(fields, conventions, 32)
    inner = count * width
    columns = kernel if conventions.hf_run else kernel - 1
    state = Block((Recurrent(columns * inner, inner * size, 16, bits),), 3 * hidden * inner + inner * (kernel + 2 * size + 64) + 64 * count)
    kind = "sliding" if window else FULL
    attention = Block((attention_layer(fields, conventions, kind, heads),), attention_params(fields, heads, hidden))
    width_mlp = fields.count("intermediate_size")
    return Decoder(
        tuple(attention if kind == FULL else state for kind in kinds), (Feed(dense_mlp(fields, width_mlp, hidden)),) * layers, heads.query, heads.k_dim
    )
