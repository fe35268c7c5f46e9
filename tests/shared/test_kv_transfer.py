"""Engines against published transfer times."""

import csv
from pathlib import Path

import pytest

from kvcost.catalog.store import Catalog
from kvcost.cost.dtypes import parse_kv_dtype
from kvcost.cost.kv import kv_layout
from kvcost.cost.path import path_link, staged_hops
from kvcost.cost.transfer import lanes_of, link_times
from kvcost.cost.wire import wire_bytes

pytestmark = pytest.mark.shared

SHARED = Path(__file__).parents[3] / "shared"
CATALOG = Catalog()
# What the table calls engine and link → ours: engine, link, rails, TP.
SETTINGS = {
    ("vLLM MooncakeConnector", "8x CX7 RoCE, H800, cross-node, TP8->TP8"): ("mooncake", "roce_200g", 8, 8),
    ("SGLang Mooncake", "4x 400GbE RoCE v2, H20, cross-node, TP8->TP8"): ("sglang-mooncake", "roce_400g", 4, 8),
    ("vLLM+NIXL paged", "NVLink H100 intra-node"): ("lmcache-page128", "nvlink4", None, 1),
}


def _requests():
    path = SHARED / "validation" / "kv_transfer_open.csv"
    rows = csv.DictReader(path.read_text(encoding="utf-8").splitlines()) if path.exists() else []
    return [row for row in rows if row["kind"] == "request" and row["bytes"] and row["link_nominal_GBps"]]


def _predicted_s(row):
    engine_name, link_name, rails, tp = SETTINGS[row["engine"], row["link"]]
    engine, link = CATALOG.engine(engine_name), CATALOG.link(link_name)
    descriptors = 0
    if engine.descriptor_s:
        layout = kv_layout(CATALOG.model("llama3.1-8b").groups, parse_kv_dtype("bf16"))
        descriptors = wire_bytes(layout, int(float(row["tokens"])), block_tokens=engine.block_tokens, regions=engine.regions).descriptors
    times = link_times(link, engine, int(float(row["bytes"])), lanes_of(link, rails, tp, tp).lanes, descriptors)
    return times.engine_s


def _errors(rows):
    return [abs(_predicted_s(row) / (float(row["measured_time_ms"]) / 1e3) - 1) for row in rows]


def test_requests_with_a_stated_link():
    rows = _requests()
    assert len(rows) >= 10
    errors = _errors(rows)
    assert sum(errors) / len(errors) < 0.05
    assert max(errors) < 0.20


@pytest.mark.parametrize("engine", ["vLLM MooncakeConnector", "SGLang Mooncake"])
def test_mooncake_tables(engine):
    errors = _errors([row for row in _requests() if row["engine"] == engine])
    assert sum(errors) / len(errors) < 0.05


@pytest.mark.parametrize("row", _requests(), ids=lambda row: f"{row['engine']}-{row['tokens']}")
def test_never_below_half_the_measured_time(row):
    assert _predicted_s(row) > float(row["measured_time_ms"]) / 1e3 / 2


def test_staging_through_the_host_lies_between_the_two_ways():
    fits = csv.DictReader((SHARED / "facts" / "link_fits.csv").read_text(encoding="utf-8").splitlines())
    measured = [float(row["max_model_B_GBps"]) * 1e9 for row in fits if "staged through host" in row["link"]]
    assert measured
    hops = staged_hops(CATALOG.link("ib_ndr"), CATALOG.link("pcie4_x16"))
    for rate in measured:
        assert path_link(hops, "store-and-forward").achieved_bytes_per_s < rate < path_link(hops, "pipelined").achieved_bytes_per_s
