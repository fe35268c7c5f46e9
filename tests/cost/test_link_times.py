"""Laws of lanes and of the time of wire bytes."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kvcost.cost.transfer import Engine, Link, check_tp_pair, lanes_of, link_times
from kvcost.errors import KvcostError

sizes = st.integers(1, 10**13)
counts = st.integers(0, 10**6)
lanes = st.sampled_from([1, 2, 4, 8])
postings = st.sampled_from(["serial", "overlapped"])


@st.composite
def links(draw, nominal=True):
    line = draw(st.floats(1e8, 1e12))
    low, expected, high = sorted(draw(st.tuples(*[st.floats(0.05, 1.0)] * 3)))
    return Link("link", line if nominal else None, line * expected, line * low, line * high)


@st.composite
def engines(draw):
    t0 = sorted(draw(st.tuples(*[st.floats(0, 0.05)] * 3)))
    each = sorted(draw(st.tuples(*[st.floats(0, 1e-5)] * 3)))
    efficiency = draw(st.none() | st.floats(0.1, 1.0))
    return Engine("engine", t0[1], t0[0], t0[2], each[1], each[0], each[2], draw(postings), efficiency=efficiency)


@given(links(), sizes, lanes, st.integers(2, 9))
def test_time_on_the_wire_is_linear_in_bytes(link, size, lanes, times):
    one, many = (link_times(link, Engine("line"), count * size, lanes, 0) for count in (1, times))
    for a, b in zip(one, many, strict=True):
        assert b == pytest.approx(times * a)


@given(links(), engines(), sizes, lanes, counts)
def test_line_rate_is_a_floor_and_ranges_hold_their_value(link, engine, size, lanes, descriptors):
    times = link_times(link, engine, size, lanes, descriptors)
    slack = 1 + 1e-12
    assert times.line_rate_s == size / lanes / link.bandwidth_bytes_per_s
    assert times.line_rate_s <= times.achievable_low_s * slack
    assert times.achievable_low_s <= times.achievable_s * slack
    assert times.achievable_s <= times.achievable_high_s * slack
    assert times.engine_low_s <= times.engine_s * slack
    assert times.engine_s <= times.engine_high_s * slack
    assert times.engine_s >= times.line_rate_s * (1 - 1e-12)


@given(links(), engines(), sizes, counts)
def test_more_lanes_more_bytes_more_descriptors(link, engine, size, descriptors):
    base = link_times(link, engine, size, 4, descriptors)
    assert all(a <= b for a, b in zip(link_times(link, engine, size, 8, descriptors), base, strict=True))
    assert all(a >= b for a, b in zip(link_times(link, engine, 2 * size, 4, descriptors), base, strict=True))
    assert all(a >= b for a, b in zip(link_times(link, engine, size, 4, 2 * descriptors), base, strict=True))


@given(engines(), sizes, lanes, counts)
def test_an_unlimited_link_takes_no_time_at_all(engine, size, lanes, descriptors):
    link = Link("unlimited", math.inf, math.inf, math.inf, math.inf)
    assert link_times(link, engine, size, lanes, descriptors) == (0.0,) * 7


@given(links(), engines(), lanes)
def test_nothing_to_send_takes_no_time(link, engine, lanes):
    assert link_times(link, engine, 0, lanes, 0) == (0.0,) * 7


@given(links(nominal=False), engines(), sizes, lanes, counts)
def test_without_a_nominal_rate_there_is_no_line_rate_figure(link, engine, size, lanes, descriptors):
    times = link_times(link, engine, size, lanes, descriptors)
    assert times.line_rate_s is None
    assert times.engine_s >= times.achievable_s
    assert link.efficiency is None


@given(links(), engines(), sizes, counts)
def test_posting_at_the_same_time_is_never_slower_than_one_after_the_other(link, engine, size, descriptors):
    apart = link_times(link, engine._replace(posting="serial"), size, 1, descriptors)
    together = link_times(link, engine._replace(posting="overlapped"), size, 1, descriptors)
    assert together.engine_s <= apart.engine_s
    assert together.achievable_s == apart.achievable_s


def test_the_equation():
    link = Link("port", 50e9, 45e9, 40e9, 49e9)
    engine = Engine("e", 1e-3, 0.5e-3, 2e-3, 1e-6, 0.5e-6, 3e-6)
    times = link_times(link, engine, 90 * 10**9, 2, 1000)
    assert times == pytest.approx((0.9, 1.0, 45 / 49, 45 / 40, 1.0 + 1e-3 + 1e-3, 45 / 49 + 0.5e-3 + 0.5e-3, 45 / 40 + 2e-3 + 3e-3))
    together = link_times(link, engine._replace(posting="overlapped"), 90 * 10**9, 2, 2_000_000)
    assert together[4:] == pytest.approx((1e-3 + 2.0, 0.5e-3 + 1.0, 2e-3 + 6.0))


def test_an_engines_efficiency_widens_the_range_to_hold_it():
    link = Link("port", 50e9, 45e9, 40e9, 49e9)
    times = link_times(link, Engine("e", efficiency=0.5), 50 * 10**9, 1, 0)
    assert times[4:] == pytest.approx((2.0, 50 / 49, 2.0))
    assert link_times(link._replace(bandwidth_bytes_per_s=None), Engine("e", efficiency=0.5), 45 * 10**9, 1, 0).engine_s == pytest.approx(1.0)


def test_efficiency_of_a_link():
    assert Link("l", 100.0, 92.0, 1.0, 100.0).efficiency == 0.92
    assert Link("l", math.inf, math.inf, math.inf, math.inf).efficiency == 1.0


@pytest.mark.parametrize(
    ("scope", "rails_given", "pair", "expected"),
    [
        *(
            ("port", None, (8, 8), (1, 1)),
            ("port", 4, (8, 8), (4, 4)),
            ("port", 16, (8, 8), (8, 16)),
            ("port", 8, (8, 2), (2, 8)),
            ("port", None, (1, 1), (1, 1)),
        ),
        *(("gpu", None, (8, 8), (8, 8)), ("gpu", None, (8, 4), (4, 4)), ("gpu", 2, (8, 8), (2, 2)), ("gpu", None, (1, 1), (1, 1))),
        *(("node", None, (8, 8), (4, 4)), ("node", None, (2, 2), (2, 4)), ("node", 2, (8, 8), (2, 2))),
    ],
)
def test_lanes(scope, rails_given, pair, expected):
    link = Link("l", 1e9, 1e9, 1e9, 1e9, scope, 4 if scope == "node" else 0)
    assert lanes_of(link, rails_given, *pair) == expected


@pytest.mark.parametrize("pair", [(3, 8), (8, 3), (6, 4), (12, 8)])
def test_tp_sizes_must_divide_each_other(pair):
    with pytest.raises(KvcostError, match="do not divide each other") as caught:
        check_tp_pair(*pair)
    assert caught.value.hint


@pytest.mark.parametrize("pair", [(1, 1), (1, 7), (8, 2), (4, 4), (3, 6)])
def test_tp_sizes_that_do(pair):
    check_tp_pair(*pair)
