"""A verdict asked for by itself looks at goodput only as far as that can turn it: it must be the whole answer's verdict."""

import math

import pytest

from kvcost.cases.breakeven import BreakevenQuestion
from kvcost.cases.reading import Reader
from kvcost.catalog.store import Catalog
from kvcost.cost.goodput import highest_rate, rough_ratio

READER = Reader(Catalog())


def verdict(options, *fields):
    READER.wanted = frozenset(fields)
    question = BreakevenQuestion(READER, options)
    return dict(zip(question.columns, next(question.rows([4096])), strict=True))["verdict"]


@pytest.mark.parametrize("link", ["25gbe", "100gbe", "nvlink4"])
@pytest.mark.parametrize("rate", ["0", "1", "4", "9"])
@pytest.mark.parametrize(("ttft", "tpot"), [("300ms", "11ms"), ("1s", "50ms"), ("1ms", "1ms")])
@pytest.mark.parametrize("objective", ["all", "tpot"])
def test_it_is_the_same_verdict(link, rate, ttft, tpot, objective):
    options = {"model": ["llama2-70b"], "gpu": ["h100"], "tp": ["8"], "osl": ["256"], "link": [link], "rate": [rate]}
    options |= {"slo_ttft": [ttft], "slo_tpot": [tpot], "objective": [objective]}
    assert verdict(options, "verdict") == verdict(options, "verdict", "reason")


@pytest.mark.parametrize("ours", [1e-4, 0.5, 1.0, 3.3, 700.0])
@pytest.mark.parametrize("ratio", [0.2, 0.89, 0.92, 0.999, 1.001, 1.08, 1.12, 40.0])
def test_a_rough_ratio_is_on_the_right_side_of_every_edge(ours, ratio):
    edges = (1 / 1.1, 1.0, 1.1)
    rough = rough_ratio(lambda rate: rate <= ours, lambda rate: rate <= ratio * ours, edges)
    exact = highest_rate(lambda rate: rate <= ratio * ours) / highest_rate(lambda rate: rate <= ours)
    assert [rough > edge for edge in edges] == [exact > edge for edge in edges]


def test_a_side_without_any_goodput():
    assert rough_ratio(lambda _: False, lambda rate: rate < 1, (1.1,)) == math.inf
    assert rough_ratio(lambda rate: rate < 1, lambda _: False, (1.1,)) == 0
    assert math.isnan(rough_ratio(lambda _: False, lambda _: False, (1.1,)))
