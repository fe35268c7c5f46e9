"""One quantity from one word.

Every parser takes the text a person typed and returns the value in base units, exactly where
that is possible: the decimal literal is kept as an integer ratio until the last division.
"""

from __future__ import annotations

import math
import re

from ..errors import KvcostError

__all__ = ["MAX_TOKENS", "parse_count", "parse_number", "parse_rate", "parse_share_or_tokens", "parse_size", "parse_time", "parse_tokens"]

MAX_TOKENS = 10**9
_MAX_EXPONENT = 30

_WORD = re.compile(r"\s*([+-]?)(\d[\d_]*)?(?:\.(\d+))?(?:[eE]([+-]?\d{1,3}))?\s*([^\d\s.].*?)?\s*", re.DOTALL)
_RATE_UNIT = re.compile(r"([kKMmGgTt]?)(i?)(b|bit|bits|B|byte|bytes)(?:/s|ps|/sec)")
_SIZE_UNIT = re.compile(r"([kKMGT]?)(i?)(?:B|byte|bytes)")
_TOKEN_UNIT = {"": 1, "k": 1024, "ki": 1024, "m": 1024**2, "mi": 1024**2}
_TIME_UNIT = {
    "ns": (1, 10**9),
    "us": (1, 10**6),
    "µs": (1, 10**6),
    "μs": (1, 10**6),
    "ms": (1, 10**3),
    "s": (1, 1),
    "sec": (1, 1),
    "min": (60, 1),
    "h": (3600, 1),
}
_POWER = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4}
_INFINITE = {"inf", "infinite", "infinity", "unlimited"}
_EXAMPLES = {
    "token count": "4096, 4k or 4Ki",
    "whole number": "8",
    "number": "0.92 or 92%",
    "data rate": "100Gbps or 12.5GB/s",
    "size": "1.3GB or 1.25GiB",
    "time": "51ms, 5us or 0.2s",
}


def _split(text: str, quantity: str) -> tuple[int, int, str]:
    """The literal as an exact ratio (numerator, denominator) and the unit that follows it."""
    match = _WORD.fullmatch(text)
    hint = f"write a {quantity} such as {_EXAMPLES[quantity]}"
    if match is None or (match[2] is None and match[3] is None):
        raise KvcostError(f"not a {quantity}: {_quote(text)}", hint=hint)
    sign, whole, fraction, exponent, unit = match.groups()
    digits = (whole or "0").replace("_", "") + (fraction or "")
    power = int(exponent or 0) - len(fraction or "")
    if len(digits) > 40 or abs(power) > _MAX_EXPONENT:
        raise KvcostError(f"{quantity} out of any sensible range: {_quote(text)}", hint=hint)
    numerator, denominator = int(digits), 1
    if power >= 0:
        numerator *= 10**power
    else:
        denominator = 10**-power
    return (-numerator if sign == "-" else numerator), denominator, unit or ""


def _quote(text: str) -> str:
    shown = text if len(text) <= 40 else text[:37] + "..."
    return f"'{shown}'"


def _scale(prefix: str, binary: str) -> int:
    power = _POWER[prefix.lower()]
    return int((1024 if binary else 1000) ** power)


def parse_tokens(text: str, *, minimum: int = 1, maximum: int = MAX_TOKENS) -> int:
    """A token count; for tokens k and Ki both mean 1024.

    >>> parse_tokens("4k"), parse_tokens("4096"), parse_tokens("1.5k"), parse_tokens("1Mi")
    (4096, 4096, 1536, 1048576)

    Raises KvcostError for anything that is not a whole number of tokens in minimum..maximum.
    """
    numerator, denominator, unit = _split(text, "token count")
    suffix = unit.lower()
    for word in ("tokens", "token", "tok"):
        suffix = suffix.removesuffix(word).strip()
    factor = _TOKEN_UNIT.get(suffix)
    if factor is None:
        raise KvcostError(f"unknown token unit '{unit}' in {_quote(text)}", hint="write 4096, 4k or 4Ki (k = Ki = 1024 for tokens)")
    tokens, rest = divmod(numerator * factor, denominator)
    if rest:
        raise KvcostError(f"not a whole number of tokens: {_quote(text)}", hint="write a whole number such as 4096 or 4k")
    if not minimum <= tokens <= maximum:
        raise KvcostError(f"token count {_quote(text)} is outside {minimum}..{maximum:,}", hint=f"give a value between {minimum} and {maximum:,}")
    return tokens


def parse_count(text: str, *, minimum: int = 1, maximum: int = 10**6) -> int:
    """A plain whole number: ranks, rails, instances.

    >>> parse_count("8")
    8
    """
    numerator, denominator, unit = _split(text, "whole number")
    if unit or numerator % denominator:
        raise KvcostError(f"not a whole number: {_quote(text)}", hint="write a whole number such as 8")
    value = numerator // denominator
    if not minimum <= value <= maximum:
        raise KvcostError(f"{value} is outside {minimum}..{maximum:,}", hint=f"give a value between {minimum} and {maximum:,}")
    return value


