"""`kvcost check`: what it says of presets, and how it ends."""

import csv
import io
import json
import os
from pathlib import Path

import jsonschema
import pytest

from kvcost.cases.schemas import result_schema
from kvcost.check.document import CheckRow

from .conftest import SPLIT

FIELDS = ("preset", "limit", "value", "bound", "excess", "met", "line", "column", "severity", "hint")


def test_0_every_limit_is_met(kvcost, preset):
    ran = kvcost("check", preset(), "-q")
    assert ran.code == 0
    first, empty, last = ran.out.splitlines()
    assert (first, empty) == ("ok    a.yaml  net_gain_s, link_utilisation, transfer_s, ttft_disagg_s, verdict", "")
    assert last.startswith("1 preset, 5 limits: all met")


def test_a_row_a_limit(checked):
    code, rows = checked()
    assert code == 0
    assert [row["limit"] for row in rows] == ["net_gain_s", "link_utilisation", "transfer_s", "ttft_disagg_s", "verdict"]
    for row in rows:
        assert set(FIELDS) <= set(row)
        assert (row["preset"], row["met"], row["severity"], row["hint"], row["change"]) == ("a.yaml", True, "none", "", None)
        assert row["excess"] is None or row["excess"] < 0
    assert [(row["line"], row["column"]) for row in rows] == [(10, 15), (11, 21), (12, 15), (13, 18), (14, 12)]
    assert rows[2]["bound"] == "< 2.5ms"
    assert rows[2]["bound_value"] == 0.0025


def test_1_a_limit_is_broken(kvcost, checked, preset):
    code, rows = checked(SPLIT.replace("rails: 8", "rails: 1"))
    assert code == 1
    row = rows[2]
    assert (row["met"], row["severity"], row["line"]) == (False, "error", 12)
    assert row["excess"] == pytest.approx(row["value"] - 0.0025)
    assert row["change"] == {"link.rails": 8}
    assert row["hint"].startswith("link.rails: 8 (line 4) meets all limits")
    ran = kvcost("check", "a.yaml")
    assert ran.code == 1
    assert "a.yaml:12:15: transfer_s is " in ran.out
    assert "asked for: < 2.5ms; off by" in ran.out
    assert "change: link.rails: 8 (line 4)" in ran.out
    assert "broken in 1 preset" in ran.out


def test_values_are_those_of_breakeven(kvcost, checked):
    _, rows = checked()
    answer = json.loads(kvcost("breakeven", "--preset", "a.yaml", "--json").out)["rows"][0]
    assert {row["limit"]: row["value"] for row in rows} == {row["limit"]: answer[row["limit"]] for row in rows}


@pytest.mark.parametrize(
    ("old", "new", "where", "hint"),
    [
        ("model:", "modle:", "a.yaml:1:1", "model"),
        ("ib-ndr", "ib-ndrr", "a.yaml:4:14", "ib_ndr"),
        ("h100", "h1000", "a.yaml:5:16", "h100"),
        ("llama2-70b", "llama2-71b", "a.yaml:1:8", "llama2-70b"),
        ("fp8", "fp9", "a.yaml:3:11", "fp8"),
        ("weight_dtype: fp16", "weight_dtype: fp12", "a.yaml:2:15", "bf16"),
        ("isl: 4k", "isl: 4GB", "a.yaml:8:17", "4k"),
        ("isl: 4k", "isl: 4.5", "a.yaml:8:17", "whole number"),
        ("isl: 4k", "isl: '1k,4k'", "a.yaml:8:17", "one deployment"),
        ("isl: 4k", "isl: 1..1000000000:+1", "a.yaml:8:17", "one deployment"),
        ("isl: 4k", "isl: 0", "a.yaml:8:17", "between 1"),
        ("rate: 3", "rate: fast", "a.yaml:8:37", "number"),
        ("tp: 8", "tp: 3", "a.yaml:5:26", "1, 2, 4, 8"),
        ("rails: 8", "rails: 0", "a.yaml:4:29", "between 1"),
        ("rate: 3", "rate: 3, concurrency: 4", "a.yaml:8:53", "one of them"),
        ("limits:", "slo: {ttft: 1}\nlimits:", "a.yaml:9:13", "1ms"),
        ("limits:", "slo: {ttft: 1GB}\nlimits:", "a.yaml:9:13", "ms"),
        ("limits:", "objective: goodput\nlimits:", "a.yaml:9:12", "slo.ttft"),
        ("workload: {isl: 4k, ", "workload: {", "a.yaml:1:1", "workload.isl: 4096"),
        ("link: {name: ib-ndr, rails: 8}", "", "a.yaml:1:1", "link.name: 100gbe"),
        ("net_gain_s", "net_gian_s", "a.yaml:10:3", "net_gain_s"),
        ("> 0", "more", "a.yaml:10:15", "< 50ms"),
    ],
)
def test_2_a_bad_preset(kvcost, preset, old, new, where, hint):
    assert old in SPLIT
    ran = kvcost("check", preset(SPLIT.replace(old, new, 1)))
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith(f"error: {where}: ")
    assert ran.err.splitlines()[1].startswith("hint: ")
    assert hint in ran.err.splitlines()[1]
    assert "--" not in ran.err


