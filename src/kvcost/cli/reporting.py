"""The reports that `check` writes beside its result."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import TextIO

from ..check.document import Checked, summary
from ..check.findings import findings
from ..errors import KvcostError
from ..render.output import destination

__all__ = ["KINDS", "owns_stdout", "reports_of", "write_reports"]

KINDS = ("junit", "sarif", "json", "github")
FLAG = "--report"


def reports_of(words: Sequence[str] | None, output: str | None, paths: Sequence[str]) -> list[tuple[str, str]]:
    """Kind and file of each report.

    Raises KvcostError for an unknown kind, no file, two results for one place, and a result over a preset of `paths`.
    """
    found: list[tuple[str, str]] = []
    taken = {_place(path): "a preset" for path in paths if path != "-"}
    if output is not None:
        _take(output, "--output", taken)
    for word in words or ():
        kind, separator, file = word.partition("=")
        if kind not in KINDS:
            raise KvcostError(f"unknown report '{kind}'", where=FLAG, hint="write KIND=FILE, with KIND one of " + ", ".join(KINDS))
        if not separator or not file:
            raise KvcostError(f"the {kind} report has no file", where=FLAG, hint=f"write {kind}=FILE, or {kind}=- for standard output")
        _take(file, FLAG, taken)
        found.append((kind, file))
    return found


def _place(file: str) -> str:
    return file if file == "-" else os.path.realpath(file)


def _take(file: str, option: str, taken: dict[str, str]) -> None:
    """Note that a result goes to a file. Raises KvcostError where something else is there already."""
    place = _place(file)
    if place in taken:
        name = "standard output" if file == "-" else file
        raise KvcostError(f"{name} is taken already, by {taken[place]}", where=option, hint="give each result a file of its own")
    taken[place] = option


def owns_stdout(reports: Sequence[tuple[str, str]]) -> bool:
    """Whether a report takes the place of the result on standard output."""
    return any(file == "-" for _, file in reports)


def write_reports(reports: Sequence[tuple[str, str]], checked: Checked, paths: Sequence[str], *, strict: bool) -> None:
    """Write every report, each whole or not at all; on GitHub annotations go to stderr where none were asked for."""
    for kind, file in reports:
        with destination(file, FLAG) as stream:
            _write(kind, checked, paths, stream, strict)
    if os.environ.get("GITHUB_ACTIONS") == "true" and not any(kind == "github" for kind, _ in reports):
        _write("github", checked, paths, sys.stderr, strict)


def _write(kind: str, checked: Checked, paths: Sequence[str], stream: TextIO, strict: bool) -> None:
    found = findings(checked)
    if kind == "github":
        from ..render.reports.github import write_github

        write_github(found, summary(checked, strict=strict), stream)
    elif kind == "junit":
        from ..render.reports.junit import write_junit

        write_junit(checked, found, stream, strict=strict)
    elif kind == "sarif":
        from ..render.reports.sarif import write_sarif

        write_sarif(found, stream)
    else:
        from ..render.jsons import write_json

        document = checked.document({"paths": list(paths)}, bad=True)
        write_json(document, document.columns, document.rows, stream)
