"""Laws of paths of hops."""

import math
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kvcost.cost.path import FORWARDINGS, fill_s, path_link, path_rate, path_time_s, staged_hops
from kvcost.cost.transfer import Engine, Link, link_times
from kvcost.errors import KvcostError

rates = st.lists(st.floats(1e6, 1e12), min_size=1, max_size=6)
forwardings = st.sampled_from(FORWARDINGS)


@st.composite
def links(draw):
    line = draw(st.floats(1e6, 1e12))
    low, expected, high = sorted(draw(st.tuples(*[st.floats(0.05, 1.0)] * 3)))
    scope = draw(st.sampled_from(["port", "gpu", "node"]))
    nominal = draw(st.sampled_from([line, line, line, None]))
    provenance = draw(st.sampled_from(["spec", "measured", "estimate", "user"]))
    return Link("hop", nominal, line * expected, line * low, line * high, scope, draw(st.integers(1, 16)) if scope == "node" else 0, 1e-6, provenance, "here")


@given(rates)
def test_in_series_is_slower_than_the_slowest_and_pipelined_is_the_slowest(hops):
    series, pipelined = path_rate(hops, "store-and-forward"), path_rate(hops, "pipelined")
    assert pipelined == min(hops)
    assert series <= pipelined * (1 + 1e-12)
    assert series >= pipelined / len(hops) * (1 - 1e-12)


@given(rates, forwardings)
def test_order_does_not_matter_and_paths_nest(hops, forwarding):
    assert path_rate(hops[::-1], forwarding) == pytest.approx(path_rate(hops, forwarding))
    if len(hops) > 1:
        assert path_rate([path_rate(hops[:1], forwarding), path_rate(hops[1:], forwarding)], forwarding) == pytest.approx(path_rate(hops, forwarding))


@given(rates, st.floats(1e6, 1e12), forwardings)
def test_a_further_hop_never_helps_and_an_unlimited_one_costs_nothing(hops, rate, forwarding):
    assert path_rate([*hops, rate], forwarding) <= path_rate(hops, forwarding)
    assert path_rate([*hops, math.inf], forwarding) == path_rate(hops, forwarding)


@given(rates, st.integers(1, 10**12), st.integers(1, 10**9))
def test_time_between_no_chunks_and_one_chunk(hops, wire_bytes, chunk_bytes):
    series = path_time_s(hops, wire_bytes, "store-and-forward")
    pipelined = path_time_s(hops, wire_bytes, "pipelined", chunk_bytes=chunk_bytes)
    assert wire_bytes / min(hops) * (1 - 1e-12) <= pipelined <= series * (1 + 1e-12)
    assert path_time_s(hops, wire_bytes, "pipelined", chunk_bytes=wire_bytes) == pytest.approx(series)


@given(st.lists(st.integers(1, 20), min_size=1, max_size=4), st.integers(1, 12))
def test_fill_against_chunks_moved_one_by_one(seconds_per_chunk, chunks):
    free = [0.0] * len(seconds_per_chunk)
    for _ in range(chunks):
        ready = 0.0
        for hop, seconds in enumerate(seconds_per_chunk):
            free[hop] = ready = max(free[hop], ready) + seconds
    hops = [1000 / seconds for seconds in seconds_per_chunk]
    assert path_time_s(hops, 1000 * chunks, "pipelined", chunk_bytes=1000) == pytest.approx(free[-1])


def test_fixed_times_add_up():
    for forwarding in FORWARDINGS:
        bare = path_time_s([1e9, 2e9], 10**9, forwarding)
        assert path_time_s([1e9, 2e9], 10**9, forwarding, hop_fixed_s=[1e-3, 2e-3]) == pytest.approx(bare + 3e-3)


def test_nothing_takes_no_time():
    assert path_time_s([1e9], 0, "pipelined", hop_fixed_s=[1e-3]) == 0
    assert path_rate([math.inf, math.inf], "store-and-forward") == math.inf
    assert path_time_s([math.inf], 10**9, "store-and-forward") == 0
    assert fill_s([5e9]) == 0


@given(st.lists(links(), min_size=1, max_size=4), forwardings)
def test_the_effective_link_keeps_its_order(hops, forwarding):
    path = path_link(hops, forwarding)
    assert path.achieved_low_bytes_per_s <= path.achieved_bytes_per_s <= path.achieved_high_bytes_per_s
    assert (path.bandwidth_bytes_per_s is None) == any(hop.bandwidth_bytes_per_s is None for hop in hops)
    if path.bandwidth_bytes_per_s is not None:
        assert path.achieved_high_bytes_per_s <= path.bandwidth_bytes_per_s * (1 + 1e-12)
    assert (path.rails > 0) == (path.scope == "node")


