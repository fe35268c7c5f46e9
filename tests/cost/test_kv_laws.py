"""Laws of the three byte counts: held, reserved, on the wire."""

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from kvcost.cost.dtypes import parse_kv_dtype
from kvcost.cost.kv import held_bytes, kv_layout, marginal_bytes, rank_bytes, reserved_bytes, state_bytes
from kvcost.cost.layers import Chunked, CrossAttention, FullAttention, Indexer, LayerGroup, MlaLatent, Recurrent, SharedKv, SlidingWindow
from kvcost.cost.wire import wire_bytes

heads = st.sampled_from([1, 2, 4, 8, 16, 32, 72])
dims = st.sampled_from([64, 80, 96, 128, 192, 256])
lengths = st.integers(1, 200_000)
blocks = st.sampled_from([1, 16, 32, 64, 128, 256])
tps = st.sampled_from([1, 2, 4, 8, 16])

full = st.builds(FullAttention, heads, dims, dims)
window = st.builds(SlidingWindow, heads, dims, dims, st.sampled_from([128, 1000, 1024, 4096]))
chunk = st.builds(Chunked, heads, dims, dims, st.sampled_from([128, 1000, 8192]))
latent = st.builds(MlaLatent, st.sampled_from([256, 512]), st.sampled_from([0, 32, 64]))
indexer = st.builds(Indexer, st.sampled_from([132, 256]))
state = st.builds(Recurrent, st.integers(0, 10**5), st.integers(0, 10**6), st.sampled_from([16, 32]), st.sampled_from([16, 32]), st.integers(1, 4))
cross = st.builds(CrossAttention, heads, dims, dims, st.sampled_from([1500, 6404]))
growing = st.one_of(full, window, latent, indexer)
anything = st.one_of(full, window, chunk, latent, indexer, state, cross, st.just(SharedKv()))


def models(layer):
    return st.lists(st.builds(LayerGroup, st.integers(1, 60), layer), min_size=1, max_size=4)


formats = st.sampled_from(["bf16", "fp16", "fp8", "int8", "int4:g64", "int4:g32:zero", "nvfp4", "kivi2"]).map(parse_kv_dtype)
plain = st.sampled_from(["bf16", "fp8", "int8", "int4:g64", "nvfp4"]).map(parse_kv_dtype)


@given(models(full), formats, lengths, lengths)
def test_held_rises_with_the_context(groups, encoding, a, b):
    layout = kv_layout(groups, encoding)
    low, high = sorted((a, b))
    assert held_bytes(layout, low) <= held_bytes(layout, high)


@given(models(st.one_of(full, latent, indexer)), plain, lengths, st.integers(1, 9))
def test_held_is_linear_for_full_attention(groups, encoding, ctx, times):
    layout = kv_layout(groups, encoding)
    assert held_bytes(layout, times * ctx) == times * held_bytes(layout, ctx)
    assert held_bytes(layout, ctx) == ctx * marginal_bytes(layout, ctx)


@given(models(window), formats, lengths)
def test_a_window_never_holds_more_than_its_length(groups, encoding, ctx):
    layout = kv_layout(groups, encoding)
    longest = max(group.layer.window_tokens for group in groups)
    assert held_bytes(layout, ctx) <= held_bytes(layout, longest) == held_bytes(layout, longest + ctx)
    as_full = kv_layout(groups, encoding, hybrid_cache=False)
    assert held_bytes(layout, ctx) <= held_bytes(as_full, ctx)


@given(chunk, plain, st.integers(0, 20), st.integers(0, 9999))
def test_a_full_chunk_is_freed(layer, encoding, chunks, rest):
    layout = kv_layout([LayerGroup(3, layer)], encoding)
    length = layer.chunk_tokens
    rest %= length
    assert held_bytes(layout, chunks * length) == 0
    assert held_bytes(layout, chunks * length + rest) == held_bytes(layout, rest) < held_bytes(kv_layout([LayerGroup(3, layer)], encoding), length - 1) + 1
    as_full = kv_layout([LayerGroup(3, layer)], encoding, hybrid_cache=False)
    assert held_bytes(as_full, chunks * length) == chunks * length * as_full.spans[0].row_bytes * 3


@given(models(growing), formats, lengths)
def test_marginal_is_what_the_next_token_adds(groups, encoding, ctx):
    layout = kv_layout(groups, encoding)
    assert marginal_bytes(layout, ctx) == held_bytes(layout, ctx + 1) - held_bytes(layout, ctx)


@given(window, formats, st.integers(-2, 2))
def test_marginal_at_the_edge_of_a_window(layer, encoding, offset):
    layout = kv_layout([LayerGroup(2, layer)], encoding)
    ctx = layer.window_tokens + offset
    assert marginal_bytes(layout, ctx) == held_bytes(layout, ctx + 1) - held_bytes(layout, ctx)
    assert (marginal_bytes(layout, ctx) == 0) == (offset >= 0)