def test_one_bad_preset_does_not_hide_the_others(kvcost, preset):
    preset(name="all/b.yaml")
    preset("modle: x", name="all/a.yaml")
    preset(SPLIT.replace("rails: 8", "rails: 1"), name="all/deep/c.yml")
    preset("neither", name="all/_base.yaml")
    preset("neither", name="all/.hidden.yaml")
    preset("neither", name="all/.git/x.yaml")
    preset("neither", name="all/readme.md")
    ran = kvcost("check", "all", "--json")
    assert ran.code == 2
    document = json.loads(ran.out)
    assert list(dict.fromkeys(row["preset"] for row in document["rows"])) == [str(Path("all", "b.yaml")), str(Path("all", "deep", "c.yml"))]
    assert "bad-preset" in {notice["code"] for notice in document["warnings"]}
    assert "all/a.yaml:1:1: unknown key 'modle'" in ran.err
    assert "1 preset could not be checked" in kvcost("check", "all").out


def test_a_path_that_is_not_there(kvcost, preset):
    ran = kvcost("check", "nope.yaml", preset(), "-q")
    assert ran.code == 2
    assert ran.out.startswith("ok    a.yaml")
    assert "error: nope.yaml: there is no such file" in ran.err


def test_3_no_preset_found(kvcost, tmp_path):
    (tmp_path / "empty").mkdir()
    ran = kvcost("check", tmp_path / "empty")
    assert (ran.code, ran.out) == (3, "")
    assert "no preset found" in ran.err
    assert json.loads(kvcost("check", tmp_path / "empty", "--json").out)["rows"] == []


def test_the_same_file_is_checked_once(kvcost, preset):
    ran = kvcost("check", preset(), "a.yaml", "./a.yaml", ".")
    assert "1 preset, 5 limits" in ran.out


def test_strict_fails_at_warnings(kvcost, preset):
    name = preset("model: llama2-70b\nworkload: {isl: 8k}\nlink: 100gbe\nlimits: {transfer_s: < 9s}\n")
    ran = kvcost("check", name)
    assert ran.code == 0
    assert "warning: ctx-beyond-limit: a.yaml: 8,192 tokens exceed" in ran.err
    assert ran.out.endswith("all met; 2 warnings\n")
    said = "1 preset, 1 limit: all met; 2 warnings, which --strict lets fail\n"
    ran = kvcost("check", name, "--strict")
    assert ran.code == 1
    assert ran.out.endswith(said)
    for more in ((), ("--json",)):
        assert (ran := kvcost("check", name, "--strict", "-q", *more)).code == 1
        assert ran.err == f"error: {said}"


def test_a_preset_without_limits_is_a_warning(kvcost, preset):
    ran = kvcost("check", preset(SPLIT.partition("limits:")[0]))
    assert ran.code == 0
    assert "warning: no-limits: a.yaml: " in ran.err
    assert kvcost("check", "a.yaml", "--strict", "-q").code == 1


def test_standard_input(spawn):
    ran = spawn("check", "-", "-q", input=b"\xef\xbb\xbf" + SPLIT.replace("\n", "\r\n").encode())
    assert ran.code == 0
    assert ran.out.startswith("ok    stdin")
    assert spawn("check", "-", input=b"").code == 2


def test_what_is_missing_is_named(checked):
    code, rows = checked(SPLIT.replace("osl: 512, ", ""))
    assert code == 1
    gain = rows[0]
    assert (gain["value"], gain["met"], gain["excess"]) == (None, False, None)
    assert "give workload.osl" in gain["message"]
    assert "workload.osl" in gain["hint"]
    assert rows[2]["met"]


def test_what_does_not_fit_has_no_value_and_a_reason(checked):
    code, rows = checked(SPLIT.replace("tp: 8", "tp: 1").replace("instances: 2", "instances: 2").replace("rails: 8", "rails: 1"))
    assert code == 1
    by_field = {row["limit"]: row for row in rows}
    assert by_field["verdict"]["value"] == "infeasible"
    assert by_field["net_gain_s"]["value"] is None
    assert "do not fit" in by_field["net_gain_s"]["message"]
    assert by_field["transfer_s"]["value"] is not None


