"""A colocated deployment under load: continuous batching with chunked prefill on every instance.

    TPOT = (d + X/(m - 1))/(1 - l*I), B the smallest root of B = l*m*TPOT(B); X what prompts that came meanwhile add, below
    d = T(0, B+1), S = sum of the prompt's chunk steps, I = S - J*d, l = rate/instances, b = max(64, c - B)
    s_e = (n/b)*T(b, B+1), w = g*l*E[s_e^2]/(2*(1 - l*s_e))

n <= b: bulk service, E1 = d/(1 - x), x = l*I; E2 = (d^2 + 2*d*x*E1 + I*x*E1)/(1 - x^2); R = (1 + 2x)*E2/(2*E1).
n > b: a queue of chunks. Nobody waits for a step that does not run: an idle server has no residual, share e^-B.
With a concurrency, B is given: TPOT = T(0, B) + B/m*I.
"""

from __future__ import annotations

from math import exp, inf
from typing import NamedTuple

from .load import md1_wait_s, router_factor
from .roots import least_fixed_point
from .serving import Cap, Colocated, Work, length_moments
from .steps import Curves

__all__ = ["Mono", "MonoSteps", "mono", "mono_curves"]

_LEAST_BUDGET = 64.0
_NO_CAP_BATCH = 1e7


class MonoSteps(NamedTuple):
    """What steps cost at one batch.

    budget_tokens  prompt tokens that a step has room for, b
    step_s         d; prompt_s S (all chunks of a prompt), chunks J, added_s I = S - J*d, packed_s s_e
    wait_s         w, before the first chunk; tpot_s what follows from them (inf where they saturate)
    """

    budget_tokens: float
    step_s: float
    prompt_s: float
    chunks: int
    added_s: float
    packed_s: float
    wait_s: float
    tpot_s: float


class Mono(NamedTuple):
    """A colocated deployment under load; times are None where it saturates.

    limit        what saturates: "" (nothing), prefill, decode-compute or decode-memory; limit_name the cap by name
    batch        decoding requests of one instance
    residual_s   wait for the running step, own_s the prompt's own steps; ttft_s = wait_s + residual_s + own_s
                 (wait_s is 0 where a prompt fits one step: prompts before it share that step, in residual_s)
    """

    work: Work
    side: Colocated
    curves: Curves
    rate_per_s: float
    batch: float
    cap: Cap
    limit: str
    limit_name: str
    steps: MonoSteps
    wait_s: float | None = None
    residual_s: float | None = None
    own_s: float | None = None
    ttft_s: float | None = None
    tpot_s: float | None = None
    e2e_s: float | None = None


def mono_curves(work: Work, side: Colocated) -> Curves:
    """The side's curves for this work; they do not depend on the load."""
    return side.steps(work.prompt_tokens, work.cached_tokens, work.ctx_tokens)


def _steps(work: Work, side: Colocated, curves: Curves, rate: float, factor: float, second: float, batch: float, deciding: float) -> MonoSteps:
    """What steps cost beside `deciding` requests when `batch` hold the budget."""
    budget = max(_LEAST_BUDGET, side.chunk_tokens - batch)
    step_s = curves.decode(deciding)
    prompt_s, chunks = curves.chunks(budget, deciding)
    added_s = prompt_s - chunks * step_s
    packed_s = work.new_tokens / budget * curves.packed(budget, deciding)
    wait_s = factor * md1_wait_s(rate, packed_s, second)
    share = rate * added_s
    if share >= 1.0 or wait_s == inf:
        return MonoSteps(budget, step_s, prompt_s, chunks, added_s, packed_s, wait_s, inf)
    gaps = max(1.0, work.output_tokens - 1)
    chunk_s = added_s * min(1.0, budget / max(1.0, work.new_tokens))
    queued_s = _queued_s(gaps, rate, wait_s + prompt_s, prompt_s, added_s, chunk_s, step_s)
    tpot_s = (step_s + queued_s / gaps) / (1.0 - share)
    return MonoSteps(budget, step_s, prompt_s, chunks, added_s, packed_s, wait_s, tpot_s)


