"""KV bytes against the full reference table, for every model of the catalog that is in it."""

import csv
from pathlib import Path

import pytest

from kvcost.catalog.store import Catalog
from kvcost.cost.dtypes import parse_kv_dtype
from kvcost.cost.kv import held_bytes, kv_layout, marginal_bytes, reserved_bytes, state_bytes

pytestmark = pytest.mark.shared

TABLE = Path(__file__).parents[3] / "shared" / "facts" / "kv_bytes.csv"
CATALOG = Catalog()


def _name(slug):
    return CATALOG.find("models", slug) if CATALOG.has("models", slug) else None


def _rows():
    rows = list(csv.DictReader(TABLE.read_text(encoding="utf-8").splitlines())) if TABLE.exists() else []
    return [row for row in rows if row["kv_dtype"] in ("bf16", "fp8") and _name(row["slug"])]


@pytest.mark.parametrize("row", _rows(), ids=lambda row: f"{row['slug']}-{row['seq_len']}-{row['kv_dtype']}")
def test_row(row):
    layout = kv_layout(CATALOG.model(_name(row["slug"])).groups, parse_kv_dtype(row["kv_dtype"]))
    tokens = int(row["seq_len"])
    assert held_bytes(layout, tokens) == int(row["kv_bytes_exact_tokens"])
    assert state_bytes(layout) == int(row["state_bytes_constant"])
    if not row["window"]:
        assert reserved_bytes(layout, tokens, 16) == int(row["kv_bytes_blocks16"])
        assert marginal_bytes(layout, tokens) == int(row["bytes_per_token_marginal"])


@pytest.mark.skipif(not TABLE.exists(), reason="the reference data is not here")
def test_most_models_of_the_catalog_are_in_the_table():
    assert len({_name(row["slug"]) for row in _rows()}) >= 12
