"""What a limit asks of an output field: `"> 0"`, `"< 50ms"`, `disaggregate`, and whether a value meets it."""

from __future__ import annotations

import math
import re
import types
import typing
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from ..cases.gains import GainRow
from ..cases.transfer import TransferRow
from ..cases.values import BASES
from ..catalog.names import near_names, normalise
from ..cost.overlap import OVERLAPS
from ..cost.words import OBJECTIVES, VERDICTS
from ..errors import KvcostError
from ..presets.read import Limit
from ..units.parse import parse_number, parse_rate, parse_size, parse_time, parse_tokens
from ..units.show import show_rate, show_significant, show_time

__all__ = ["CHOICES", "FIELDS", "Bound", "bounds_of", "kind_of", "listed", "met", "overrun", "shown"]

# Word fields with a closed choice.
CHOICES: dict[str, tuple[str, ...]] = {
    "verdict": VERDICTS,
    "limit": ("prefill", "decode-compute", "decode-memory", "link"),
    "first_token": ("prefill", "decode"),
    "overlap": OVERLAPS,
    "basis": BASES,
    "objective": OBJECTIVES,
    "provenance": ("spec", "measured", "estimate", "user"),
}
# Lists, and what is worked out for people alone → the fields that a limit can speak of in their place.
_NO_LIMIT = {
    "breakeven_ctx_tokens": ("threshold_tokens", "breakeven_osl_tokens", "net_gain_s"),
    **dict.fromkeys(("reason", "what_if"), ("verdict", "net_gain_s")),
    **dict.fromkeys(("layout", "runner_up", "layout_remark"), ("verdict", "net_gain_s", "goodput_disagg_per_gpu")),
    **dict.fromkeys(("prefill_elsewhere", "saved_needed"), ("breakeven_saved_s", "net_gain_s")),
}
_BOUND = re.compile(r"^\s*(<=|>=|==|!=|<|>|=|≤|≥|≠|)\s*(.*?)\s*$", re.DOTALL)
# Where the next of several comparisons begins, and what stands between the ends of a range.
_NEXT = re.compile(r"\s*(?:,|;|&+|\band\b)?\s*(?=[<>≤≥])")
_RANGE = re.compile(r"(.*\w)\s*\.\.+\s*(\S.*)", re.DOTALL)
_PLAIN = re.compile(r"\d[\d_]*(\.\d+)?")
_SAME = {"=": "==", "≤": "<=", "≥": ">=", "≠": "!="}
_SHARES = ("efficiency", "link_utilisation")


class Bound(NamedTuple):
    """One side of a limit: the value of `field` stands in relation `sign` to `value`, a number in base units or allowed words.

    text   as it is written; place and key where it and its field stand
    """

    field: str
    sign: str
    value: float | tuple[str, ...]
    text: str
    limit: Limit


def _fields() -> dict[str, str]:
    """Output field → number or word."""
    found = {}
    for row in (TransferRow, GainRow):
        for name, annotation in typing.get_type_hints(row).items():
            if name not in _NO_LIMIT:
                found[name] = "word" if "str" in _names_of(annotation) else "number"
    return found


def _names_of(annotation: Any) -> tuple[str, ...]:
    parts = typing.get_args(annotation) if isinstance(annotation, types.UnionType) else (annotation,)
    return tuple(getattr(part, "__name__", str(part)) for part in parts)


FIELDS = _fields()
# Fields of whole numbers, which a limit may well ask to be one.
_WHOLE = {
    name for row in (TransferRow, GainRow) for name, annotation in typing.get_type_hints(row).items() if {"int"} == {*_names_of(annotation)} - {"NoneType"}
}
_UNITS: dict[str, tuple[Callable[[str], float], str, str]] = {
    # kind: what reads it, its base unit, an example
    "rate": (parse_rate, "bytes/s", "12GB/s"),
    "bytes": (parse_size, "bytes", "1.3GB"),
    "time": (parse_time, "seconds", "50ms"),
    "tokens": (lambda text: parse_tokens(text, minimum=0), "tokens", "4k"),
    "share": (parse_number, "a share", "0.7 or 70%"),
    "number": (parse_number, "a number", "2"),
}


