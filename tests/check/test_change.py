"""The nearest change is found by the model: applied, it makes the check pass."""

import copy
import json

import pytest
import yaml

from .conftest import SPLIT

COLOCATE = """\
model: llama2-70b
link: 100gbe
prefill: {gpu: h100, tp: 8}
decode: {gpu: h100, tp: 8}
workload: {isl: 1k, osl: 128, rate: 1}
limits: {net_gain_s: "< 0", transfer_s: "> 20ms"}
"""
INSIDE = SPLIT.replace("{name: ib-ndr, rails: 8}", "nvlink4").replace("tp: 8", "tp: 4").replace("< 2.5ms", "< 1ms").replace("< 400ms", "< 1s")


def applied(text, change):
    """The preset with the values written where the change says."""
    whole = yaml.safe_load(text)
    for path, value in change.items():
        *sections, key = path.split(".")
        inside = whole
        for section in sections:
            inside = inside.setdefault(section, {})
        inside[key] = copy.deepcopy(value)
    return yaml.safe_dump(whole, sort_keys=False)


@pytest.mark.parametrize(
    ("text", "old", "new"),
    [
        (SPLIT, "name: ib-ndr", "name: 100gbe"),
        (SPLIT, "name: ib-ndr", "rate: 25Gbps"),
        (SPLIT, "kv_dtype: fp8", "kv_dtype: bf16"),
        (SPLIT, "kv_dtype: fp8\n", ""),
        (SPLIT, "rate: 3", "rate: 30"),
        (SPLIT, "rate: 3", "concurrency: 400"),
        (SPLIT, "tp: 8", "tp: 4"),
        (SPLIT, "rails: 8", "rails: 2"),
        (SPLIT, "{name: ib-ndr, rails: 8}", "ib-ndr"),
        (SPLIT, "isl: 4k", "isl: 16k"),
        (INSIDE, "nvlink4", "100gbe"),
        (COLOCATE, "100gbe", "400gbe"),
        (COLOCATE, "isl: 1k", "isl: 128"),
        (COLOCATE, "link: 100gbe", "link: 100gbe\nkv_dtype: fp8"),
    ],
)
def test_a_change_that_is_applied_makes_the_check_pass(checked, text, old, new):
    assert checked(text)[0] == 0
    broken = text.replace(old, new)
    assert broken != text
    code, rows = checked(broken)
    assert code == 1
    for row in rows:
        assert row["met"] or (row["hint"] and row["change"])
        assert row["met"] or row["value"] is None or isinstance(row["value"], str) or row["excess"] >= 0
    change = next(row["change"] for row in rows if not row["met"])
    assert checked(applied(broken, change))[0] == 0, change


def test_the_line_to_change_is_named(checked):
    _, rows = checked(SPLIT.replace("fp8", "bf16"))
    assert rows[2]["change"] == {"kv_dtype": "fp8"}
    assert rows[2]["hint"].startswith("kv_dtype: fp8 (line 3) meets all limits of the preset; transfer_s is then ")


def test_a_line_of_a_base_is_named_with_its_file(checked, preset):
    preset(SPLIT, name="base.yaml")
    _, rows = checked("extends: base.yaml\nlimits: {transfer_s: < 1.3ms, link_utilisation: null}\n")
    broken = next(row for row in rows if not row["met"])
    assert (broken["file"], broken["line"]) == ("a.yaml", 2)
    assert "(base.yaml:" in broken["hint"] or "(to add)" in broken["hint"]


def test_the_comparison_stays_fair(checked):
    """More GPUs for the pools are more GPUs for the monolithic side."""
    _, rows = checked(SPLIT.replace("rate: 3", "rate: 9").replace('"> 0"', '"> 100ms"'))
    for row in rows:
        if row["change"] and any(path.endswith("instances") for path in row["change"]):
            assert "mono.instances" in row["change"]


def test_where_nothing_helps_it_says_so(checked):
    code, rows = checked(SPLIT.replace("< 2.5ms", "< 1ns"))
    assert code == 1
    assert rows[2]["change"] is None
    assert "no single change" in rows[2]["hint"]


def test_a_change_that_mends_one_limit_says_what_stays_broken(checked):
    code, rows = checked(SPLIT.replace("rails: 8", "rails: 1").replace("< 400ms", "< 1ms"))
    assert code == 1
    assert "meets this limit, but ttft_disagg_s stays broken" in rows[2]["hint"]


def test_changes_are_the_same_every_time(checked):
    text = SPLIT.replace("ib-ndr", "100gbe").replace("rate: 3", "rate: 4")
    assert json.dumps(checked(text)) == json.dumps(checked(text))


def test_where_a_split_begins_to_pay_the_load_is_named_and_not_a_worse_split(kvcost, tmp_path):
    file = tmp_path / "a.yaml"
    limits = "limits: {verdict: colocate}\nobjective: e2e\n"
    text = SPLIT.split("limits:")[0] + limits
    file.write_text(text)
    (row,) = json.loads(kvcost("check", file, "--json").out)["rows"]
    assert row["value"] == "disaggregate"
    assert set(row["change"]) <= {"workload.rate", "workload.isl", "workload.osl"}
    assert "let the limit ask for one" in row["hint"]


def test_a_value_that_is_missing_is_explained_by_what_saturates(kvcost, tmp_path):
    file = tmp_path / "a.yaml"
    file.write_text(SPLIT.split("limits:")[0].replace("rate: ", "rate: 9") + "objective: goodput\nslo: {ttft: 1s}\nlimits: {ttft_disagg_s: '< 1s'}\n")
    (row,) = json.loads(kvcost("check", file, "--json").out)["rows"]
    assert row["value"] is None
    assert "saturates" in row["message"]


def change_of(checked, text):
    _, rows = checked(text)
    return next(row["hint"] for row in rows if not row["met"])


def test_what_a_change_takes_beside_its_words_is_said(checked):
    head = SPLIT.partition("limits:")[0].replace("kv_dtype: fp8\n", "kv_dtype: fp8\noverlap: push\n").replace("weight_dtype: fp16", "weight_dtype: fp8")
    four = head.replace("tp: 8", "tp: 4").replace("rails: 8", "rails: 4")
    hint = change_of(checked, four + "limits: {prefill_s: '< 160ms'}\n")
    assert "prefill.tp: 8 (line 6)" in hint
    assert hint.endswith("it takes 12 GPUs in place of 8")
    hint = change_of(checked, head.replace("tp: 8", "tp: 4").replace("{name: ib-ndr, rails: 8}", "ib-ndr") + "limits: {link: nvlink4}\n")
    assert hint.endswith("it takes both pools in one node")


def test_shorter_prompts_come_last_and_are_a_threshold(checked):
    text = SPLIT.partition("limits:")[0] + "limits: {kv_bytes: '< 200MB'}\n"
    code, rows = checked(text)
    assert code == 1
    assert set(rows[0]["change"]) == {"workload.isl"}
    assert "a threshold: send only prompts of up to 1," in rows[0]["hint"]
    assert checked(applied(text, rows[0]["change"]))[0] == 0
