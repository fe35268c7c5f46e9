"""What a command answers: rows with their columns, where figures come from, and what to beware of."""

from collections.abc import Callable, Iterable
from operator import itemgetter
from typing import Any, NamedTuple

from ..catalog.names import near_names
from ..errors import KvcostError, Notice

__all__ = ["Document", "Source", "keyed", "picked"]


class Source(NamedTuple):
    """The value of a quantity, its provenance (spec, measured, estimate, user), where it is from and whose it is."""

    value: Any
    provenance: str
    source: str
    of: str


def keyed(quantity: str, entry: str, entries: int) -> str:
    """The key of a source: the quantity, with its entry where several take part."""
    return quantity if entries == 1 else f"{quantity}[{entry}]"


class Document(NamedTuple):
    """One command's answer; every output format is a projection of it.

    rows      tuples in the order of `columns`, possibly a stream that can be read once
    total     how many rows, None when that is known only at the end
    notices   complete once the rows are read
    sources   gives quantity → Source; `quantity[entry]` where several entries take part
    passed    columns taken over from a case file as they are
    """

    command: str
    inputs: dict[str, Any]
    columns: tuple[str, ...]
    rows: Iterable[tuple[Any, ...]]
    total: int | None
    notices: list[Notice]
    sources: Callable[[], dict[str, Source]]
    passed: tuple[str, ...] = ()


def picked(document: Document, wanted: tuple[str, ...] | None) -> tuple[tuple[str, ...], Iterable[tuple[Any, ...]]]:
    """The columns asked for, and the rows cut to them. Raises KvcostError for a column that is not there."""
    if wanted is None:
        return document.columns, document.rows
    for column in wanted:
        if column not in document.columns:
            near = near_names(column, document.columns)
            raise KvcostError(
                f"unknown column '{column}'", where="--columns", hint=f"nearest: {', '.join(near)}" if near else "known: " + ", ".join(document.columns)
            )
    places = [document.columns.index(column) for column in wanted]
    if len(places) == 1:
        only = places[0]
        return wanted, ((row[only],) for row in document.rows)
    return wanted, map(itemgetter(*places), document.rows)
