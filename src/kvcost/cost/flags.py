"""Where the equations are known to be off: never silently.

Each flag is (code, message, hint). Source of every number: the comparison with a discrete-event simulation.
"""

from __future__ import annotations

from .case import Outcome
from .goodput import kv_tight
from .serving import Cap
from .tails import mono_gap_ends_s, ttft_ends_s

__all__ = ["flags"]

_BUSY, _FULL = 0.85, 0.95
_CHUNK_EDGE = 1.25
_FEEDBACK = 0.4
_GAP_EDGE, _P90_EDGE = 1.15, 1.3

Flag = tuple[str, str, str]


def _tight(side: str, batch: float, cap: Cap, hint: str) -> Flag:
    message = f"{side}: {batch:.0f} of {cap.requests:.0f} requests decode on average, fluctuations reach the cap ({cap.name}): TTFT is at least what is shown"
    return "kv_tight", message, hint


def _mono_flags(outcome: Outcome) -> list[Flag]:
    answer, work = outcome.mono, outcome.mono.work
    found: list[Flag] = []
    if answer.limit:
        return found
    if kv_tight(answer.batch, answer.cap):
        found.append(_tight("monolithic", answer.batch, answer.cap, "leave more room for KV, or raise --max-seqs"))
    rho = answer.rate_per_s * answer.steps.packed_s
    if rho > _BUSY:
        size = "neither side settles" if rho > _FULL else "p90 TTFT may be off by up to 65 %"
        found.append(("mono-busy", f"monolithic: prompts take {rho:.0%} of the time: {size}", "read TTFT as an order of magnitude"))
    if answer.steps.budget_tokens < work.new_tokens <= _CHUNK_EDGE * answer.steps.budget_tokens:
        found.append(("chunk-edge", "the prompt is just above the chunk budget: monolithic TTFT is 10 to 19 % too low", "raise --chunk a little"))
    return found


def _disagg_flags(outcome: Outcome) -> list[Flag]:
    answer, found = outcome.disagg, outcome.disagg.pools
    flags: list[Flag] = []
    if answer.limit:
        return flags
    if kv_tight(found.batch, found.cap):
        flags.append(_tight("disaggregated", found.batch, found.cap, "add a decode instance"))
    decode, each = found.curves.decode.decode, found.rate_per_s / found.side.decode_instances * outcome.mono.work.output_tokens
    if each * (decode(found.batch + 2) - decode(found.batch + 1)) > _FEEDBACK:
        message = "decode steps grow with the batch, which grows with them: the disaggregated p99 gap may be a quarter too low"
        flags.append(("batch-feedback", message, "add a decode instance"))
    if found.rho > _BUSY:
        size = "neither side settles" if found.rho > _FULL else "p90 TTFT may be off by up to 65 %"
        flags.append(("prefill-busy", f"the prefill pool is {found.rho:.0%} busy: {size}", "add a prefill instance"))
    if answer.link_utilisation > _BUSY:
        flags.append(("link-busy", f"the link is {answer.link_utilisation:.0%} busy", "use more rails, a faster link or fewer bytes"))
    if answer.link_wait_high_s > 1.2 * answer.link_wait_s + 1e-4:
        flags.append(
            (
                "incast",
                f"several prefill instances share a port: the wait lies up to {answer.link_wait_high_s * 1e3:.3g} ms",
                "read the higher one as the safe bound",
            )
        )
    return flags


def _tail_flags(outcome: Outcome) -> list[Flag]:
    """Quantiles that jump, of those that were asked for."""
    found: list[Flag] = []
    ends = mono_gap_ends_s(outcome.mono) if outcome.itl_p99_mono_s is not None else None
    if ends is not None and ends[1] > _GAP_EDGE * ends[0]:
        shown = f"{ends[0] * 1e3:.3g} and {ends[1] * 1e3:.3g} ms"
        found.append(("gap-edge", f"about one step in a hundred is that long: the monolithic p99 gap lies between {shown}", "look at both values"))
    for side, p90_s, answer in (("monolithic", outcome.ttft_p90_mono_s, outcome.mono), ("disaggregated", outcome.ttft_p90_disagg_s, outcome.disagg)):
        ends = ttft_ends_s(answer) if p90_s is not None else None
        if ends is not None and ends[1] > _P90_EDGE * ends[0]:
            shown = f"{ends[0] * 1e3:.3g} and {ends[1] * 1e3:.3g} ms"
            found.append(("p90-edge", f"about one prompt in ten waits: the {side} p90 TTFT lies between {shown}", "look at both values"))
    return found


def flags(outcome: Outcome) -> tuple[Flag, ...]:
    """What a reader of the comparison must know: (code, message, hint), for both sides and for the work.

    kv_tight   B + 2.33*sqrt(B) above the cap: TTFT is a lower bound
    *-busy     rho above 0.85 (p90 up to 65 % off) or 0.95 (no steady state)
    chunk-edge, gap-edge, p90-edge, batch-feedback, incast, bursts, short-output, short-prompt, mixed-lengths, fractional-instances
    """
    work = outcome.mono.work
    found = [*_mono_flags(outcome), *_disagg_flags(outcome), *_tail_flags(outcome)]
    if work.prompt_tokens >= 16000 and work.output_tokens <= 300 and outcome.mono.batch < 10:
        found.append(("bursts", "long prompts with few output tokens come in bursts: TPOT is good to 18 %, the p99 gap to 25 %", ""))
    if work.output_tokens < 16:
        found.append(("short-output", "fewer than 16 output tokens: the monolithic TPOT form is not valid there", "read TTFT alone"))
    if work.new_tokens < 1000 and work.rate_per_s:
        found.append(
            ("short-prompt", "engines prefill several short prompts at once, which is left out: disaggregated TTFT is up to 40 % lower under load", "")
        )
    if work.length_cv:
        found.append(
            ("mixed-lengths", "lengths vary: waits use E[s^2] over a log-normal, which recovers only part of the rise in TTFT", "replay a trace for the rest")
        )
    instances = outcome.mono.side.instances
    if abs(instances - round(instances)) > 1e-9:
        found.append(
            (
                "fractional-instances",
                f"equal GPUs are {instances:.2f} monolithic instances: the load is shared out as if that were possible",
                "give --mono-instances",
            )
        )
    return tuple(found)
