"""One quantity from one word: what is read, how exactly, and what is refused."""

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kvcost.errors import KvcostError
from kvcost.units.parse import parse_count, parse_number, parse_rate, parse_share_or_tokens, parse_size, parse_time, parse_tokens

decimals = st.decimals("0.001", "9999.999", places=3).map(str)
prefixes = st.sampled_from(["", "k", "K", "M", "G", "T"])


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        *(("4096", 4096), ("1", 1), ("1000000000", 10**9), (" 4096 ", 4096), ("4_096", 4096), ("+8", 8), ("4e3", 4000), ("4.0", 4)),
        *(("4k", 4096), ("4K", 4096), ("4Ki", 4096), ("4ki", 4096), ("128k", 131072), ("1.5k", 1536), ("0.5k", 512), (".5k", 512), ("32Ki", 32768)),
        *(("1m", 2**20), ("1M", 2**20), ("1Mi", 2**20), ("8 tokens", 8), ("4k tok", 4096), ("4ktokens", 4096), ("1 token", 1)),
    ],
)
def test_tokens(text, tokens):
    assert parse_tokens(text) == tokens


@pytest.mark.parametrize(
    "text",
    [
        *("", " ", "k", "-5", "-1k", "0", "4.5", "0.3k", "1e-3", "1000000001", "1e9k", "10^18", "1" + "0" * 18, "9" * 50, "1e999", "1e31"),
        *("4kb", "4g", "4 kB", "four", "4k4", "4,096", "0x10", "4096\x00", "nan", "inf", "1e", "1.", "--4", "4 k k", "4096%", "½", "²", "\n"),
    ],
)
def test_tokens_refused(text):
    refused(parse_tokens, text)


@pytest.mark.parametrize(
    ("text", "bytes_per_s"),
    [
        *(("100Gbps", 12.5e9), ("100GBps", 100e9), ("400Gb/s", 50e9), ("12.5GB/s", 12.5e9), ("11.6GiB/s", 11.6 * 2**30), ("100 Gbps", 12.5e9)),
        *(("100gbps", 12.5e9), ("100gBps", 100e9), ("100Gbit/s", 12.5e9), ("100Gbits/s", 12.5e9), ("12.5Gbyte/s", 12.5e9), ("12.5Gbytes/s", 12.5e9)),
        *(("8bps", 1.0), ("1B/s", 1.0), ("1kB/s", 1e3), ("1KB/s", 1e3), ("1KiB/s", 1024.0), ("1Mib/s", 2**20 / 8), ("1.8TB/s", 1.8e12), ("1GB/sec", 1e9)),
        *(("inf", math.inf), ("unlimited", math.inf), ("INF", math.inf), (" infinity ", math.inf), ("1e2Gbps", 12.5e9)),
    ],
)
def test_rates(text, bytes_per_s):
    assert parse_rate(text) == bytes_per_s


@pytest.mark.parametrize(
    "text",
    [
        *("", "100", "12.5", "100G", "100Gb", "100GB", "GB/s", "0Gbps", "0GB/s", "-5GB/s", "-100Gbps", "-inf", "nan", "100Gbph", "100Pbps", "100GB/s/s"),
        *("100 G bps", "fast", "1e99Gbps", "100Gbps x", "100%", "Gbps", "100kgbps"),
    ],
)
def test_rates_refused(text):
    refused(parse_rate, text)


def test_a_bare_rate_is_answered_with_both_spellings():
    with pytest.raises(KvcostError) as caught:
        parse_rate("100")
    assert "100Gbps" in caught.value.hint
    assert "100GB/s" in caught.value.hint
    assert "12.5 GB/s" in caught.value.hint


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        *(("51ms", 0.051), ("5us", 5e-6), ("5µs", 5e-6), ("5μs", 5e-6), ("0.2s", 0.2), ("0", 0.0), ("0.0", 0.0), ("0ms", 0.0), ("3ns", 3e-9)),
        *(("2 sec", 2.0), ("2min", 120.0), ("1h", 3600.0), ("1e3us", 1e-3), (".5s", 0.5), ("1_000ms", 1.0)),
    ],
)
def test_times(text, seconds):
    assert parse_time(text) == seconds


@pytest.mark.parametrize("text", ["", "5", "0.2", "-5ms", "-1", "5m", "5MS", "5 m s", "ms", "5days", "inf", "nan", "1e99s", "5ms6us"])
def test_times_refused(text):
    refused(parse_time, text)


@pytest.mark.parametrize(
    ("parse", "text", "said"),
    [
        (parse_time, "1 second", "unknown time unit 'second' in '1 second'"),
        (parse_time, "1GB", "unknown time unit 'GB' in '1GB'"),
        (parse_time, "5", "time without a unit: '5'"),
        (parse_rate, "100GB", "unknown data rate unit 'GB' in '100GB'"),
        (parse_rate, "100", "data rate without a clear unit: '100'"),
        (parse_size, "5ms", "unknown size unit 'ms' in '5ms'"),
    ],
)
def test_a_wrong_unit_is_not_called_a_missing_one(parse, text, said):
    with pytest.raises(KvcostError) as caught:
        parse(text)
    assert caught.value.message == said


