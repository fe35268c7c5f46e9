"""What a person sees of `check`: a line for each preset that passes, every broken limit in full."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

from .cells import harmless
from .plain import Screen

__all__ = ["show_checks"]

Row = Mapping[str, Any]


def show_checks(rows: Sequence[Row], summary: str, screen: Screen) -> None:
    """Print the presets in the order in which they were checked, and the summary below."""
    for preset, found in groupby(rows, key=lambda row: row["preset"]):
        limits = list(found)
        broken = [row for row in limits if not row["met"]]
        if not broken:
            screen.text(harmless(f"ok    {preset}  {', '.join(row['limit'] for row in limits)}"))
            continue
        screen.text(harmless(f"FAIL  {preset}  {len(broken)} of {len(limits)} limits broken"), "bold red")
        for row in broken:
            screen.text(harmless(f"      {row['file']}:{row['line']}:{row['column']}: {row['message']}"))
            if row["hint"]:
                screen.text(harmless(f"        change: {row['hint']}"), "dim")
    if summary:
        screen.text(("\n" if rows else "") + summary)
