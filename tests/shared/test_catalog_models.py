"""Every model of the reference data is in the catalog, and its entry says what its config.json says."""

import csv
from pathlib import Path

import pytest

from kvcost.catalog.store import Catalog
from kvcost.cost.dtypes import parse_kv_dtype
from kvcost.cost.kv import held_bytes, kv_layout, reserved_bytes, state_bytes
from kvcost.importers.hf_config import load_hf_config

SHARED = Path(__file__).parents[3] / "shared" / "facts"
pytestmark = [pytest.mark.shared, pytest.mark.skipif(not SHARED.is_dir(), reason="the reference data is not here")]

# The row and the config named phi-4 are those of Phi-4-mini-instruct (`_name_or_path` in the file says so).
RENAMED = {"phi-4": "phi-4-mini"}


def _rows(name: str) -> list[dict[str, str]]:
    if not SHARED.is_dir():
        return []
    with (SHARED / name).open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


@pytest.mark.parametrize("row", _rows("models.csv"), ids=lambda row: row["slug"])
def test_entry_is_what_the_config_says(row: dict[str, str]) -> None:
    entry = Catalog().model(RENAMED.get(row["slug"], row["slug"]))
    read = load_hf_config(SHARED / "hf_configs" / f"{row['slug']}.json").model
    told = ("name", "title", "source", "provenance", "notes", "context_limit_tokens", "params_total", "params_active")
    assert entry.params_total == pytest.approx(read.params_total, rel=0.02)
    assert entry.params_active == pytest.approx(read.params_active, rel=0.02)
    if row["context_limit"]:
        assert entry.context_limit_tokens == int(row["context_limit"])
    assert entry._replace(**dict.fromkeys(told, "")) == read._replace(**dict.fromkeys(told, ""))


@pytest.mark.parametrize("row", _rows("kv_bytes.csv"), ids=lambda row: f"{row['slug']}-{row['kv_dtype']}-{row['seq_len']}")
def test_bytes_are_exact(row: dict[str, str]) -> None:
    layout = kv_layout(Catalog().model(RENAMED.get(row["slug"], row["slug"])).groups, parse_kv_dtype(row["kv_dtype"]))
    ctx = int(row["seq_len"])
    assert held_bytes(layout, ctx) == int(row["kv_bytes_exact_tokens"])
    assert reserved_bytes(layout, ctx, 16) == int(row["kv_bytes_blocks16"])
    assert state_bytes(layout) == int(row["state_bytes_constant"] or 0)


def test_hub_ids_find_their_entries() -> None:
    catalog = Catalog()
    missing = [row["hf_id"] for row in _rows("models.csv") if "(" not in row["hf_id"] and not catalog.has("models", row["hf_id"])]
    assert missing == []