def _queued_s(gaps: float, rate: float, stay_s: float, prompt_s: float, added_s: float, chunk_s: float, step_s: float) -> float:
    """Seconds that the prompts which came during a request's own wait and prefill add to its first gaps.

    X = l*(w + S)*I in all, no more than a chunk a gap: the first gap holds one with p = 1 - exp(-l*S), so
    x = p*I*min(1, b/n) - (what a later gap holds anyway), and what is left falls by the same share from gap to gap:
    X*(1 - (1 - x/X)^(m - 1)).

    Source: held against the simulation of `tests/cost`: at 2 to 5 output tokens the plain X is 1.1 to 8 times too much.
    """
    whole_s = rate * stay_s * added_s
    share = rate * added_s
    first_s = (1.0 - exp(-rate * prompt_s)) * chunk_s * (1.0 - share) - share * step_s
    if first_s <= 0.0 or whole_s <= 0.0:
        return 0.0 if first_s <= 0.0 else whole_s
    kept = max(0.0, 1.0 - first_s / whole_s)
    return whole_s * (1.0 - float(kept**gaps))


def residual_s(step_s: float, added_s: float, rate: float, second: float = 1.0) -> float:
    """Mean seconds until the running step ends, and what prompts that came before cost in the next one (n <= b)."""
    x = rate * added_s
    first = step_s / (1.0 - x)
    squares = (step_s * step_s + 2.0 * step_s * x * first + added_s * second * x * first) / (1.0 - x * x)
    return (1.0 + 2.0 * x) * squares / (2.0 * first)


def mono(work: Work, side: Colocated, curves: Curves | None = None) -> Mono:
    """TTFT, TPOT and E2E of a colocated deployment, seconds, means over requests.

    See the module for the equations. Never raises for a load that is too high: `limit` names what saturates.

    >>> from .steps import measured_steps
    >>> side = Colocated(measured_steps({4096: 0.2}, {1: 0.010}), instances=2)
    >>> answer = mono(Work(4096, 256, rate_per_s=2), side)
    >>> round(answer.tpot_s, 4), round(answer.ttft_s, 3), mono(Work(4096, 256, rate_per_s=12), side).limit
    (0.0127, 0.231, 'prefill')

    Source: held against a discrete-event simulation: within 5 % of TPOT and TTFT up to 85 % load.
    """
    curves = curves or mono_curves(work, side)
    cap = side.capacity(work.prompt_tokens + work.output_tokens)
    second = _second_moment(work, side) if work.length_cv else 1.0
    if cap.requests < 1:
        none = MonoSteps(0.0, 0.0, 0.0, 0, 0.0, 0.0, 0.0, inf)
        return Mono(work, side, curves, 0.0, 0.0, cap, "decode-memory", cap.name, none)
    if work.concurrency is not None:
        return _closed(work, side, curves, cap, second)
    rate = work.rate_per_s / side.instances
    factor = router_factor(side.router, side.instances)
    found: dict[float, MonoSteps] = {}

    def batch_of(batch: float) -> float:
        found[batch] = _steps(work, side, curves, rate, factor, second, batch, batch + 1)
        return rate * work.output_tokens * found[batch].tpot_s

    batch = least_fixed_point(batch_of, min(cap.requests, _NO_CAP_BATCH))
    if batch is None:
        return _saturated(work, side, curves, cap, rate, factor, second)
    steps = found.get(batch) or _steps(work, side, curves, rate, factor, second, batch, batch + 1)
    return _answered(work, side, curves, cap, rate, second, batch, steps)


def _second_moment(work: Work, side: Colocated) -> float:
    def seconds(tokens: float) -> float:
        return side.steps(max(1.0, tokens), min(work.cached_tokens, tokens), work.ctx_tokens).prefill_s

    return length_moments(seconds, work.prompt_tokens, work.length_cv)[1]


