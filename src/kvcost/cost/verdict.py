"""The verdict: classes with bands, and one sentence that says why in the words of those who asked.

A quantity is `better` when the split side wins at the expected constants by more than the band and still wins at the
least favourable of the joint runs; `worse` is the mirror image; anything between is a `tie`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import ceil, inf, isnan
from typing import Literal, NamedTuple

from ..errors import KvcostError
from ..units.show import show_significant
from .breakeven import BreakEven, simple_breakeven_osl
from .case import OBJECTIVES, Case, Outcome, gain_of

__all__ = ["BANDS", "Class", "Verdict", "classes_of", "classify", "decide", "goodput_edges", "sign_turned_by"]

Class = Literal["better", "worse", "tie"]
BANDS = {"ttft": 0.05, "tpot": 0.05, "e2e": 0.05, "itl-p99": 0.15, "ttft-p90": 0.15, "goodput": 0.10}
_NAMES = {"ttft": "TTFT", "tpot": "TPOT", "e2e": "E2E", "itl-p99": "p99 gap", "ttft-p90": "p90 TTFT", "goodput": "goodput per GPU"}
_DECIDING = ("ttft", "tpot", "itl-p99", "e2e", "goodput")


class Verdict(NamedTuple):
    """disaggregate, colocate, mixed, infeasible or unknown; the sentence; and the class of every quantity.

    net_gain_*_s  gain of the objective (E2E under `all` and `goodput`): expected, and the ends of the joint runs
    """

    verdict: Literal["disaggregate", "colocate", "mixed", "infeasible", "unknown"]
    reason: str
    classes: Mapping[str, Class]
    net_gain_s: float | None
    net_gain_low_s: float | None
    net_gain_high_s: float | None


def classify(metric: str, ratios: Sequence[float]) -> Class:
    """better, worse or tie, from ratios (split over monolithic, above 1 = better), the expected one first.

    better: all > 1 and the expected > 1 + band; worse: all < 1 and the expected < 1/(1 + band). Bands: 5 % for means of
    latency, 15 % for the p99 gap and the p90 TTFT, 10 % for goodput.

    >>> classify("tpot", [1.12, 1.02, 1.2]), classify("tpot", [1.12, 0.99, 1.2]), classify("itl-p99", [1.12])
    ('better', 'tie', 'tie')
    """
    band = 1.0 + BANDS[metric]
    if min(ratios) > 1.0 and ratios[0] > band:
        return "better"
    return "worse" if max(ratios) < 1.0 and ratios[0] < 1.0 / band else "tie"


def _times(outcome: Outcome, metric: str) -> tuple[float | None, float | None]:
    o = outcome
    pairs = {
        "ttft": (o.mono.ttft_s, o.disagg.ttft_s),
        "tpot": (o.mono.tpot_s, o.disagg.tpot_s),
        "e2e": (o.mono.e2e_s, o.disagg.e2e_s),
        "itl-p99": (o.itl_p99_mono_s, o.itl_p99_disagg_s),
        "ttft-p90": (o.ttft_p90_mono_s, o.ttft_p90_disagg_s),
    }
    return pairs[metric]


def _ratio(outcome: Outcome, metric: str) -> float | None:
    """Monolithic over split; inf where only the monolithic side saturates, 0 where only the split one does."""
    ours, theirs = outcome.mono.limit, outcome.disagg.limit
    if ours or theirs:
        return None if ours and theirs else (inf if ours else 0.0)
    mono_s, disagg_s = _times(outcome, metric)
    return None if mono_s is None or disagg_s is None else mono_s / disagg_s


def classes_of(outcomes: Sequence[Outcome], goodput_ratios: Sequence[float] = ()) -> dict[str, Class]:
    """The class of every quantity that all of the joint runs give, the expected run first."""
    found: dict[str, Class] = {}
    for metric in ("ttft", "tpot", "itl-p99", "e2e", "ttft-p90"):
        ratios = [_ratio(outcome, metric) for outcome in outcomes]
        if ratios and ratios[0] is not None:
            gapless = metric in ("tpot", "itl-p99") and outcomes[0].mono.work.output_tokens <= 1
            found[metric] = "tie" if gapless else classify(metric, [1.0 if ratio is None else ratio for ratio in ratios])
    if goodput_ratios:
        found["goodput"] = classify("goodput", goodput_ratios)
    return found


def goodput_edges(outcomes: Sequence[Outcome], objective: str) -> tuple[float, ...]:
    """The expected goodput ratios at which the verdict may turn, given all else; none where it stands without goodput."""
    expected = outcomes[0]
    if objective != "all" or expected.mono.limit or expected.disagg.limit:
        return ()
    classes = classes_of(outcomes)
    kinds = {classes[metric] for metric in _DECIDING if metric in classes} - {"tie"}
    band = 1.0 + BANDS["goodput"]
    return tuple(edge for edge, kind in ((1.0 / band, "worse"), (band, "better")) if kind not in kinds)


def _gain(outcome: Outcome, objective: str) -> float | None:
    gains = outcome.gains
    return {"ttft": gains.ttft_s, "tpot": gains.tpot_s, "itl-p99": gains.itl_p99_s}.get(objective, gains.e2e_s)


def decide(
    outcomes: Sequence[Outcome],
    objective: str = "all",
    *,
    goodput_ratios: Sequence[float] = (),
    breakeven_osl: BreakEven | float | None = None,
    turned_by: Sequence[str] = (),
) -> Verdict:
    """The verdict from the joint runs, the expected one first; one run alone is a verdict without a range.

    A named objective decides by its class; under `all` the classes that are no tie must agree, else `mixed`. A side that
    saturates at this load loses; both, or one that its weights do not fit: infeasible. A first goodput ratio of NaN says
    that neither side meets the limits at any rate: infeasible where goodput decides, said in the reason elsewhere. Only the sentence knows of
    breakeven_osl (the solved axis, or its root; without either the simple formula) and of `turned_by`, what alone turns
    the sign (see `sign_turned_by`).

    Raises KvcostError for an unknown objective, and for goodput without ratios.
    """
    if objective not in OBJECTIVES:
        raise KvcostError(f"unknown objective '{objective}'", hint="write one of " + " ".join(OBJECTIVES))
    if objective == "goodput" and not goodput_ratios:
        raise KvcostError("goodput needs limits", hint="give --slo-ttft or --slo-tpot")
    expected = outcomes[0]
    unmet = bool(goodput_ratios) and isnan(goodput_ratios[0])
    goodput_ratios = () if unmet else goodput_ratios
    classes = classes_of(outcomes, goodput_ratios)
    gains = [gain for gain in (_gain(outcome, objective) for outcome in outcomes) if gain is not None]
    ends = (_gain(expected, objective), min(gains), max(gains)) if gains and len(gains) == len(outcomes) else (_gain(expected, objective), None, None)
    if unmet and objective == "goodput":
        return Verdict("infeasible", _UNMET, classes, *ends)
    limits = expected.mono.limit, expected.disagg.limit
    if any(limits) and objective != "goodput":
        unfit = "weights" in (expected.mono.limit_name, expected.disagg.pools.limit_name)
        verdict: Literal["disaggregate", "colocate", "mixed", "infeasible"]
        verdict = "infeasible" if unfit or all(limits) else "disaggregate" if limits[0] else "colocate"
        return Verdict(verdict, _saturation(expected), classes, *ends)
    kinds = {classes[metric] for metric in ((objective,) if objective != "all" else _DECIDING) if metric in classes} - {"tie"}
    verdict = ("mixed" if "worse" in kinds else "disaggregate") if "better" in kinds else "colocate"
    reason = _reason(expected, objective, classes, goodput_ratios, breakeven_osl)
    reason += _at_the_ends(outcomes, classes)
    if turned_by:
        reason += f"; {' or '.join(turned_by)} alone turns the sign"
    if unmet:
        reason += f"; {_UNMET}"
    return Verdict(verdict, reason, classes, *ends)


def _at_the_ends(outcomes: Sequence[Outcome], classes: Mapping[str, Class]) -> str:
    """What saturates in another draw, where both sides run in the expected one: it can make a tie of a clear difference."""
    for outcome in outcomes[1:]:
        limit, side = (outcome.disagg.limit, "disaggregated") if outcome.disagg.limit else (outcome.mono.limit, "monolithic")
        if limit and "tie" in classes.values():
            return f"; not sure: at one end of the constants' and the link's range the {side} side saturates ({limit})"
    return ""


def _amount(seconds: float) -> str:
    unit, scale = ("s", 1.0) if abs(seconds) >= 1 else ("ms", 1e3) if abs(seconds) >= 1e-3 else ("us", 1e6)
    return f"{show_significant(abs(seconds) * scale, 3)} {unit}"


def _change(outcome: Outcome, metric: str) -> str:
    mono_s, disagg_s = _times(outcome, metric)
    assert mono_s is not None  # noqa: S101  # asked only where both sides run
    assert disagg_s is not None  # noqa: S101
    return f"{_NAMES[metric]} {_amount(mono_s - disagg_s)} {'better' if disagg_s < mono_s else 'worse'}"


_LIMITS = {
    "prefill": "prompts arrive faster than they are computed",
    "decode-compute": "the batch grows without end",
    "link": "the link never catches up",
}
_UNMET = "neither side meets the limits at any rate"
_CAPS = {"kv": "the KV cache is full", "max-seqs": "the batch is at max-seqs", "weights": "weights and one request do not fit"}


def _saturation(outcome: Outcome) -> str:
    """Which side saturates, and on what."""
    parts = []
    for name, limit, cap in (
        ("monolithic", outcome.mono.limit, outcome.mono.limit_name),
        ("disaggregated", outcome.disagg.limit, outcome.disagg.pools.limit_name),
    ):
        if limit:
            parts.append(f"{name} saturates ({limit}): {_CAPS.get(cap) or _LIMITS.get(limit, limit)}")
    return " and ".join(parts) + " at this load"


def _reason(outcome: Outcome, objective: str, classes: Mapping[str, Class], goodput_ratios: Sequence[float], breakeven_osl: BreakEven | float | None) -> str:
    if objective == "goodput" or (any((outcome.mono.limit, outcome.disagg.limit)) and goodput_ratios):
        return _goodput_reason(goodput_ratios, classes["goodput"])
    idle = not outcome.mono.rate_per_s
    if objective != "all":
        return _objective_reason(outcome, objective, classes, idle)
    ttft_s, tpot_s = outcome.gains.ttft_s or 0.0, 0.0 if outcome.mono.work.output_tokens <= 1 else outcome.gains.tpot_s or 0.0
    if idle:
        return f"with no load there is nothing to save: {_change(outcome, 'ttft')}"
    crowded = tpot_s < 0 and classes["tpot"] == "worse"
    if not {classes[metric] for metric in _DECIDING if metric in classes} - {"tie"}:
        return "nothing to gain at this load: no difference beyond the error"
    if crowded and ttft_s <= 0:
        gap = ", yet " + _change(outcome, "itl-p99") if classes.get("itl-p99") == "better" else ""
        return f"decode pool carries the whole batch: {_change(outcome, 'tpot')}, more output makes it worse, add a decode instance{gap}"
    if ttft_s * tpot_s < 0:
        return f"{_change(outcome, 'ttft')}, {_change(outcome, 'tpot')}: {_pays(outcome, breakeven_osl)}{_gap_note(outcome, classes)}"
    return ", ".join(_change(outcome, metric) for metric in ("ttft", "tpot", "e2e") if classes.get(metric) != "tie") + _gap_note(outcome, classes, lone=True)


def _gap_note(outcome: Outcome, classes: Mapping[str, Class], *, lone: bool = False) -> str:
    """The p99 gap, where it is not a tie and nothing else has said so."""
    if classes.get("itl-p99", "tie") == "tie":
        return ""
    shown = _change(outcome, "itl-p99")
    others = any(classes.get(metric, "tie") != "tie" for metric in ("ttft", "tpot", "e2e"))
    return shown if lone and not others else f"{', ' if lone else '; '}{shown}"


def _pays(outcome: Outcome, solved: BreakEven | float | None) -> str:
    """From or up to how many output tokens E2E gains: the solved interval nearest to where the case stands, else m* from both gains."""
    ttft_s, tpot_s = outcome.gains.ttft_s or 0.0, outcome.gains.tpot_s or 0.0
    if not isinstance(solved, BreakEven):
        tokens = solved or simple_breakeven_osl(ttft_s, tpot_s) or 1.0
        return f"pays from {ceil(tokens):,} output tokens on" if tpot_s > 0 else f"pays up to {int(tokens):,} output tokens"
    if not solved.intervals:
        return "pays at no number of output tokens"
    asked = outcome.mono.work.output_tokens
    low, high = next((item for item in solved.intervals if item[1] is None or item[1] >= asked), solved.intervals[-1])
    if low is None:
        return "pays at any number of output tokens" if high is None else f"pays up to {int(high):,} output tokens"
    return f"pays from {ceil(low):,} output tokens on" if high is None else f"pays from {ceil(low):,} to {int(high):,} output tokens"


def _objective_reason(outcome: Outcome, objective: str, classes: Mapping[str, Class], idle: bool) -> str:
    shown = _change(outcome, objective)
    if classes[objective] == "tie":
        shown = f"no difference in {_NAMES[objective]} beyond the error"
    if idle:
        return f"with no load there is nothing to save: {shown}"
    if objective == "tpot" and classes["tpot"] == "worse":
        return f"decode pool carries the whole batch: {shown}, add a decode instance"
    return shown


def _goodput_reason(ratios: Sequence[float], found: Class) -> str:
    ratio, band = ratios[0], 1.0 + BANDS["goodput"]
    if found == "tie" and 1.0 / band <= ratio <= band:
        return f"no difference in goodput beyond the error: {ratio:.2f}x per GPU"
    if found == "tie":
        return f"not sure: goodput per GPU within the limits is {ratio:.2f}x, {min(ratios):.2f}x to {max(ratios):.2f}x over the ends of constants and link"
    return f"goodput per GPU within the limits is {ratio:.2f}x that of the monolithic deployment"


def sign_turned_by(expected: Case, variants: Mapping[str, Case], objective: str = "all") -> tuple[str, ...]:
    """Names of the variants (the router, one constant) under which alone the gain has the other sign.

    A variant is the expected case with one thing replaced.
    """
    sign = gain_of(expected, objective) > 0
    return tuple(name for name, variant in variants.items() if (gain_of(variant, objective) > 0) != sign)