@pytest.mark.parametrize("how", ["csv", "tsv", "jsonl", "markdown", "table"])
def test_every_format(kvcost, preset, how):
    ran = kvcost("check", preset(SPLIT.replace("rails: 8", "rails: 1")), "--format", how, "-q")
    assert ran.code == 1
    assert "transfer_s" in ran.out
    assert ran.err == ""


def test_columns_and_output(kvcost, preset, tmp_path):
    ran = kvcost("check", preset(), "--format", "csv", "--columns", "limit,met", "-o", "out.csv", "-q")
    assert (ran.code, ran.out) == (0, "")
    assert (tmp_path / "out.csv").read_text().splitlines()[:2] == ["limit,met", "net_gain_s,True"]
    assert kvcost("check", "a.yaml", "--columns", "nope").code == 2


def test_hundreds_of_broken_presets_take_bounded_effort(kvcost, preset, monkeypatch):
    monkeypatch.setattr("kvcost.check.change.MAX_TRIES_OF_A_RUN", 3)
    for number in range(3):
        preset(SPLIT.replace("rails: 8", "rails: 1").replace("rate: 3", f"rate: 3.{number}"), name=f"{number}.yaml")
    rows = json.loads(kvcost("check", ".", "--json").out)["rows"]
    assert any("check this preset by itself" in row["hint"] for row in rows)


def test_the_document_is_as_its_schema_says(kvcost, preset):
    document = json.loads(kvcost("check", preset(SPLIT.replace("rails: 8", "rails: 1")), "--json").out)
    jsonschema.validate(document, result_schema(check=(CheckRow,)))


# --- a preset's words for other commands ---


def test_a_presets_words_are_defaults(kvcost, preset):
    name = preset()
    whole = ("--model", "llama2-70b", "--kv-dtype", "fp8", "--link", "ib-ndr", "--rails", 8, "--tp", 8, "--ctx", "4k")
    assert kvcost("transfer", "--preset", name, "--format", "csv").out == kvcost("transfer", *whole, "--format", "csv").out
    other = kvcost("transfer", "--preset", name, "--link", "100gbe", "--ctx", "1k,2k", "--format", "csv", "--columns", "link,rails,ctx_tokens").out
    assert other.splitlines()[1:] == ["eth_100g,8,1024", "eth_100g,8,2048"]
    row = json.loads(kvcost("breakeven", "--preset", name, "--tp", 4, "--concurrency", 8, "--json").out)["rows"][0]
    assert (row["prefill_tp"], row["decode_tp"], row["concurrency"], row["rate_per_s"]) == (4, 4, 8, None)
    assert json.loads(kvcost("size", "--preset", name, "--json").out)["rows"][0]["tp"] == 8
    assert json.loads(kvcost("compute", "--preset", name, "--json").out)["rows"][0]["gpu"] == "h100_sxm"


def test_a_fault_of_a_preset_is_told_where_it_stands(kvcost, preset):
    name = preset(SPLIT.replace("tp: 8", "tp: 3", 1))
    ran = kvcost("breakeven", "--preset", name)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith("error: a.yaml:5:26: prefill.tp: TP 3")
    assert kvcost("breakeven", "--preset", name, "--prefill-tp", 4, "--json").code == 0
    assert kvcost("breakeven", "--preset", "nope.yaml").code == 2


def test_a_preset_from_standard_input(spawn):
    ran = spawn("transfer", "--preset", "-", "--format", "csv", "--columns", "link", "-q", input=SPLIT.encode())
    assert ran == (0, "link\nib_ndr\n", "")


def test_what_is_no_file_waits_for_nothing_and_hides_nothing(kvcost, preset, tmp_path):
    preset()
    os.mkfifo(tmp_path / "pipe.yaml")
    ran = kvcost("check", ".", "", "x" * 300, "--json")
    assert ran.code == 2
    assert {row["preset"] for row in json.loads(ran.out)["rows"]} == {"a.yaml"}
    assert ran.err.count("there is no such file or folder") == 2


def test_a_file_whose_name_is_no_text_is_in_every_report(kvcost, preset, tmp_path):
    (tmp_path / os.fsdecode(b"\xff.yaml")).write_text(SPLIT + "  descriptors: '< 1'\n")
    assert kvcost("check", ".", "--report", "sarif=r.sarif", "--report", "junit=r.xml", "-q").code == 1
    assert "%FF.yaml" in (tmp_path / "r.sarif").read_text()