def _answered(work: Work, side: Colocated, curves: Curves, cap: Cap, rate: float, second: float, batch: float, steps: MonoSteps) -> Mono:
    """The TTFT once the batch is known."""
    own_s, _ = curves.chunks(steps.budget_tokens, batch)
    half_s, idle = steps.step_s / 2, exp(-batch)
    if work.new_tokens <= steps.budget_tokens:
        left_s = residual_s(steps.step_s, steps.added_s, rate, second)
        left_s = half_s + (left_s - half_s) * router_factor(side.router, side.instances)
        wait_s, left_s = 0.0, max(0.0, left_s - half_s * idle)
    else:
        wait_s = steps.wait_s
        left_s = half_s * max(0.0, 1.0 - rate * steps.prompt_s) * (1.0 - idle)
    ttft_s = wait_s + left_s + own_s
    e2e_s = ttft_s + max(0.0, work.output_tokens - 1) * steps.tpot_s
    return Mono(work, side, curves, rate, batch, cap, "", "", steps, wait_s, left_s, own_s, ttft_s, steps.tpot_s, e2e_s)


def _saturated(work: Work, side: Colocated, curves: Curves, cap: Cap, rate: float, factor: float, second: float) -> Mono:
    """Which resource: prompts alone fill the steps, or the batch grows past its cap, or past any."""
    batch = min(cap.requests, _NO_CAP_BATCH)
    at_none = _steps(work, side, curves, rate, factor, second, 0.0, 1.0)
    at_cap = _steps(work, side, curves, rate, factor, second, batch, batch + 1)
    if at_none.tpot_s == inf or (at_cap.tpot_s == inf and cap.requests == inf):
        limit, name = "prefill", ""
    elif _runs_away(work, curves, rate, batch) or at_cap.tpot_s == inf:
        limit, name = ("prefill", "") if at_cap.tpot_s == inf else ("decode-compute", "")
    else:
        limit, name = "decode-memory", cap.name
    return Mono(work, side, curves, rate, batch, cap, limit, name, at_cap)


def _runs_away(work: Work, curves: Curves, rate: float, batch: float) -> bool:
    """Whether decoding alone, without any cap, takes longer than the tokens it owes."""
    return bool(rate * work.output_tokens * (curves.decode(2 * batch + 2) - curves.decode(batch + 1)) >= batch + 1)


def _closed(work: Work, side: Colocated, curves: Curves, cap: Cap, second: float) -> Mono:
    """A closed loop: B = N/k, no request beside it; what the cap keeps out waits (Little)."""
    assert work.concurrency is not None  # noqa: S101  # the caller's case
    wanted = work.concurrency / side.instances
    batch = min(wanted, cap.requests)
    steps = _steps(work, side, curves, 0.0, 0.0, second, batch, batch)
    tpot_s = steps.step_s + batch / work.output_tokens * steps.added_s
    rate = batch / (work.output_tokens * tpot_s)
    # No more prompts can queue than there are requests: half the others at worst.
    wait_s = min(router_factor(side.router, side.instances) * md1_wait_s(rate, steps.packed_s, second), max(0.0, batch - 1) / 2 * steps.packed_s)
    steps = steps._replace(wait_s=wait_s, tpot_s=tpot_s)
    answer = _answered(work, side, curves, cap, rate, second, max(0.0, batch - 1), steps)
    if wanted <= batch or answer.ttft_s is None or answer.wait_s is None:
        return answer
    e2e_s = wanted / rate
    ttft_s = max(answer.ttft_s, e2e_s - (work.output_tokens - 1) * tpot_s)
    return answer._replace(ttft_s=ttft_s, wait_s=answer.wait_s + ttft_s - answer.ttft_s, e2e_s=ttft_s + (work.output_tokens - 1) * tpot_s)
