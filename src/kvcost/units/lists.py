"""Many quantities from one word: `1k,4k`, `1k..128k`, `1k..32k:+4k`, `1..100Gbps:x10`, `8k..64k:n=50`."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import TypeVar

from ..errors import KvcostError
from .parse import parse_count, parse_number

__all__ = ["MAX_POINTS", "expand", "split_list"]

MAX_POINTS = 10_000_000
_UNIT = re.compile(r"[A-Za-zµμ%][A-Za-zµμ%/]*$")
_HINT = "write LOW..HIGH (doubling), LOW..HIGH:+STEP, LOW..HIGH:xFACTOR or LOW..HIGH:n=POINTS"

Number = TypeVar("Number", int, float)


def split_list(text: str) -> list[str]:
    """The words of a comma list; an empty word is an error.

    >>> split_list("nvlink4, ib-ndr")
    ['nvlink4', 'ib-ndr']
    """
    words = [word.strip() for word in text.split(",")]
    if not all(words):
        raise KvcostError(f"empty item in the list '{text}'", hint="remove the extra comma")
    return words


def expand(text: str, parse: Callable[[str], Number]) -> list[Number]:
    """All values of a list whose items are values or ranges, in the order written.

    >>> from .parse import parse_tokens, parse_rate
    >>> expand("1k..4k,10k", parse_tokens)
    [1024, 2048, 4096, 10240]
    >>> expand("1..100Gbps:x10", parse_rate)
    [125000000.0, 1250000000.0, 12500000000.0]
    """
    values: list[Number] = []
    for word in split_list(text):
        values.extend(_range(word, parse) if ".." in word else [parse(word)])
        if len(values) > MAX_POINTS:
            raise KvcostError(f"'{text}' has more than {MAX_POINTS:,} values", hint="use a larger step")
    return values


def _range(word: str, parse: Callable[[str], Number]) -> list[Number]:
    bounds, colon, rule = word.partition(":")
    low_text, _, high_text = bounds.partition("..")
    if not low_text.strip() or not high_text.strip() or ".." in high_text:
        raise KvcostError(f"not a range: '{word}'", hint=_HINT)
    low, high = _bound(low_text.strip(), high_text.strip(), parse), parse(high_text)
    if not (math.isfinite(low) and math.isfinite(high)):
        raise KvcostError(f"a range needs finite ends: '{word}'", hint=_HINT)
    if low > high:
        raise KvcostError(f"the range '{word}' runs downwards", hint=f"write {high_text.strip()}..{low_text.strip()}")
    if not colon or rule[:1] in ("x", "*"):
        return _geometric(low, high, parse_number(rule[1:]) if rule else 2.0, word)
    if rule[:1] == "+":
        step = _bound(rule[1:].strip(), high_text.strip(), parse)
        return _linear(low, high, step, word)
    if rule.startswith("n="):
        return _spaced(low, high, parse_count(rule[2:], minimum=2, maximum=MAX_POINTS))
    raise KvcostError(f"unknown step '{rule}' in the range '{word}'", hint=_HINT)


def _bound(text: str, high: str, parse: Callable[[str], Number]) -> Number:
    """The low end or the step, which borrows the unit of the high end when it has none of its own."""
    try:
        return parse(text)
    except KvcostError:
        unit = _UNIT.search(high)
        if unit is None or _UNIT.search(text):
            raise
        return parse(text + unit[0])


def _like(value: float, sample: Number) -> Number:
    return round(value) if isinstance(sample, int) else value


def _geometric(low: Number, high: Number, factor: float, word: str) -> list[Number]:
    if factor <= 1 or not math.isfinite(factor):
        raise KvcostError(f"the factor of '{word}' must be above 1", hint=_HINT)
    if low <= 0:
        raise KvcostError(f"a range by factor cannot start at {low}: '{word}'", hint="start above 0, or write LOW..HIGH:+STEP")
    count = math.floor(math.log(high / low) / math.log(factor) + 1e-9) + 1
    if count > MAX_POINTS:
        raise KvcostError(f"'{word}' has more than {MAX_POINTS:,} values", hint="use a larger factor")
    values = [_like(min(low * factor**i, high), low) for i in range(count)]
    return [value for i, value in enumerate(values) if i == 0 or value != values[i - 1]]


def _linear(low: Number, high: Number, step: Number, word: str) -> list[Number]:
    if step <= 0:
        raise KvcostError(f"the step of '{word}' must be above 0", hint=_HINT)
    whole = isinstance(low, int) and isinstance(high, int) and isinstance(step, int)
    count = ((high - low) // step if whole else math.floor((high - low) / step + 1e-9)) + 1
    if count > MAX_POINTS:
        raise KvcostError(f"'{word}' has more than {MAX_POINTS:,} values", hint="use a larger step")
    return [min(low + step * i, high) for i in range(int(count))]


def _spaced(low: Number, high: Number, points: int) -> list[Number]:
    width = (high - low) / (points - 1)
    values = [_like(low + width * i, low) for i in range(points)]
    values[-1] = high
    return values
