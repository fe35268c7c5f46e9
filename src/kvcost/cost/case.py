"""One question: the work, both deployments and the link; the answer to it; and everything that may move it.

Constants are common to both deployments, so they are drawn jointly: `DRAWS` are three runs of the whole question, expected,
low and high.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf, nan
from typing import TYPE_CHECKING, Literal, NamedTuple

from ..errors import KvcostError
from .disagg import Disagg, PoolCurves, disagg, pools, with_transfer
from .gpu import Constant, Gpu
from .kv import KvLayout
from .mono import Mono, mono
from .serving import Colocated, Split, Work, check_work
from .steps import Curves
from .tails import disagg_gap_s, disagg_ttft_s, mono_gap_s, mono_ttft_s
from .transfer import Engine, Link, LinkTimes, lanes_of, link_times
from .wire import wire_bytes
from .words import OBJECTIVES

if TYPE_CHECKING:
    from .techniques import WireCut

__all__ = [
    "DRAWS",
    "OBJECTIVES",
    "Case",
    "Draw",
    "Gains",
    "Outcome",
    "Transfer",
    "compare",
    "draw_gpu",
    "fixed_transfer",
    "gain_of",
    "link_transfer",
    "outcome_of",
    "ttft_parts",
]


# (context, tokens of it that the decode side holds, line rate in bytes/s or None for the link's own) -> seconds
Transfer = Callable[[float, float, float | None], float]


class Draw(NamedTuple):
    """One joint run: which end the constants, the link and the router stand at.

    constants  slow, expected or fast, for the share of peak (eta) and of memory bandwidth (eta_bw) that is reached
    link       the end of the link's rate and of the hand-over's range
    router     None: the one that was asked for
    derate     share of a pool's rate that is left when two pools are balanced; for goodput alone
    """

    name: Literal["low", "expected", "high"]
    constants: Literal["slow", "expected", "fast"]
    link: Literal["low", "expected", "high"]
    router: str | None
    derate: float


# The expected run first. Source: 40 joint draws moved goodput ratios by 4 to 6 %, the derate nearly one to one; three runs enclose them.
DRAWS = (
    Draw("expected", "expected", "expected", None, 0.92),
    Draw("low", "slow", "low", "random", 0.85),
    Draw("high", "fast", "high", "round-robin", 1.0),
)

_ETA = ("eta_bf16", "eta_fp8", "eta_experts_bf16", "eta_experts_fp8")
_ETA_BW = ("eta_bw", "eta_bw_fp8")


def draw_gpu(gpu: Gpu, end: Literal["slow", "expected", "fast"], only: Literal["eta", "eta_bw"] | None = None) -> Gpu:
    """The GPU with the share of peak and of memory bandwidth that it reaches at one end; `only` one of the two.

    >>> from ..catalog.store import Catalog
    >>> draw_gpu(Catalog().gpu("h100"), "slow", "eta_bw").constants.eta_bw.value < 0.9
    True
    """
    if end == "expected":
        return gpu
    fields = {None: _ETA + _ETA_BW, "eta": _ETA, "eta_bw": _ETA_BW}[only]
    swapped: dict[str, Constant] = {}
    for name in fields:
        constant: Constant = getattr(gpu.constants, name)
        value = constant.low if end == "slow" else constant.high
        swapped[name] = Constant(value, value, value)
    return gpu._replace(constants=gpu.constants._replace(**swapped))  # type: ignore[arg-type]


class Case(NamedTuple):
    """Work, both deployments, and what a request's transfer takes. `derate` is for goodput alone."""

    work: Work
    mono: Colocated
    split: Split
    transfer: Transfer
    derate: float = 0.92

    @property
    def transfer_s(self) -> float:
        """Seconds of one request's transfer on an empty link."""
        return self.transfer(self.work.prompt_tokens, min(self.work.prefix_hit_tokens, self.work.prompt_tokens), None)


def fixed_transfer(transfer_s: float) -> Transfer:
    """A measured transfer: the given seconds at any context, link or prefix hit."""
    return lambda _ctx, _hit, _rate: transfer_s


