"""Every link of the catalog, by itself: a new entry is tested as soon as it stands in the YAML."""

import datetime as dt
import math
import re
from collections import Counter

import pytest

from kvcost.catalog.names import normalise
from kvcost.catalog.store import Catalog
from kvcost.cost.path import path_link, path_time_s, staged_hops
from kvcost.errors import KvcostError

CATALOG = Catalog()
LINKS = CATALOG.entries("links")
each_link = pytest.mark.parametrize("name", LINKS)

# What vendors print, both directions added up, in GB/s.
TWO_WAY = {
    "nvlink2": [300],
    "nvlink3": [600],
    "nvlink3_a800": [400],
    "nvlink4": [900],
    "nvlink4_h800": [400],
    "nvlink5": [1800],
    "nvl72": [1800, 130_000],
    "nvlink6": [3600],
    "nvlink_bridge_pcie": [600],
    "nvlink_c2c": [900],
    "xgmi_mi250x": [700, 800],
    "xgmi_mi300x": [128, 896],
    "xgmi_mi300x_all": [896],
    "xgmi_mi355x": [153, 153.6, 1075],
    "pcie3_x16": [31.5, 32],
    "pcie4_x16": [63, 64],
    "pcie5_x16": [126, 128],
    "pcie6_x16": [242, 256],
    "pcie4_x8": [31.5, 32],
    "pcie5_x8": [63, 64],
    "pcie4_p2p_nop2p": [63, 64],
    "host_dram_pcie4": [63, 64],
    "host_dram_pcie5": [126, 128],
    "host_dram_unpinned": [63, 64],
    "ib_edr": [25],
    "ib_hdr": [50],
    "ib_ndr": [100],
    "ib_xdr": [200],
    "roce_100g": [25],
    "roce_200g": [50],
    "roce_400g": [100],
    "roce_800g": [200],
    "eth_100g": [25],
    "eth_200g": [50],
    "eth_400g": [100],
    "aws_p5": [800],
    "gcp_a3_high": [125, 250],
    "gcp_a3_mega": [225, 450],
    "gcp_a3_ultra": [450, 900],
    "azure_nd_a100_v4": [400],
    "azure_nd_h100_v5": [800],
    "gaudi2_roce": [525, 600],
    "gaudi3_roce": [1050, 1200],
    "tpu_v4_ici": [90, 270, 540],
    "tpu_v5e_ici": [90, 180, 360],
    "tpu_v5p_ici": [180, 540, 1080],
    "tpu_v6e_ici": [180, 360, 720],
    "tpu_v7_ici": [200, 600, 1200],
    "spark_cx7": [50],
    "slingshot11": [50],
}


@pytest.mark.parametrize(("name", "sum_gb_s"), [(name, value) for name, values in TWO_WAY.items() for value in values])
def test_no_two_way_number_is_a_line_rate(name, sum_gb_s):
    assert not math.isclose(LINKS[name]["line_rate"], sum_gb_s * 1e9, rel_tol=0.01)


def _two_way_rates(entry):
    found = re.findall(r"([\d.]+) (GB|TB)/s[^;]*both directions", entry["vendor_trap"])
    return [float(value) * {"GB": 1e9, "TB": 1e12}[unit] for value, unit in found]


@each_link
def test_the_trap_in_the_entry_is_not_its_line_rate(name):
    for two_way in _two_way_rates(LINKS[name]):
        assert LINKS[name]["line_rate"] <= 0.51 * two_way


@pytest.mark.parametrize("name", [name for name, entry in LINKS.items() if entry["kind"] in ("nvlink", "nvlink-rack", "c2c", "xgmi", "pcie")])
def test_links_that_vendors_quote_two_way_say_so(name):
    assert _two_way_rates(LINKS[name]), "vendor_trap must give the vendor's number: 900 GB/s is both directions"


@each_link
def test_ranges_are_ordered_and_below_line_rate(name):
    entry = LINKS[name]
    assert 0 < entry["achieved_low"] <= entry["achieved"] <= entry["achieved_high"]
    if entry["line_rate"] is not None:
        assert entry["achieved_high"] <= entry["line_rate"]
        assert math.isfinite(entry["line_rate"])


@each_link
def test_efficiency_is_a_share(name):
    efficiency = CATALOG.link(name).efficiency
    assert efficiency is None or 0 < efficiency <= 1


@each_link
def test_a_wide_range_names_its_ends(name):
    entry = LINKS[name]
    if entry["achieved_low"] < 0.5 * entry["achieved"] or entry["achieved_high"] > 2 * entry["achieved"]:
        assert entry["low_is"]
        assert entry["high_is"]


@each_link
def test_provenance(name):
    entry = LINKS[name]
    assert len(entry["source"]) > 5
    assert dt.date.fromisoformat(entry["checked"]) <= dt.date(2100, 1, 1)
    assert entry["confidence"] in ("spec", "measured", "estimate")
    assert entry["basis"]
    assert entry["confidence"] != "estimate" or entry["note"], "an estimate says in its note why it is one"
    assert not re.search(r"[a-z0-9]{4,}-\d\d\b(?!-)|doc id|recall", entry["source"] + entry["note"]), "a source is something that a reader can find"