@given(st.lists(links(), min_size=1, max_size=4), st.integers(1, 10**12))
def test_store_and_forward_time_is_the_sum_of_the_hops(hops, wire_bytes):
    def seconds(link):
        times = link_times(link, Engine("line"), wire_bytes, 1, 0)
        return [times.achievable_s, times.achievable_low_s, times.achievable_high_s]

    total = [sum(parts) for parts in zip(*map(seconds, hops), strict=True)]
    assert seconds(path_link(hops, "store-and-forward")) == pytest.approx(total)


def test_a_path_has_as_many_rails_as_its_scarcest_hop():
    slot, port = Link("slot", 63e9, 55e9, 52e9, 57e9, "gpu"), Link("port", 50e9, 48e9, 46e9, 49e9, "port")
    node, small = Link("node", 50e9, 48e9, 46e9, 49e9, "node", 8), Link("small", 50e9, 48e9, 46e9, 49e9, "node", 4)
    for hops in permutations([slot, node, small]):
        assert path_link(hops, "pipelined")[5:7] == ("node", 4)
    for hops in permutations([slot, node, port]):
        assert path_link(hops, "pipelined")[5:7] == ("port", 0)
    assert path_link([slot, slot], "pipelined")[5:7] == ("gpu", 0)


def test_provenance_is_the_weakest():
    spec, measured = Link("a", 1e9, 1e9, 1e9, 1e9, provenance="spec", source="x"), Link("b", 1e9, 1e9, 1e9, 1e9, provenance="measured", source="y")
    path = path_link([spec, measured, spec], "pipelined")
    assert (path.name, path.provenance, path.source) == ("a+b+a", "measured", "a: x; b: y")


def test_two_cards_without_peer_access():
    slot = Link("pcie4", 31.5e9, 25e9, 22e9, 26e9, "gpu")
    hops = staged_hops(None, slot)
    assert [hop.name for hop in hops] == ["pcie4", "pcie4"]
    assert path_link(hops, "store-and-forward").achieved_bytes_per_s == pytest.approx(12.5e9)
    assert path_link(hops, "pipelined").achieved_bytes_per_s == 25e9
    series = link_times(path_link(hops, "store-and-forward"), Engine("line"), 2**30, 1, 0)
    assert series.achievable_s == pytest.approx(0.0859, abs=1e-4)


@pytest.mark.parametrize("bad", [[], [0.0], [-1.0], [1e9, math.nan]])
def test_what_is_no_path_is_refused(bad):
    with pytest.raises(KvcostError, match="path"):
        path_rate(bad, "pipelined")
    with pytest.raises(KvcostError, match="path"):
        fill_s(bad)


def test_no_hops_and_unknown_forwarding_are_refused():
    with pytest.raises(KvcostError, match="at least one hop"):
        path_link([], "pipelined")
    with pytest.raises(KvcostError, match="unknown forwarding"):
        path_rate([1e9], "teleport")


@pytest.mark.parametrize("link", ["nvlink4", "nvl72", "xgmi_mi300x", "ib_ndr"])
def test_staging_copies_at_the_speed_of_a_slot(kvcost, link):
    """Out of a GPU and into one over the host's bus, whatever lies between: not at the speed of NVLink."""
    ran = kvcost("transfer", "--model", "llama2-70b", "--ctx", "4096", "--link", link, "--staging", "host", "--format", "csv", "--columns", "link,achievable_s")
    name, seconds = ran.out.splitlines()[1].split(",")
    assert name.startswith("host_dram_pcie4+")
    assert name.endswith("+host_dram_pcie4")
    assert float(seconds) >= 1342177280 / 26e9


@pytest.mark.parametrize(("path", "expected"), [("pcie5,ib-ndr,pcie5", "pcie5_x16+ib_ndr+pcie5_x16"), ("pcie5", "pcie5_x16+pcie5_x16")])
def test_slots_that_are_there_already_are_the_copies(kvcost, path, expected):
    ran = kvcost("transfer", "--model", "llama2-70b", "--ctx", "4096", "--path", path, "--staging", "host", "--format", "csv", "--columns", "link")
    assert ran.out.splitlines()[1] == expected


def test_a_bandwidth_takes_the_place_of_an_unlimited_link(kvcost):
    words = ("transfer", "--model", "llama2-70b", "--ctx", "4096", "--bandwidth", "10GB/s", "--format", "csv", "--columns", "line_rate_s")
    assert kvcost(*words, "--link", "inf").out == kvcost(*words).out == "line_rate_s\n0.134217728\n"
