"""A table for a README or a pull request."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TextIO

from .cells import Column

__all__ = ["write_markdown"]


def _cell(text: str) -> str:
    return text.replace("\\", "\\\\").replace("|", "\\|").replace("\n", " ")


def write_markdown(columns: Sequence[Column], stream: TextIO) -> None:
    """Write a pipe table, numbers right-aligned."""
    stream.write("| " + " | ".join(_cell(column.heading) for column in columns) + " |\n")
    stream.write("|" + "|".join(" ---: " if column.right else " --- " for column in columns) + "|\n")
    for cells in zip(*(column.cells for column in columns), strict=True):
        stream.write("| " + " | ".join(map(_cell, cells)) + " |\n")
