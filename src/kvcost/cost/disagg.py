"""A split deployment under load: prefill pool, first-come link, decode pool.

    s = T_prefill(n), w_P = g*rate*s^2/(k_P*2*(1 - rho_P)); link wait w_L: see `load.link_wait`
    B smallest root of B = rate/k_D*(m - [first token from prefill])*T(0, B + 1), T_D = T(0, B + 1)
    adm = T(0, B)/2*(1 - e^-B), E the exposed transfer
    first token from decode:  TTFT = w_P + s + handover + w_L + E + adm + T_D, TPOT = T_D
    first token from prefill: TTFT = w_P + s, TPOT = T_D + (handover + w_L + E + adm)/(m - 1)

The transfer enters last: `pools` prices what does not depend on the link, once, `with_transfer` the rest in a few
microseconds, for as many bandwidths as are wanted.
"""

from __future__ import annotations

from math import exp, inf, isfinite
from typing import NamedTuple

from .load import link_wait, pool_wait_s, router_factor
from .overlap import exposed_time, overlap_used
from .roots import least_fixed_point
from .serving import Cap, Split, Work, length_moments
from .steps import Curves

__all__ = ["Disagg", "PoolCurves", "Pools", "disagg", "pool_curves", "pools", "with_transfer"]

_NO_CAP_BATCH = 1e7


class PoolCurves(NamedTuple):
    """Seconds of a prefill with its second moment over lengths, and of decode steps; load plays no part."""

    prefill_s: float
    second_moment: float
    decode: Curves


class Pools(NamedTuple):
    """Both pools under load, without the link; times are None where a pool saturates.

    limit  "" (nothing), prefill, decode-compute, decode-memory; rho the prefill pool's load
    """

    work: Work
    side: Split
    curves: PoolCurves
    rate_per_s: float
    limit: str
    limit_name: str
    rho: float
    prefill_s: float
    prefill_wait_s: float
    batch: float
    cap: Cap
    step_s: float
    admission_s: float


class Disagg(NamedTuple):
    """A split deployment under load; times are None where it saturates.

    limit          what saturates: "" (nothing), prefill, link, decode-compute or decode-memory
    gap_s          hand-over, link wait, exposed transfer and admission together: before the first token where decode
                   sends it, before the second where prefill does
    link_wait_high_s  the safe end (M/D/1) where several prefill instances share a port
    """

    pools: Pools
    limit: str
    transfer_s: float
    exposed_s: float
    link_utilisation: float
    link_wait_s: float
    link_wait_high_s: float
    gap_s: float | None = None
    ttft_s: float | None = None
    tpot_s: float | None = None
    e2e_s: float | None = None


def pool_curves(work: Work, side: Split) -> PoolCurves:
    """What the pools cost for this work at any load."""
    decode = side.decode(work.prompt_tokens, work.cached_tokens, work.ctx_tokens)
    if not work.length_cv:
        return PoolCurves(side.prefill(work.prompt_tokens, work.cached_tokens, work.ctx_tokens).prefill_s, 1.0, decode)

    def seconds(tokens: float) -> float:
        return side.prefill(max(1.0, tokens), min(work.cached_tokens, tokens), work.ctx_tokens).prefill_s

    return PoolCurves(*length_moments(seconds, work.prompt_tokens, work.length_cv), decode)


def pools(work: Work, side: Split, curves: PoolCurves | None = None) -> Pools:
    """Both pools at work.rate_per_s: waits, batch and decode step, seconds.

    Never raises for a load that is too high: `limit` names what saturates first in the order of a request.
    """
    curves = curves or pool_curves(work, side)
    rate, prefill_s, decode = work.rate_per_s, curves.prefill_s, curves.decode.decode
    cap = side.capacity(work.prompt_tokens + work.output_tokens)
    rho = rate * prefill_s / side.prefill_servers
    wait_s = pool_wait_s(rate, prefill_s, side.prefill_servers, side.router, curves.second_moment)
    tokens = work.output_tokens - (1 if side.first_token == "prefill" else 0)
    owed = rate / side.decode_instances * tokens
    limit, name, batch = "", "", None
    if cap.requests < 1 or side.prefill_capacity(work.prompt_tokens).requests < 1:
        limit, name = "decode-memory" if cap.requests < 1 else "prefill", "weights"
    else:
        batch = least_fixed_point(lambda b: owed * decode(b + 1), min(cap.requests, _NO_CAP_BATCH))
        if wait_s == inf:
            limit = "prefill"
        elif batch is None:
            most = min(cap.requests, _NO_CAP_BATCH)
            runs_away = owed * (decode(2 * most + 2) - decode(most + 1)) >= most + 1
            limit, name = ("decode-compute", "") if runs_away else ("decode-memory", cap.name)
    if batch is None:
        batch = max(0.0, min(cap.requests, _NO_CAP_BATCH))
    admission_s = decode(batch) / 2 * (1.0 - exp(-batch))
    return Pools(work, side, curves, rate, limit, name, rho, prefill_s, wait_s, batch, cap, decode(batch + 1), admission_s)


