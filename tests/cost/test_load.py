"""Queues: published numbers, limits, and a short simulation."""

from __future__ import annotations

import math
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kvcost.cost.load import link_wait, md1_quantile_s, md1_wait_s, mdk_wait_s, pool_quantile_s, pool_wait_s, router_factor
from kvcost.errors import KvcostError

rhos = st.floats(0.001, 0.98)
services = st.floats(1e-4, 10)


def test_published():
    """OPT-66B, 512 tokens, ten a second on 100GbE; DistServe's TTFT of 0.1 s service at five a second."""
    service_s = 64 * 72 * 128 * 2 * 2 * 512 / 12.5e9
    assert 10 * service_s == pytest.approx(0.966, abs=5e-4)
    assert md1_wait_s(10, service_s) == pytest.approx(1.388, abs=5e-4)
    assert 0.1 + md1_wait_s(5, 0.1) == pytest.approx(0.15)


@settings(max_examples=200)
@given(rhos, services, st.floats(0.5, 0.999))
def test_quantiles_rise_and_cover_the_mean(rho, service_s, p):
    rate = rho / service_s
    low, high = md1_quantile_s(rate, service_s, p), md1_quantile_s(rate, service_s, p + (1 - p) / 2)
    assert 0 <= low <= high
    assert md1_quantile_s(rate * 1.01, service_s, p) >= low
    assert (low == 0) == (1 - rho >= p)


def test_mean_is_the_area_beside_the_quantiles():
    for rho in (0.3, 0.6, 0.8, 0.9):
        steps = 20000
        mean = sum(md1_quantile_s(rho, 1.0, (i + 0.5) / steps) for i in range(steps)) / steps
        assert mean == pytest.approx(md1_wait_s(rho, 1.0), rel=0.02)


@settings(max_examples=200)
@given(rhos, services, st.integers(1, 40))
def test_more_servers_wait_less_and_routers_are_ordered(rho, service_s, k):
    rate = rho * k / service_s
    random_s, turn_s, least_s = (pool_wait_s(rate, service_s, k, router) for router in ("random", "round-robin", "least-loaded"))
    assert turn_s <= random_s * (1 + 1e-12)
    assert least_s <= random_s * (1 + 1e-12)
    assert mdk_wait_s(rate, service_s, k + 1) <= mdk_wait_s(rate, service_s, k)
    assert pool_wait_s(rho / service_s, service_s, 1, "least-loaded") == pytest.approx(md1_wait_s(rho / service_s, service_s))
    assert pool_quantile_s(rate, service_s, k, "least-loaded", 0.9) >= 0


def test_saturation_is_infinite():
    assert md1_wait_s(2, 0.5) == md1_quantile_s(2, 0.5, 0.9) == mdk_wait_s(4, 0.5, 2) == math.inf
    assert link_wait(10, 0.1, 1, 1, 0.2, 0.0).wait_s == math.inf
    assert mdk_wait_s(0, 0.5, 2) == pool_quantile_s(0, 0.5, 2, "least-loaded", 0.9) == 0


def test_many_servers_do_not_overflow():
    assert 0 <= mdk_wait_s(900, 1.0, 1000) < mdk_wait_s(90, 1.0, 100) < 1


def test_least_loaded_against_simulation():
    rng, k, service_s, rate = random.Random(1), 4, 1.0, 3.2
    free, now, waits = [0.0] * k, 0.0, []
    for _ in range(60000):
        now += rng.expovariate(rate)
        soonest = min(range(k), key=free.__getitem__)
        waits.append(max(0.0, free[soonest] - now))
        free[soonest] = max(now, free[soonest]) + service_s
    assert sum(waits) / len(waits) == pytest.approx(mdk_wait_s(rate, service_s, k), rel=0.08)
    assert sorted(waits)[int(0.9 * len(waits))] == pytest.approx(pool_quantile_s(rate, service_s, k, "least-loaded", 0.9), rel=0.20)


@settings(max_examples=200)
@given(st.floats(0.001, 0.95), services, services, st.integers(1, 4), st.integers(1, 4))
def test_a_link_behind_a_slower_prefill_does_not_wait(rho, transfer_s, prefill_s, ports, sources):
    rate = rho * min(ports / transfer_s, sources / prefill_s)
    wait = link_wait(rate, transfer_s, ports, sources, prefill_s, pool_wait_s(rate, prefill_s, sources, "random"))
    assert 0 <= wait.wait_s <= wait.wait_high_s
    if sources <= ports and transfer_s <= prefill_s:
        assert wait.wait_s == 0
    if sources > ports:
        assert wait.wait_high_s == pytest.approx(md1_wait_s(rate / ports, transfer_s))


def test_unknown_router():
    with pytest.raises(KvcostError, match="unknown router 'sticky'"):
        router_factor("sticky", 2)