@each_link
def test_names_find_the_entry_and_differ(name):
    words = [name, *LINKS[name]["aliases"]]
    assert {CATALOG.find("links", word) for word in words} == {name}
    keys = [normalise(word) for word in words]
    assert len(set(keys)) == len(keys), "an alias differs from another only in case, spaces, hyphens or underscores"


def test_no_name_stands_for_two():
    owners = Counter(key for name, entry in LINKS.items() for key in {normalise(word) for word in (name, *entry["aliases"])})
    assert [key for key, count in owners.items() if count > 1] == []


@pytest.mark.parametrize("gpu", ["b200", "h100", "h200", "a100", "b300", "gb200", "mi300x", "mi355x", "gaudi3", "h100_nvl", "l40s", "tpu_v5e"])
def test_a_gpu_is_not_a_link(gpu):
    with pytest.raises(KvcostError, match=f"unknown link '{gpu}'") as caught:
        CATALOG.link(gpu)
    assert caught.value.hint.startswith("nearest: ")


@each_link
def test_rails_belong_to_nodes(name):
    entry, link = LINKS[name], CATALOG.link(name)
    assert (entry["rails"] is not None) == (entry["scope"] == "node") == (link.rails > 0)
    if entry["line_rate"] is not None:
        assert link.bandwidth_bytes_per_s == entry["line_rate"] / (entry["rails"] or 1)


@pytest.mark.parametrize("name", [name for name, entry in LINKS.items() if re.search(r"\d+x\d+G", entry["per"])])
def test_a_node_is_the_sum_of_its_nics(name):
    entry = LINKS[name]
    nics, gigabit = map(int, re.search(r"(\d+)x(\d+)G", entry["per"]).groups())
    assert entry["line_rate"] == nics * gigabit * 1e9 / 8
    assert nics % entry["rails"] == 0


@pytest.mark.parametrize("name", [name for name in LINKS if re.fullmatch(r"(?:eth|roce|tcp)_\d+g", name)])
def test_an_ethernet_port_signals_what_its_name_says(name):
    assert LINKS[name]["line_rate"] == int(name.split("_")[1][:-1]) * 1e9 / 8


@pytest.mark.parametrize("name", [name for name in LINKS if re.fullmatch(r"ib_[a-z]+_x\d+", name)])
def test_an_infiniband_node_is_the_sum_of_its_ports(name):
    port, rails = name.rsplit("_x", 1)
    assert LINKS[name]["line_rate"] == int(rails) * LINKS[port]["line_rate"]
    assert LINKS[name]["rails"] == int(rails)


@pytest.mark.parametrize(
    ("name", "lanes", "of"),
    [
        *(("pcie4_x8", 8, "pcie4_x16"), ("pcie5_x8", 8, "pcie5_x16"), ("cxl2_x8", 8, "pcie5_x16")),
        *(("nvme_gen3", 4, "pcie3_x16"), ("nvme_gen4", 4, "pcie4_x16"), ("nvme_gen5", 4, "pcie5_x16")),
    ],
)
def test_narrow_slots_are_shares_of_x16(name, lanes, of):
    assert LINKS[name]["line_rate"] == pytest.approx(LINKS[of]["line_rate"] * lanes / 16, rel=0.02)


@pytest.mark.parametrize(
    ("name", "rails", "rail_gb_s"),
    [("aws_p5", 8, 50), ("aws_p4d", 4, 12.5), ("aws_p5en", 8, 50), ("aws_p6_b300", 8, 100), ("gcp_a3_high", 4, 25), ("dgx_h100", 8, 50), ("gb200_tray", 4, 50)],
)
def test_a_rail_is_what_one_gpu_owns(name, rails, rail_gb_s):
    link = CATALOG.link(name)
    assert (link.rails, link.bandwidth_bytes_per_s) == (rails, rail_gb_s * 1e9)


@pytest.mark.parametrize(
    ("name", "efficiency"),
    [
        *(("nvlink3", 0.92), ("nvlink4", 0.88), ("nvlink5", 0.85), ("pcie3_x16", 0.78), ("pcie4_x16", 0.82), ("pcie5_x16", 0.88), ("xgmi_mi300x", 0.75)),
        *((name, 0.92) for name in LINKS if name.startswith("eth_")),
    ],
)
def test_efficiency_by_generation(name, efficiency):
    assert CATALOG.link(name).efficiency == pytest.approx(efficiency, abs=0.005)


def test_size_of_the_catalog():
    assert len(LINKS) >= 100
    assert len([name for name, entry in LINKS.items() if entry["kind"] == "tier"]) >= 9


def test_host_staging_between_two_cards_without_peer_access():
    hops = staged_hops(None, CATALOG.link("host_dram_pcie4"))
    series, pipelined = path_link(hops, "store-and-forward"), path_link(hops, "pipelined")
    assert series.achieved_bytes_per_s == pytest.approx(12.5e9)
    assert pipelined.achieved_bytes_per_s == pytest.approx(25e9)
    assert path_time_s([hop.achieved_bytes_per_s for hop in hops], 2**30, "store-and-forward") == pytest.approx(0.086, rel=0.002)


def test_a_measured_staged_pair_lies_between_the_two_ways_to_stage():
    hops = staged_hops(None, CATALOG.link("pcie4_x16"))
    measured = CATALOG.link("pcie4_p2p_nop2p").achieved_bytes_per_s
    assert path_link(hops, "store-and-forward").achieved_bytes_per_s < measured < path_link(hops, "pipelined").achieved_bytes_per_s
