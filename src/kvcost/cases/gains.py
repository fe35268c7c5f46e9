"""The fields of a break-even row, filled from a comparison or, without a deployment, from the transfer alone."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from ..cost.breakeven import saved_needed_s
from ..cost.case import Outcome
from ..cost.disagg import Disagg
from ..cost.goodput import Limits
from ..cost.verdict import Verdict
from ..errors import KvcostError, Notice
from .deployment import Deployment, Sides
from .plan import Path, measured_s
from .reading import flag
from .transfer import TransferRow

__all__ = ["Asked", "GainRow", "article_gain", "filled"]

Seconds = float | None


class GainRow(NamedTuple):
    """The fields of a break-even row behind those of its transfer: what each side takes, and what splitting gains.

    Gains are monolithic minus disaggregated: positive = disaggregation better. A side that saturates has no times.
    """

    gpu: str | None = None
    weight_dtype: str | None = None
    mono_instances: float | None = None
    prefill_instances: int | None = None
    decode_instances: int | None = None
    mono_batch: float | None = None
    decode_batch: float | None = None
    prefill_wait_s: Seconds = None
    handover_s: Seconds = None
    first_token: str | None = None
    limit: str | None = None
    osl_tokens: int | None = None
    rate_per_s: float | None = None
    concurrency: int | None = None
    prefill_s: Seconds = None
    decode_step_s: Seconds = None
    ttft_mono_s: Seconds = None
    ttft_disagg_s: Seconds = None
    ttft_p90_mono_s: Seconds = None
    ttft_p90_disagg_s: Seconds = None
    tpot_mono_s: Seconds = None
    tpot_disagg_s: Seconds = None
    itl_p99_mono_s: Seconds = None
    itl_p99_disagg_s: Seconds = None
    e2e_mono_s: Seconds = None
    e2e_disagg_s: Seconds = None
    ttft_gain_s: Seconds = None
    tpot_gain_s: Seconds = None
    itl_p99_gain_s: Seconds = None
    e2e_gain_s: Seconds = None
    goodput_mono_per_gpu: float | None = None
    goodput_disagg_per_gpu: float | None = None
    objective: str = "all"
    net_gain_s: Seconds = None
    net_gain_low_s: Seconds = None
    net_gain_high_s: Seconds = None
    link_utilisation: float | None = None
    link_wait_s: Seconds = None
    verdict: str = "unknown"
    reason: str = ""
    breakeven_osl_tokens: float | None = None
    breakeven_bandwidth_bytes_per_s: float | None = None
    breakeven_ctx_tokens: tuple[tuple[float | None, float | None], ...] | None = None
    breakeven_rate_per_s: float | None = None
    breakeven_saved_s: Seconds = None
    breakeven_prefix_hit_tokens: float | None = None
    breakeven_kv_bits: float | None = None
    limit_rate_per_s: float | None = None
    mono_wait_s: Seconds = None
    mono_residual_s: Seconds = None
    mono_prompt_s: Seconds = None
    admission_s: Seconds = None
    cost_mono_per_mtok: float | None = None
    cost_disagg_per_mtok: float | None = None
    threshold_tokens: float | None = None
    threshold_half_rate_tokens: float | None = None
    threshold_higher_rate_tokens: float | None = None
    layout: str | None = None
    runner_up: str | None = None
    layout_remark: str | None = None
    what_if: tuple[Any, ...] | None = None
    prefill_elsewhere: tuple[Any, ...] | None = None
    saved_needed: tuple[Any, ...] | None = None


class Asked(NamedTuple):
    """What is asked of each case, beside work, path, deployment and lengths."""

    objective: str
    limits: Limits | None
    price: float | None
    saved_s: float | None
    saved_frac: float | None


def filled(outcome: Outcome, sides: Sides, deployment: Deployment, verdict: Verdict) -> GainRow:
    """Both sides' times; those of a side that saturates stay empty."""
    mono, disagg, pools = outcome.mono, outcome.disagg, outcome.disagg.pools
    given = mono.work
    gaps = given.output_tokens > 1  # one token has no gap to the next
    gpus = dict.fromkeys(gpu.name for gpu in (deployment.prefill_gpu, deployment.decode_gpu) if gpu is not None)
    return GainRow(
        gpu="+".join(gpus) or None,
        weight_dtype=sides.weight_dtype or None,
        mono_instances=sides.mono.instances,
        prefill_instances=deployment.prefill_instances,
        decode_instances=deployment.decode_instances,
        mono_batch=None if mono.limit else mono.batch,
        decode_batch=None if disagg.limit else pools.batch,
        prefill_wait_s=None if disagg.limit else pools.prefill_wait_s,
        handover_s=sides.split.handover_s,
        first_token=sides.split.first_token,
        osl_tokens=int(given.output_tokens),
        rate_per_s=given.rate_per_s if given.concurrency is None else None,
        concurrency=None if given.concurrency is None else int(given.concurrency),
        prefill_s=pools.prefill_s,
        decode_step_s=_step_s(disagg),
        ttft_mono_s=mono.ttft_s,
        ttft_disagg_s=disagg.ttft_s,
        ttft_p90_mono_s=outcome.ttft_p90_mono_s,
        ttft_p90_disagg_s=outcome.ttft_p90_disagg_s,
        tpot_mono_s=mono.tpot_s if gaps else None,
        tpot_disagg_s=disagg.tpot_s if gaps else None,
        itl_p99_mono_s=outcome.itl_p99_mono_s if gaps else None,
        itl_p99_disagg_s=outcome.itl_p99_disagg_s if gaps else None,
        e2e_mono_s=mono.e2e_s,
        e2e_disagg_s=disagg.e2e_s,
        ttft_gain_s=outcome.gains.ttft_s,
        tpot_gain_s=outcome.gains.tpot_s if gaps else None,
        itl_p99_gain_s=outcome.gains.itl_p99_s if gaps else None,
        e2e_gain_s=outcome.gains.e2e_s,
        net_gain_s=verdict.net_gain_s,
        net_gain_low_s=verdict.net_gain_low_s,
        net_gain_high_s=verdict.net_gain_high_s,
        link_utilisation=disagg.link_utilisation,
        link_wait_s=None if disagg.link_wait_s == float("inf") else disagg.link_wait_s,
        verdict=verdict.verdict,
        reason=verdict.reason,
        mono_wait_s=mono.wait_s,
        mono_residual_s=mono.residual_s,
        mono_prompt_s=mono.own_s,
        admission_s=None if disagg.limit else pools.admission_s,
    )


