"""Quantiles: the TTFT that a share of requests stays under, and the longest gap between tokens.

Asked for by themselves: the means of `mono` and `disagg` do not need them.
"""

from __future__ import annotations

from math import ceil, exp, sqrt
from operator import mul, sub

from .disagg import Disagg
from .load import md1_quantile_s, pool_quantile_s, router_factor
from .mono import Mono

__all__ = ["disagg_gap_s", "disagg_ttft_s", "mono_gap_ends_s", "mono_gap_s", "mono_ttft_s", "mono_ttft_within", "ttft_ends_s"]

_TURNS = 12
_MOST_STATES = 60
_EDGE = 2.0


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
    return min(room, _MOST_STATES, ceil(mean + 6.0 * sqrt(mean) + 3))


def _chain(answer: Mono) -> tuple[list[float], list[float]]:
    """Stationary share of steps that carry K prompts, and the seconds of such a step: K' ~ Poisson(l*T_K), T_K = d + K*I."""
    most = _states(answer)
    times = [answer.steps.step_s + count * answer.steps.added_s for count in range(most + 1)]
    rows = [_poisson(answer.rate_per_s * time, most) for time in times]
    columns = tuple(zip(*rows, strict=True))
    shares = [1.0] + [0.0] * most
    for _ in range(_TURNS):
        last, shares = shares, [sum(map(mul, shares, column)) for column in columns]
        if max(map(abs, map(sub, shares, last))) < 1e-10:
            break
    return shares, times


def _pieces(answer: Mono) -> list[tuple[float, float, float]]:
    """The TTFT as a mixture of uniform pieces (weight, start, length): U*T_K + S + I*Poisson(l*T_K), K weighted by P_K*T_K.

    An idle server adds no U*T_0; a round-robin router leaves 1/k of what other prompts add.
    """
    shares, times = _chain(answer)
    total = sum(share * time for share, time in zip(shares, times, strict=True))
    idle, own_s, random = exp(-answer.batch), answer.own_s or 0.0, router_factor(answer.side.router, answer.side.instances)
    alone = 1.0 - random
    pieces = [(alone * (1.0 - idle), own_s, times[0]), (alone * idle, own_s, 0.0)]
    for count, (share, time) in enumerate(zip(shares, times, strict=True)):
        weight = random * share * time / total
        for others, probability in enumerate(_poisson(answer.rate_per_s * time, len(shares) - 1)):
            waiting, start = 1.0 if count else 1.0 - idle, own_s + others * answer.steps.added_s
            if weight * probability > 1e-7:
                pieces += [(weight * probability * waiting, start, time), (weight * probability * (1.0 - waiting), start, 0.0)]
    return [piece for piece in pieces if piece[0]]


def _bulk_ttft_s(answer: Mono, quantile: float) -> float:
    """Inverts the distribution of the pieces by bisection."""
    pieces = _pieces(answer)
    if not pieces:  # hundreds of tiny prompts a step: they hardly vary
        return answer.ttft_s or 0.0
    low, high = 0.0, max(start + time for _, start, time in pieces)
    held = quantile * sum(weight for weight, _, _ in pieces)
    for _ in range(45):
        at = (low + high) / 2
        low, high = (low, at) if _below(pieces, at) >= held else (at, high)
    return high


def _below(pieces: list[tuple[float, float, float]], at: float) -> float:
    """The weight of the pieces below a TTFT."""
    return sum([weight * (1.0 if at >= start + time else (at - start) / time) for weight, start, time in pieces if at >= start])


def mono_ttft_within(answer: Mono, limit_s: float, quantile: float = 0.9) -> bool:
    """Whether `mono_ttft_s` is at most `limit_s`; one look at the distribution in place of its inversion."""
    bulk = answer.ttft_s is not None and answer.own_s is not None and answer.work.new_tokens <= answer.steps.budget_tokens
    pieces = _pieces(answer) if bulk and answer.work.concurrency is None else []
    if pieces:
        return _below(pieces, limit_s) >= quantile * sum([weight for weight, _, _ in pieces])
    value = mono_ttft_s(answer, quantile)
    return value is not None and value <= limit_s


def mono_ttft_s(answer: Mono, quantile: float = 0.9) -> float | None:
    """TTFT that a share `quantile` of requests stays under, seconds; None where the deployment saturates.

    n > b: S + max(g*Q(l, s_e) + d/2*(1 - l*S), q*d*(1 - l*S)); n <= b: the embedded chain over prompts a step,
    of which round-robin leaves 1/k beside the law of a lone prompt. In a closed loop never below the mean: a queue
    that always holds the same requests hardly varies.

    Source: simulation; median 2 % up to 70 % load, 10 % at 85 %.
    """
    if answer.ttft_s is None or answer.own_s is None:
        return None
    side, steps, idle = answer.side, answer.steps, exp(-answer.batch)
    closed = answer.work.concurrency is not None
    if answer.work.new_tokens <= steps.budget_tokens:
        value = _bulk_ttft_s(answer, quantile)
        return max(value, answer.ttft_s) if closed else value
    inside = max(0.0, quantile - idle) / (1.0 - idle) if idle < 1.0 else 0.0
    factor = router_factor(side.router, side.instances)
    running = max(0.0, 1.0 - answer.rate_per_s * steps.prompt_s)
    queue_s = factor * md1_quantile_s(answer.rate_per_s, steps.packed_s, quantile)
    if closed:  # no more than the other requests can be in front
        queue_s = min(queue_s, quantile * answer.batch * steps.packed_s)
    value = answer.own_s + max(queue_s + steps.step_s / 2 * running * (1.0 - idle), inside * steps.step_s * running)
    return max(value, answer.ttft_s) if closed else value


