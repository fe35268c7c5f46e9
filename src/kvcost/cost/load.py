"""Queues: how long requests wait for a prefill instance and for the link, on average and at a quantile.

Prompts of one length arrive as a Poisson stream, so a stage is M/D/1. A router that deals in turn thins the
randomness to 1/k, one that looks for the least loaded of k instances makes them one M/D/k queue.
"""

from __future__ import annotations

from math import exp, expm1, factorial, inf, log, sqrt
from typing import NamedTuple

from ..errors import KvcostError
from .words import ROUTERS

__all__ = ["ROUTERS", "LinkWait", "check_router", "link_wait", "md1_quantile_s", "md1_wait_s", "mdk_wait_s", "pool_quantile_s", "pool_wait_s", "router_factor"]


def check_router(router: str) -> None:
    """Raises KvcostError for a router that is not known."""
    if router not in ROUTERS:
        raise KvcostError(f"unknown router '{router}'", hint="write random, round-robin or least-loaded")


def router_factor(router: str, instances: float, *, counts_work: bool = False) -> float:
    """Share of the random router's wait that is left: g = 1 (random), 1/k (round-robin).

    Least-loaded counts requests. Beside decoding requests these say little of the prompt work, so there g = 1; in a
    prefill pool (`counts_work`) the instances become one queue, see `pool_wait_s`, and g = 1 here too.

    >>> router_factor("random", 4), router_factor("round-robin", 4)
    (1.0, 0.25)

    Raises KvcostError for an unknown router. Source: simulation; least-requests behaves like random for TTFT.
    """
    check_router(router)
    return 1.0 / max(1.0, instances) if router == "round-robin" and not counts_work else 1.0


def md1_wait_s(rate_per_s: float, service_s: float, second_moment: float = 1.0) -> float:
    """Mean seconds that a request waits in an M/G/1 queue; M/D/1 with second_moment 1.

    W = rho*s*c/(2*(1 - rho)), rho = rate*s, c = E[s^2]/E[s]^2; math.inf from rho 1 on.

    The published case: OPT-66B, 512 tokens, 10 requests/s, 1.208 GB each on 100GbE, rho 0.966.

    >>> service_s = 512 * 2_359_296 / 12.5e9
    >>> round(md1_wait_s(10, service_s), 2)
    1.39

    Source: Pollaczek-Khinchine; a test of the function, not of a pipeline (see `link_wait`).
    """
    rho = rate_per_s * service_s
    return inf if rho >= 1.0 else rho * service_s * second_moment / (2.0 * (1.0 - rho))


def _decay(rho: float) -> float:
    """theta*s of the tail of an M/D/1 wait: the root y > 0 of rho*(e^y - 1) = y, by Newton from the right."""
    y = -2.0 * log(rho)  # never left of the root: 1/rho - rho + 2*ln(rho) >= 0
    for _ in range(60):
        step = (rho * expm1(y) - y) / (rho * exp(y) - 1.0)
        y -= step
        if abs(step) <= 1e-14 * y:
            break
    return y


def md1_quantile_s(rate_per_s: float, service_s: float, quantile: float) -> float:
    """Seconds that a share `quantile` of requests wait at most in an M/D/1 queue.

    0 if 1 - rho >= p; ln(p/(1 - rho))/rate while that is no more than s; else ln(C/(1 - p))/theta with
    rate*(e^(theta*s) - 1) = theta and C = (1 - rho)/((rate + theta)*s - 1). math.inf from rho 1 on.

    >>> round(md1_quantile_s(3, 0.2109, 0.9), 3)
    0.498

    Source: Erlang's solution on [0, s], its exponential tail beyond.
    """
    rho = rate_per_s * service_s
    if rho >= 1.0:
        return inf
    if 1.0 - rho >= quantile:
        return 0.0
    wait_s = log(quantile / (1.0 - rho)) / rate_per_s
    if wait_s <= service_s:
        return wait_s
    y = _decay(rho)
    constant = (1.0 - rho) / (rho + y - 1.0)
    return max(service_s, log(constant / (1.0 - quantile)) * service_s / y)


def _erlang_c(load: float, servers: int) -> float:
    """Share of arrivals that find all servers busy, at `load` = rate*s < servers."""
    if servers > 100:  # the sum overflows long before it matters
        return float((load / servers) ** sqrt(2.0 * servers))
    last: float = load**servers / factorial(servers) * servers / (servers - load)
    return last / (sum(load**i / factorial(i) for i in range(servers)) + last)


