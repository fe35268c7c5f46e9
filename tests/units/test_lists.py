"""Lists and ranges: every form of the grammar, and nonsense refused."""

import math
from itertools import pairwise

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from kvcost.errors import KvcostError
from kvcost.units import lists
from kvcost.units.lists import expand, split_list
from kvcost.units.parse import parse_count, parse_rate, parse_share_or_tokens, parse_time, parse_tokens


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("4096", [4096]),
        ("1k,4k,32k", [1024, 4096, 32768]),
        (" 1k , 4k ", [1024, 4096]),
        ("4k,1k,4k", [4096, 1024, 4096]),
        ("1k..128k", [1024 * 2**i for i in range(8)]),
        ("1k..5k", [1024, 2048, 4096]),
        ("1k..1k", [1024]),
        ("1..8", [1, 2, 4, 8]),
        ("1..32k:x8", [1, 8, 64, 512, 4096, 32768]),
        ("1k..4k:*2", [1024, 2048, 4096]),
        ("1k..32k:+4k", [1024 + 4096 * i for i in range(8)]),
        ("1..10:+3", [1, 4, 7, 10]),
        ("8k..64k:n=3", [8192, 36864, 65536]),
        ("1..10:n=4", [1, 4, 7, 10]),
        ("1k..2k,10k,1..4", [1024, 2048, 10240, 1, 2, 4]),
        ("1..4k:x8", [1, 8, 64, 512, 4096]),
        ("1..1000000000:x1000000001", [1, 10**9]),
        ("1..1000000000:+1000000000", [1]),
        ("1..10:x1.5", [1, 2, 3, 5, 8]),
    ],
)
def test_tokens(text, values):
    assert expand(text, parse_tokens) == values


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("1..100Gbps:x10", [0.125e9, 1.25e9, 12.5e9]),
        ("10..40Gbps", [1.25e9, 2.5e9, 5e9]),
        ("1GB/s..4GB/s", [1e9, 2e9, 4e9]),
        ("10..30GB/s:+10", [10e9, 20e9, 30e9]),
        ("10..30GB/s:+10GB/s", [10e9, 20e9, 30e9]),
        ("100Gbps,inf", [12.5e9, math.inf]),
        ("1..5GB/s:n=5", [1e9, 2e9, 3e9, 4e9, 5e9]),
    ],
)
def test_rates(text, values):
    assert expand(text, parse_rate) == pytest.approx(values)


def test_other_quantities():
    assert expand("1..4ms", parse_time) == pytest.approx([1e-3, 2e-3, 4e-3])
    assert expand("1..8", parse_count) == [1, 2, 4, 8]
    assert expand("10%..50%:+20%", parse_share_or_tokens) == pytest.approx([0.1, 0.3, 0.5])
    assert expand("0,50%,512", parse_share_or_tokens) == [0, 0.5, 512]


@pytest.mark.parametrize(
    "text",
    [
        *(
            "",
            ",",
            "1k,",
            ",1k",
            "1k,,4k",
            "..",
            "1k..",
            "..4k",
            "1k...4k",
            "1k..2k..4k",
            "4k..1k",
            "1k..4k:",
            "1k..4k:y2",
            "1k..4k:2",
            "1k..4k:x",
            "1k..4k:x1",
        ),
        *(
            "1k..4k:x0.5",
            "1k..4k:x0",
            "1k..4k:x-2",
            "1k..4k:+",
            "1k..4k:+0",
            "1k..4k:+-1",
            "1k..4k:-1k",
            "1k..4k:n=",
            "1k..4k:n=1",
            "1k..4k:n=0",
            "1k..4k:n=-3",
        ),
        *("1k..4k:n=2.5", "1k..4k:n=x", "1k..4k:n=1e9", "1..1000000000:+1", "1k..4k:xinf", "a..b", "1k..b", "1k..4k:+4kB", "1k 4k", "0..4k", "-4k..4k"),
    ],
)
def test_nonsense_is_refused_with_a_hint(text):
    with pytest.raises(KvcostError) as caught:
        expand(text, parse_tokens)
    assert caught.value.message
    assert caught.value.hint


