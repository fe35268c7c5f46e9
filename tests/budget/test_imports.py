"""What each command imports: start-up is paid on every line of a sweep, so it is held by name, not by time."""

import json
import os
import subprocess
import sys

import pytest

WATCHED = ("pydantic", "rich", "yaml", "numpy", "importlib.metadata", "asyncio", "tempfile", "csv", "socket", "kvcost.cost", "kvcost.catalog", "kvcost.cases")
# Runs a command line in a fresh interpreter and reports, behind a mark, which modules are there at its end.
PROBE = """
import sys
sys.argv = ["kvcost", *sys.argv[1:]]
from kvcost.cli.app import run
code = run()
sys.stdout.flush()
print("MODULES", code, *sorted(sys.modules), file=sys.stderr)
"""
CASE = ("--model", "llama2-70b", "--ctx", "1k,4k", "--link", "nvlink4,100gbe")
SIZE = ("--model", "llama2-70b", "--ctx", "4k")


@pytest.fixture(scope="module")
def imported():
    """Which of the watched modules a command line imports; each line is run once."""
    seen = {}

    def call(*words):
        if words not in seen:
            done = subprocess.run(
                [sys.executable, "-c", PROBE, *words], capture_output=True, text=True, timeout=60, check=False, stdin=subprocess.DEVNULL, env=os.environ
            )
            code, *modules = done.stderr.rpartition("MODULES ")[2].split()
            assert code == "0", done.stderr
            seen[words] = {name for name in WATCHED if name in modules}
        return seen[words]

    return call


def test_the_probe_sees_what_is_imported():
    done = subprocess.run(
        [sys.executable, "-c", "import csv, json, sys; print(json.dumps([name for name in ('csv', 'yaml') if name in sys.modules]))"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(done.stdout) == ["csv"]


@pytest.mark.parametrize("words", [("transfer", *CASE, "--json"), ("size", *SIZE, "--json"), ("transfer", *CASE, "--format", "jsonl")], ids=" ".join)
def test_json_answers_import_next_to_nothing(imported, words):
    assert not imported(*words) - {"kvcost.cost", "kvcost.catalog", "kvcost.cases", "csv"}


@pytest.mark.parametrize(
    "words", [("transfer", *CASE), ("transfer", *SIZE, "--link", "100gbe"), ("size", *SIZE), ("transfer", *CASE, "--explain")], ids=" ".join
)
def test_a_table_may_import_rich_and_no_more(imported, words):
    assert not imported(*words) & {"pydantic", "yaml", "numpy", "importlib.metadata", "asyncio", "tempfile", "socket"}


def test_csv_imports_csv(imported):
    assert not imported("transfer", *CASE, "--format", "csv") - {"csv", "kvcost.cost", "kvcost.catalog", "kvcost.cases"}


@pytest.mark.parametrize("words", [("--help",), ("--version",), ("transfer", "--help"), ("size", "--help")], ids=" ".join)
def test_help_and_version_read_no_catalog_and_draw_no_table(imported, words):
    assert not imported(*words) & {"rich", "pydantic", "yaml", "numpy", "importlib.metadata", "asyncio", "tempfile", "socket"}


@pytest.mark.parametrize("words", [("--help",), ("--version",)], ids=" ".join)
def test_help_and_version_price_nothing(imported, words):
    assert "kvcost.cost" not in imported(*words)


@pytest.mark.parametrize("words", [("models", "--json"), ("links", "--json"), ("engines", "vllm-nixl", "--json")], ids=" ".join)
def test_the_catalog_comes_compiled(imported, words):
    assert not imported(*words) & {"pydantic", "yaml", "rich", "numpy", "importlib.metadata", "asyncio"}


def test_a_users_catalog_pays_for_its_checks_alone(imported, tmp_path):
    file = tmp_path / "engines.yaml"
    file.write_text("ours:\n  title: Ours\n  source: us\n  confidence: measured\n  checked: 2026-01-01\n")
    found = imported("transfer", *CASE, "--json", "--catalog", str(file))
    assert {"pydantic", "yaml"} <= found
    assert not found & {"rich", "numpy"}


@pytest.fixture
def presets(tmp_path):
    """A folder of presets that meet their limits."""
    text = "model: llama2-70b\nlink: {name: ib-ndr, rails: 8}\nprefill: {gpu: h100, tp: 8}\ndecode: {gpu: h100, tp: 8}\n"
    text += "workload: {isl: 4k, osl: 512, rate: 3}\nlimits: {transfer_s: < 1s, verdict: '!= infeasible'}\n"
    for name in "ab":
        (tmp_path / f"{name}.yaml").write_text(text)
    return str(tmp_path)


def test_a_good_preset_needs_yaml_and_no_pydantic(imported, presets):
    unwanted = {"pydantic", "rich", "numpy", "importlib.metadata", "asyncio", "tempfile", "csv"}
    assert not imported("check", presets) & unwanted
    assert not imported("check", presets, "--json") & unwanted
    assert not imported("transfer", "--preset", f"{presets}/a.yaml", "--json") & unwanted
    assert "yaml" in imported("check", presets)


def test_a_report_is_written_without_more(imported, presets):
    assert not imported("check", presets, "--report", "junit=-") & {"pydantic", "rich", "importlib.metadata", "tempfile"}


def test_a_file_is_written_by_way_of_tempfile(imported, tmp_path):
    assert "tempfile" in imported("transfer", *CASE, "--json", "-o", str(tmp_path / "out.json"))
