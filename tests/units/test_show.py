"""Numbers for people, and back."""

import math
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kvcost.units.parse import parse_rate, parse_size, parse_time
from kvcost.units.show import UNITS, pick_unit, show_bytes, show_count, show_rate, show_significant, show_time

positive = st.floats(1e-12, 1e15)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        *((0, "0"), (0.0, "0"), (1, "1.000"), (2.0, "2.000"), (107.3741824, "107.4"), (0.37282, "0.3728"), (1234.5, "1,234"), (-2.5, "-2.500")),
        *((1e-5, "1.000e-05"), (1e-4, "0.0001000"), (1e15, "1.000e+15"), (1e14, "100,000,000,000,000"), (12345678, "12,345,678"), (99.0, "99.00")),
        *((math.inf, "inf"), (9.99996, "10.00"), (999.96, "1,000"), (0.99996, "1.000"), (9999.6, "10,000"), (9.9994, "9.999")),
    ],
)
def test_four_significant_digits(value, text):
    assert show_significant(value) == text


def test_other_digit_counts():
    assert show_significant(3.14159, 2) == "3.1"
    assert show_significant(3.14159, 6) == "3.14159"


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.1073741824, "107.4 ms"), (8.0, "8.000 s"), (0.0, "0 us"), (1e-6, "1.000 us"), (1e-3, "1.000 ms"), (3.2e-6, "3.200 us"), (90.0, "90.00 s")],
)
def test_times(seconds, text):
    assert show_time(seconds) == text


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (0, "0 B"),
        (999, "999 B"),
        (1000, "1,000 B (1.000 kB, 1,000 B)"),
        (327_680, "327,680 B (327.7 kB, 320.0 KiB)"),
        (1_342_177_280, "1,342,177,280 B (1.342 GB, 1.250 GiB)"),
        (12_616_466_432, "12,616,466,432 B (12.62 GB, 11.75 GiB)"),
    ],
)
def test_bytes_show_both_units_that_people_confuse(size, text):
    assert show_bytes(size) == text


@pytest.mark.parametrize(
    ("rate", "text"),
    [(12.5e9, "12.50 GB/s (100.0 Gb/s)"), (450e9, "450.0 GB/s (3.600 Tb/s)"), (math.inf, "unlimited"), (1.0, "1.000 B/s (8.000 b/s)")],
)
def test_rates_show_bytes_and_bits(rate, text):
    assert show_rate(rate) == text


def test_counts():
    assert show_count(1_342_177_280) == "1,342,177,280"


@given(positive)
def test_digits_survive(value):
    text = show_significant(value)
    assert float(text.replace(",", "")) == pytest.approx(value, rel=5.1e-4)
    digits = re.sub(r"e[+-]\d+$", "", text).replace(",", "").replace(".", "").lstrip("0")
    assert len(digits) >= 4
    if value < 1000:
        assert len(digits) == 4


@given(st.floats(1e-9, 1e6))
def test_a_time_reads_back(seconds):
    assert parse_time(show_time(seconds).replace(",", "")) == pytest.approx(seconds, rel=5.1e-4)


@given(st.integers(0, 10**18))
def test_bytes_read_back_exactly(size):
    exact, _, rest = show_bytes(size).replace(",", "").partition(" (")
    assert parse_size(exact) == size
    for rounded in re.findall(r"([\d.e+]+ [kKMGT]?i?B)", rest):
        number, unit = rounded.split()
        assert float(number) * parse_size("1" + unit) == pytest.approx(size, rel=5.1e-4)


@given(st.floats(1.0, 1e15))
def test_a_rate_reads_back_from_its_bytes_and_from_its_bits(rate):
    in_bytes, in_bits = show_rate(rate).replace(",", "").rstrip(")").split(" (")
    assert parse_rate(in_bytes) == pytest.approx(rate, rel=5.1e-4)
    assert parse_rate(in_bits) == pytest.approx(rate, rel=5.1e-4)


@given(st.sampled_from(sorted(UNITS)), st.lists(st.floats(0, 1e15), max_size=9))
def test_one_unit_suits_the_middle_value(quantity, values):
    unit, size = pick_unit(quantity, values)
    assert (unit, size) in UNITS[quantity]
    above = sorted(value for value in values if value)
    if above:
        middle = above[len(above) // 2]
        assert middle >= size or size == UNITS[quantity][0][1]
        assert middle / size < 1100 or size == UNITS[quantity][-1][1]


def test_what_is_not_finite_does_not_choose_the_unit():
    assert pick_unit("time", [math.inf, 0.0, 0.002]) == ("ms", 1e-3)
    assert pick_unit("rate", []) == ("B/s", 1.0)
