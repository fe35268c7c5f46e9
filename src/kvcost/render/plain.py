"""Tables and cards as plain text for pipes and files: as wide as they need, no escape codes.

The same shapes as `terminal` draws, without its start-up time.
"""

from collections.abc import Sequence
from typing import NamedTuple, Protocol, TextIO

from .cells import Column

__all__ = ["Line", "PlainScreen", "Screen"]

GAP = "  "


class Line(NamedTuple):
    """One line of a card: what it is, its figure, its range, its provenance, and a note."""

    label: str
    value: str = ""
    range: str = ""
    provenance: str = ""
    note: str = ""


class Screen(Protocol):
    """Where tables and cards are written; `width` in columns, None without a limit."""

    width: int | None

    def text(self, words: str, style: str = "") -> None:
        """A line of running text."""

    def table(self, columns: Sequence[Column]) -> None:
        """Rows under headings."""

    def fits(self, lines: Sequence[Line]) -> bool:
        """Whether a card of these lines keeps its columns."""

    def card(self, lines: Sequence[Line]) -> None:
        """One answer as labelled lines."""


class PlainScreen:
    """Writes to a pipe or a file."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream
        self.width: int | None = None

    def text(self, words: str, style: str = "") -> None:  # noqa: ARG002
        """A line of running text."""
        self.stream.write(words + "\n")

    def table(self, columns: Sequence[Column]) -> None:
        """Rows under headings, numbers to the right."""
        widths = [max(map(len, [column.heading, *column.cells])) for column in columns]
        headings = [column.heading for column in columns]
        for cells in [headings, *zip(*(column.cells for column in columns), strict=True)]:
            placed = [cell.rjust(width) if column.right else cell.ljust(width) for cell, width, column in zip(cells, widths, columns, strict=True)]
            self.text(GAP.join(placed).rstrip())

    def fits(self, lines: Sequence[Line]) -> bool:  # noqa: ARG002
        """Everything does."""
        return True

    def card(self, lines: Sequence[Line]) -> None:
        """One answer as labelled lines, in columns."""
        widths = [max((len(line[place]) for line in lines), default=0) for place in range(len(Line._fields))]
        for line in lines:
            self.text(GAP.join(cell.ljust(width) for cell, width in zip(line, widths, strict=True) if width).rstrip())
