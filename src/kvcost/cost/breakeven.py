"""Where disaggregation begins or ceases to pay: roots of the gain, with everything re-evaluated at every point.

Along each axis the roots are found by `roots.crossings`, which misses none that a smooth function has; where the sign
turns at a jump (one more chunk, a side that saturates) there is no root: the value is None and the reason says where.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf, isnan, log
from typing import NamedTuple

from ..errors import KvcostError
from .case import Case, gain_of
from .disagg import pool_curves, pools, with_transfer
from .mono import mono, mono_curves
from .roots import Crossing, crossings, positive_intervals

__all__ = ["AXES", "BreakEven", "article_gain_s", "axis_case", "axis_gain", "breakeven", "saved_needed_s", "simple_breakeven_osl", "solve"]

AXES = ("osl", "bandwidth", "ctx", "rate", "prefix-hit", "kv-bits")
_UNITS = {"osl": "output tokens", "bandwidth": "bytes/s", "ctx": "prompt tokens", "rate": "requests/s", "prefix-hit": "tokens", "kv-bits": "bits"}
_RANGES = {"osl": (1.0, 1e5), "bandwidth": (1e6, 1e14), "ctx": (1.0, 1e6), "rate": (1e-4, 1e5), "prefix-hit": (0.0, 1.0), "kv-bits": (1.0, 32.0)}


class BreakEven(NamedTuple):
    """One axis solved.

    value      the root nearest to where the case stands, None where there is none
    intervals  where the gain is positive; None for an end that the searched range leaves open
    crossings  every sign change, roots and jumps
    reason     why the value is None, or "" where it is not
    """

    axis: str
    value: float | None
    intervals: tuple[tuple[float | None, float | None], ...]
    crossings: tuple[Crossing, ...]
    reason: str


def axis_case(case: Case, axis: str, value: float, kv_case: Callable[[float], Case] | None = None) -> Case:
    """The case with one input replaced; `kv_case` builds the case for a number of bits per KV element.

    Raises KvcostError for an unknown axis, and for kv-bits without a builder.
    """
    work = case.work
    if axis == "osl":
        return case._replace(work=work._replace(output_tokens=value))
    if axis == "ctx":
        kept = min(work.cached_tokens, value), min(work.prefix_hit_tokens, value)
        return case._replace(work=work._replace(prompt_tokens=value, cached_tokens=kept[0], prefix_hit_tokens=kept[1]))
    if axis == "rate":
        return case._replace(work=work._replace(rate_per_s=value, concurrency=None))
    if axis == "prefix-hit":
        return case._replace(work=work._replace(prefix_hit_tokens=value))
    if axis == "bandwidth":
        transfer = case.transfer
        return case._replace(transfer=lambda ctx, hit, _: transfer(ctx, hit, value))
    if axis == "kv-bits" and kv_case is not None:
        return kv_case(value)
    if axis not in AXES:
        raise KvcostError(f"unknown axis '{axis}'", hint="choose one of " + " ".join(AXES))
    raise KvcostError("KV bits cannot be solved without a case for each number of bits", hint="hand in kv_case")


def axis_gain(case: Case, axis: str, objective: str = "all", kv_case: Callable[[float], Case] | None = None) -> Callable[[float], float]:
    """The gain in seconds as a function of one input; what does not change along the axis is computed once."""
    if axis in ("bandwidth", "prefix-hit") and case.work.concurrency is None and objective in ("all", "ttft", "tpot", "e2e", "goodput"):
        return _link_gain(case, axis, objective)
    if axis == "rate":
        curves, pooled = mono_curves(case.work, case.mono), pool_curves(case.work, case.split)
        return lambda value: gain_of(axis_case(case, axis, value), objective, curves=curves, pool_curves=pooled)
    return lambda value: gain_of(axis_case(case, axis, value, kv_case), objective)


def _link_gain(case: Case, axis: str, objective: str) -> Callable[[float], float]:
    """The gain where only the transfer changes: both deployments are priced once."""
    ours, found = mono(case.work, case.mono), pools(case.work, case.split)
    field = {"ttft": "ttft_s", "tpot": "tpot_s"}.get(objective, "e2e_s")
    own: float | None = getattr(ours, field)

    def gain(value: float) -> float:
        their: float | None = getattr(with_transfer(found, axis_case(case, axis, value).transfer_s), field)
        if own is None or their is None:
            return float("nan") if own is None and their is None else (inf if own is None else -inf)
        return own - their

    return gain


def solve(function: Callable[[float], float], axis: str, low: float, high: float, at: float, *, logarithmic: bool = True) -> BreakEven:
    """Every root of a gain on [low, high]; the value is the one nearest to `at`.

    >>> round(solve(lambda bits: 1 - bits / 8, "kv-bits", 1, 32, 16).value, 9)
    8.0
    """
    found = crossings(function, low, high, logarithmic=logarithmic)
    intervals = tuple(positive_intervals(function, low, high, found))
    roots = [item.at for item in found if item.kind == "root"]
    if not roots:
        return BreakEven(axis, None, intervals, tuple(found), _why_none(function, axis, low, high, at, found))
    near = min(roots, key=lambda root: abs(log(root / at)) if root > 0 and at > 0 else abs(root - at))
    return BreakEven(axis, near, intervals, tuple(found), "")


def _why_none(function: Callable[[float], float], axis: str, low: float, high: float, at: float, found: list[Crossing]) -> str:
    unit = _UNITS[axis]
    if found:
        near = min(found, key=lambda item: abs(item.at - at))
        ahead = function(near.at * (1 + 1e-6))
        why = "one side saturates" if ahead in (inf, -inf) or isnan(ahead) or function(near.at * (1 - 1e-6)) in (inf, -inf) else "one more chunk or step is due"
        return f"no root: the sign turns at a jump, at {near.at:,.6g} {unit}, where {why}"
    value = function(at) if low <= at <= high else function(high)
    if isnan(value):
        return f"no root: both sides saturate at every number of {unit} searched"
    return f"no root: disaggregation {'gains' if value > 0 else 'does not gain'} from {low:,.4g} to {high:,.4g} {unit}"


def breakeven(case: Case, axis: str, objective: str = "all", *, kv_case: Callable[[float], Case] | None = None, high: float | None = None) -> BreakEven:
    """One axis solved: osl, bandwidth, ctx (intervals), rate, prefix-hit or kv-bits.

    `high` is the end of the search where it is not the axis' own (a model's context limit).

    >>> from .serving import Colocated, Split, Work
    >>> from .steps import measured_steps
    >>> from .case import fixed_transfer
    >>> steps = measured_steps({4096: 0.2}, {1: 0.010})
    >>> case = Case(Work(4096, 256, rate_per_s=2), Colocated(steps, instances=2), Split(steps, steps), fixed_transfer(0.1))
    >>> round(breakeven(case, "osl").value, 1)
    40.7

    Raises KvcostError for an unknown axis or objective.
    """
    if axis not in AXES:
        raise KvcostError(f"unknown axis '{axis}'", hint="choose one of " + " ".join(AXES))
    work = case.work
    low, end = _RANGES[axis]
    if axis == "prefix-hit":
        end = work.prompt_tokens
    end = high or end
    at = {"osl": work.output_tokens, "ctx": work.prompt_tokens, "rate": work.rate_per_s or low, "prefix-hit": work.prefix_hit_tokens, "kv-bits": 16.0}.get(axis)
    if axis == "rate":
        end = _stable_end(case, end)
    function = axis_gain(case, axis, objective, kv_case)
    if axis == "bandwidth" and function(inf) <= 0:
        return BreakEven(axis, None, (), (), "no root: even an unlimited link does not gain")
    return solve(function, axis, low, end, at if at is not None else (low * end) ** 0.5, logarithmic=axis != "prefix-hit")


def _stable_end(case: Case, end: float) -> float:
    """A rate a little beyond which both sides saturate, so that the search spends its samples where there is something."""
    curves, pooled = mono_curves(case.work, case.mono), pool_curves(case.work, case.split)
    rate = 1e-3
    while rate < end:
        work = case.work._replace(rate_per_s=rate, concurrency=None)
        if mono(work, case.mono, curves).limit and pools(work, case.split, pooled).limit:
            return rate
        rate *= 2
    return end


def saved_needed_s(exposed_s: float, handover_s: float, first_token: str = "decode", decode_step_s: float | None = None) -> float:  # noqa: S107
    """The saving that would have to be there, seconds: exposed + handover, and the decode step where decode sends the first token.

    Needs only the transfer; without a known decode step it leaves that out.

    >>> round(saved_needed_s(0.1167, 0.010, "decode", 0.0118), 4)
    0.1385
    """
    return exposed_s + handover_s + (decode_step_s or 0.0 if first_token == "decode" else 0.0)


def article_gain_s(saved_s: float, exposed_s: float) -> float:
    """The article's formula: net gain = prefill time saved - transfer, seconds.

    >>> round(article_gain_s(0.040, 0.107), 3)
    -0.067
    """
    return saved_s - exposed_s


def simple_breakeven_osl(ttft_gain_s: float, tpot_gain_s: float) -> float | None:
    """Output tokens at which two gains of opposite sign cancel, neither changing with them: m* = 1 - dTTFT/dTPOT.

    With both TPOT measured and the first token from decode this is 1 + (E + handover + wait)/dTPOT. None where the
    signs agree.

    >>> round(simple_breakeven_osl(-0.037, 0.0116), 2)
    4.19

    Source: the difference of two E2E, each TTFT + (m - 1)*TPOT.
    """
    if ttft_gain_s * tpot_gain_s >= 0:
        return None
    return 1.0 - ttft_gain_s / tpot_gain_s
