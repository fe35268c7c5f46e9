"""A small discrete-event simulation of both deployments, to hold the closed forms against.

Poisson arrivals, one length; a step is every decoding request and first-come prompt tokens up to the budget; KV is
reserved at admission. The split side prefills one prompt at a time, has a first-come link per prefill instance, joins
decode at step boundaries and sends the first token from there. Dense models with full attention only.
"""

from __future__ import annotations

import random
from collections import deque
from math import hypot
from typing import NamedTuple

from kvcost.cost.prepare import Prepared


class Measured(NamedTuple):
    ttft_s: float
    ttft_p90_s: float
    tpot_s: float
    itl_p99_s: float


class Hardware:
    """Step times of a dense model, from its prepared record, at whole numbers of requests and tokens."""

    def __init__(self, p: Prepared) -> None:
        assert not p.experts
        assert p.attention_dp == 1
        assert len(p.reaches) == 1
        self.p = p

    def prefill_s(self, tokens: int, start: int = 0) -> float:
        return self.step_s(tokens - start, self.attention_s(start, tokens), 0, 0)

    def attention_s(self, start: int, end: int) -> float:
        reach = self.p.reaches[0]
        return max(reach.pair_s * (end * end - start * start) / 2, reach.read_s * end)

    def step_s(self, tokens: int, attention_s: float, batch: int, cached_tokens: float) -> float:
        a, b, cache_s = self.p.prefill, self.p.decode, self.p.reaches[0].read_s * cached_tokens
        beside = batch * (b.comm_row_s + b.comm_all_row_s + b.sequence_s) + cache_s
        if not tokens:
            return b.layers_s + hypot(batch * b.row_s, b.weights_s) + beside
        products = hypot(tokens * a.row_s + a.head_s + batch * b.row_s, a.weights_s)
        return a.layers_s + a.sequence_s + products + attention_s + tokens * (a.comm_row_s + a.comm_all_row_s) + beside


def arrivals(rng: random.Random, rate_per_s: float, count: int, dealt_to: int = 1) -> list[float]:
    """Arrivals at one of `dealt_to` instances that a round-robin router deals to in turn."""
    times, now = [], 0.0
    for _ in range(count):
        now += sum(rng.expovariate(rate_per_s * dealt_to) for _ in range(dealt_to))
        times.append(now)
    return times


def _measured(ttfts: list[float], tpots: list[float], gaps: list[tuple[float, int]]) -> Measured:
    ordered = sorted(ttfts)
    gaps.sort(reverse=True)
    left = 0.01 * sum(weight for _, weight in gaps)
    worst = 0.0
    for gap, weight in gaps:
        left -= weight
        if left < 0:
            worst = gap
            break
    return Measured(sum(ttfts) / len(ttfts), ordered[int(0.9 * len(ordered))], sum(tpots) / len(tpots), worst)


def _packed(hw: Hardware, waiting: deque[list[float]], n: int, budget: int, room: float) -> tuple[int, float, list[list[float]], int]:
    """First-come prompt tokens of one step: how many, their attention, the prompts they finish, the prompts they begin."""
    tokens, attention_s, done, fresh = 0, 0.0, [], 0
    for prompt in waiting:
        if tokens == budget or (not prompt[1] and fresh >= room):
            break
        fresh += not prompt[1]
        part = min(budget - tokens, n - int(prompt[1]))
        attention_s += hw.attention_s(int(prompt[1]), int(prompt[1]) + part)
        prompt[1] += part
        tokens += part
        if prompt[1] == n:
            done.append(prompt)
    return tokens, attention_s, done, fresh


def colocated(hw: Hardware, times: list[float], n: int, m: int, chunk: int, cap: float, skip: int) -> Measured:
    """One instance that serves prompts of n tokens arriving at `times`; the first and last `skip` requests are not counted."""
    waiting: deque[list[float]] = deque()  # [arrival, tokens done, index]
    leaving: dict[int, list[tuple[float, int]]] = {}
    now, step, batch, cached, admitted, coming = 0.0, 0, 0, 0.0, 0, 0
    ttfts, tpots, gaps = [], [], []
    first, last = times[skip], times[-skip]
    while coming < len(times) or waiting or batch:
        if not waiting and not batch:
            now = max(now, times[coming])
        while coming < len(times) and times[coming] <= now:
            waiting.append([times[coming], 0, coming])
            coming += 1
        tokens, attention_s, done, fresh = _packed(hw, waiting, n, max(64, chunk - batch), cap - admitted)
        admitted += fresh
        took_s = hw.step_s(tokens, attention_s, batch, cached)
        if not tokens and not batch:
            break
        now += took_s
        step += 1
        cached += batch
        if batch and first <= now <= last:
            gaps.append((took_s, batch))
        for start, index in leaving.pop(step, ()):
            batch, cached, admitted = batch - 1, cached - (n + m), admitted - 1
            if skip <= index < len(times) - skip:
                tpots.append((now - start) / (m - 1))
        for arrival, _, index in done:
            waiting.popleft()
            batch, cached = batch + 1, cached + n + 1
            leaving.setdefault(step + m - 1, []).append((now, int(index)))
            if skip <= index < len(times) - skip:
                ttfts.append(now - arrival)
    return _measured(ttfts, tpots, gaps)


def split(
    hw: Hardware, rng: random.Random, rate_per_s: float, count: int, n: int, m: int, prefills: int, decodes: int, router: str, transfer_s: float, cap: float
) -> Measured:
    """Both pools; TTFT and TPOT are those of the requests that decode on the first decode instance."""
    prefill_s, skip = hw.prefill_s(n), count // 10
    free, sent, joins, now = [0.0] * prefills, [0.0] * prefills, [], 0.0
    for index in range(count):
        now += rng.expovariate(rate_per_s)
        at = index % prefills if router == "round-robin" else rng.randrange(prefills)
        free[at] = max(now, free[at]) + prefill_s
        sent[at] = max(free[at], sent[at]) + transfer_s
        joins.append((sent[at], now, index))
    joins.sort()
    mine = [join for place, join in enumerate(joins) if (place % decodes if router == "round-robin" else rng.randrange(decodes)) == 0]
    return _decoded(hw, mine, n, m, cap, skip, count)


def _decoded(hw: Hardware, joins: list[tuple[float, float, int]], n: int, m: int, cap: float, skip: int, count: int) -> Measured:
    leaving: dict[int, list[tuple[float, int]]] = {}
    now, step, batch, cached, coming = 0.0, 0, 0, 0.0, 0
    ttfts, tpots, gaps, fresh = [], [], [], []
    while coming < len(joins) or batch:
        if not batch:
            now = max(now, joins[coming][0])
        while coming < len(joins) and joins[coming][0] <= now and batch < cap:
            fresh.append(joins[coming])
            batch, cached, coming = batch + 1, cached + n + 1, coming + 1
        took_s = hw.step_s(0, 0.0, batch, cached)
        now += took_s
        step += 1
        cached += batch
        if skip < coming < len(joins) - skip:
            gaps.append((took_s, batch - len(fresh)))
        for _, arrival, index in fresh:
            leaving.setdefault(step + m - 1, []).append((now, index))
            if skip <= index < count - skip:
                ttfts.append(now - arrival)
        fresh = []
        for start, index in leaving.pop(step, ()):
            batch, cached = batch - 1, cached - (n + m + 1)
            if skip <= index < count - skip:
                tpots.append((now - start) / (m - 1))
    return _measured(ttfts, tpots, gaps)
