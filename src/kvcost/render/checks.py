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
            screen.text(harmless(f"ok    {preset}  {', '.join(dict.fromkeys(row['limit'] for row in limits))}"))
            continue
        screen.text(harmless(f"FAIL  {preset}  {len(broken)} of {len(limits)} limits broken"), "bold red")
        _show_broken(broken, screen)
    if summary:
        screen.text(("\n" if rows else "") + summary)


def _show_broken(broken: Sequence[Row], screen: Screen) -> None:
    """The broken limits of a preset, those that one change mends above it; a reason that several have, once."""
    told = set()
    for hint in dict.fromkeys(row["hint"] for row in broken):
        for row in broken:
            if row["hint"] == hint:
                reason = row["reason"]
                message = row["message"].removesuffix(f" ({reason})") if reason in told else row["message"]
                screen.text(harmless(f"      {row['file']}:{row['line']}:{row['column']}: {message}"))
                told.add(reason)
        if hint and hint not in told:
            screen.text(harmless(f"        change: {hint}"), "dim")