def test_a_limit_that_several_inherit_is_a_finding_of_each(kvcost, preset, tmp_path):
    preset(SPLIT + "  descriptors: '< 1'\n", "base.yaml")
    preset("extends: base.yaml\n", "heir.yaml")
    kvcost("check", ".", "--report", "sarif=r.sarif", "-q")
    texts = [result["message"]["text"] for result in json.loads((tmp_path / "r.sarif").read_text())["runs"][0]["results"]]
    assert any(text.startswith("heir.yaml: ") for text in texts)
    assert len(set(texts)) == len(texts) == 2


@pytest.mark.parametrize(
    ("limit", "needed"),
    [
        ('cost_mono_per_mtok: "< 1"', "give gpu_hour_price"),
        ('goodput_disagg_per_gpu: "> 0.2"', "give slo.ttft, slo.tpot or slo.itl_p99"),
        ('concurrency: "< 9"', "give workload.concurrency"),
    ],
)
def test_a_value_that_lacks_an_input_says_which(checked, limit, needed):
    code, rows = checked(SPLIT.replace("< 2.5ms", "< 1ns") + f"  {limit}\n")
    assert code == 1
    assert rows[-1]["message"].endswith(f"({needed})")
    assert (rows[-1]["hint"], rows[-1]["change"]) == (needed, None)
    assert "no single change" in rows[2]["hint"]


def test_a_change_meets_the_limits_that_lack_nothing(checked):
    _, rows = checked(SPLIT.replace("rails: 8", "rails: 1") + '  cost_mono_per_mtok: "< 1"\n')
    assert rows[2]["change"] == {"link.rails": 8}
    assert "meets all other limits of the preset" in rows[2]["hint"]


def test_a_reason_and_a_change_that_limits_share_are_told_once(kvcost, preset):
    text = SPLIT.replace("rate: 3", "rate: 30").replace("limits:", "limits:\n  tpot_gain_s: '> 0'")
    ran = kvcost("check", preset(text), "-q")
    assert ran.code == 1
    assert ran.out.count("(monolithic saturates") == 1
    assert ran.out.count("change: ") == 1
    lines = ran.out.splitlines()
    broken = [line for line in lines if "asked for" in line]
    assert len(broken) > 2
    assert lines[1 + len(broken)].startswith("        change: ")
    for line in broken:
        assert f"{line.split()[1]} " in lines[1 + len(broken)]


def test_equality_has_no_share_and_names_are_said_once(kvcost, preset):
    ran = kvcost("check", preset(SPLIT.replace('> 0"', '> 0"\n  rails: "== 4"')), "-q")
    assert "rails is 8, asked for: == 4; off by 4.000\n" in ran.out
    ran = kvcost("check", preset(SPLIT.replace('"> 0"', '["> 0", "< 9s"]')), "-q")
    assert ran.out.splitlines()[0] == "ok    a.yaml  net_gain_s, link_utilisation, transfer_s, ttft_disagg_s, verdict"


def test_lists_and_mappings_are_text_in_every_format(kvcost, preset):
    text = SPLIT.replace("{name: ib-ndr, rails: 8}", "ib-ndr").replace("rate: 3", "rate: 0.5")
    columns = ("--columns", "limit,change,bound_value", "-q")
    ran = kvcost("check", preset(text), "--format", "csv", *columns)
    rows = list(csv.DictReader(io.StringIO(ran.out)))
    changes = [json.loads(row["change"]) for row in rows if row["change"]]
    assert {"link": {"name": "ib-ndr", "rails": 8}} in changes
    assert json.loads(rows[-1]["bound_value"]) == ["mixed", "disaggregate"]
    ran = kvcost("check", "a.yaml", "--format", "markdown", *columns)
    assert "| link: {name: ib-ndr, rails: 8} |" in ran.out
    assert "| mixed or disaggregate |" in ran.out
    assert "'" not in ran.out


def test_what_the_link_takes_is_mended_without_a_verdict(checked):
    code, (row,) = checked("model: llama2-70b\nlink: 100gbe\nworkload: {isl: 4k}\nlimits: {transfer_s: '< 60ms'}\n")
    assert (code, row["met"]) == (1, False)
    assert row["change"]


@pytest.mark.parametrize("limit", ["lanes: '< 50%'", "prefill_instances: '>= 100%'"])
def test_a_share_of_what_is_no_share_is_refused(kvcost, preset, limit):
    ran = kvcost("check", preset(SPLIT + f"  {limit}\n"))
    assert (ran.code, ran.out) == (2, "")
    assert "is no plain number" in ran.err
