"""The root finder on functions made to fool one, and the least fixed point."""

from __future__ import annotations

import math
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kvcost.cost.roots import crossings, least_fixed_point, positive_intervals


def roots(function, low, high, **options):
    return [item.at for item in crossings(function, low, high, **options)]


@settings(max_examples=300, deadline=None)
@given(st.floats(0, 100), st.floats(-5, 1.2), st.floats(-5, 1.2), st.sampled_from([1, -1]))
def test_functions_that_turn_twice_inside_one_cell(first, near, far, sign):
    """Three roots, as close as 1e-5 in a range of 120: no grid would see them."""
    a, b, c = first, first + 10**near, first + 10**near + 10**far
    found = roots(lambda x: sign * (x - a) * (x - b) * (x - c), -1, 131, logarithmic=False)
    assert len(found) == 3
    assert found == pytest.approx([a, b, c], rel=1e-3, abs=2e-4)


@settings(max_examples=200, deadline=None)
@given(st.floats(2, 5e4), st.floats(1e-6, 1e-2))
def test_two_roots_between_samples(at, width):
    found = roots(lambda x: (math.log(x) - math.log(at)) ** 2 - width**2, 1, 1e5)
    assert found == pytest.approx([at * math.exp(-width), at * math.exp(width)], rel=1e-5)


def test_no_root_where_a_function_nearly_touches_zero():
    assert roots(lambda x: (math.log(x) - 3) ** 2 + 1e-9, 1, 1e5) == []


def test_smooth_functions_that_are_no_polynomials():
    """Sums of saturating and growing terms, as gains are: every root that a grid of 100,000 points sees is found."""
    rng = random.Random(7)
    for _ in range(60):
        a, b, c, d, e = (rng.uniform(-1, 1) for _ in range(5))

        def function(x, a=a, b=b, c=c, d=d, e=e):
            return a + b * math.log(x) / 8 + c * x / (x + 900) + d * math.exp(-x / 5e3) + e * (x / 1e5) ** 2

        xs = [10 ** (i / 20000) for i in range(100001)]
        values = [function(x) for x in xs]
        seen = [x for x, value, after in zip(xs, values, values[1:], strict=False) if (value > 0) != (after > 0)]
        assert roots(function, 1, 1e5) == pytest.approx(seen, rel=1e-3)


def test_every_root_is_a_zero():
    for item in crossings(lambda x: math.sin(math.log(x) * 3) * 1e3, 1, 1e5):
        assert item.kind == "root"
        assert abs(math.sin(math.log(item.at) * 3) * 1e3) < 1e-9


def test_jumps_and_infinities_are_not_roots():
    step = crossings(lambda x: 1.0 if x < 777 else -1.0, 1, 1e5)
    assert [(round(item.at, 6), item.kind, item.rising) for item in step] == [(777.0, "jump", False)]
    wall = crossings(lambda x: math.inf if x > 50 else -1.0, 1, 1e5)
    assert [(round(item.at, 6), item.kind, item.rising) for item in wall] == [(50.0, "jump", True)]
    end = crossings(lambda x: math.nan if x > 50 else 1.0, 1, 1e5)
    assert [(round(item.at, 6), item.kind) for item in end] == [(50.0, "jump")]


def test_calls_stay_few():
    calls = []
    crossings(lambda x: calls.append(x) or (x - 300) / (x + 40), 1, 1e5)
    assert len(calls) < 80


def test_intervals():
    def wave(x):
        return (x - 2) * (x - 5) * (7 - x)

    found = crossings(wave, 1, 10, logarithmic=False)
    assert positive_intervals(wave, 1, 10, found) == [(None, pytest.approx(2)), (pytest.approx(5), pytest.approx(7))]
    assert positive_intervals(lambda _: 1.0, 1, 10, []) == [(None, None)]
    assert positive_intervals(lambda _: -1.0, 1, 10, []) == []
    assert crossings(wave, 10, 1) == []


@settings(max_examples=300)
@given(st.floats(0.01, 50), st.floats(0, 1.5), st.floats(0, 0.2), st.floats(0, 30))
def test_least_fixed_point_is_the_least(start, slope, bend, jump):
    """Convex and rising, with a step on the way: agrees with the plain iteration from zero."""

    def function(x):
        return start + slope * x + bend * x * x + (jump if x > 10 else 0)

    found, x = least_fixed_point(function, 1000), 0.0
    for _ in range(100000):
        after = function(x)
        if after > 1000 or after - x < 1e-12 * max(1, x):
            break
        x = after
    if found is None:
        assert function(x) > x
    else:
        assert function(found) == pytest.approx(found, rel=1e-9)
        assert x <= found * (1 + 1e-6)
        assert found == pytest.approx(x, rel=1e-2)


def test_least_fixed_point_of_a_function_that_bends_down_first():
    def function(x):
        return 5 * (1 - 0.9**x) + 0.02 * x * x + 0.5

    found = least_fixed_point(function, 500)
    assert found is not None
    assert all(function(found * i / 1000) > found * i / 1000 for i in range(999))


def test_least_fixed_point_none():
    assert least_fixed_point(lambda x: x + 1, 100) is None
    assert least_fixed_point(lambda _: math.inf, 100) is None
    assert least_fixed_point(lambda _: 0.0, 100) == 0
