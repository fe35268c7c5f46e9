"""The lines of a case file → one case a row: JSON lines or CSV, each row that cannot be read an error of its own.

A case is its keys and its cells, in the same order; the rows of a CSV file share one tuple of keys.
"""

import csv
import itertools
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from ..errors import KvcostError

__all__ = ["EMPTY", "Case", "read_cases"]

EMPTY = 'write CSV with a header, or JSON lines such as {"model": "llama2-70b", "ctx": 4096}'
Numbered = Iterable[tuple[int, str]]
Case = tuple[tuple[str, ...], Sequence[Any]]


def read_cases(name: str, lines: Iterable[str]) -> Iterator[tuple[int, Case | KvcostError]]:
    """Line number and case of each row; a row that cannot be read is its error. Raises KvcostError for a file without cases."""
    numbered = enumerate(lines, 1)
    first = next(((number, line) for number, line in numbered if line.strip("\ufeff \t\r\n")), None)
    if first is None:
        raise KvcostError("the file holds no case", where=name, hint=EMPTY)
    if not _is_text(first[1]):
        raise KvcostError("not UTF-8 text", where=name, hint="save the file as UTF-8; " + EMPTY)
    if first[1].lstrip("\ufeff \t").startswith("["):
        raise KvcostError("a JSON list, not a case a line", where=name, hint=f"{EMPTY}; jq -c '.[]' makes lines of a list")
    whole = itertools.chain((first,), numbered)
    if first[1].lstrip("\ufeff \t").startswith("{"):
        for number, line in whole:
            if line.strip():
                yield number, _json_case(line.lstrip("\ufeff")) if _is_text(line) else _NOT_TEXT
        return
    yield from _csv_cases(name, whole)


def _csv_cases(where: str, numbered: Numbered) -> Iterator[tuple[int, Case | KvcostError]]:
    """Cases of a CSV file, each with the line on which it ends; blank rows are none."""
    at, whole = 0, True

    def source() -> Iterator[str]:
        nonlocal at, whole
        for number, line in numbered:
            at = number
            whole = whole and _is_text(line)
            yield line.lstrip("\ufeff")

    text = source()
    first = next(text, "")
    rows = csv.reader(itertools.chain((first,), text), delimiter=";" if ";" in first and "," not in first else ",")
    header = tuple(next(rows, ()))
    twice = [name for name, times in Counter(header).items() if times > 1 and name]
    if twice:
        raise KvcostError(f"the column '{twice[0]}' is there twice", where=where, hint="give every column a name of its own")
    while True:
        try:
            row = next(rows, None)
        except csv.Error as error:
            yield at, KvcostError(f"not a row of CSV: {error}", hint="quote cells that hold commas or quotes, and keep each below 128 KiB")
            continue
        if row is None:
            return
        if not whole:
            whole = True
            yield at, _NOT_TEXT
        elif "".join(row).strip():
            yield at, _csv_case(header, row)


def _csv_case(header: tuple[str, ...], row: Sequence[str]) -> Case | KvcostError:
    missing = len(header) - len(row)
    if missing < 0:
        return KvcostError("the row has more cells than the header", hint="quote cells that hold commas")
    return header, (*row, *[None] * missing) if missing else row


def _finite(text: str) -> float:
    value = float(text)
    if value - value:
        raise ValueError(f"{text} is no number that JSON can hold")
    return value


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """The object of these pairs. JSON lets the last of equal keys win in silence; here none does."""
    found = dict(pairs)
    if len(found) != len(pairs):
        twice = next(key for key, times in Counter(key for key, _ in pairs).items() if times > 1)
        raise KvcostError(f"the key '{twice}' is there twice", hint="keep one of them")
    return found


_decode = json.JSONDecoder(parse_float=_finite, parse_constant=_finite, object_pairs_hook=_unique).decode


def _is_text(line: str) -> bool:
    """Whether a line is UTF-8: bytes that are not were read as lone surrogates."""
    return line.isascii() or not any("\udc80" <= char <= "\udcff" for char in line)


_NOT_TEXT = KvcostError("not UTF-8 text", hint="save the file as UTF-8")


def _json_case(line: str) -> Case | KvcostError:
    try:
        case = _decode(line)
    except KvcostError as error:
        return error
    except (ValueError, RecursionError) as error:
        return KvcostError(f"not a JSON object: {error}", hint='write one object a line, such as {"model": "llama2-70b", "ctx": 4096}')
    return (tuple(case), tuple(case.values())) if isinstance(case, dict) else KvcostError("not a JSON object", hint="write one object a line")
