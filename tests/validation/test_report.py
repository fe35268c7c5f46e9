"""How far the compute model is from measurement, held as limits (marker `shared`; the table with -s)."""

from __future__ import annotations

import pytest

from . import report

pytestmark = [pytest.mark.shared, pytest.mark.skipif(not report.SHARED.is_dir(), reason="no reference data here")]

DENSE = {"a100": (0.08, 0.07), "h100": (0.08, 0.07), "h200": (0.08, 0.07), "b200": (0.09, 0.14), "l40s": (0.09, 0.09)}


@pytest.fixture(scope="module")
def groups():
    return report.grouped(report.all_pairs())


@pytest.mark.parametrize("gpu", DENSE)
@pytest.mark.parametrize("phase", ["prefill", "decode"])
def test_dense(groups, gpu, phase):
    assert report.score(groups["dense", gpu, phase]).mape <= DENSE[gpu][phase == "decode"]


@pytest.mark.parametrize(("family", "limit"), [("MoE", 0.14), ("MLA", 0.20)])
@pytest.mark.parametrize("phase", ["prefill", "decode"])
def test_experts_and_latents(groups, family, limit, phase):
    pairs = [pair for group, members in groups.items() if group[0] == family and group[2] == phase for pair in members]
    assert report.score(pairs).mape <= limit


@pytest.mark.parametrize(("engine", "prefill", "decode"), [("distserve", 0.15, 0.20), ("splitwise, vllm-2023", 0.15, 0.15)])
def test_engines(groups, engine, prefill, decode):
    for phase, limit in (("prefill", prefill), ("decode", decode)):
        pairs = [pair for group, members in groups.items() if group[0] == engine and group[2] == phase for pair in members]
        assert report.score(pairs).mape <= limit


def test_range_holds_most_of_what_it_was_fitted_to(groups):
    dense = [pair for group, members in groups.items() if group[0] == "dense" for pair in members]
    assert report.score(dense).inside >= 0.8


def test_table():
    print()
    print(report.table(report.all_pairs()))
