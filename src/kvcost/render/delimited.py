"""csv and tsv: a header and a line a row, streamed."""

from __future__ import annotations

import csv
import io
import itertools
import json
from collections.abc import Iterable, Iterator
from typing import Any, TextIO

__all__ = ["write_delimited"]

MOST_ROWS = 1024


def _flat(row: tuple[Any, ...]) -> tuple[Any, ...]:
    """Lists and tuples inside a row as JSON text."""
    return tuple(json.dumps(value) if isinstance(value, list | tuple | dict) else value for value in row)


def _rows(rows: Iterable[tuple[Any, ...]], mixed: bool) -> Iterator[tuple[Any, ...]] | Iterable[tuple[Any, ...]]:
    iterator = iter(rows)
    first = next(iterator, None)
    if first is None:
        return ()
    nested = mixed or any(isinstance(value, list | tuple | dict) for value in first)
    whole = itertools.chain((first,), iterator)
    return map(_flat, whole) if nested else whole


def write_delimited(columns: tuple[str, ...], rows: Iterable[tuple[Any, ...]], stream: TextIO, delimiter: str, *, mixed: bool = False) -> None:
    """Write rows in base units; None is an empty cell, floats round-trip. `mixed`: any row may hold lists, not only the first."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, delimiter=delimiter, lineterminator="\n")
    writer.writerow(columns)
    whole, batch = iter(_rows(rows, mixed)), 1
    while True:
        writer.writerows(itertools.islice(whole, batch))
        text = buffer.getvalue()
        if not text:
            return
        stream.write(text)
        buffer.seek(0)
        buffer.truncate()
        # The first rows at once, later ones in larger pieces: an unbuffered stream pays for every piece.
        batch = min(2 * batch, MOST_ROWS)