def _step_s(disagg: Disagg) -> float | None:
    """The decode step that a request's first token waits for; at no load a step of it alone."""
    step = disagg.pools.step_s
    return step if step < float("inf") else None


def article_gain(
    path: Path,
    row: TransferRow,
    deployment: Deployment,
    osl: int | None,
    load: tuple[float | None, int | None],
    asked: Asked,
    missing: Sequence[str],
    notices: list[Notice],
) -> GainRow:
    """The article's question: the saving that would have to be there, or what a given saving leaves.

    net gain = saved - exposed, with the saving given as a time or as a share of the prefill time.
    """
    handover = path.engine.handover_s if deployment.handover_s is None else deployment.handover_s
    exposed = row.exposed_s
    needed = None if exposed is None else saved_needed_s(exposed, handover, path.engine.first_token, path.decode_step_s)
    utilisation = None
    common = GainRow(
        handover_s=handover,
        first_token=path.engine.first_token,
        osl_tokens=osl,
        rate_per_s=load[0],
        concurrency=load[1],
        prefill_instances=deployment.prefill_instances,
        decode_instances=deployment.decode_instances,
        decode_step_s=path.decode_step_s,
        objective=asked.objective,
        breakeven_saved_s=needed,
    )
    if load[0] is not None and row.transfer_s:
        utilisation = load[0] * row.transfer_s / min(deployment.prefill_instances, deployment.decode_instances)
        common = common._replace(link_utilisation=utilisation)
    saved = _saved(asked, path, row.ctx_tokens)
    if saved is not None and exposed is None:
        missing = ["--prefill-time" if row.overlap == "push" else "--decode-step-time"]
    if saved is None or exposed is None:
        reason = f"unknown: give {', '.join(missing)}"
        notice = Notice(
            "verdict-unknown", "what disaggregation gains cannot be said without " + ", ".join(missing), "give them, or --saved for the article's formula"
        )
        if notice not in notices:
            notices.append(notice)
        return common._replace(verdict="unknown", reason=reason)
    gain, low, high = (saved - time for time in (exposed, exposed + row.transfer_high_s - row.transfer_s, exposed + row.transfer_low_s - row.transfer_s))
    verdict = "disaggregate" if gain > 0 else "colocate"
    word = "exceeds" if gain > 0 else "does not cover"
    reason = f"the saving of {1e3 * saved:,.4g} ms {word} the {1e3 * exposed:,.4g} ms of transfer that the request waits for; hand-over and load are left out"
    return common._replace(net_gain_s=gain, net_gain_low_s=low, net_gain_high_s=high, verdict=verdict, reason=reason)


def _saved(asked: Asked, path: Path, ctx: int) -> float | None:
    """The saving given: a time, or a share of the measured prefill time. Raises KvcostError for a share of what is not known."""
    if asked.saved_s is not None:
        return asked.saved_s
    if asked.saved_frac is None:
        return None
    if path.prefill_times is None:
        raise KvcostError("a share of the prefill time needs that time", where=flag("saved_frac"), hint="give --prefill-time")
    return asked.saved_frac * measured_s(path.prefill_times, ctx)