@given(chunk, plain)
def test_a_chunk_layer_adds_nothing_from_its_first_full_chunk_on(layer, encoding):
    layout = kv_layout([LayerGroup(2, layer)], encoding)
    assert marginal_bytes(layout, layer.chunk_tokens - 1) == 2 * layout.spans[0].row_bytes
    for ctx in (layer.chunk_tokens, layer.chunk_tokens + 1, 3 * layer.chunk_tokens - 1):
        assert marginal_bytes(layout, ctx) == 0


@given(models(st.one_of(state, cross)), plain, lengths)
def test_state_does_not_grow(groups, encoding, ctx):
    layout = kv_layout(groups, encoding)
    assert held_bytes(layout, ctx) == state_bytes(layout) == held_bytes(layout, 2 * ctx)
    assert marginal_bytes(layout, ctx) == 0


def test_shared_layers_hold_nothing():
    layout = kv_layout([LayerGroup(40, SharedKv())], parse_kv_dtype("bf16"))
    assert held_bytes(layout, 10**6) == state_bytes(layout) == 0
    assert wire_bytes(layout, 10**6, block_tokens=16) == (0, 1.0, 0)


@given(models(anything), formats, lengths)
def test_the_groups_add_up_whatever_their_order(groups, encoding, ctx):
    layout = kv_layout(groups, encoding)
    assert held_bytes(layout, ctx) == sum(held_bytes(kv_layout([group], encoding), ctx) for group in groups)
    assert held_bytes(kv_layout(groups[::-1], encoding), ctx) == held_bytes(layout, ctx)
    assert held_bytes(kv_layout(groups * 2, encoding), ctx) == 2 * held_bytes(layout, ctx)


@given(models(st.one_of(full, window, latent, indexer, state, cross)), formats, lengths, blocks)
def test_pages_reserve_at_least_what_is_held(groups, encoding, ctx, block):
    layout = kv_layout(groups, encoding)
    assert reserved_bytes(layout, ctx, block) >= held_bytes(layout, ctx)


@given(models(anything), formats, lengths)
def test_without_pages_what_is_reserved_is_what_is_held(groups, encoding, ctx):
    layout = kv_layout(groups, encoding)
    assert reserved_bytes(layout, ctx, 0) == held_bytes(layout, ctx)


@given(models(st.one_of(full, latent)), plain, lengths, blocks)
def test_full_layers_reserve_less_than_one_page_too_much(groups, encoding, ctx, block):
    layout = kv_layout(groups, encoding)
    spare = reserved_bytes(layout, ctx, block) - held_bytes(layout, ctx)
    assert 0 <= spare < held_bytes(layout, block)
    assert (spare == 0) == (ctx % block == 0)


