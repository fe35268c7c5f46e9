"""What a person sees of `check`: a line for each preset that passes, every broken limit in full."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

from .plain import Screen

__all__ = ["show_checks"]

Row = Mapping[str, Any]


def show_checks(rows: Sequence[Row], summary: str, screen: Screen) -> None:
    """Print the presets in the order in which they were checked, and the summary below."""
    passed = []
    for preset, found in groupby(rows, key=lambda row: row["preset"]):
        limits = list(found)
        broken = [row for row in limits if not row["met"]]
        if not broken:
            passed.append((preset, limits))
            continue
        _flush(passed, screen)
        screen.text(f"FAIL  {preset}  {len(broken)} of {len(limits)} limits broken", "bold red")
        for row in broken:
            screen.text(f"      {row['file']}:{row['line']}:{row['column']}: {row['message']}")
            if row["hint"]:
                screen.text(f"        change: {row['hint']}", "dim")
    _flush(passed, screen)
    if summary:
        screen.text("" if not rows else "\n" + summary)


def _flush(passed: list[tuple[str, list[Row]]], screen: Screen) -> None:
    """Presets that passed, as one block of lines."""
    for preset, limits in passed:
        screen.text(f"ok    {preset}  {', '.join(row['limit'] for row in limits)}")
    passed.clear()
