"""SARIF 2.1.0, as code scanning reads it: a rule a limit field, a result a finding."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from typing import Any, TextIO

from ... import __version__
from ...cases.quantities import QUANTITIES
from ...check.findings import BAD_PRESET, Finding
from ..cells import harmless
from . import relative_uri

__all__ = ["write_sarif"]

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_COLUMN_UNIT = "unicodeCodePoints"


def write_sarif(found: Sequence[Finding], stream: TextIO) -> None:
    """Write the findings as one run."""
    rules = list(dict.fromkeys(finding.rule for finding in found))
    run = {
        "tool": {"driver": {"name": "kvcost", "semanticVersion": __version__, "rules": [_rule(rule, found) for rule in rules]}},
        "columnKind": _COLUMN_UNIT,
        "invocations": [{"executionSuccessful": not any(finding.rule == BAD_PRESET for finding in found)}],
        "results": [_result(finding, rules) for finding in found],
    }
    json.dump({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, stream, indent=1, allow_nan=False)
    stream.write("\n")


def _rule(rule: str, found: Sequence[Finding]) -> dict[str, Any]:
    level = next(finding.level for finding in found if finding.rule == rule)
    what = {BAD_PRESET: "a preset that cannot be read or served"}.get(rule) or (QUANTITIES[rule].meaning if rule in QUANTITIES else f"warning {rule}")
    return {
        "id": rule,
        "shortDescription": {"text": what},
        "help": {"text": f"kvcost explain {rule}" if rule in QUANTITIES else what},
        "defaultConfiguration": {"level": level},
    }


def _result(finding: Finding, rules: Sequence[str]) -> dict[str, Any]:
    uri = relative_uri(finding.file)
    location: dict[str, Any] = {"artifactLocation": {"uri": uri}}
    if not uri.startswith("file:"):
        location["artifactLocation"]["uriBaseId"] = "%SRCROOT%"
    if finding.line:
        location["region"] = {"startLine": finding.line, "startColumn": finding.column or 1}
    result: dict[str, Any] = {
        "ruleId": finding.rule,
        "ruleIndex": rules.index(finding.rule),
        "level": finding.level,
        # A limit of a file that several presets extend is a finding of each.
        "message": {"text": finding.text if finding.preset == finding.file else f"{harmless(finding.preset)}: {finding.text}"},
        "locations": [{"physicalLocation": location}],
        "partialFingerprints": {"kvcostLimit/v1": _fingerprint(uri, finding)},
    }
    if finding.row is not None:
        result["properties"] = {
            "preset": finding.preset.encode("utf-8", "replace").decode(),
            "value": finding.row.value,
            "bound": finding.row.bound,
            "excess": finding.row.excess,
            "change": finding.row.change,
        }
    return result


def _fingerprint(uri: str, finding: Finding) -> str:
    """What makes two findings the same: file, rule and bound, wherever they stand and whatever the value is."""
    bound = finding.row.bound if finding.row is not None else ""
    return hashlib.sha256("\0".join((uri, relative_uri(finding.preset), finding.rule, bound)).encode("utf-8", "surrogateescape")).hexdigest()