@pytest.mark.parametrize(
    ("text", "size"),
    [
        *(("512", 512), ("512B", 512), ("1kB", 1000), ("1KB", 1000), ("1KiB", 1024), ("1kiB", 1024), ("1.3GB", 1_300_000_000), ("1.25GiB", 1_342_177_280)),
        *(("1MB", 10**6), ("1TiB", 2**40), ("3 bytes", 3), ("3byte", 3), ("2Gbytes", 2 * 10**9), ("0", 0), ("0.5KiB", 512)),
    ],
)
def test_sizes(text, size):
    assert parse_size(text) == size


@pytest.mark.parametrize("text", ["", "1.5", "0.3B", "-1", "-1GB", "1Gb", "1GBps", "1mB", "GB", "1 G B", "1.0001kiB", "big", "1e99GB"])
def test_sizes_refused(text):
    refused(parse_size, text)


@pytest.mark.parametrize(("text", "count"), [("8", 8), ("1", 1), (" 16 ", 16), ("8.0", 8), ("1e2", 100), ("1000000", 10**6)])
def test_counts(text, count):
    assert parse_count(text) == count


@pytest.mark.parametrize("text", ["", "0", "-8", "1.5", "8x", "8k", "8%", "1000001", "1e-1", "two"])
def test_counts_refused(text):
    refused(parse_count, text)


@pytest.mark.parametrize(("text", "value"), [("0.92", 0.92), ("92%", 0.92), ("1", 1.0), ("-3", -3.0), ("0.5 %", 0.005), ("1e-3", 1e-3)])
def test_numbers(text, value):
    assert parse_number(text) == value


def test_numbers_with_a_unit_of_their_own_and_bounds():
    assert parse_number("3x", unit="x") == 3.0
    refused(lambda text: parse_number(text, minimum=0, maximum=1), "1.5")
    refused(lambda text: parse_number(text, minimum=0, maximum=1), "101%")
    for text in ("", "1x", "one", "nan", "inf", "1,5"):
        refused(parse_number, text)


@pytest.mark.parametrize(
    ("text", "value"), [("512", 512), ("0", 0), ("4k", 4096), ("50%", 0.5), ("0.5", 0.5), ("1.0", 1.0), ("0.0", 0.0), ("100%", 1.0), ("0%", 0.0), ("1", 1)]
)
def test_shares_and_tokens(text, value):
    found = parse_share_or_tokens(text)
    assert found == value
    assert type(found) is type(value), "an integer is tokens, a share a float"


@pytest.mark.parametrize("text", ["", "-1", "-50%", "101%", "1.5", "-0.5", "2.0", "0.5x", "half", "%", "1e10"])
def test_shares_refused(text):
    refused(parse_share_or_tokens, text)


def refused(parse, text):
    with pytest.raises(KvcostError) as caught:
        parse(text)
    assert caught.value.message
    assert caught.value.hint, f"'{text}' is refused without saying what to write: {caught.value.message}"
    assert len(str(caught.value)) < 200
    assert len(caught.value.hint) < 200


@given(st.integers(1, 10**9))
def test_a_plain_integer_is_itself(tokens):
    assert parse_tokens(str(tokens)) == parse_tokens(f"{tokens:_}") == tokens


@given(st.integers(1, 10**6 // 2))
def test_for_tokens_k_is_ki_is_1024(count):
    assert parse_tokens(f"{count}k") == parse_tokens(f"{count}Ki") == parse_tokens(str(count * 1024)) == count * 1024


@given(decimals, prefixes, st.sampled_from(["ps", "/s"]))
def test_bits_are_an_eighth_of_bytes(number, prefix, per):
    bits, octets = f"{number}{prefix}b{per}", f"{number}{prefix}B{per}"
    assert Fraction(parse_rate(octets)) == pytest.approx(8 * Fraction(parse_rate(bits)), rel=1e-15)


@given(decimals, st.sampled_from("kMGT"))
def test_binary_rates_are_larger(number, prefix):
    power = "kMGT".index(prefix) + 1
    assert parse_rate(f"{number}{prefix}iB/s") == pytest.approx(parse_rate(f"{number}{prefix}B/s") * 1.024**power)


@given(decimals, st.sampled_from([("ns", 1e-9), ("us", 1e-6), ("ms", 1e-3), ("s", 1.0), ("min", 60.0), ("h", 3600.0)]))
def test_times_scale(number, unit):
    assert parse_time(number + unit[0]) == pytest.approx(float(number) * unit[1], rel=1e-15)


@given(st.decimals("0", "1", places=6).map(str))
def test_the_nearest_float_is_read(number):
    """The literal is exact until the last division, so 0.1 is the 0.1 of Python."""
    assert parse_number(number) == float(number)
    assert parse_time(number + "s") == float(number)


@given(st.text(max_size=30))
def test_any_text_is_read_or_refused_in_words(text):
    for parse in PARSERS:
        assert readable(parse, text)


@given(st.from_regex(r"[+-]?\d{1,45}(\.\d{1,5})?([eE][+-]?\d{1,3})? ?(k|Ki|GB/s|Gbps|ms|GiB|%)?", fullmatch=True))
def test_numbers_of_any_length_are_read_or_refused_in_words(text):
    for parse in PARSERS:
        assert readable(parse, text)


PARSERS = (parse_tokens, parse_count, parse_number, parse_rate, parse_size, parse_time, parse_share_or_tokens)


def readable(parse, text):
    """Whether a word is a number or an error that says what to write."""
    try:
        return not math.isnan(parse(text))
    except KvcostError as error:
        return bool(error.message and error.hint)