def mono_gap_s(answer: Mono, quantile: float = 0.99) -> float | None:
    """The gap between two tokens that a share `quantile` of gaps stays under, seconds; None where it saturates.

    n > b: the longest chunk step where more than 1 - q of the steps carry a chunk (f = l*J*TPOT), else the decode step
    T(0, B + 1 + 2.33*sqrt(B)); n <= b: the upper point of the chain's step law.

    Source: simulation; median 2 %, but off by the ratio of the two where f is near 1 - q (see `flags`).
    """
    return (_gaps_s(answer, (quantile,)) or (None,))[0]


def _gaps_s(answer: Mono, quantiles: tuple[float, ...]) -> tuple[float, ...] | None:
    """`mono_gap_s` at several quantiles of one law; None where it saturates."""
    if answer.tpot_s is None:
        return None
    beside = 0.0 if answer.work.concurrency is not None else 1.0
    quiet_s = answer.curves.decode(answer.batch + beside + 2.33 * sqrt(answer.batch) * beside)
    if answer.work.new_tokens > answer.steps.budget_tokens:
        carried = answer.rate_per_s * answer.steps.chunks * answer.tpot_s
        longest_s = max(quiet_s, answer.curves.longest(answer.steps.budget_tokens, answer.batch + 1))
        return tuple(longest_s if carried > 1.0 - quantile else quiet_s for quantile in quantiles)
    chain = _chain(answer)
    return tuple(_chain_gap_s(answer, chain, quiet_s, quantile) for quantile in quantiles)


def _chain_gap_s(answer: Mono, chain: tuple[list[float], list[float]], quiet_s: float, quantile: float) -> float:
    shares, times = chain
    factor = router_factor(answer.side.router, answer.side.instances)
    beyond = max(0.0, 1.0 - sum(shares))
    for count in range(len(shares) - 1, 0, -1):
        beyond += shares[count]
        if beyond * (factor if count > 1 else 1.0) > 1.0 - quantile:
            return max(times[count], quiet_s)
    return quiet_s


def ttft_ends_s(answer: Mono | Disagg, quantile: float = 0.9) -> tuple[float, float] | None:
    """The TTFT at quantiles 15 % of 1 - q below and above: where hardly a share 1 - q waits at all, they differ much."""
    off = 0.15 * (1.0 - quantile)
    ends = [mono_ttft_s(answer, q) if isinstance(answer, Mono) else disagg_ttft_s(answer, q) for q in (quantile - off, quantile + off)]
    return None if ends[0] is None or ends[1] is None else (ends[0], ends[1])


def mono_gap_ends_s(answer: Mono) -> tuple[float, float] | None:
    """The p99 gap if the share of steps beyond it were twice as large, and half as large: where they differ, both are to be shown."""
    found = _gaps_s(answer, (1.0 - 0.01 * _EDGE, 1.0 - 0.01 / _EDGE))
    return None if found is None else (found[0], found[1])


def disagg_ttft_s(answer: Disagg, quantile: float = 0.9) -> float | None:
    """TTFT that a share `quantile` of requests stays under, seconds: w_P (and w_L) replaced by g*Q of the slower stage.

    In a closed loop never below the mean, see `mono_ttft_s`.
    """
    if answer.ttft_s is None:
        return None
    found, side = answer.pools, answer.pools.side
    ports, others = side.link_ports, found.work.concurrency
    if side.prefill_servers <= ports and answer.transfer_s > found.prefill_s and side.first_token == "decode":
        slowest_s, servers, waited_s = answer.transfer_s, ports, found.prefill_wait_s + answer.link_wait_s
    else:
        slowest_s, servers, waited_s = found.prefill_s, side.prefill_servers, found.prefill_wait_s
    queue_s = pool_quantile_s(found.rate_per_s, slowest_s, servers, side.router, quantile)
    if others is not None:  # no more than the other requests can be in front
        queue_s = min(queue_s, quantile * max(0.0, others - 1) * slowest_s / servers)
    value = answer.ttft_s - waited_s + queue_s
    return max(value, answer.ttft_s) if others is not None or slowest_s == answer.transfer_s else value


def disagg_gap_s(answer: Disagg) -> float | None:
    """The 99th percentile of the gap between tokens on the decode side, seconds: T(0, B + 1 + 2.33*sqrt(B)).

    The gap before the second token, where prefill sends the first, is `gap_s` of the answer and not in here.
    """
    if answer.tpot_s is None:
        return None
    batch = answer.pools.batch
    return answer.pools.curves.decode.decode(batch + 1 + 2.33 * sqrt(batch))