@pytest.mark.parametrize("text", ["1..100", "1..inf", "1GB/s..inf", "0..100Gbps", "100..1Gbps", "1..100Gbps:+0", "1..2Gbps:x1.0000000001"])
def test_ranges_of_rates_refused(text):
    with pytest.raises(KvcostError) as caught:
        expand(text, parse_rate)
    assert caught.value.hint


def test_a_range_from_zero_needs_a_step():
    assert expand("0..100:+50", lambda text: parse_tokens(text, minimum=0)) == [0, 50, 100]
    for text, words in (("0..100", "cannot start at 0"), ("0..100:+0", "must be above 0")):
        with pytest.raises(KvcostError, match=words) as caught:
            expand(text, lambda text: parse_tokens(text, minimum=0))
        assert caught.value.hint


def test_too_many_values(monkeypatch):
    monkeypatch.setattr(lists, "MAX_POINTS", 5)
    for text in ("1,2,3,4,5,6", "1..6:+1", "1..64", "1..4,1..4"):
        with pytest.raises(KvcostError, match="more than 5 values") as caught:
            expand(text, parse_tokens)
        assert caught.value.hint


def test_split_list():
    assert split_list("nvlink4, ib-ndr ,100gbe") == ["nvlink4", "ib-ndr", "100gbe"]
    with pytest.raises(KvcostError, match="empty item"):
        split_list("a,,b")


ends = st.tuples(st.integers(1, 10**9), st.integers(1, 10**9)).map(sorted)


@given(ends, st.floats(1.01, 1e10))
def test_a_range_by_factor_stays_inside_and_rises(pair, factor):
    low, high = pair
    values = expand(f"{low}..{high}:x{factor!r}", parse_tokens) if "e-" not in repr(factor) else [low]
    assert values[0] == low
    assert values[-1] <= high
    assert all(a < b for a, b in pairwise(values))


@given(ends, st.integers(1, 10**9))
def test_a_range_by_step_is_arithmetic_and_complete(pair, step):
    low, high = pair
    assume((high - low) // step < 10_000)
    assert expand(f"{low}..{high}:+{step}", parse_tokens) == list(range(low, high + 1, step))


@given(ends, st.integers(2, 300))
def test_a_range_of_n_points_has_both_ends(pair, points):
    low, high = pair
    values = expand(f"{low}..{high}:n={points}", parse_tokens)
    assert len(values) == points
    assert (values[0], values[-1]) == (low, high)
    assert values == sorted(values)


@given(st.lists(st.integers(1, 10**9), min_size=1, max_size=20))
def test_a_list_keeps_order_and_repeats(values):
    assert expand(",".join(map(str, values)), parse_tokens) == values


@given(st.floats(0.001, 100.0), st.floats(1.0, 50.0), st.integers(2, 40))
def test_ranges_of_rates_stay_inside(low, ratio, points):
    high = low * ratio
    for rule in ("", ":x1.5", f":n={points}", f":+{high / 7:.6f}"):
        values = expand(f"{low:.6f}GB/s..{high:.6f}GB/s{rule}", parse_rate)
        assert values[0] == parse_rate(f"{low:.6f}GB/s")
        assert values[-1] <= parse_rate(f"{high:.6f}GB/s") * (1 + 1e-9)
        assert values == sorted(values)


@given(st.text(alphabet="0123456789k.,:+x*n=GBbps/ -", max_size=24))
def test_any_text_is_expanded_or_refused_in_words(text):
    for parse in (parse_tokens, parse_rate, parse_time, parse_share_or_tokens):
        found = outcome(text, parse)
        assert found, "never an empty list"
        assert not isinstance(found, KvcostError) or (found.message and found.hint)


def outcome(text, parse):
    try:
        return expand(text, parse)
    except KvcostError as error:
        return error
