"""Reports for CI systems: of the public form, with nothing lost and nothing smuggled in by a preset's name."""

import json
import re
import sys

import jsonschema
import pytest

from .conftest import SPLIT
from .public_schemas import SARIF, check_junit

BROKEN = SPLIT.replace("rails: 8", "rails: 1")
NASTY = "a%b::c,d\n::error::x\r.yaml"
windows = pytest.mark.skipif(sys.platform == "win32", reason="such names are no files there")


@pytest.fixture
def mixed(preset):
    """A good, a broken and a bad preset, and one that warns."""
    preset(SPLIT, name="p/a good.yaml")
    preset(BROKEN, name="p/broken.yaml")
    preset("modle: x", name="p/bad.yaml")
    preset("model: llama2-70b\nworkload: {isl: 8k}\nlink: 100gbe\nlimits: {transfer_s: < 9s}\n", name="p/warns.yaml")
    return "p"


def test_all_reports_at_once(kvcost, mixed, tmp_path):
    ran = kvcost("check", mixed, *(f"--report={kind}={kind}.out" for kind in ("junit", "sarif", "json")), "--report", "github=-")
    assert ran.code == 2
    assert ran.out.startswith("::error file=p/bad.yaml,line=1,col=1,title=p/bad.yaml%3A bad-preset::unknown key 'modle'%0A")
    assert "::error file=p/broken.yaml,line=12,col=15,title=p/broken.yaml%3A transfer_s::transfer_s is " in ran.out
    assert "::warning file=p/warns.yaml,line=1,col=1,title=p/warns.yaml%3A ctx-beyond-limit::" in ran.out
    assert all(line.startswith("::") for line in ran.out.splitlines())
    assert ran.err.splitlines()[-1].startswith("3 presets, 11 limits: ")
    sarif = json.loads((tmp_path / "sarif.out").read_text())
    jsonschema.Draft202012Validator(SARIF).validate(sarif)
    check_junit((tmp_path / "junit.out").read_text())
    document = json.loads((tmp_path / "json.out").read_text())
    assert document["schema"] == "kvcost/check/1"
    assert len(document["rows"]) == 11
    assert not list(tmp_path.glob(".*.tmp"))


def test_sarif_says_what_and_where(kvcost, mixed):
    sarif = json.loads(kvcost("check", mixed, "--report", "sarif=-").out)
    jsonschema.Draft202012Validator(SARIF).validate(sarif)
    (run,) = sarif["runs"]
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    assert len(set(rules)) == len(rules)
    results = {(result["ruleId"], result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]): result for result in run["results"]}
    assert run["invocations"] == [{"executionSuccessful": False}]
    broken = results["transfer_s", "p/broken.yaml"]
    assert broken["locations"][0]["physicalLocation"]["region"] == {"startLine": 12, "startColumn": 15}
    assert broken["level"] == "error"
    assert broken["properties"]["change"] == {"link.rails": 8}
    assert results["bad-preset", "p/bad.yaml"]["level"] == "error"
    assert results["ctx-beyond-limit", "p/warns.yaml"]["level"] == "warning"
    assert all(rules[result["ruleIndex"]] == result["ruleId"] for result in run["results"])


def test_fingerprints_outlive_lines_and_values(kvcost, preset):
    def prints(text):
        results = json.loads(kvcost("check", preset(text), "--report", "sarif=-").out)["runs"][0]["results"]
        return {result["partialFingerprints"]["kvcostLimit/v1"] for result in results if result["level"] == "error"}

    first = prints(BROKEN)
    assert first
    assert prints("# a line\n" + BROKEN) == first
    assert prints(BROKEN.replace("isl: 4k", "isl: 5k")) >= first
    assert prints(BROKEN.replace("< 2.5ms", "< 2ms")) != first


def test_an_empty_sarif_is_valid(kvcost, preset):
    sarif = json.loads(kvcost("check", preset(SPLIT.replace("> 0", "> 1ms")), "--report", "sarif=-", "-q").out)
    jsonschema.Draft202012Validator(SARIF).validate(sarif)
    assert not [result for result in sarif["runs"][0]["results"] if result["level"] == "error"]


def test_junit_has_a_suite_a_preset_and_a_case_a_limit(kvcost, mixed):
    tree = check_junit(kvcost("check", mixed, "--report", "junit=-").out)
    suites = {suite.get("name"): suite for suite in tree}
    assert set(suites) == {"p/a good.yaml", "p/broken.yaml", "p/bad.yaml", "p/warns.yaml"}
    (failed,) = suites["p/broken.yaml"].iter("failure")
    assert failed.get("type") == "transfer_s"
    assert failed.text.startswith("p/broken.yaml:12:15: transfer_s is ")
    assert "change: link.rails: 8 (line 4)" in failed.text
    assert suites["p/bad.yaml"].find("testcase/error").get("message") == "unknown key 'modle'"
    assert "ctx-beyond-limit" in suites["p/warns.yaml"].find("system-out").text
    assert tree.get("failures") == "1"
    strict = check_junit(kvcost("check", mixed, "--report", "junit=-", "--strict").out)
    assert int(strict.get("failures")) > 1


