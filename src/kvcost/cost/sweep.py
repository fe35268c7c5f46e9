"""Many points at once: what does not change along an axis is computed once.

for ctx: costs = [costs_of(case) for each draw]              curves of both sides
  for rate: loaded = load(costs, work at that rate)           batches, waits, gaps
    for bandwidth: loaded.point(transfers of the draws)       a few microseconds
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf, sqrt
from typing import NamedTuple

from .case import Case
from .disagg import PoolCurves, Pools, pool_curves, pools, with_transfer
from .load import router_factor
from .mono import Mono, mono, mono_curves
from .steps import Curves
from .tails import mono_gap_s
from .verdict import BANDS

__all__ = ["Costs", "Loaded", "Point", "costs_of", "load"]

_MEAN, _GAP = 1.0 + BANDS["e2e"], 1.0 + BANDS["itl-p99"]
_NEVER = (inf, inf, inf)


class Costs(NamedTuple):
    """A case with the curves of both sides, for any load."""

    case: Case
    mono: Curves
    pools: PoolCurves


class Point(NamedTuple):
    """The answer at one transfer time; the gains are None where a side saturates."""

    net_gain_s: float | None
    net_gain_low_s: float | None
    net_gain_high_s: float | None
    verdict: str


_LOST, _WON, _NOTHING = Point(None, None, None, "colocate"), Point(None, None, None, "disaggregate"), Point(None, None, None, "infeasible")


class Loaded(NamedTuple):
    """Both sides under load, in every draw, without the link; `point` adds it."""

    monos: tuple[Mono, ...]
    pools: tuple[Pools, ...]
    point: Callable[[Sequence[float]], Point]


def costs_of(case: Case) -> Costs:
    """What both sides cost for the case's work at any load and over any link."""
    tokens = case.work.prompt_tokens + case.work.output_tokens
    caps, needs = (case.mono.capacity(tokens), case.split.capacity(tokens)), case.split.prefill_capacity(case.work.prompt_tokens)
    split = case.split._replace(capacity=lambda _: caps[1], prefill_capacity=lambda _: needs)
    fixed = case._replace(mono=case.mono._replace(capacity=lambda _: caps[0]), split=split)
    return Costs(fixed, mono_curves(case.work, case.mono), pool_curves(case.work, case.split))


def load(costs: Sequence[Costs], rate_per_s: float, objective: str = "all") -> Loaded:
    """Both sides at `rate_per_s` in every draw, the expected one first.

    `point(transfers)` takes a transfer time (seconds) for every draw, and answers with the gain of the objective (E2E under `all`), its
    ends over the draws and the verdict: the same as `compare` and `decide` give, without the sentence.

    >>> from .case import fixed_transfer
    >>> from .serving import Colocated, Split, Work
    >>> from .steps import measured_steps
    >>> steps = measured_steps({4096: 0.2}, {1: 0.010})
    >>> case = Case(Work(4096, 256), Colocated(steps, instances=2), Split(steps, steps), fixed_transfer(0.1))
    >>> point = load([costs_of(case)], 2.0).point
    >>> [(round(point([x]).net_gain_s, 3), point([x]).verdict) for x in (0.1, 0.48)]
    [(0.543, 'mixed'), (-5.53, 'mixed')]
    """
    works = [item.case.work._replace(rate_per_s=rate_per_s, concurrency=None) for item in costs]
    monos = tuple(mono(work, item.case.mono, item.mono) for work, item in zip(works, costs, strict=True))
    loaded = tuple(pools(work, item.case.split, item.pools) for work, item in zip(works, costs, strict=True))
    sides = tuple(_side(ours, found) for ours, found in zip(monos, loaded, strict=True))
    return Loaded(monos, loaded, _pointer(sides, objective))


class _Side(NamedTuple):
    """One draw: the monolithic times, and the split ones as functions of the transfer."""

    fails: bool
    ttft_s: float
    tpot_s: float
    gap_s: float
    e2e_s: float
    their_gap_s: float
    at: Callable[[float], tuple[float, float, float]]


def _side(ours: Mono, found: Pools) -> _Side:
    gap_s = mono_gap_s(ours) or inf
    their_gap_s = inf if found.limit else found.curves.decode.decode(found.batch + 1 + 2.33 * sqrt(found.batch))
    return _Side(bool(ours.limit), ours.ttft_s or inf, ours.tpot_s or inf, gap_s, ours.e2e_s or inf, their_gap_s, _times(found))


