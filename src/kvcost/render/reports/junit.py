"""JUnit XML as Jenkins and GitLab read it: a suite a preset, a case a limit."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TextIO

from ...check.document import Checked
from ...check.findings import BAD_PRESET, Finding

__all__ = ["write_junit"]

# Characters that XML 1.0 cannot hold at all.
_FORBIDDEN = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


# `xml.sax.saxutils` has this too, and loads an HTTP client with it.
_MARKUP = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", "\r": "&#13;"})
_QUOTED = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "\n": "&#10;", "\r": "&#13;", "\t": "&#9;"})


def _text(text: str) -> str:
    return _FORBIDDEN.sub("�", text).translate(_MARKUP)


def _attributes(**values: object) -> str:
    return "".join(f' {name}="{_FORBIDDEN.sub("�", str(value)).translate(_QUOTED)}"' for name, value in values.items())


def write_junit(checked: Checked, found: Sequence[Finding], stream: TextIO, *, strict: bool) -> None:
    """Write every limit as a test case; a broken one fails, a bad preset is an error, a warning fails where `strict`."""
    suites = [_suite(preset, checked, found, strict) for preset in dict.fromkeys([*checked.presets, *(preset for preset, _ in checked.bad)])]
    tests, failures, errors = (sum(suite[1][place] for suite in suites) for place in range(3))
    stream.write('<?xml version="1.0" encoding="UTF-8"?>\n')
    stream.write(f"<testsuites{_attributes(name='kvcost check', tests=tests, failures=failures, errors=errors)}>\n")
    for text, _ in suites:
        stream.write(text)
    stream.write("</testsuites>\n")


def _suite(preset: str, checked: Checked, found: Sequence[Finding], strict: bool) -> tuple[str, tuple[int, int, int]]:
    """A preset's suite, and its tests, failures and errors."""
    of_preset = [finding for finding in found if finding.preset == preset]
    broken = {id(finding.row): finding for finding in of_preset if finding.row is not None}
    cases = [_case(preset, f"{row.limit} {row.bound}", "failure", broken.get(id(row))) for row in checked.rows if row.preset == preset]
    failures = len(broken)
    bad = [finding for finding in of_preset if finding.rule == BAD_PRESET]
    cases += [_case(preset, BAD_PRESET, "error", finding) for finding in bad]
    warnings = [finding for finding in of_preset if finding.level == "warning"]
    said = ""
    if strict:
        cases += [_case(preset, f"{finding.rule}: {finding.message}", "failure", finding) for finding in warnings]
        failures += len(warnings)
    elif warnings:
        said = f"<system-out>{_text(chr(10).join(f'warning: {finding.rule}: {finding.text}' for finding in warnings))}</system-out>\n"
    counts = len(cases), failures, len(bad)
    head = _attributes(name=preset, tests=counts[0], failures=counts[1], errors=counts[2], skipped=0, time="0", file=preset)
    return f"<testsuite{head}>\n{''.join(cases)}{said}</testsuite>\n", counts


def _case(preset: str, name: str, kind: str, finding: Finding | None) -> str:
    head = f"<testcase{_attributes(name=name, classname=preset, time='0')}"
    if finding is None:
        return f"{head}/>\n"
    where = f"{finding.file}:{finding.line}:{finding.column}: " if finding.line else ""
    text = _text(f"{where}{finding.text}")
    return f"{head}>\n<{kind}{_attributes(type=finding.rule, message=finding.message)}>{text}</{kind}>\n</testcase>\n"
