"""A file of cases, one a row (JSONL or CSV): keys are option names, other keys pass through."""

import csv
import itertools
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from ..errors import KvcostError, Notice
from .document import Document
from .plan import Make, Options
from .reading import Reader

__all__ = ["Priced", "price_cases"]


class Priced:
    """How many rows of a case file were answered and how many were not."""

    def __init__(self) -> None:
        self.good = 0
        self.bad = 0


_EMPTY = 'write CSV with a header, or JSON lines such as {"model": "llama2-70b", "ctx": 4096}'
Numbered = Iterable[tuple[int, str]]


def _cases(name: str, lines: Iterable[str]) -> Iterator[tuple[int, Mapping[str, Any] | KvcostError]]:
    """Line number and case of each row; a row that cannot be read is its error."""
    numbered = enumerate(lines, 1)
    first = next(((number, line) for number, line in numbered if line.strip("\ufeff \t\r\n")), None)
    if first is None:
        raise KvcostError("the file holds no case", where=name, hint=_EMPTY)
    whole = itertools.chain((first,), numbered)
    if first[1].lstrip("\ufeff \t").startswith("{"):
        for number, line in whole:
            if line.strip():
                yield number, _json_case(line.lstrip("\ufeff"))
        return
    yield from _csv_cases(whole)


def _csv_cases(numbered: Numbered) -> Iterator[tuple[int, Mapping[str, Any] | KvcostError]]:
    """Cases of a CSV file, each with the line on which it ends; blank rows are none."""
    at = 0

    def source() -> Iterator[str]:
        nonlocal at
        for number, line in numbered:
            at = number
            yield line.lstrip("\ufeff")

    rows = csv.DictReader(source())
    while True:
        try:
            row = next(rows, None)
        except csv.Error as error:
            yield at, KvcostError(f"not a row of CSV: {error}", hint="quote cells that hold commas or quotes, and keep each below 128 KiB")
            continue
        if row is None:
            return
        if None in row:
            yield at, KvcostError("the row has more cells than the header", hint="quote cells that hold commas")
        elif any(cell and not cell.isspace() for cell in row.values()):
            yield at, row


def _finite(text: str) -> float:
    value = float(text)
    if value - value:
        raise ValueError(f"{text} is no number that JSON can hold")
    return value


def _json_case(line: str) -> Mapping[str, Any] | KvcostError:
    try:
        case = json.loads(line, parse_float=_finite, parse_constant=_finite)
    except (ValueError, RecursionError) as error:
        return KvcostError(f"not a JSON object: {error}", hint='write one object a line, such as {"model": "llama2-70b", "ctx": 4096}')
    return case if isinstance(case, dict) else KvcostError("not a JSON object", hint="write one object a line")


def _word(option: str, value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise KvcostError(f"{option}: needs text or a number, not {type(value).__name__}", hint="one case a row: give single values")
    return value if isinstance(value, str) else repr(value)


class _Keys(dict[str, str]):
    """The option that each key of a case names, "" for a key that is passed through."""

    def __init__(self, known: Iterable[str]) -> None:
        super().__init__()
        self.known = frozenset(known)

    def __missing__(self, key: str) -> str:
        option = key.strip().replace("-", "_")
        self[key] = option if option in self.known else ""
        return self[key]


def _split(case: Mapping[str, Any], keys: _Keys) -> tuple[dict[str, list[str]], dict[str, Any]]:
    """Options and passed-through values of a case."""
    options, extra = {}, {}
    for key, value in case.items():
        option = keys[key]
        if not option:
            extra[key] = value
        elif value is not None and value != "":
            options[option] = [value if value.__class__ is str else _word(option, value)]
    return options, extra


def price_cases(
    make: Make,
    reader: Reader,
    name: str,
    lines: Iterable[str],
    defaults: Options,
    known: Iterable[str],
    report: Callable[[KvcostError], None],
    *,
    explain: bool = False,
) -> tuple[Document, Priced]:
    """The document of all cases in the lines of a file (called `name` in messages), read and priced as it streams.

    A row that cannot be answered is handed to `report` with its line, and the others still run.
    Raises KvcostError when not one row can be answered.
    """
    tally, notices = Priced(), []
    seen: set[tuple[str, str]] = set()
    keys = _Keys(known)

    def answers() -> Iterator[tuple[Document, tuple[Any, ...], dict[str, Any]]]:
        for number, case in _cases(name, lines):
            try:
                if isinstance(case, KvcostError):
                    raise case
                options, extra = _split(case, keys)
                document = make(reader, {**defaults, **options}, explain=explain)
                if document.total != 1:
                    raise KvcostError("the row stands for several cases", hint="give single values in a row; lists belong on the command line")
                row = next(iter(document.rows))
            except KvcostError as error:
                tally.bad += 1
                report(KvcostError(str(error), hint=error.hint, where=f"{name}:{number}"))
                continue
            tally.good += 1
            for notice in document.notices:
                if notice[:2] not in seen and len(seen) < 1000:
                    seen.add(notice[:2])
                    notices.append(notice)
            yield document, row, extra

    stream = answers()
    first = next(stream, None)
    if first is None and not tally.bad:
        raise KvcostError("the file holds no case", where=name, hint=_EMPTY)
    if first is None:
        raise KvcostError("no row could be answered", where=name, hint="see the errors above")
    document, _, extra = first
    extras = {key: key if key not in document.columns else f"{key}_input" for key in extra}
    rows = _with_extras(itertools.chain((first,), stream), extras, notices)
    return document._replace(inputs={"input": name, **defaults}, columns=(*document.columns, *extras.values()), rows=rows, total=None, notices=notices), tally


def _with_extras(
    answers: Iterable[tuple[Document, tuple[Any, ...], dict[str, Any]]], extras: Mapping[str, str], notices: list[Notice]
) -> Iterator[tuple[Any, ...]]:
    dropped: set[str] = set()
    for _, row, extra in answers:
        for key in extra.keys() - extras.keys() - dropped:
            dropped.add(key)
            notices.append(Notice("extra-key-dropped", f"the key '{key}' is not in the first row and is left out", "give the first row all keys"))
        yield (*row, *(extra.get(key) for key in extras)) if extras else row