def parse_number(text: str, *, minimum: float = -math.inf, maximum: float = math.inf, unit: str = "") -> float:
    """A plain number, or a percentage where `unit` is empty.

    >>> parse_number("0.92"), parse_number("92%")
    (0.92, 0.92)
    """
    numerator, denominator, suffix = _split(text, "number")
    if suffix == "%":
        denominator *= 100
    elif suffix not in ("", unit):
        raise KvcostError(f"unexpected '{suffix}' after the number in {_quote(text)}", hint="write a plain number")
    value = numerator / denominator
    if not minimum <= value <= maximum:
        hint = f"give a value between {minimum:g} and {maximum:g}"
        if maximum <= 1 < value <= 100 * maximum and not suffix:
            hint += f"; {value:g} % is written {value / 100:g} or {value:g}%"
        raise KvcostError(f"{_quote(text)} is outside {minimum:g}..{maximum:g}", hint=hint)
    return value


def parse_rate(text: str) -> float:
    """A data rate in bytes/s, one direction; b is bit, B is byte; `inf` is unlimited.

    >>> parse_rate("100Gbps"), parse_rate("100GBps"), parse_rate("12.5GB/s"), parse_rate("inf")
    (12500000000.0, 100000000000.0, 12500000000.0, inf)

    Raises KvcostError for a bare number (bits or bytes?) and for zero or less.
    """
    if text.strip().lower() in _INFINITE:
        return math.inf
    numerator, denominator, unit = _split(text, "data rate")
    match = _RATE_UNIT.fullmatch(unit)
    if match is None:
        digits = text.strip()[: len(text.strip()) - len(unit)].strip() or "100"
        raise KvcostError(
            f"unknown data rate unit '{unit}' in {_quote(text)}" if unit else f"data rate without a clear unit: {_quote(text)}",
            hint=f"b is bit and B is byte: write {digits}Gbps (= {_eighth(numerator, denominator)} GB/s) or {digits}GB/s",
        )
    prefix, binary, kind = match.groups()
    numerator *= _scale(prefix, binary)
    if kind.startswith("b") and kind not in ("byte", "bytes"):
        denominator *= 8
    if numerator <= 0:
        raise KvcostError(f"data rate must be above zero: {_quote(text)}", hint="write a rate such as 100Gbps or 12.5GB/s")
    return numerator / denominator


def _eighth(numerator: int, denominator: int) -> str:
    return f"{numerator / denominator / 8:g}"


def parse_size(text: str) -> int:
    """A size in whole bytes (decimal kB MB GB or binary KiB MiB GiB).

    >>> parse_size("1.25GiB"), parse_size("1.3GB"), parse_size("512")
    (1342177280, 1300000000, 512)
    """
    numerator, denominator, unit = _split(text, "size")
    match = _SIZE_UNIT.fullmatch(unit) if unit else _SIZE_UNIT.fullmatch("B")
    if match is None:
        raise KvcostError(f"unknown size unit '{unit}' in {_quote(text)}", hint="write bytes such as 1.3GB or 1.25GiB")
    value, rest = divmod(numerator * _scale(match[1], match[2]), denominator)
    if rest or value < 0:
        raise KvcostError(f"not a whole number of bytes: {_quote(text)}", hint="write a size such as 1.3GB or 1.25GiB")
    return value


def parse_time(text: str) -> float:
    """A duration in seconds; a bare number other than 0 is refused.

    >>> parse_time("51ms"), parse_time("5us"), parse_time("0.2s"), parse_time("0")
    (0.051, 5e-06, 0.2, 0.0)
    """
    numerator, denominator, unit = _split(text, "time")
    if not unit and numerator == 0:
        return 0.0
    scale = _TIME_UNIT.get(unit)
    if scale is None:
        digits = text.strip()[: len(text.strip()) - len(unit)].strip() or "5"
        said = f"unknown time unit '{unit}' in {_quote(text)}" if unit else f"time without a unit: {_quote(text)}"
        raise KvcostError(said, hint=f"write {digits}ms, {digits}us or {digits}s")
    if numerator < 0:
        raise KvcostError(f"time must not be negative: {_quote(text)}", hint="write a duration such as 51ms")
    return (numerator * scale[0]) / (denominator * scale[1])


def parse_share_or_tokens(text: str) -> int | float:
    """A token count (an integer) or a share of the context (`50%`, or a number with a point in 0..1).

    >>> parse_share_or_tokens("512"), parse_share_or_tokens("50%"), parse_share_or_tokens("0.5")
    (512, 0.5, 0.5)
    """
    word = text.strip()
    if word.endswith("%") or ("." in word and word[-1:].isdigit()):
        return float(parse_number(word, minimum=0.0, maximum=1.0))
    return parse_tokens(word, minimum=0)
