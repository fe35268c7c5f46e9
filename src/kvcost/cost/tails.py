"""Quantiles: the TTFT that a share of requests stays under, and the longest gap between tokens.

Asked for by themselves: the means of `mono` and `disagg` do not need them.
"""

from __future__ import annotations

from math import ceil, exp, sqrt

from .disagg import Disagg
from .load import md1_quantile_s, pool_quantile_s, router_factor
from .mono import Mono

__all__ = ["disagg_gap_s", "disagg_ttft_s", "mono_gap_ends_s", "mono_gap_s", "mono_ttft_s"]

_TURNS = 12
_MOST_STATES = 60


def _poisson(mean: float, most: int) -> tuple[float, ...]:
    """Probabilities of 0 to `most` arrivals, the last one holding the rest."""
    found, last = [exp(-mean)], exp(-mean)
    for count in range(1, most):
        last *= mean / count
        found.append(last)
    found.append(max(0.0, 1.0 - sum(found)))
    return tuple(found) if most else (1.0,)


def _states(answer: Mono) -> int:
    """Most prompts that a step takes, or that are worth counting."""
    room = max(1, ceil(answer.steps.budget_tokens / answer.work.new_tokens - 1e-9))
    mean = answer.rate_per_s * (answer.steps.step_s + answer.steps.added_s) / max(1e-9, 1.0 - answer.rate_per_s * answer.steps.added_s)
    return min(room, _MOST_STATES, ceil(mean + 8.0 * sqrt(mean) + 4))


def _chain(answer: Mono) -> tuple[list[float], list[float]]:
    """Stationary share of steps that carry K prompts, and the seconds of such a step: K' ~ Poisson(l*T_K)."""
    most = _states(answer)
    times = [answer.steps.step_s + count * answer.steps.added_s for count in range(most + 1)]
    rows = [_poisson(answer.rate_per_s * time, most) for time in times]
    columns = tuple(zip(*rows, strict=True))
    shares = [1.0] + [0.0] * most
    for _ in range(_TURNS):
        last, shares = shares, [sum([share * chance for share, chance in zip(shares, column, strict=True)]) for column in columns]
        if max([abs(new - old) for new, old in zip(shares, last, strict=True)]) < 1e-10:
            break
    return shares, times


def _bulk_ttft_s(answer: Mono, quantile: float) -> float:
    """Inverts the distribution of U*T_K + S + I*Poisson(l*T_K), U uniform, K weighted by P_K*T_K; an idle server adds no U*T_0."""
    shares, times = _chain(answer)
    total = sum(share * time for share, time in zip(shares, times, strict=True))
    idle = exp(-answer.batch)
    pieces: list[tuple[float, float, float]] = []
    for count, (share, time) in enumerate(zip(shares, times, strict=True)):
        weight = share * time / total
        for others, probability in enumerate(_poisson(answer.rate_per_s * time, len(shares) - 1)):
            start = (answer.own_s or 0.0) + others * answer.steps.added_s
            if weight * probability < 1e-7:
                continue
            waiting = 1.0 if count else 1.0 - idle
            pieces.append((weight * probability * waiting, start, time))
            if waiting < 1.0:
                pieces.append((weight * probability * idle, start, 0.0))
    low, high = 0.0, max(start + time for _, start, time in pieces)
    held = quantile * sum(weight for weight, _, _ in pieces)
    for _ in range(45):
        at = (low + high) / 2
        below = sum(weight * (1.0 if at >= start + time else (at - start) / time) for weight, start, time in pieces if at > start or (at >= start and not time))
        low, high = (low, at) if below >= held else (at, high)
    return high