def _times(found: Pools) -> Callable[[float], tuple[float, float, float]]:
    """TTFT, TPOT and E2E of the split side at a transfer time; (inf, inf, inf) where it saturates.

    `with_transfer` written out for a serial transfer; the other overlaps call it.
    """
    side, wait_s, before_s = found.side, found.prefill_wait_s, found.prefill_wait_s + found.prefill_s
    if found.limit:
        return lambda _: _NEVER
    if side.overlap != "serial":
        return lambda transfer_s: _asked(found, transfer_s)
    ports = side.link_ports
    later, step_s, fixed_s = max(0.0, found.work.output_tokens - 1), found.step_s, side.handover_s + found.admission_s
    rate, shared = found.rate_per_s / ports, side.prefill_servers > ports
    factor = 1.0 - found.rho * found.rho if shared else router_factor(side.router, side.prefill_servers)
    hidden_s, waited_s, early = (0.0, 0.0, side.first_token == "prefill") if shared else (found.prefill_s, wait_s, side.first_token == "prefill")
    first_s = before_s + fixed_s + step_s

    def times(transfer_s: float) -> tuple[float, float, float]:
        rho = rate * transfer_s
        if rho >= 1.0:
            return _NEVER
        gap_s = transfer_s
        if transfer_s > hidden_s:
            gap_s += max(0.0, factor * rho * transfer_s / (2.0 * (1.0 - rho)) - waited_s)
        if early:
            tpot_s = step_s + (gap_s + fixed_s) / max(1.0, later)
            return before_s, tpot_s, before_s + later * tpot_s
        return first_s + gap_s, step_s, first_s + gap_s + later * step_s

    return times


def _asked(found: Pools, transfer_s: float) -> tuple[float, float, float]:
    answer = with_transfer(found, transfer_s)
    if answer.ttft_s is None or answer.tpot_s is None or answer.e2e_s is None:
        return _NEVER
    return answer.ttft_s, answer.tpot_s, answer.e2e_s


def _class(our: float, their: float, rest: Sequence[float], others: Sequence[Sequence[float]], index: int, band: float) -> int:
    """1 better, -1 worse, 0 tie: the expected draw by more than the band, the others at least on the same side; see `verdict.classify`."""
    if their * band < our:
        for mine, other in zip(rest, others, strict=False):
            if other[index] >= mine:
                return 0
        return 1
    if our * band < their:
        for mine, other in zip(rest, others, strict=False):
            if other[index] <= mine:
                return 0
        return -1
    return 0


def _pointer(sides: tuple[_Side, ...], objective: str) -> Callable[[Sequence[float]], Point]:
    first, rest = sides[0], sides[1:]
    at, others_at = first.at, tuple(side.at for side in rest)
    if first.fails:
        return lambda transfers: _WON if at(transfers[0])[2] < inf else _NOTHING
    wanted = {"ttft": (0,), "tpot": (1,), "e2e": (2,), "itl-p99": ()}.get(objective, (0, 1, 2))
    part = {"ttft": 0, "tpot": 1}.get(objective, 2)
    ours = (first.ttft_s, first.tpot_s, first.e2e_s)
    rests: tuple[tuple[float, ...], ...] = tuple(side.ttft_s for side in rest), tuple(side.tpot_s for side in rest), tuple(side.e2e_s for side in rest)
    asked = [(ours[index], rests[index], index) for index in wanted]
    gap_of = _gap_class(first, rest) if objective not in ("ttft", "tpot", "e2e") else None
    gap_gains = tuple(side.gap_s - side.their_gap_s for side in sides) if objective == "itl-p99" else None
    own, own_rest = ours[part], rests[part]

    def point(transfers: Sequence[float]) -> Point:
        times = at(transfers[0])
        if times[2] == inf:
            return _LOST
        others = [time(transfer_s) for time, transfer_s in zip(others_at, transfers[1:], strict=False)]
        better = worse = False
        for our, mine, index in asked:
            found = _class(our, times[index], mine, others, index, _MEAN)
            better, worse = better or found > 0, worse or found < 0
        if gap_of is not None:
            found = gap_of(others)
            better, worse = better or found > 0, worse or found < 0
        verdict = ("mixed" if worse else "disaggregate") if better else "colocate"
        gain = low = high = own - times[part]
        for ours_there, other in zip(own_rest, others, strict=False):
            other_gain = ours_there - other[part]
            low = other_gain if other_gain < low else low  # min() and max() cost three times as much
            high = other_gain if other_gain > high else high
        if gap_gains is not None:
            lost = any(other[2] == inf for other in others)
            gain, low, high = gap_gains[0], -inf if lost else min(gap_gains), max(gap_gains)
        return Point(gain, low, high, verdict) if -inf < low and high < inf else Point(gain, None, None, verdict)

    return point


def _gap_class(first: _Side, rest: Sequence[_Side]) -> Callable[[Sequence[Sequence[float]]], int]:
    """The class of the p99 gap, which the link touches only by saturating."""
    own = tuple(side.gap_s for side in rest)
    steady = [(side.their_gap_s,) for side in rest]
    always = _class(first.gap_s, first.their_gap_s, own, steady, 0, _GAP)

    def found(others: Sequence[Sequence[float]]) -> int:
        for other in others:
            if other[2] == inf:
                return _class(
                    first.gap_s, first.their_gap_s, own, [(inf,) if time[2] == inf else gap for time, gap in zip(others, steady, strict=True)], 0, _GAP
                )
        return always

    return found