def test_names_of_cases_differ(kvcost, preset):
    """GitLab keeps the first of two cases of one name."""
    tree = check_junit(kvcost("check", preset(SPLIT.replace('"< 0.2"', "['> 0', '< 0.2']")), "--report", "junit=-").out)
    names = [(case.get("classname"), case.get("name")) for case in tree.iter("testcase")]
    assert len(names) == 6 == len(set(names))


# --- names that mean something to those who read reports ---


@windows
def test_a_preset_cannot_smuggle_in_commands(kvcost, preset):
    preset(BROKEN, name=NASTY)
    lines = kvcost("check", NASTY, "--report", "github=-", "-q").out.splitlines()
    errors = [line for line in lines if line.startswith("::error")]
    assert len(errors) == 1
    assert "file=a%25b%3A%3Ac%2Cd%0A%3A%3Aerror%3A%3Ax%0D.yaml,line=12,col=15" in errors[0]
    assert "(133%25)" in errors[0] or re.search(r"\(\d+%25\)", errors[0])
    assert not any("\r" in line for line in lines)


@windows
def test_names_in_xml_sarif_and_the_terminal(kvcost, preset):
    name = "a<b>&\"'%\x01\x1b[31m\n]]>.yaml"
    preset(BROKEN, name=name)
    tree = check_junit(kvcost("check", name, "--report", "junit=-", "-q").out)
    assert tree[0].get("name") == name.replace("\x01", "�").replace("\x1b", "�")
    sarif = json.loads(kvcost("check", name, "--report", "sarif=-", "-q").out)
    jsonschema.Draft202012Validator(SARIF).validate(sarif)
    uri = sarif["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
    assert uri.startswith("a%3Cb%3E%26%22%27%25%01%1B%5B31m%0A")
    ran = kvcost("check", name)
    assert "\x1b" not in ran.out + ran.err
    assert "\x01" not in ran.out + ran.err


# --- GitHub ---


def test_annotations_come_by_themselves(kvcost, preset, monkeypatch):
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    ran = kvcost("check", preset(BROKEN), "-q")
    assert ran.out.startswith("FAIL  a.yaml")
    assert ran.err.startswith("::error file=a.yaml,line=12,col=15,title=a.yaml%3A transfer_s::")
    ran = kvcost("check", "a.yaml", "-q", "--report", "github=notes")
    assert ran.err == ""
    monkeypatch.setenv("GITHUB_ACTIONS", "false")
    assert kvcost("check", "a.yaml", "-q").err == ""


def test_ten_annotations_and_a_summary(kvcost, preset):
    for number in range(12):
        preset(BROKEN, name=f"{number:02}.yaml")
    lines = kvcost("check", ".", "--report", "github=-", "-q").out.splitlines()
    assert len(lines) == 11
    assert lines[10].startswith("::error title=kvcost check::12 presets, 60 limits: 12 broken in 12 presets")
    assert "more than are shown" in lines[10]


def test_files_are_relative_to_the_check_out(kvcost, preset, monkeypatch, tmp_path):
    preset(BROKEN, name="deploy/a.yaml")
    monkeypatch.setenv("GITHUB_WORKSPACE", str(tmp_path))
    monkeypatch.chdir(tmp_path / "deploy")
    assert "file=deploy/a.yaml," in kvcost("check", "a.yaml", "--report", "github=-", "-q").out
    assert "file=deploy/a.yaml," in kvcost("check", tmp_path / "deploy", "--report", "github=-", "-q").out


# --- how a report is asked for ---


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("xml=a",), "unknown report 'xml'"),
        (("junit",), "the junit report has no file"),
        (("junit=",), "the junit report has no file"),
        (("junit=-", "sarif=-"), "standard output is taken already, by --report"),
        (("junit=a", "sarif=a"), "a is taken already, by --report"),
        (("junit=a", "sarif=./a"), "./a is taken already, by --report"),
        (("json=a.yaml",), "a.yaml is taken already, by a preset"),
        (("junit=no/where/a.xml",), "cannot write no/where/a.xml"),
    ],
)
def test_bad_reports(kvcost, preset, words, message):
    ran = kvcost("check", preset(), *(f"--report={word}" for word in words))
    assert (ran.code, ran.out) == (2, "")
    assert f"error: --report: {message}" in ran.err


def test_a_report_on_stdout_takes_the_place_of_the_result(kvcost, preset, tmp_path):
    ran = kvcost("check", preset(BROKEN), "--report", "json=-", "--json", "-q")
    assert json.loads(ran.out)["schema"] == "kvcost/check/1"
    ran = kvcost("check", "a.yaml", "--report", "junit=-", "--json", "-o", "out.json", "-q")
    check_junit(ran.out)
    assert json.loads((tmp_path / "out.json").read_text())["rows"]


def test_a_bad_preset_alone_is_in_every_report(kvcost, preset, tmp_path):
    ran = kvcost("check", preset("modle: x"), "--report", "junit=j", "--report", "sarif=s", "--report", "json=n", "--report", "github=g")
    assert (ran.code, ran.out) == (2, "")
    for file in "jsng":
        assert "unknown key 'modle'" in (tmp_path / file).read_text().replace("&apos;", "'").replace("\\u0027", "'")