def mono_ttft_s(answer: Mono, quantile: float = 0.9) -> float | None:
    """TTFT that a share `quantile` of requests stays under, seconds; None where the deployment saturates.

    n > b: S + max(g*Q(l, s_e) + d/2*(1 - l*S), q*d*(1 - l*S)); n <= b: the embedded chain over prompts a step. Round-robin
    brings the latter towards that of a lone prompt by 1/k.

    Source: simulation; median 2 % up to 70 % load, 10 % at 85 %.
    """
    if answer.ttft_s is None or answer.own_s is None:
        return None
    side, steps, idle = answer.side, answer.steps, exp(-answer.batch)
    inside = max(0.0, quantile - idle) / (1.0 - idle) if idle < 1.0 else 0.0
    factor = router_factor(side.router, side.instances)
    if answer.work.new_tokens <= steps.budget_tokens:
        alone_s = answer.own_s + steps.step_s * inside
        return alone_s + (max(alone_s, _bulk_ttft_s(answer, quantile)) - alone_s) * factor
    running = max(0.0, 1.0 - answer.rate_per_s * steps.prompt_s)
    queue_s = factor * md1_quantile_s(answer.rate_per_s, steps.packed_s, quantile)
    return answer.own_s + max(queue_s + steps.step_s / 2 * running * (1.0 - idle), inside * steps.step_s * running)


def mono_gap_ends_s(answer: Mono) -> tuple[float, float] | None:
    """The decode step of a crowded moment and the longest step that carries a prompt: between these the gap jumps."""
    if answer.tpot_s is None:
        return None
    beside = 0.0 if answer.work.concurrency is not None else 1.0
    quiet_s = answer.curves.decode(answer.batch + beside + 2.33 * sqrt(answer.batch) * beside)
    return quiet_s, max(quiet_s, answer.curves.longest(answer.steps.budget_tokens, answer.batch + 1))


def mono_gap_s(answer: Mono, quantile: float = 0.99) -> float | None:
    """The gap between two tokens that a share `quantile` of gaps stays under, seconds; None where it saturates.

    n > b: the longest chunk step where more than 1 - q of the steps carry a chunk (f = l*J*TPOT), else the decode step
    T(0, B + 1 + 2.33*sqrt(B)); n <= b: the upper point of the chain's step law.

    Source: simulation; median 2 %, but off by the ratio of the two where f is near 1 - q (see `flags`).
    """
    ends = mono_gap_ends_s(answer)
    if ends is None or answer.tpot_s is None:
        return None
    quiet_s, chunk_s = ends
    if answer.work.new_tokens > answer.steps.budget_tokens:
        return chunk_s if answer.rate_per_s * answer.steps.chunks * answer.tpot_s > 1.0 - quantile else quiet_s
    shares, times = _chain(answer)
    beyond = 1.0 - sum(shares)
    for share, time in zip(reversed(shares), reversed(times), strict=True):
        beyond += share
        if beyond > 1.0 - quantile:
            return max(time, quiet_s)
    return quiet_s


def disagg_ttft_s(answer: Disagg, quantile: float = 0.9) -> float | None:
    """TTFT that a share `quantile` of requests stays under, seconds: w_P (and w_L) replaced by g*Q of the slower stage."""
    if answer.ttft_s is None:
        return None
    found, side = answer.pools, answer.pools.side
    ports = side.ports or min(side.prefill_instances, side.decode_instances)
    if side.prefill_instances <= ports and answer.transfer_s > found.prefill_s and side.first_token == "decode":
        queue_s = pool_quantile_s(found.rate_per_s, answer.transfer_s, ports, side.router, quantile)
        return max(answer.ttft_s, answer.ttft_s - found.prefill_wait_s - answer.link_wait_s + queue_s)
    queue_s = pool_quantile_s(found.rate_per_s, found.prefill_s, side.prefill_instances, side.router, quantile)
    return answer.ttft_s - found.prefill_wait_s + queue_s


def disagg_gap_s(answer: Disagg) -> float | None:
    """The 99th percentile of the gap between tokens on the decode side, seconds: T(0, B + 1 + 2.33*sqrt(B)).

    The gap before the second token, where prefill sends the first, is `gap_s` of the answer and not in here.
    """
    if answer.tpot_s is None:
        return None
    batch = answer.pools.batch
    return answer.pools.curves.decode.decode(batch + 1 + 2.33 * sqrt(batch))
