"""Goodput of both sides in every joint run, as exactly as a question needs it; and what tokens cost at its load."""

from collections.abc import Sequence
from math import inf, isnan, nan

from ..cost.case import Case, Outcome
from ..cost.goodput import Limits, cost_per_mtok, disagg_goodput, disagg_meets, mono_goodput, mono_meets, rough_ratio
from ..cost.serving import Work as Load

__all__ = ["costs_of", "deciding_ratios", "goodput_ratios", "goodputs_of"]


def goodput_ratios(goodputs: Sequence[tuple[float, float]]) -> list[float]:
    """Split over monolithic, run by run; NaN first where neither side has any goodput in the expected run."""
    ratios = [theirs / ours if ours else (inf if theirs else 1.0) for ours, theirs in goodputs]
    return [nan, *ratios[1:]] if goodputs and not any(goodputs[0]) else ratios


def deciding_ratios(cases: Sequence[Case], limits: Limits, edges: Sequence[float]) -> list[float]:
    """Goodput ratios that are right in what they say of the verdict, and no further; none where goodput cannot turn it.

    The other runs only matter where the expected one lies beyond an edge.
    """
    ratios: list[float] = []
    for case in cases if edges else ():
        meets = mono_meets(case.work, case.mono, limits), disagg_meets(case.work, case.split, limits, case.transfer_s, case.derate)
        ratio = rough_ratio(*meets, edges if not ratios else (1.0,), case.work.rate_per_s or 1.0)
        ratios.append(1.0 if ratios and isnan(ratio) else ratio)
        if isnan(ratio) or not any(ratio < edge < 1.0 or ratio > edge > 1.0 for edge in edges):
            break
    return ratios


def goodputs_of(cases: Sequence[Case], limits: Limits) -> list[tuple[float, float]]:
    """Requests/s of both deployments within the limits, for every draw."""
    return [(mono_goodput(case.work, case.mono, limits), disagg_goodput(case.work, case.split, limits, case.transfer_s, case.derate)) for case in cases]


def costs_of(price: float | None, gpus: float, outcome: Outcome, load: Load) -> tuple[float | None, float | None]:
    """Dollars per million output tokens of both sides at the load; None without a price, and for a side that saturates."""
    if price is None:
        return None, None
    if load.concurrency is None:
        rates = [load.rate_per_s, load.rate_per_s]
    else:
        rates = [outcome.mono.rate_per_s * outcome.mono.side.instances, outcome.disagg.pools.rate_per_s]
    limits = outcome.mono.limit, outcome.disagg.limit
    # A side that saturates does not carry this rate, so its GPUs have no price per token at it.
    mono, disagg = (None if limit else cost_per_mtok(gpus, price, rate, load.output_tokens) for rate, limit in zip(rates, limits, strict=True))
    return mono, disagg
