"""The link catalog against the full reference table."""

import csv
from pathlib import Path

import pytest

from kvcost.catalog.store import Catalog

pytestmark = pytest.mark.shared

FACTS = Path(__file__).parents[3] / "shared" / "facts"
CATALOG = Catalog()
LINKS = CATALOG.entries("links")
# Where the entry departs from the table, and why: the rule of the generation, within the published runs.
ACHIEVED = {"nvlink4": 396e9, "pcie3_x16": 12.3e9}


def _rows(name):
    path = FACTS / name
    return list(csv.DictReader(path.read_text(encoding="utf-8").splitlines())) if path.exists() else []


@pytest.mark.parametrize("row", _rows("interconnects.csv"), ids=lambda row: row["id"])
def test_every_row_is_an_entry_with_its_figures(row):
    entry = LINKS[row["id"]]
    line_rate = float(row["nominal_gbit_per_dir"]) * 1e9 / 8 if row["nominal_gbit_per_dir"] else None
    assert entry["line_rate"] == line_rate
    assert entry["achieved"] == pytest.approx(ACHIEVED.get(row["id"], float(row["typical_GBps"]) * 1e9))
    assert entry["achieved_low"] == pytest.approx(float(row["typical_lo"]) * 1e9)
    assert entry["achieved_high"] == pytest.approx(float(row["typical_hi"]) * 1e9)
    assert entry["kind"] == row["kind"]
    for word, column in (("latency", "latency_us"), ("per_message", "per_message_us")):
        assert entry[word] == pytest.approx(float(row[column] or 0) * 1e-6)
    if row["rate_unit"].startswith("node"):
        assert entry["rails"] == float(row["links_per_node"]) / max(1.0, float(row["links_per_gpu"] or 0))


@pytest.mark.parametrize("row", _rows("interconnects.csv"), ids=lambda row: row["id"])
def test_no_entry_claims_more_than_the_table(row):
    strength = {"measured": 2, "spec": 1}
    assert strength.get(LINKS[row["id"]]["confidence"], 0) <= strength.get(row["confidence"], 0)


@pytest.mark.parametrize("row", _rows("interconnects.csv"), ids=lambda row: row["id"])
def test_aliases_of_the_table_resolve(row):
    # GPUs, and names of more than one thing, do not stand for a link.
    left_out = {"mi350", "h100 nvl", "grace hopper", "nvlink v100", "gpudirect-rdma roce", "nd96isr h100 v5", "nd96isr h200 v5"}
    for alias in set(row["aliases"].split("|")) - left_out:
        assert CATALOG.find("links", alias) == row["id"]


@pytest.mark.parametrize("row", _rows("gpus.csv"), ids=lambda row: row["id"])
def test_no_gpu_is_a_link(row):
    assert not CATALOG.has("links", row["id"])
    for alias in filter(None, row["aliases"].split("|")):
        assert not CATALOG.has("links", alias)
