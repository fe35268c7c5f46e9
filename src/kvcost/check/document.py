"""All presets of a run → one document, a row a limit, and the findings that reports are made of."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

from ..cases.document import Document
from ..cases.preset import in_yaml_words
from ..errors import KvcostError, Notice
from ..presets.read import PresetReader
from .change import Searcher
from .evaluate import Answers, Held, Outcome, held
from .files import STDIN, preset_files
from .limits import shown

__all__ = ["CheckRow", "Checked", "check_presets", "summary"]


# What is said of warnings that fail a run.
STRICT = ", which --strict lets fail"


class CheckRow(NamedTuple):
    """One limit of a preset, and what became of it.

    value and excess in base units (excess above 0: so far beyond the bound; below: so much is left); line and
    column where the limit stands in `file`; reason why there is no value or that verdict, which ends `message` too;
    change the nearest one that mends it, path in the preset → value.
    """

    preset: str
    limit: str
    value: float | int | str | None
    bound: str
    excess: float | None
    met: bool
    line: int
    column: int
    severity: str
    hint: str
    file: str
    message: str
    change: dict[str, Any] | None
    bound_value: float | list[str]
    reason: str


class Checked(NamedTuple):
    """What came of all presets: rows, warnings with their preset, presets that could not be checked and why, and those that could."""

    rows: list[CheckRow]
    warnings: list[tuple[str, Notice]]
    bad: list[tuple[str, KvcostError]]
    presets: list[str]

    @property
    def broken(self) -> list[CheckRow]:
        """The rows of limits that are not met."""
        return [row for row in self.rows if not row.met]

    def document(self, inputs: dict[str, Any], *, bad: bool = False) -> Document:
        """The command's document; with `bad` the presets that could not be checked are among the warnings."""
        rows = [tuple(row) for row in self.rows]
        notices = [Notice(code, f"{preset}: {message}", hint) for preset, (code, message, hint) in self.warnings]
        if bad:
            notices += [Notice("bad-preset", str(error), error.hint) for _, error in self.bad]
        return Document("check", inputs, CheckRow._fields, rows, len(rows), notices, dict)


def check_presets(answers: Answers, paths: Iterable[str], stdin: Callable[[], bytes], report: Callable[[KvcostError], None]) -> Checked:
    """Every preset that the paths stand for, held to its limits.

    A preset that cannot be read or served is handed to `report`, and the others still run.
    """
    reader, searcher = PresetReader(), Searcher(answers)
    found = Checked([], [], [], [])
    for file in preset_files(paths):
        try:
            if isinstance(file, KvcostError):
                raise file
            preset = reader.read(Path("stdin"), stdin(), "stdin") if str(file) == STDIN else reader.read(file)
            outcome = held(answers, preset)
            found.rows.extend(_rows(outcome, searcher))
        except KvcostError as error:
            found.bad.append((str(file) if isinstance(file, Path) else file.where, error))
            report(error)
            continue
        found.presets.append(preset.name)
        found.warnings.extend((preset.name, notice) for notice in outcome.notices)
    return found


def _rows(outcome: Held, searcher: Searcher) -> Iterable[CheckRow]:
    changes = searcher.changes(outcome)
    for place, one in enumerate(outcome.outcomes):
        change = changes.get(place)
        limit = one.bound.limit
        reason = _why(one, outcome, place)
        yield CheckRow(
            preset=outcome.preset.name,
            limit=one.bound.field,
            value=one.value,
            bound=one.bound.text,
            excess=one.excess,
            met=one.met,
            line=limit.place.line,
            column=limit.place.column,
            severity="none" if one.met else "error",
            hint="" if change is None else change.hint,
            file=limit.place.file,
            message=_message(one, reason),
            change=None if change is None else change.assignments,
            bound_value=list(one.bound.value) if isinstance(one.bound.value, tuple) else one.bound.value,
            reason=reason,
        )


def _why(one: Outcome, outcome: Held, place: int) -> str:
    """Why a broken limit has no value, or the verdict that it has; else empty."""
    if one.met or not (one.value is None or one.bound.field == "verdict"):
        return ""
    return in_yaml_words(outcome.lacks.get(place, outcome.reason))


def _message(one: Outcome, reason: str) -> str:
    """A broken limit in one sentence: value, bound, by how much; and the reason where the value needs one."""
    field, bound = one.bound.field, one.bound
    asked = bound.text
    if isinstance(bound.value, tuple):
        asked = f"{'not ' if bound.sign == '!=' else ''}{' or '.join(bound.value)}"
    said = f"{field} has no value" if one.value is None else f"{field} is {shown(field, one.value)}"
    said += f", {'as asked' if one.met else 'asked for'}: {asked}"
    if one.met:
        return said
    if one.excess is not None:
        said += f"; off by {shown(field, one.excess)}{_share(one)}"
    return in_yaml_words(said) + (f" ({reason})" if reason else "")


def _share(one: Outcome) -> str:
    """The excess as a share of the bound, where that says more than the excess does."""
    if isinstance(one.bound.value, tuple) or not one.bound.value or one.excess is None or one.bound.sign in ("==", "!="):
        return ""
    share = f"{one.excess / abs(one.bound.value):.0%}"
    return "" if share == "0%" else f" ({share})"


def summary(checked: Checked, *, strict: bool = False) -> str:
    """The outcome in one line; where `strict`, warnings fail."""
    limits, broken = len(checked.rows), checked.broken
    parts = [f"{_count(len(checked.presets), 'preset')}, {_count(limits, 'limit')}"]
    if broken:
        parts.append(f"{len(broken)} broken in {_count(len({row.preset for row in broken}), 'preset')}")
    else:
        parts.append("all met" if limits else "nothing to check")
    if checked.bad:
        parts.append(f"{_count(len(checked.bad), 'preset')} could not be checked")
    if checked.warnings:
        parts.append(_count(len(checked.warnings), "warning") + (STRICT if strict else ""))
    return f"{parts[0]}: {'; '.join(parts[1:])}"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
