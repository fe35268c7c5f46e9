"""Shares of the bytes: published figures, exact arithmetic, and laws that hold for any mix."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kvcost.catalog.store import Catalog
from kvcost.cost.dtypes import parse_kv_dtype
from kvcost.cost.kv import held_bytes, kv_layout
from kvcost.cost.layers import FullAttention, LayerGroup
from kvcost.cost.techniques import (
    Tiers,
    WireCut,
    codec_pass_s,
    format_share,
    heads_share,
    joined,
    latent_share,
    layers_share,
    reuse_bandwidth,
    tier_share,
    tiers_at,
)
from kvcost.errors import KvcostError

LLAMA2_70B = [LayerGroup(80, FullAttention(8, 128, 128))]
shares = st.fractions(min_value=Fraction(1, 100), max_value=1, max_denominator=1000)
heads = st.lists(st.tuples(st.integers(0, 5000), shares), max_size=4).map(tuple)
lengths = st.integers(1, 10**6)


@pytest.mark.parametrize(
    ("share", "low", "high"),
    [
        (format_share(8), 0.5, 0.5),
        (format_share(8, 16, 128), 0.5078125, 0.5078125),
        (format_share(8, 16, 64), 0.515625, 0.515625),
        (format_share(4, 16, 128), 0.2578125, 0.2578125),
        (format_share(4, 32, 64), 0.28125, 0.28125),
        (format_share(4, 32, 32), 0.3125, 0.3125),
        (format_share(4, 8, 16), 0.28125, 0.28125),
        (tier_share(tiers_at(Fraction(1, 2))), 0.5, 0.5),
        (heads_share(8, 64), 0.125, 0.125),
        (latent_share(512, 64, 128, 128), 0.0175, 0.0177),
        (layers_share(40, 80), 0.5, 0.5),
    ],
)
def test_published_shares(share, low, high):
    assert low <= share <= high


def test_shares_that_the_catalog_states_are_those_of_their_publications():
    """KVQuant: 3 bit and 1 % outliers of 16 bits with an index of 16; PDTrim: 4.95x less on the wire."""
    catalog = Catalog()
    assert catalog.technique("kvquant-3bit").change.share == float((3 + Fraction(1, 100) * 32) / 16)
    assert catalog.technique("pdtrim").change.share == pytest.approx(1 / 4.95, rel=1e-12)


def test_tiers_at_a_half_are_all_int8():
    assert tiers_at(Fraction(1, 2)) == Tiers(0, 1, 0)


@given(st.fractions(min_value=Fraction(1, 4), max_value=1, max_denominator=1000))
def test_tiers_spend_their_budget_whole(budget):
    tiers = tiers_at(budget)
    assert sum(tiers) == 1
    assert all(0 <= share <= 1 for share in tiers)
    assert tier_share(tiers) == budget


@pytest.mark.parametrize("budget", [Fraction(24, 100), Fraction(0), Fraction(101, 100)])
def test_no_budget_below_all_int4(budget):
    with pytest.raises(KvcostError, match="none of three tiers"):
        tiers_at(budget)


def test_formats_agree_with_the_bytes_of_the_cache():
    full = held_bytes(kv_layout(LLAMA2_70B, parse_kv_dtype("bf16")), 4096)
    for name, share in {
        "fp8": format_share(8),
        "int8": format_share(8, 16, 128),
        "int4:g64": format_share(4, 16, 64),
        "int4:g64:zero": format_share(4, 32, 64),
        "nvfp4": format_share(4, 8, 16),
        "kivi2": ((4096 - 128) * format_share(2, 32, 32) + 128) / 4096,
    }.items():
        assert held_bytes(kv_layout(LLAMA2_70B, parse_kv_dtype(name)), 4096) == full * share, name


def test_sinks_at_16_bit_are_a_quarter_and_not_a_half():
    assert 0.26 < WireCut(format_share(4, 16, 64), ((4, Fraction(1)),)).share(4096) < 0.31


@given(shares, heads, lengths, st.floats(0, 1))
def test_a_mix_lies_between_its_parts(rest, first, ctx, held):
    hit = int(held * ctx)
    share = WireCut(rest, first).share(ctx, hit)
    parts = [rest, *(part for _, part in first)]
    if hit < ctx:
        assert min(parts) <= share <= max(parts)
    assert share <= 1


@given(shares, heads, lengths)
def test_tokens_that_are_held_take_the_first_parts_with_them(rest, first, ctx):
    gone = sum(tokens for tokens, _ in first)
    if gone < ctx:
        assert WireCut(rest, first).share(ctx, gone) == rest


@given(shares, heads, shares, lengths)
def test_cuts_multiply_in_either_order(rest, first, kept, ctx):
    bits, tokens = WireCut(rest, first, codec_s=0.25), WireCut(kept, (), kept, codec_s_per_byte=1e-9)
    assert joined(bits, tokens).share(ctx) == joined(tokens, bits).share(ctx) == bits.share(ctx) * kept
    assert joined(bits, tokens)._replace(first=()) == joined(tokens, bits)._replace(first=())


def test_two_cuts_cannot_both_treat_the_first_tokens_apart():
    cut = WireCut(Fraction(1, 4), ((4, Fraction(1)),))
    with pytest.raises(KvcostError, match="apart"):
        joined(cut, cut)


@pytest.mark.parametrize(("sent", "layers"), [(0, 80), (81, 80)])
def test_layers_that_are_not_there_cannot_be_sent(sent, layers):
    with pytest.raises(KvcostError, match="cannot be sent"):
        layers_share(sent, layers)


def test_mooncakes_condition():
    assert reuse_bandwidth(8192, 2, 8, 8192, 8 * 312e12) == pytest.approx(5.859e9, rel=1e-4)
    assert reuse_bandwidth(8192, 2, 8, 8192, 8 * 989e12) == pytest.approx(18.6e9, rel=5e-3)


def test_a_pass_over_memory_reads_all_and_writes_what_is_left():
    assert codec_pass_s(1e9, 0.25, 4, 1e12) == pytest.approx(1.25e9 / 4e12)
