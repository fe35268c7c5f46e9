"""The presets that are shipped: each holds, is in the form of the schema, and breaks when its deployment gets worse."""

import copy
import json
import shutil

import pytest
import yaml
from jsonschema import Draft202012Validator

from .table import FOLDER, PRESETS, README, answer, table, whole

SCHEMA = FOLDER / "preset.schema.json"
FIRST_LINE = "# yaml-language-server: $schema=./preset.schema.json"
each = pytest.mark.parametrize("path", PRESETS, ids=lambda path: path.stem)


def loaded(path):
    return yaml.safe_load(path.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def validator():
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)


@pytest.fixture(scope="module")
def checked(spawn):
    """The whole folder, checked once."""
    done = spawn("check", FOLDER, "--json")
    return done.code, json.loads(done.out)


def test_every_limit_holds_without_a_warning(checked):
    code, document = checked
    assert [row["message"] for row in document["rows"] if not row["met"]] == []
    assert document["warnings"] == []
    assert code == 0


def test_there_are_enough(checked):
    names = {row["preset"].rpartition("/")[2] for row in checked[1]["rows"]}
    assert names == {path.name for path in PRESETS}
    assert len(names) >= 12
    verdicts = [whole(path)["limits"]["verdict"] for path in PRESETS]
    assert {"disaggregate", "colocate"} == set(verdicts)
    assert any("extends" in loaded(path) for path in PRESETS)


def test_limits_leave_a_margin(checked):
    """Within 2 % of its bound a limit would break on a correction of the model, not of the deployment."""
    rows = [row for row in checked[1]["rows"] if isinstance(row["value"], float) and row["excess"] is not None]
    assert len(rows) > 2 * len(PRESETS)
    tight = [(row["preset"], row["limit"]) for row in rows if -row["excess"] < 0.02 * max(abs(row["value"]), abs(row["value"] + row["excess"]))]
    assert tight == []


@each
def test_preset_says_why_and_what_must_hold(path):
    assert path.read_text(encoding="utf-8").splitlines()[0] == FIRST_LINE
    preset = whole(path)
    assert len(loaded(path)["note"].split()) > 20
    assert {"verdict", "model", "link"} <= preset.keys() | preset["limits"].keys()
    assert len(preset["limits"]) >= 3
    if preset["limits"]["verdict"] == "colocate":
        assert preset["limits"]["net_gain_s"].startswith("<")


@each
def test_preset_is_in_the_form_of_the_schema(path, validator):
    assert [error.message for error in validator.iter_errors(loaded(path))] == []


def test_schema_is_current(kvcost):
    assert SCHEMA.read_text(encoding="utf-8") == kvcost("schema", "preset").out, "write it again: kvcost schema preset > presets/preset.schema.json"


def test_table_is_current():
    assert table() in README.read_text(encoding="utf-8"), "write it again: python -m tests.presets.table"


def test_the_table_reads_presets_as_kvcost_does():
    path = FOLDER / "llama2-70b-100gbe-fp8.yaml"
    assert (whole(path)["kv_dtype"], whole(path)["workload"]["isl"], answer(path)["ctx_tokens"]) == ("fp8", 3584, 3584)


def applied(preset, change):
    """The preset with a change made to it, as somebody would who reads it."""
    found = copy.deepcopy(preset)
    for place, value in change.items():
        *sections, name = place.split(".")
        part = found
        for section in sections:
            if not isinstance(part.get(section), dict):
                part[section] = {"name": part[section]} if section in part else {}
            part = part[section]
        part[name] = value
    return found


# What somebody might change for the worse → a preset that refuses it.
WORSE = {
    "link": ("llama2-70b-ib-ndr", "name: ib-ndr", "name: 100gbe"),
    "dtype": ("llama2-70b-100gbe-fp8", "kv_dtype: fp8", "kv_dtype: bf16"),
    "rate": ("llama2-70b-100gbe-bf16", "rate: 4", "rate: 40"),
    "tp": ("llama3.1-70b-documents-32k", "tp: 8", "tp: 4"),
    "rails": ("deepseek-v3-h200-8-rails", "rails: 8", "rails: 1"),
    "cache": ("llama3.3-70b-agents-prefix-cache", "prefix_hit: 75%", "prefix_hit: 0"),
    "weights": ("llama3.1-70b-fp8-p5-efa", "kv_dtype: fp8", "kv_dtype: bf16"),
    "prompt": ("llama3.1-70b-documents-32k", "isl: 32k", "isl: 64k"),
}


@pytest.fixture
def folder(tmp_path):
    """A copy of the presets, to change."""
    for path in FOLDER.glob("*.yaml"):
        shutil.copy(path, tmp_path / path.name)
    return tmp_path


def broken_rows(done):
    return [row for row in json.loads(done.out)["rows"] if not row["met"]]


@pytest.mark.parametrize("what", WORSE)
def test_a_worse_deployment_breaks_its_limits(folder, kvcost, what):
    """Each broken limit with its line and by how much, and a change; the change mends the preset."""
    name, before, after = WORSE[what]
    path = folder / f"{name}.yaml"
    text = path.read_text(encoding="utf-8")
    assert before in text
    path.write_text(text.replace(before, after), encoding="utf-8")
    done = kvcost("check", path, "--json")
    broken = broken_rows(done)
    assert done.code == 1
    assert broken
    for row in broken:
        line = (folder / row["file"]).read_text(encoding="utf-8").splitlines()[row["line"] - 1]
        assert row["limit"] in line
        assert row["bound"] in line
        assert line[row["column"] - 1 :].strip('" ').startswith(row["bound"])
        assert row["excess"] is None or row["excess"] > 0
        assert row["excess"] is not None or row["value"] is None or row["limit"] == "verdict"
        assert row["hint"]
    for change in {json.dumps(row["change"], sort_keys=True): row["change"] for row in broken}.values():
        mended = path.with_name("mended.yaml")
        mended.write_text(yaml.safe_dump(applied(loaded(path), change)), encoding="utf-8")
        assert broken_rows(kvcost("check", mended, "--json")) == [], change
