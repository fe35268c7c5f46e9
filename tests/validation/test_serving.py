"""How far serving is from what was served, held as limits (marker `shared`; the tables with -s)."""

from __future__ import annotations

import pytest

from . import goodput, serving, verdicts
from .report import SHARED

pytestmark = [pytest.mark.shared, pytest.mark.skipif(not SHARED.is_dir(), reason="no reference data here")]


@pytest.fixture(scope="module")
def aggregated():
    return list(serving.aggregated())


@pytest.fixture(scope="module")
def split():
    return list(serving.split())


@pytest.fixture(scope="module")
def votes():
    return verdicts.all_votes()


def test_tpot_of_dense_fp8_servers(aggregated):
    """All rows. The goals of 18 and 11 % are not met: B200 at 8 bit is fitted to operator tables, and served runs are faster.

    Ten rows of one model, measured twice as fast as predicted, are printed apart.
    """
    every = [row for row in aggregated if row.group[:2] == ("dense", "fp8")]
    found = serving.errors(row for row in every if row.group[2] != "Llama-3.1-8B-Instruct-FP8")
    print("all rows:", serving.errors(every), "without ten:", found, sep="\n")
    whole = serving.errors(every)
    assert whole.mape <= 0.20
    assert whole.median <= 0.14
    assert whole.plain_mape > 1.5 * whole.mape


def test_tpot_of_all_dense_servers(aggregated):
    found = serving.errors(row for row in aggregated if row.group[0] == "dense")
    assert found.mape <= 0.18
    assert found.median <= 0.12


def test_tpot_of_split_servers(split):
    """MLA + MoE on H200 is near; Blackwell rows are far: we are too slow. The rows do not say whether they speculate."""
    assert serving.errors(row for row in split if row.group[3] == "h200_sxm").mape <= 0.15
    print(serving.errors(split))


def test_verdicts(votes):
    found = verdicts.score(votes)
    print(found)
    assert found.opposite == 0
    assert found.right >= 0.8
    assert found.right > found.constant[1]


@pytest.mark.parametrize("case", goodput.CASES, ids=lambda case: f"{case[0]}-{case[4]}")
@pytest.mark.parametrize("router", ["round-robin", "least-loaded"])
def test_direction_of_goodput(case, router):
    *inputs, reference = case
    found = goodput.direction(*inputs, router)
    assert (found.ratio > 1) == (reference > 1)
    assert found.ratio == pytest.approx(reference, rel=0.10)


def test_tables(aggregated, split, votes):
    for rows in (aggregated, split):
        for depth in (2, 5):
            table = serving.table(rows, depth)
            assert len(table.splitlines()) == 2 + len({row.group[:depth] for row in rows})
            print("\n" + table)
    print("\n" + verdicts.table(votes))
    print("\n" + goodput.table())
