"""The highest rate within limits, for both deployments; the best split of a number of GPUs; what tokens cost.

Every time rises with the rate, so the rates that meet the limits are an interval from 0: bracketed by steps of 1.5,
then bisected. A deployment that saturates, or whose cache is nearly full, does not meet them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import inf, nan, sqrt
from typing import NamedTuple

from ..errors import KvcostError
from .disagg import PoolCurves, pool_curves, pools, with_transfer
from .mono import Mono, mono, mono_curves
from .serving import Cap, Colocated, Split, Work
from .steps import Curves
from .tails import disagg_gap_s, disagg_ttft_s, mono_gap_s, mono_ttft_within

__all__ = [
    "Best",
    "Layout",
    "Limits",
    "balanced_rate",
    "best_layouts",
    "cost_per_mtok",
    "disagg_goodput",
    "disagg_meets",
    "disagg_saturation",
    "highest_rate",
    "kv_tight",
    "mono_goodput",
    "mono_meets",
    "mono_saturation",
    "rough_ratio",
    "split_layouts",
]

_STEP = 1.5


class Limits(NamedTuple):
    """What a user asks for: each None where it does not matter. TTFT at the attainment quantile (None: its mean), mean TPOT."""

    ttft_s: float | None = None
    tpot_s: float | None = None
    itl_p99_s: float | None = None
    attainment: float | None = 0.9


def kv_tight(batch: float, cap: Cap) -> bool:
    """Whether fluctuations reach the cap: B + 2.33*sqrt(B) > B_cap; TTFT is then a lower bound.

    >>> kv_tight(100, Cap(120, "kv")), kv_tight(100, Cap(130, "kv"))
    (True, False)
    """
    return batch + 2.33 * sqrt(batch) > cap.requests


def highest_rate(meets: Callable[[float], bool], start: float = 1.0) -> float:
    """The highest rate (requests/s) that `meets` the limits, 0 where none does; bracketed by x1.5, bisected to 1e-6.

    >>> round(highest_rate(lambda rate: rate <= 4.2), 4)
    4.2
    """
    low = 0.0
    for low, _ in _brackets(meets, start):  # noqa: B007
        pass
    return low


def _brackets(meets: Callable[[float], bool], start: float) -> Iterator[tuple[float, float]]:
    """Ever narrower (highest rate known to meet, lowest known not to); (0, 0) where none meets."""
    low = high = start
    if meets(start):
        high = start * _STEP
        while meets(high) and high < 1e9:
            low, high = high, high * _STEP
    else:
        low = start / _STEP
        while not meets(low):
            low, high = low / _STEP, low
            if low < 1e-7:
                yield 0.0, 0.0
                return
    yield low, high
    while high - low > 1e-6 * high:
        middle = (low + high) / 2
        low, high = (middle, high) if meets(middle) else (low, middle)
        yield low, high


def rough_ratio(mono_meets: Callable[[float], bool], disagg_meets: Callable[[float], bool], edges: Sequence[float], start: float = 1.0) -> float:
    """A number on the same side of every edge as goodput split over monolithic, for a class without the exact rates.

    inf where only the monolithic side has none, NaN where neither has any. The wider of the two brackets is narrowed
    until no edge lies in the range of the ratio.

    >>> 1.1 < rough_ratio(lambda rate: rate < 3, lambda rate: rate < 4.5, (1 / 1.1, 1.1))
    True
    """
    ours, theirs = _brackets(mono_meets, start), _brackets(disagg_meets, start)
    mono_rates, disagg_rates = next(ours), next(theirs)
    if not mono_rates[1]:
        return inf if disagg_rates[1] else nan
    while any(disagg_rates[0] / mono_rates[1] <= edge <= disagg_rates[1] / mono_rates[0] for edge in edges):
        mono_first = mono_rates[1] * disagg_rates[0] > disagg_rates[1] * mono_rates[0]
        last = mono_rates, disagg_rates
        if mono_first:
            mono_rates = next(ours, mono_rates)
        else:
            disagg_rates = next(theirs, disagg_rates)
        if last == (mono_rates, disagg_rates):
            break
    return sum(disagg_rates) / sum(mono_rates)


def _within(value: float | None, limit: float | None) -> bool:
    return limit is None or (value is not None and value <= limit)


def _mono_meets(answer: Mono, limits: Limits) -> bool:
    if answer.limit or kv_tight(answer.batch, answer.cap) or not _within(answer.tpot_s, limits.tpot_s):
        return False
    if limits.ttft_s is not None:
        mean_alone = limits.attainment is None or not _within(answer.ttft_s, 10 * limits.ttft_s)
        if not (_within(answer.ttft_s, limits.ttft_s) if mean_alone else mono_ttft_within(answer, limits.ttft_s, limits.attainment or 0.0)):
            return False
    return limits.itl_p99_s is None or _within(mono_gap_s(answer), limits.itl_p99_s)


def mono_goodput(work: Work, side: Colocated, limits: Limits, curves: Curves | None = None) -> float:
    """Requests/s of the whole deployment within the limits; 0 where not even a lone request meets them.

    >>> from .steps import measured_steps
    >>> side = Colocated(measured_steps({4096: 0.2}, {1: 0.010}), instances=2)
    >>> round(mono_goodput(Work(4096, 256), side, Limits(tpot_s=0.02)), 2)
    4.76
    """
    return highest_rate(mono_meets(work, side, limits, curves))


def mono_meets(work: Work, side: Colocated, limits: Limits, curves: Curves | None = None) -> Callable[[float], bool]:
    """Whether the deployment is within the limits at a rate (requests/s), as a function of it."""
    curves = curves or mono_curves(work, side)
    return lambda rate: _mono_meets(mono(work._replace(rate_per_s=rate, concurrency=None), side, curves), limits)


def disagg_goodput(work: Work, side: Split, limits: Limits, transfer_s: float, derate: float = 0.92, curves: PoolCurves | None = None) -> float:
    """The same for a split deployment, its pools run at rate/derate: two pools are never balanced for long.

    derate 0.92 (0.85 to 1), *estimate*; it moves the answer nearly one to one.
    """
    return highest_rate(disagg_meets(work, side, limits, transfer_s, derate, curves))


def disagg_meets(work: Work, side: Split, limits: Limits, transfer_s: float, derate: float = 0.92, curves: PoolCurves | None = None) -> Callable[[float], bool]:
    """Whether the split deployment is within the limits at a rate (requests/s), as a function of it."""
    curves = curves or pool_curves(work, side)

    def meets(rate: float) -> bool:
        found = pools(work._replace(rate_per_s=rate / derate, concurrency=None), side, curves)
        if found.limit or kv_tight(found.batch, found.cap):
            return False
        answer = with_transfer(found, transfer_s)
        if answer.limit or not _within(answer.tpot_s, limits.tpot_s):
            return False
        ttft_s = answer.ttft_s if limits.attainment is None else disagg_ttft_s(answer, limits.attainment)
        return _within(ttft_s, limits.ttft_s) and (limits.itl_p99_s is None or _within(disagg_gap_s(answer), limits.itl_p99_s))

    return meets


def mono_saturation(work: Work, side: Colocated, curves: Curves | None = None) -> tuple[str, float]:
    """What saturates first as the rate rises, and the rate (requests/s over the deployment) from which it does."""
    curves = curves or mono_curves(work, side)

    def at(rate: float) -> Mono:
        return mono(work._replace(rate_per_s=rate, concurrency=None), side, curves)

    most = highest_rate(lambda rate: not at(rate).limit)
    return at(most * (1 + 1e-5) or 1e-6).limit, most


def disagg_saturation(work: Work, side: Split, transfer_s: float, curves: PoolCurves | None = None) -> tuple[str, float]:
    """The same for a split deployment: prefill k_P/s, link ports/T_x, or decode.

    Source: the least of the three rates; decode's by search, as its batch decides its step.
    """
    curves = curves or pool_curves(work, side)

    def at(rate: float) -> str:
        return with_transfer(pools(work._replace(rate_per_s=rate, concurrency=None), side, curves), transfer_s).limit

    most = highest_rate(lambda rate: not at(rate))
    return at(most * (1 + 1e-5) or 1e-6), most


class Layout(NamedTuple):
    """Instances and tensor-parallel sizes: k_P x t_P + k_D x t_D GPUs, or k x t of a colocated one (decode fields 0)."""

    prefill_instances: int
    prefill_tp: int
    decode_instances: int = 0
    decode_tp: int = 0

    @property
    def gpus(self) -> int:
        """GPUs in all."""
        return self.prefill_instances * self.prefill_tp + self.decode_instances * self.decode_tp


def split_layouts(gpus: int, tps: Sequence[int]) -> Iterator[Layout]:
    """All layouts that fill `gpus` exactly with one TP size a pool, of which one divides the other.

    >>> [tuple(layout) for layout in split_layouts(4, [1, 2])]
    [(1, 1, 3, 1), (2, 1, 2, 1), (3, 1, 1, 1), (2, 1, 1, 2), (1, 2, 2, 1), (1, 2, 1, 2)]
    """
    for prefill_tp in tps:
        for decode_tp in tps:
            if max(prefill_tp, decode_tp) % min(prefill_tp, decode_tp):
                continue
            for count in range(1, gpus // prefill_tp + 1):
                rest = gpus - count * prefill_tp
                if rest > 0 and rest % decode_tp == 0:
                    yield Layout(count, prefill_tp, rest // decode_tp, decode_tp)


class Best(NamedTuple):
    """The best layout with its goodput, the runner-up with its own, and a remark; None where no layout meets the limits.

    remark names the granularity of N where the best split is more than 5 % below what its pools would carry if GPUs
    could be shared out in fractions.
    """

    layout: Layout | None
    rate_per_s: float
    runner_up: Layout | None
    runner_up_rate_per_s: float
    remark: str


def best_layouts(layouts: Sequence[Layout], goodput: Callable[[Layout], float], ideal_per_gpu: Callable[[Layout], float] | None = None) -> Best:
    """The best of `layouts` by `goodput` (requests/s), and the runner-up.

    ideal_per_gpu gives the rate per GPU of a layout's TP sizes at the best fractional share (see `balanced_rate`).

    Raises KvcostError for no layouts.
    """
    if not layouts:
        raise KvcostError("no layout fills these GPUs", hint="give --gpus-total that the tensor-parallel sizes divide")
    ranked = sorted(((goodput(layout), layout) for layout in layouts), key=lambda item: -item[0])
    (rate, layout), (second, runner_up) = ranked[0], ranked[1] if len(ranked) > 1 else (0.0, None)
    if not rate:
        return Best(None, 0.0, None, 0.0, "no layout meets the limits")
    remark = ""
    if ideal_per_gpu is not None:
        ideal = ideal_per_gpu(layout) * layout.gpus
        if rate < 0.95 * ideal:
            remark = f"limited by the granularity of N = {layout.gpus}: {rate / ideal:.0%} of what an even share of GPUs would carry"
    return Best(layout, rate, runner_up if second else None, second, remark)


def balanced_rate(prefill_rate_per_gpu: float, decode_rate_per_gpu: float) -> float:
    """Requests/s and GPU when GPUs are shared out so that both pools are full: 1/(1/r_P + 1/r_D).

    >>> balanced_rate(2.0, 2.0)
    1.0
    """
    return 1.0 / (1.0 / prefill_rate_per_gpu + 1.0 / decode_rate_per_gpu)


def cost_per_mtok(gpus: float, gpu_hour_price: float, rate_per_s: float, output_tokens: float) -> float | None:
    """Dollars per million output tokens: gpus*price/3600/(rate*m)*1e6; None without a rate.

    >>> round(cost_per_mtok(16, 2.5, 4.0, 500), 3)
    5.556
    """
    return gpus * gpu_hour_price / 3600.0 / (rate_per_s * output_tokens) * 1e6 if rate_per_s else None