def kind_of(field: str) -> str:
    """What a field is, told by the end of its name: word, rate, bytes, time, tokens, share or number.

    >>> kind_of("transfer_s"), kind_of("rate_per_s"), kind_of("bandwidth_bytes_per_s"), kind_of("verdict")
    ('time', 'number', 'rate', 'word')
    """
    if FIELDS.get(field) == "word":
        return "word"
    if field.endswith("_bytes_per_s"):
        return "rate"
    if field.endswith(("_bytes", "_bytes_per_token")):
        return "bytes"
    if field.endswith("_s") and not field.endswith("_per_s"):
        return "time"
    if field.endswith("_tokens"):
        return "tokens"
    return "share" if field in _SHARES else "number"


def bounds_of(limit: Limit) -> list[Bound]:
    """The bounds that a limit of a preset sets: one, or several that must all hold where a list of comparisons is given.

    Raises KvcostError, at its place in the file, for an unknown field and for a bound that cannot be read.
    """
    field = limit.field
    if field not in FIELDS:
        raise _no_field(field).at(str(limit.key))
    try:
        if kind_of(field) == "word":
            return [_words(limit)]
        items = limit.bound if isinstance(limit.bound, list) and limit.bound else [limit.bound]
        return [_number(limit, item) for item in items]
    except KvcostError as error:
        raise error.at(str(limit.place)) from None


def _no_field(field: str) -> KvcostError:
    if field in _NO_LIMIT:
        return KvcostError(f"limit on '{field}': it has no single value", hint=f"a limit can ask for {listed(_NO_LIMIT[field])}")
    near = near_names(field, FIELDS)
    hint = f"did you mean {' or '.join(near)}?" if near else "`kvcost explain` lists the fields"
    return KvcostError(f"limit on '{field}': no output field has that name", hint=hint)


def _text(limit: Limit, value: object) -> str:
    if isinstance(value, bool):
        raise KvcostError(f"YAML reads the bound of {limit.field} as a boolean", hint="quote it")
    if not isinstance(value, str | int | float) or not str(value).strip():
        raise KvcostError(f"the limit on {limit.field} has no bound", hint=_example(limit.field))
    return " ".join(str(value).split())


def _example(field: str) -> str:
    if kind_of(field) == "word":
        choice = CHOICES.get(field, ("word",))
        return f'write {field}: {choice[0]}, or "!= {choice[-1]}"'
    example = _UNITS[kind_of(field)][2].split(" ")[0]
    return f'write {field}: "< {example}", or ">" for the least it may be'


def _parts(text: str) -> tuple[str, str]:
    """The comparison in front of a bound, empty where there is none, and the rest."""
    sign, rest = _BOUND.findall(text)[0]
    return _SAME.get(sign, sign), rest


def _words(limit: Limit) -> Bound:
    """Words that a field may have (or, with !=, may not have)."""
    items = limit.bound if isinstance(limit.bound, list) and limit.bound else [limit.bound]
    texts = [_text(limit, item) for item in items]
    signs, words = set(), []
    for text in texts:
        sign, rest = _parts(text)
        signs.add(sign or "==")
        words += [word.strip() for word in rest.split(",")]
    sign = signs.pop()
    if signs or sign not in ("==", "!="):
        raise KvcostError(f"{limit.field} is a word: '{', '.join(texts)}' does not compare words", hint=_example(limit.field))
    for word in words:
        known = CHOICES.get(limit.field)
        if not word or (known is not None and normalise(word) not in map(normalise, known)):
            raise KvcostError(f"{limit.field} is never '{word}'", hint="write one of " + ", ".join(known or ("a word",)))
    return Bound(limit.field, sign, tuple(words), ", ".join(texts), limit)


def _number(limit: Limit, item: object) -> Bound:
    text = _text(limit, item)
    sign, rest = _parts(text)
    several = _several(limit.field, text)
    if several:
        listing = ", ".join(f'"{part}"' for part in several)
        raise KvcostError(f"the bound '{text}' of {limit.field} is {len(several)} comparisons", hint=f"write them as a list: {limit.field}: [{listing}]")
    if not sign:
        equal = f'"== {text}", ' if limit.field in _WHOLE else ""
        hint = f'write {limit.field}: {equal}"< {text}" or "> {text}"' if _readable(limit.field, rest) else _example(limit.field)
        raise KvcostError(f"the bound '{text}' of {limit.field} does not say on which side of it the value must lie", hint=hint)
    return Bound(limit.field, sign, _value(limit.field, text, rest), text, limit)