def mdk_wait_s(rate_per_s: float, service_s: float, servers: int) -> float:
    """Mean seconds that a request waits for one of `servers` equal servers with one queue (M/D/k).

    W = C(k, rho)*s/(2*k*(1 - rho)) * (1 + (1 - rho)*(k - 1)*(sqrt(4 + 5k) - 2)/(16*rho*k)); exact for k = 1.

    >>> round(mdk_wait_s(10, 0.0966, 1), 3) == round(md1_wait_s(10, 0.0966), 3)
    True

    Source: Erlang C with Cosmetatos' correction.
    """
    load = rate_per_s * service_s
    if load >= servers:
        return inf
    if not load:
        return 0.0
    rho = load / servers
    wait_s = _erlang_c(load, servers) * service_s / (2.0 * servers * (1.0 - rho))
    return wait_s * (1.0 + (1.0 - rho) * (servers - 1) * (sqrt(4.0 + 5.0 * servers) - 2.0) / (16.0 * rho * servers))


def pool_wait_s(rate_per_s: float, service_s: float, instances: int, router: str, second_moment: float = 1.0) -> float:
    """Mean seconds that a prompt waits in a pool of `instances` that `rate_per_s` reaches in all.

    random, round-robin: g*M/G/1 at rate/k; least-loaded: M/D/k, times E[s^2]/E[s]^2.
    """
    if router == "least-loaded" and instances > 1:
        return mdk_wait_s(rate_per_s, service_s, instances) * second_moment
    return router_factor(router, instances) * md1_wait_s(rate_per_s / instances, service_s, second_moment)


def pool_quantile_s(rate_per_s: float, service_s: float, instances: int, router: str, quantile: float) -> float:
    """Seconds that a share `quantile` of prompts wait at most in a pool; g*Q of M/D/1, an exponential tail for M/D/k."""
    if router != "least-loaded" or instances <= 1:
        return router_factor(router, instances) * md1_quantile_s(rate_per_s / instances, service_s, quantile)
    load = rate_per_s * service_s
    if load >= instances:
        return inf
    waiting = _erlang_c(load, instances) if load else 0.0
    if waiting <= 1.0 - quantile:
        return 0.0
    return mdk_wait_s(rate_per_s, service_s, instances) / waiting * log(waiting / (1.0 - quantile))


class LinkWait(NamedTuple):
    """Load of the busiest port, and the wait in front of it: expected and at the safe end."""

    utilisation: float
    wait_s: float
    wait_high_s: float


def link_wait(
    rate_per_s: float, transfer_s: float, ports: float, prefill_instances: float, prefill_s: float, prefill_wait_s: float, factor: float = 1.0
) -> LinkWait:
    """Seconds that a request waits for the link, with `ports` first-come ports that `prefill_instances` feed.

    utilisation = rate*T_x/ports. One prefill instance a port: max(0, g*W(T_x) - w_P), and 0 where the prefill is
    slower, for a tandem waits at its slower stage alone. Several a port (incast): (1 - rho_P^2)*W expected, W
    (the M/D/1 wait) at the safe end. math.inf from utilisation 1 on.

    >>> [round(x, 3) for x in link_wait(10, 0.0966, 1, 1, 0.2, 0.3)]
    [0.966, 0.0, 0.0]
    >>> [round(x, 3) for x in link_wait(10, 0.0966, 1, 4, 0.2, 0.05)]
    [0.966, 1.029, 1.372]

    Source: simulation; merged streams wait 0.2 to 0.7 of M/D/1.
    """
    utilisation = rate_per_s * transfer_s / ports
    if utilisation >= 1.0:
        return LinkWait(utilisation, inf, inf)
    if prefill_instances <= ports:
        if transfer_s <= prefill_s:
            return LinkWait(utilisation, 0.0, 0.0)
        wait_s = max(0.0, factor * md1_wait_s(rate_per_s / ports, transfer_s) - prefill_wait_s)
        return LinkWait(utilisation, wait_s, wait_s)
    high_s = md1_wait_s(rate_per_s / ports, transfer_s)
    rho = rate_per_s * prefill_s / prefill_instances
    return LinkWait(utilisation, max(0.0, 1.0 - rho * rho) * high_s, high_s)