def link_transfer(
    layout: KvLayout,
    link: Link,
    engine: Engine,
    *,
    prefill_tp: int,
    decode_tp: int,
    rails: int | None = None,
    basis: Literal["line-rate", "achievable", "engine"] = "achievable",
    end: Literal["low", "expected", "high"] = "expected",
    codec: WireCut | None = None,
    untouched: KvLayout | None = None,
) -> Transfer:
    """What `wire.wire_bytes` and `transfer.link_times` say, as a function of context, prefix hit and line rate.

    A line rate in place of the link's own keeps the link's efficiency; bytes are not rounded up to blocks, so that the
    time is smooth in the context. `end` low is the slow end of the link. math.inf as the rate makes it 0. A `codec` shrinks
    the bytes of all layers but the `untouched` ones, and adds its time.

    >>> from .dtypes import parse_kv_dtype
    >>> from .kv import kv_layout
    >>> from .layers import FullAttention, LayerGroup
    >>> layout = kv_layout([LayerGroup(80, FullAttention(8, 128, 128))], parse_kv_dtype("bf16"))
    >>> eth = Link("eth_100g", 12.5e9, 11.5e9, 3.8e9, 12.25e9)
    >>> time = link_transfer(layout, eth, Engine("line"), prefill_tp=8, decode_tp=8)
    >>> round(time(4096, 0, None), 4), round(time(4096, 2048, None), 4), time(4096, 0, float("inf"))
    (0.1167, 0.0584, 0.0)

    Raises KvcostError for a line rate in place of a link that has none.
    """
    lanes = lanes_of(link, rails, prefill_tp, decode_tp).lanes
    cut = basis == "engine" and engine.block_tokens > 0
    a_token = _descriptors_a_block(layout, engine, prefill_tp, decode_tp) / engine.block_tokens if cut else 0.0

    def seconds(ctx_tokens: float, hit_tokens: float, rate: float | None) -> float:
        used = link if rate is None else _at_rate(link, rate)
        sent: float = on_wire(layout, ctx_tokens, hit_tokens)
        posted, codec_s = a_token * (ctx_tokens - hit_tokens), 0.0
        if codec is not None and sent:
            kept = on_wire(untouched, ctx_tokens, hit_tokens) if untouched is not None else 0
            share = float(codec.share(ctx_tokens, hit_tokens))
            codec_s = codec.codec_s + codec.codec_s_per_byte * (sent - kept)
            sent, posted = kept + (sent - kept) * share, posted * float(codec.pages)
        times = link_times(used, engine, sent, lanes, posted)  # type: ignore[arg-type]
        return _picked(times, link, basis, end) + codec_s

    def on_wire(part: KvLayout, ctx_tokens: float, hit_tokens: float) -> int:
        return wire_bytes(part, ctx_tokens, prefix_hit_tokens=hit_tokens, prefill_tp=prefill_tp, decode_tp=decode_tp).wire_bytes  # type: ignore[arg-type]

    return seconds


def _picked(times: LinkTimes, link: Link, basis: str, end: str) -> float:
    """The time of a basis; low is the slow end, so the high time."""
    if basis == "line-rate":
        if times.line_rate_s is None:
            raise KvcostError(f"the link {link.name} has no line rate", hint="use --basis achievable")
        return times.line_rate_s
    if basis == "achievable":
        return {"low": times.achievable_high_s, "expected": times.achievable_s, "high": times.achievable_low_s}[end]
    return {"low": times.engine_high_s, "expected": times.engine_s, "high": times.engine_low_s}[end]


def _descriptors_a_block(layout: KvLayout, engine: Engine, prefill_tp: int, decode_tp: int) -> float:
    """Descriptors of a full-length block, from a long prompt."""
    tokens = engine.block_tokens * 4096
    sent = wire_bytes(
        layout,
        tokens,
        prefill_tp=prefill_tp,
        decode_tp=decode_tp,
        block_tokens=engine.block_tokens,
        regions=engine.regions,
        layers_share_blocks=engine.layers_share_blocks,
    )
    return sent.descriptors / 4096


def _at_rate(link: Link, rate: float) -> Link:
    """The link at another line rate, its efficiencies kept."""
    own = link.bandwidth_bytes_per_s
    if own is None:
        raise KvcostError(f"the link {link.name} has no line rate to replace", hint="give --bandwidth without --link")
    share = 0.0 if own == inf else rate / own
    if rate == inf or own == inf:
        return link._replace(bandwidth_bytes_per_s=rate, achieved_bytes_per_s=rate, achieved_low_bytes_per_s=rate, achieved_high_bytes_per_s=rate)
    return link._replace(
        bandwidth_bytes_per_s=rate,
        achieved_bytes_per_s=link.achieved_bytes_per_s * share,
        achieved_low_bytes_per_s=link.achieved_low_bytes_per_s * share,
        achieved_high_bytes_per_s=link.achieved_high_bytes_per_s * share,
    )


class Gains(NamedTuple):
    """Monolithic less disaggregated, seconds; positive = disaggregation better; None where a side saturates or was not asked."""

    ttft_s: float | None
    tpot_s: float | None
    e2e_s: float | None
    itl_p99_s: float | None
    ttft_p90_s: float | None