def _several(field: str, text: str) -> list[str]:
    """The comparisons that somebody wrote into one text, such as a range; none where it is not several."""
    ends = _RANGE.fullmatch(text)
    if ends and all(_readable(field, end) for end in ends.groups()):
        return [f"> {ends[1]}", f"< {ends[2]}"]
    parts = [part for part in _NEXT.split(text) if part]
    return parts if len(parts) > 1 and all(_parts(part)[0] and _readable(field, _parts(part)[1]) for part in parts) else []


def _readable(field: str, text: str) -> bool:
    try:
        _value(field, text, text)
    except KvcostError:
        return False
    return True


def _value(field: str, text: str, rest: str) -> float:
    """A number in the field's base unit, with or without its unit."""
    kind = kind_of(field)
    parse, unit, example = _UNITS[kind]
    negative, digits = rest.startswith("-"), rest.lstrip("+-").strip()
    try:
        value = parse_number(digits)
    except KvcostError:
        value = math.nan
    a_share = digits.endswith("%") and kind != "share"
    if math.isnan(value) or a_share:
        try:
            if a_share:
                raise KvcostError("a percentage")
            value = float(parse(digits))
        except KvcostError as error:
            bad = f"cannot read the bound '{text}' of {field}" if not digits[:1].isdigit() else f"the bound '{text}' of {field} is no {_NOUNS[kind]}"
            hint = f"{field} is in {unit}: write it as {example}, or as a plain number" if kind in ("rate", "bytes", "time", "tokens") else f"write {example}"
            plain = _PLAIN.match(digits)
            if kind == "number" and plain:
                hint = f"{field} is a plain number: write {plain[0]}"
            raise KvcostError(bad, hint=hint) from error
    if not math.isfinite(value) or rest.startswith(("--", "+-", "-+", "++")):
        raise KvcostError(f"cannot read the bound '{text}' of {field}", hint=_example(field))
    return -value if negative else value


_NOUNS = {"rate": "data rate", "bytes": "size", "time": "time", "tokens": "token count", "share": "share", "number": "plain number"}


def met(bound: Bound, value: Any) -> bool:
    """Whether a value stands in the relation asked for; no value never does.

    >>> from ..presets.trees import Place
    >>> place = Place("p.yaml", 1, 1)
    >>> met(bounds_of(Limit("transfer_s", "< 50ms", place, place))[0], 0.049)
    True
    """
    if value is None:
        return False
    if isinstance(bound.value, tuple):
        among = normalise(str(value)) in map(normalise, bound.value)
        return among == (bound.sign == "==")
    number = bound.value
    close = math.isclose(value, number, rel_tol=1e-9)
    holds = {"<": value < number, "<=": value <= number, ">": value > number, ">=": value >= number, "==": close, "!=": not close}
    return bool(holds[bound.sign])


def overrun(bound: Bound, value: Any) -> float | None:
    """How far a value lies beyond its bound, in base units; negative: how much is left. None for words and for no value."""
    if value is None or isinstance(bound.value, tuple):
        return None
    above = float(value - bound.value)
    if bound.sign == "!=":
        return -abs(above)
    return {"<": above, "<=": above, ">": -above, ">=": -above, "==": abs(above)}[bound.sign]


def listed(words: Iterable[str], last: str = "or") -> str:
    """Words as a sentence lists them.

    >>> listed(["a", "b", "c"]), listed(["a"])
    ('a, b or c', 'a')
    """
    *front, end = words
    return f"{', '.join(front)} {last} {end}" if front else end


def shown(field: str, value: Any) -> str:
    """A value of a field for people, with its unit.

    >>> shown("transfer_s", 0.1167), shown("link_utilisation", 0.233), shown("verdict", "mixed"), shown("net_gain_s", None)
    ('116.7 ms', '23.3%', 'mixed', 'no value')
    """
    kind = kind_of(field)
    if value is None:
        return "no value"
    if kind == "word":
        return str(value)
    sign, size = "-" if value < 0 else "", abs(value)
    if kind == "time":
        return sign + show_time(size)
    if kind == "rate":
        return sign + show_rate(size)
    if kind == "share":
        return f"{value:.1%}"
    number = f"{size:,}" if isinstance(value, int) else show_significant(size)
    return sign + number + {"bytes": " B", "tokens": " tokens"}.get(kind, "")
