"""Tables and cards on a terminal: styled, wrapped to its width, never cut."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TextIO

from rich.cells import cell_len
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from .cells import Column
from .plain import Line

__all__ = ["RichScreen"]

# Up to so many rows a table that is too wide becomes a block of lines a row; more rows leave wrapping to the terminal.
MOST_BLOCKS = 3
# Of the parts of a line: label, value, range, provenance, note.
STYLES = ("bold", "", "dim", "", "dim")


class RichScreen:
    """Writes tables and cards to a terminal of `width` columns."""

    def __init__(self, stream: TextIO, width: int, color: bool) -> None:
        self.columns = width
        self.width: int | None = width
        encoding = (getattr(stream, "encoding", None) or "utf-8").lower()
        self.unicode = encoding.startswith("utf")
        self.console = Console(
            file=stream,
            width=width,
            force_terminal=color,
            no_color=not color,
            color_system="standard" if color else None,
            highlight=False,
            markup=False,
            emoji=False,
            legacy_windows=False,
            soft_wrap=False,
        )
        self.stream = stream

    def text(self, words: str, style: str = "") -> None:
        """A line of running text, wrapped on a terminal; what is indented stays so."""
        indent = len(words) - len(words.lstrip(" "))
        if not 0 < indent < self.columns // 2:
            self._print(Text(words, style=style, overflow="fold"))
        else:
            self._print(Padding(Text(words[indent:], style=style, overflow="fold"), (0, 0, 0, indent)))

    def _print(self, item: Text | Table | Padding, width: int | None = None) -> None:
        self.console.width = width or self.columns
        with self.console.capture() as captured:
            self.console.print(item)
        shown = "".join(line.rstrip() + "\n" for line in captured.get().split("\n")[:-1])
        encoding = getattr(self.stream, "encoding", None) or "utf-8"
        self.stream.write(shown.encode(encoding, "replace").decode(encoding) if not self.unicode else shown)

    def table(self, columns: Sequence[Column]) -> None:
        """Rows under headings; a few rows that are too wide become one block of lines each."""
        widths = [max(map(cell_len, [column.heading, *column.cells])) for column in columns]
        needed = sum(widths) + 2 * (len(widths) - 1)
        if needed > self.columns and len(columns[0].cells) <= MOST_BLOCKS:
            self._blocks(columns)
            return
        table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
        for column in columns:
            table.add_column(Text(column.heading), justify="right" if column.right else "left", no_wrap=True, overflow="fold", header_style="bold")
        for cells in zip(*(column.cells for column in columns), strict=True):
            table.add_row(*map(Text, cells))
        self._print(table, max(needed, self.columns))

    def _blocks(self, columns: Sequence[Column]) -> None:
        label_width = max(cell_len(column.heading) for column in columns)
        for index in range(len(columns[0].cells)):
            if index:
                self.text("")
            for column in columns:
                self._pair(column.heading, Text(column.cells[index]), label_width)

    def _pair(self, label: str, value: Text, label_width: int) -> None:
        grid = Table.grid(padding=(0, 2, 0, 0))
        grid.add_column(width=min(label_width, max(8, self.columns // 2 - 2)), overflow="fold", style=STYLES[0])
        grid.add_column(overflow="fold")
        grid.add_row(Text(label), value)
        self._print(grid)

    def fits(self, lines: Sequence[Line]) -> bool:
        """Whether a card of these lines keeps its columns."""
        return sum(_widths(lines)) + 8 <= self.columns

    def card(self, lines: Sequence[Line]) -> None:
        """One answer as labelled lines; where the terminal is too narrow, the parts of each one after the other."""
        widths = _widths(lines)
        if not self.fits(lines):
            for line in lines:
                self._stacked(line, widths[0])
            return
        grid = Table.grid(padding=(0, 2, 0, 0))
        for i, style in enumerate(STYLES[:-1]):
            grid.add_column(no_wrap=True, style=style, justify="left", min_width=widths[i])
        grid.add_column(overflow="fold", style=STYLES[-1])
        for line in lines:
            grid.add_row(*map(Text, line))
        self._print(grid)

    def _stacked(self, line: Line, label_width: int) -> None:
        rest = Text("; ").join(Text(part, style) for part, style in zip(line[1:], STYLES[1:], strict=True) if part)
        self._pair(line.label, rest, label_width)


def _widths(lines: Sequence[Line]) -> list[int]:
    """The widest of each part of the lines."""
    return [max((cell_len(line[place]) for line in lines), default=0) for place in range(len(Line._fields))]