class Outcome(NamedTuple):
    """Both deployments under the same load. Tails are None unless they were asked for."""

    mono: Mono
    disagg: Disagg
    itl_p99_mono_s: float | None
    itl_p99_disagg_s: float | None
    ttft_p90_mono_s: float | None
    ttft_p90_disagg_s: float | None
    gains: Gains


def _less(mono_s: float | None, disagg_s: float | None) -> float | None:
    return None if mono_s is None or disagg_s is None else mono_s - disagg_s


def compare(case: Case, *, gap: bool = True, p90: bool = False) -> Outcome:
    """Both deployments at the case's load, and what the split one gains.

    >>> from .steps import measured_steps
    >>> steps = measured_steps({4096: 0.2}, {1: 0.010})
    >>> case = Case(Work(4096, 256, rate_per_s=2), Colocated(steps, instances=2), Split(steps, steps), fixed_transfer(0.1))
    >>> [round(1e3 * value, 1) for value in compare(case).gains[:4]]
    [-150.4, 2.7, 542.9, 200.0]

    Raises KvcostError for work and pools that mean nothing.
    """
    check_work(case.work, case.mono, case.split)
    return outcome_of(mono(case.work, case.mono), disagg(case.work, case.split, case.transfer_s), gap=gap, p90=p90)


def outcome_of(ours: Mono, theirs: Disagg, *, gap: bool = True, p90: bool = False) -> Outcome:
    """The comparison of two answers."""
    gaps = (mono_gap_s(ours), disagg_gap_s(theirs)) if gap else (None, None)
    firsts = (mono_ttft_s(ours), disagg_ttft_s(theirs)) if p90 else (None, None)
    gains = Gains(_less(ours.ttft_s, theirs.ttft_s), _less(ours.tpot_s, theirs.tpot_s), _less(ours.e2e_s, theirs.e2e_s), _less(*gaps), _less(*firsts))
    return Outcome(ours, theirs, *gaps, *firsts, gains)


def ttft_parts(outcome: Outcome) -> tuple[dict[str, float], dict[str, float]]:
    """What the two TTFT are made of, in the order in which a request lives it, seconds; empty where a side saturates.

    Monolithic: the queue, the running step, the prompt's own steps. Split: the queue, the prefill, and, where decode sends
    the first token, the hand-over, the wait for the link, the exposed transfer, the wait for a step, the decode step.

    Raises nothing; each adds up to its TTFT.
    """
    ours, theirs, found = outcome.mono, outcome.disagg, outcome.disagg.pools
    mine: dict[str, float] = {}
    if ours.wait_s is not None and ours.residual_s is not None and ours.own_s is not None:
        mine = {"queue": ours.wait_s, "running step": ours.residual_s, "own steps": ours.own_s}
    their: dict[str, float] = {}
    if theirs.ttft_s is not None:
        # In a closed loop what the pools do not carry waits in front of them.
        their = {"queue": found.prefill_wait_s, "prefill": found.prefill_s}
        if found.side.first_token == "decode":
            their |= {"hand-over": found.side.handover_s, "link queue": theirs.link_wait_s, "transfer": theirs.exposed_s}
            their |= {"admission": found.admission_s, "decode step": found.step_s}
        their["queue"] += theirs.ttft_s - sum(their.values())
    return mine, their


def gain_of(case: Case, objective: str = "all", *, curves: Curves | None = None, pool_curves: PoolCurves | None = None) -> float:
    """Gain of an objective in seconds: E2E under `all` and `goodput`; +inf where only the monolithic side saturates.

    -inf where only the split side does, NaN where both do. Curves may be handed in where they do not change.

    Raises KvcostError for an unknown objective.
    """
    if objective not in OBJECTIVES:
        raise KvcostError(f"unknown objective '{objective}'", hint="write one of " + " ".join(OBJECTIVES))
    ours = mono(case.work, case.mono, curves)
    if case.work.concurrency is None:
        theirs = with_transfer(pools(case.work, case.split, pool_curves), case.transfer_s)
    else:
        theirs = disagg(case.work, case.split, case.transfer_s)
    if ours.limit or theirs.limit:
        return nan if ours.limit and theirs.limit else (inf if ours.limit else -inf)
    value = {"ttft": _less(ours.ttft_s, theirs.ttft_s), "tpot": _less(ours.tpot_s, theirs.tpot_s)}.get(objective, _less(ours.e2e_s, theirs.e2e_s))
    if objective == "itl-p99":
        value = _less(mono_gap_s(ours), disagg_gap_s(theirs))
    return nan if value is None else value