def with_transfer(found: Pools, transfer_s: float) -> Disagg:
    """TTFT, TPOT and E2E, seconds, once a request's transfer takes `transfer_s` on an empty link; see the module."""
    work, side = found.work, found.side
    ports = side.link_ports
    factor = router_factor(side.router, side.prefill_servers)
    utilisation, wait_s, wait_high_s = link_wait(found.rate_per_s, transfer_s, ports, side.prefill_servers, found.prefill_s, found.prefill_wait_s, factor)
    overlap = overlap_used(side.overlap, work.new_tokens, side.push_from_tokens)
    hidden = exposed_time(overlap, transfer_s, side.layers, prefill_s=found.prefill_s, decode_step_s=found.step_s, floor_s=side.push_floor_s)
    exposed_s = transfer_s if hidden is None else hidden
    if found.limit or wait_s == inf:
        return Disagg(found, found.limit or "link", transfer_s, exposed_s, utilisation, wait_s, wait_high_s)
    gap_s = side.handover_s + wait_s + exposed_s + found.admission_s
    ttft_s, tpot_s = found.prefill_wait_s + found.prefill_s, found.step_s
    later = max(0.0, work.output_tokens - 1)
    if side.first_token == "prefill":
        tpot_s += gap_s / max(1.0, later)
    else:
        ttft_s += gap_s + found.step_s
    return Disagg(found, "", transfer_s, exposed_s, utilisation, wait_s, wait_high_s, gap_s, ttft_s, tpot_s, ttft_s + later * tpot_s)


def disagg(work: Work, side: Split, transfer_s: float) -> Disagg:
    """TTFT, TPOT and E2E of a split deployment, seconds, means over requests.

    With work.concurrency the rate is what keeps that many requests in flight: rate*E2E = concurrency, at most what the
    pools carry; what they do not carry waits.

    >>> from .steps import measured_steps
    >>> steps = measured_steps({4096: 0.2}, {1: 0.010})
    >>> answer = disagg(Work(4096, 256, rate_per_s=2), Split(steps, steps), 0.1)
    >>> round(answer.tpot_s, 4), round(answer.ttft_s, 3), disagg(Work(4096, 256, rate_per_s=6), Split(steps, steps), 0.1).limit
    (0.01, 0.382, 'prefill')

    Source: held against a discrete-event simulation: median 2 % of TPOT and TTFT.
    """
    if work.concurrency is None:
        return with_transfer(pools(work, side), transfer_s)
    return _closed(work, side, transfer_s, work.concurrency)


def _closed(work: Work, side: Split, transfer_s: float, in_flight: float) -> Disagg:
    """The rate that keeps `in_flight` requests in the deployment, by bisection; what the pools do not carry waits outside (Little)."""
    curves = pool_curves(work, side)

    def at(rate: float) -> Disagg:
        return with_transfer(pools(work._replace(rate_per_s=rate), side, curves), transfer_s)

    idle = at(0.0)
    if idle.e2e_s is None:
        return idle
    low, high = 0.0, in_flight / idle.e2e_s
    for _ in range(100):
        rate = (low + high) / 2
        e2e_s = at(rate).e2e_s
        if e2e_s is not None and rate * e2e_s <= in_flight:
            low = rate
        else:
            high = rate
        if high - low <= 1e-12 * high:
            break
    answer = at(low)
    if answer.e2e_s is None or answer.ttft_s is None or not isfinite(answer.e2e_s):
        return answer
    outside_s = max(0.0, in_flight / low - answer.e2e_s) if low else 0.0
    return answer._replace(ttft_s=answer.ttft_s + outside_s, e2e_s=answer.e2e_s + outside_s)
