"""The parts of two public formats that reports use, with every rule that those formats set for them.

SARIF 2.1.0 (OASIS, errata 01): closed objects, required members, enumerations and lower ends of the objects named here.
JUnit: elements, attributes and nesting as the xunit plugin of Jenkins checks them (junit-10.xsd); GitLab reads a subset.
"""

import re
from xml.etree import ElementTree

TEXT = {"type": "string"}
BAG = {"type": "object", "properties": {"tags": {"type": "array", "uniqueItems": True, "items": TEXT}}}
URI = {"type": "string", "format": "uri-reference", "pattern": r"^[A-Za-z0-9._~:/?#\[\]@!$&'()*+,;=%-]*$"}


def closed(required=(), **properties):
    """An object of these members and no others."""
    return {"type": "object", "additionalProperties": False, "required": list(required), "properties": {**properties, "properties": BAG}}


def several(items, **more):
    return {"type": "array", "items": items, **more}


def refers(name):
    return {"$ref": f"#/$defs/{name}"}


LEVEL = {"enum": ["none", "note", "warning", "error"]}
INDEX = {"type": "integer", "minimum": -1}
ONE = {"type": "integer", "minimum": 1}
SARIF = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    **closed(
        ("version", "runs"),
        **{"$schema": {"type": "string", "format": "uri"}, "version": {"enum": ["2.1.0"]}, "runs": {"type": ["array", "null"], "items": refers("run")}},
    ),
    "$defs": {
        "run": closed(
            ("tool",),
            tool=refers("tool"),
            invocations=several(refers("invocation")),
            results={"type": ["array", "null"], "items": refers("result")},
            columnKind={"enum": ["utf16CodeUnits", "unicodeCodePoints"]},
        ),
        "tool": closed(("driver",), driver=refers("toolComponent")),
        "toolComponent": closed(
            ("name",), name=TEXT, version=TEXT, semanticVersion=TEXT, informationUri={"type": "string", "format": "uri"},
            rules=several(refers("reportingDescriptor"), uniqueItems=True),
        ),
        "reportingDescriptor": closed(
            ("id",), id=TEXT, name=TEXT, shortDescription=refers("multiformat"), fullDescription=refers("multiformat"), help=refers("multiformat"),
            defaultConfiguration=closed((), enabled={"type": "boolean"}, level=LEVEL, rank={"type": "number", "minimum": -1, "maximum": 100}),
        ),
        "multiformat": closed(("text",), text=TEXT, markdown=TEXT),
        "invocation": closed(("executionSuccessful",), executionSuccessful={"type": "boolean"}, exitCode={"type": "integer"}),
        "message": {**closed((), text=TEXT, markdown=TEXT, id=TEXT), "anyOf": [{"required": ["text"]}, {"required": ["id"]}]},
        "result": closed(
            ("message",), ruleId=TEXT, ruleIndex=INDEX, level=LEVEL, message=refers("message"), locations=several(refers("location")),
            partialFingerprints={"type": "object", "additionalProperties": TEXT},
        ),
        "location": closed((), physicalLocation=refers("physicalLocation")),
        "physicalLocation": {
            **closed((), artifactLocation=closed((), uri=URI, uriBaseId=TEXT, index=INDEX), region=refers("region")),
            "anyOf": [{"required": ["address"]}, {"required": ["artifactLocation"]}],
        },
        "region": closed((), startLine=ONE, startColumn=ONE, endLine=ONE, endColumn=ONE),
    },
}  # fmt: skip

# Element → (required attributes, others, children).
FAILURE = ((), ("type", "message"), ())
JUNIT = {
    "testsuites": ((), ("name", "time", "tests", "failures", "errors"), ("testsuite",)),
    "testsuite": (
        ("name", "tests", "failures", "errors"),
        ("group", "time", "skipped", "timestamp", "hostname", "id", "package", "file", "log", "url"),
        ("testsuite", "properties", "testcase", "system-out", "system-err"),
    ),
    "testcase": (("name",), ("time", "classname", "group"), ("skipped", "error", "failure", "system-out", "system-err")),
    "failure": FAILURE,
    "error": FAILURE,
    "system-out": ((), (), ()),
}
SUREFIRE_TIME = re.compile(r"(([0-9]{0,3},)*[0-9]{3}|[0-9]{0,3})*(\.[0-9]*)?")


def check_junit(text):
    """The tree of a report; fails where it is not as the schema says, or where its counts are wrong."""
    tree = ElementTree.fromstring(text)
    assert tree.tag == "testsuites"
    for element in tree.iter():
        required, others, children = JUNIT[element.tag]
        assert set(required) <= set(element.keys()) <= {*required, *others}, element.tag
        assert {child.tag for child in element} <= set(children)
        assert SUREFIRE_TIME.fullmatch(element.get("time", "0"))
        if element.tag in ("testsuite", "testsuites", "testcase"):
            assert not (element.text or "").strip(), "only leaves hold text"
    for holder in (tree, *tree.iter("testsuite")):
        cases = list(holder.iter("testcase"))
        assert int(holder.get("tests")) == len(cases)
        assert int(holder.get("failures")) == sum(case.find("failure") is not None for case in cases)
        assert int(holder.get("errors")) == sum(case.find("error") is not None for case in cases)
    return tree
