"""Annotations of GitHub Actions: workflow commands on the lines of a pull request."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TextIO

from ...check.findings import Finding
from . import relative_file

__all__ = ["MOST", "write_github"]

# GitHub shows ten annotations of a step.
MOST = 10


def _data(text: str) -> str:
    """The text of a command on one line."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    """The value of a property, in which `:` and `,` have a meaning too."""
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def _annotation(finding: Finding) -> str:
    properties = {"title": f"{finding.preset}: {finding.rule}"}
    if finding.line:
        properties = {"file": relative_file(finding.file), "line": str(finding.line), "col": str(finding.column or 1), **properties}
    listed = ",".join(f"{name}={_property(value)}" for name, value in properties.items())
    return f"::{finding.level} {listed}::{_data(finding.text)}\n"


def write_github(found: Sequence[Finding], summary: str, stream: TextIO) -> None:
    """Write up to ten annotations, and where there are more, the summary as one more."""
    for finding in found[:MOST]:
        stream.write(_annotation(finding))
    if len(found) > MOST:
        level = "error" if any(finding.level == "error" for finding in found) else "warning"
        stream.write(f"::{level} title=kvcost check::{_data(f'{summary} ({len(found) - MOST} more than are shown)')}\n")