@given(models(window), plain, lengths, blocks)
def test_a_window_reserves_its_blocks_and_one_more(groups, encoding, ctx, block):
    layout = kv_layout(groups, encoding)
    most = sum(group.layers * span.row_bytes * (-(-span.limit_tokens // block) + 1) * block for group, span in zip(groups, layout.spans, strict=True))
    assert reserved_bytes(layout, ctx, block) <= most
    assert reserved_bytes(layout, 10**7, block) == most


@given(models(full), plain, lengths, tps)
def test_wire_is_unique_times_copies(groups, encoding, ctx, tp):
    layout = kv_layout(groups, encoding)
    wire = wire_bytes(layout, ctx, prefill_tp=tp, decode_tp=tp)
    expected = sum(held_bytes(kv_layout([group], encoding), ctx) * max(1, tp // group.layer.kv_heads) for group in groups)
    assert wire.wire_bytes == expected
    assert wire.replication == pytest.approx(expected / held_bytes(layout, ctx))
    assert 1 <= wire.replication <= tp


@given(models(anything), plain, lengths)
def test_one_rank_receives_what_the_request_holds(groups, encoding, ctx):
    layout = kv_layout(groups, encoding)
    wire = wire_bytes(layout, ctx)
    assert wire.wire_bytes == held_bytes(layout, ctx)
    assert wire.replication == 1.0
    assert wire.descriptors == 0, "without blocks nothing is cut"


@given(models(latent), plain, lengths, tps)
def test_a_latent_goes_whole_to_every_rank(groups, encoding, ctx, tp):
    layout = kv_layout(groups, encoding)
    wire = wire_bytes(layout, ctx, prefill_tp=tp, decode_tp=tp)
    assert wire == (tp * held_bytes(layout, ctx), float(tp), 0)
    assert rank_bytes(layout, ctx, tp) == held_bytes(layout, ctx)


@given(models(state), plain, lengths, tps)
def test_a_recurrent_state_is_sharded_without_copies(groups, encoding, ctx, tp):
    layout = kv_layout(groups, encoding)
    assume(state_bytes(layout))
    assert wire_bytes(layout, ctx, prefill_tp=tp, decode_tp=tp)[:2] == (state_bytes(layout), 1.0)


@given(models(anything), plain, lengths, blocks, tps)
def test_whole_blocks_travel(groups, encoding, ctx, block, tp):
    layout = kv_layout(groups, encoding)
    exact = wire_bytes(layout, ctx, decode_tp=tp)
    cut = wire_bytes(layout, ctx, decode_tp=tp, block_tokens=block)
    if not any(span.reach == "chunk" for span in layout.spans):
        assert cut.wire_bytes >= exact.wire_bytes
    assert wire_bytes(layout, ctx, block_tokens=block).wire_bytes == reserved_bytes(layout, ctx, block)


@given(models(anything), formats, lengths, lengths, lengths, st.sampled_from([0, 16, 64]), tps)
def test_a_longer_prefix_never_sends_more(groups, encoding, ctx, a, b, block, tp):
    layout = kv_layout(groups, encoding)
    less, more = sorted((a % (ctx + 1), b % (ctx + 1)))
    longer = wire_bytes(layout, ctx, prefix_hit_tokens=more, decode_tp=tp, block_tokens=block)
    shorter = wire_bytes(layout, ctx, prefix_hit_tokens=less, decode_tp=tp, block_tokens=block)
    assert longer.wire_bytes <= shorter.wire_bytes <= wire_bytes(layout, ctx, decode_tp=tp, block_tokens=block).wire_bytes
    assert longer.descriptors <= shorter.descriptors


@given(models(full), plain, lengths, lengths)
def test_only_missing_tokens_travel(groups, encoding, ctx, prefix):
    layout = kv_layout(groups, encoding)
    prefix %= ctx
    assert wire_bytes(layout, ctx, prefix_hit_tokens=prefix).wire_bytes == held_bytes(layout, ctx - prefix)
    for whole in (ctx, ctx + 1):
        assert wire_bytes(layout, ctx, prefix_hit_tokens=whole, decode_tp=8) == (0, 1.0, 0)


@given(models(anything), formats, lengths, tps)
def test_the_ranks_together_hold_at_least_the_whole(groups, encoding, ctx, tp):
    layout = kv_layout(groups, encoding)
    on_one = rank_bytes(layout, ctx, tp)
    assert tp * on_one >= held_bytes(layout, ctx)
    assert on_one <= held_bytes(layout, ctx)
    assert rank_bytes(layout, ctx, 1) == held_bytes(layout, ctx)
    assert tp * on_one >= wire_bytes(layout, ctx, prefill_tp=tp, decode_tp=tp).wire_bytes


@given(models(st.one_of(full, window, latent)), plain, lengths, st.sampled_from([(1, 1), (8, 8), (4, 8), (8, 4), (1, 8)]), st.sampled_from([1, 2]))
def test_descriptors_are_layers_by_blocks_by_regions(groups, encoding, ctx, pair, regions):
    layout = kv_layout(groups, encoding)
    wire = wire_bytes(layout, ctx, prefill_tp=pair[0], decode_tp=pair[1], block_tokens=16, regions=regions)
    expected = 0
    for span in layout.spans:
        whole = -(-ctx // 16)
        kept = min(whole, -(-span.limit_tokens // 16) + 1) if span.reach == "window" else whole
        pieces = max(1, min(max(pair), span.kv_heads) // min(*pair, span.kv_heads or 1))
        expected += span.layers * kept * (regions * pieces if span.kv_heads else 1)
    assert wire.descriptors == expected


@given(models(st.one_of(full, window)), plain, lengths)
def test_blocks_of_all_layers_need_fewer_descriptors(groups, encoding, ctx):
    layout = kv_layout(groups, encoding)
    shared = wire_bytes(layout, ctx, block_tokens=16, layers_share_blocks=True)
    apart = wire_bytes(layout, ctx, block_tokens=16)
    assert shared.descriptors <= apart.descriptors
    assert shared.wire_bytes == apart.wire_bytes
    assert shared.descriptors == apart.descriptors or sum(group.layers for group in groups) > 1


@given(models(anything), lengths)
def test_fewer_bits_hold_fewer_bytes(groups, ctx):
    by_format = [held_bytes(kv_layout(groups, parse_kv_dtype(name)), ctx) for name in ("int4:g64", "nvfp4", "fp8", "int8", "bf16")]
    assert by_format == sorted(by_format)
    assert by_format[-1] == held_bytes(kv_layout(groups, parse_kv_dtype("fp16")), ctx)
