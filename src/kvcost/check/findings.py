"""What reports are made of: every broken limit, bad preset and warning as one kind of finding."""

from __future__ import annotations

import re
from typing import NamedTuple

from .document import Checked, CheckRow

__all__ = ["BAD_PRESET", "Finding", "findings"]

BAD_PRESET = "bad-preset"
_PLACE = re.compile(r"(?s)(.+?)(?::(\d+)(?::(\d+))?)?")


class Finding(NamedTuple):
    """Something that is wrong with a preset.

    rule   the limit's field, `bad-preset`, or the code of a warning
    level  error or warning; line and column from 1, 0 where there is none
    """

    preset: str
    file: str
    line: int
    column: int
    rule: str
    level: str
    message: str
    hint: str
    row: CheckRow | None = None

    @property
    def text(self) -> str:
        """Message and hint."""
        return f"{self.message}\n{self.hint}" if self.hint else self.message


def findings(checked: Checked) -> list[Finding]:
    """All that is wrong: bad presets, then broken limits, then warnings."""
    found = []
    for preset, error in checked.bad:
        match = _PLACE.fullmatch(error.where)
        file, line, column = match.groups() if match else (preset, None, None)
        found.append(Finding(preset, file, int(line or 0), int(column or 0), BAD_PRESET, "error", error.message, error.hint))
    broken = [
        Finding(row.preset, row.file, row.line, row.column, row.limit, "error", row.message, row.hint and f"change: {row.hint}", row) for row in checked.broken
    ]
    warnings = [Finding(preset, preset, 1, 1, notice.code, "warning", notice.message, notice.hint) for preset, notice in checked.warnings]
    return [*found, *broken, *warnings]
