"""`breakeven`: what splitting prefill and decode gains and loses, where the sign turns, and how sure that is."""

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any, NamedTuple

from ..cost.breakeven import breakeven, saved_needed_s
from ..cost.case import Case, Outcome, Transfer, compare
from ..cost.disagg import Disagg
from ..cost.flags import flags
from ..cost.goodput import Limits, cost_per_mtok, disagg_goodput, disagg_saturation, mono_goodput
from ..cost.serving import Work as Load
from ..cost.threshold import router_threshold
from ..cost.verdict import Verdict, decide, sign_turned_by
from ..errors import KvcostError, Notice
from .article import needed_over, prefill_elsewhere
from .compute import cached_tokens
from .deployment import DEPLOYMENT_OPTIONS, EXPECTED_FIRST, Builder, Deployment, Sides, case_of, deployments, missing_inputs, sides_of, transfer_of
from .document import Source
from .plan import Options, Path, Work
from .reading import Reader, flag
from .transfer import TRANSFER_OPTIONS, TransferQuestion, TransferRow

__all__ = ["BREAKEVEN_OPTIONS", "BreakevenQuestion", "GainRow"]

BREAKEVEN_OPTIONS = (
    *TRANSFER_OPTIONS,
    *DEPLOYMENT_OPTIONS,
    *("osl", "rate", "concurrency", "objective", "slo_ttft", "slo_tpot", "slo_itl_p99", "attainment", "gpu_hour_price", "saved", "saved_frac", "gpus_total"),
)
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


_SOLVED = {"breakeven_osl_tokens": "osl", "breakeven_bandwidth_bytes_per_s": "bandwidth", "breakeven_ctx_tokens": "ctx", "breakeven_rate_per_s": "rate"}
# What a table of many rows shows, and what a sweep of a million points can ask for without pricing each anew.
TABLE_FIELDS = (
    *("model", "ctx_tokens", "kv_dtype", "link", "bandwidth_bytes_per_s", "engine", "gpu", "osl_tokens", "rate_per_s", "concurrency", "transfer_s"),
    *("ttft_mono_s", "ttft_disagg_s", "tpot_mono_s", "tpot_disagg_s", "net_gain_s", "link_utilisation", "verdict", "breakeven_saved_s", "objective"),
)
_TAILS = frozenset(("ttft_p90_mono_s", "ttft_p90_disagg_s"))
_PLACE = {field: len(TransferRow._fields) + place for place, field in enumerate(GainRow._fields)}


class _Asked(NamedTuple):
    """What is asked of each case, beside work, path, deployment and lengths."""

    objective: str
    limits: Limits | None
    price: float | None
    saved_s: float | None
    saved_frac: float | None


class BreakevenQuestion:
    """Works, paths, deployments and loads; rows in the order work, context, prefix hit, path, deployment, OSL, load.

    `reader.wanted` are the columns asked for, None for all: roots, tails and goodput are worked out only where they are.
    """

    command = "breakeven"

    def __init__(self, reader: Reader, options: Options, explain: bool = False) -> None:
        self.options = options
        self.wanted: frozenset[str] | None = reader.wanted
        self.transfer = TransferQuestion(reader, options, explain)
        self.deployments = deployments(reader, options)
        self.osls: list[int | None] = reader.values("osl", options.get("osl", ()))
        rates: list[float | None] = reader.values("rate", options.get("rate", ()))
        streams: list[int | None] = reader.values("concurrency", options.get("concurrency", ()))
        if rates != [None] and streams != [None]:
            raise KvcostError("a rate and a concurrency contradict each other", where="--concurrency", hint="give one of them")
        self.loads = [(rate, None) for rate in rates] if streams == [None] else [(None, stream) for stream in streams]
        self.asked = [_Asked(*combination) for combination in product(*self._targets(reader, options))]
        self.layout: dict[str, Any] = {}  # how the layout was chosen, where it was
        self.builder = Builder(reader)
        self.reader = reader
        self.for_people = reader.for_people
        self.columns = (*TransferRow._fields, *GainRow._fields, *(("terms",) if explain else ()))
        self._notices: list[Notice] = []
        self._sides: dict[Any, list[Sides]] = {}

    @staticmethod
    def _targets(reader: Reader, options: Options) -> list[list[Any]]:
        def value(option: str, default: Any = None) -> Any:
            return reader.values(option, options.get(option, ()), [default])[0]

        limits = Limits(value("slo_ttft"), value("slo_tpot"), value("slo_itl_p99"), value("attainment", 0.9))
        given = limits if any(limit is not None for limit in limits[:3]) else None
        objectives = reader.values("objective", options.get("objective", ()), ["all"])
        if "goodput" in objectives and given is None:
            raise KvcostError("goodput needs limits", where="--objective", hint="give --slo-ttft, --slo-tpot or --slo-itl-p99")
        return [objectives, [given], [value("gpu_hour_price")], [value("saved")], [value("saved_frac")]]

    def count(self, lengths: Sequence[int]) -> int:
        """Rows at these lengths."""
        return self.transfer.count(lengths) * len(self.deployments) * len(self.osls) * len(self.loads) * len(self.asked)

    def rows(self, lengths: Sequence[int]) -> Iterator[tuple[Any, ...]]:
        """The rows: the values of a TransferRow, then those of a GainRow."""
        several = self.count(lengths) > 1
        if self.wanted is None and self.for_people and several:
            self.wanted = frozenset(TABLE_FIELDS)
        for work, path, base in self.transfer.priced(lengths):
            row = TransferRow._make(base[: len(TransferRow._fields)])
            for deployment, osl, load, asked in product(self.deployments, self.osls, self.loads, self.asked):
                gain = self._gain(work, path, row, deployment, osl, load, asked)
                if self.for_people and not several and self.wanted is None:
                    gain = gain._replace(what_if=what_if(self.reader, self.options, row, gain))
                    if gain.verdict == "unknown":
                        gain = gain._replace(
                            prefill_elsewhere=prefill_elsewhere(self.reader, row), saved_needed=needed_over(self.reader, self.options, row.link)
                        )
                yield (*row, *gain, *base[len(TransferRow._fields) :])

    def _gain(
        self, work: Work, path: Path, row: TransferRow, deployment: Deployment, osl: int | None, load: tuple[float | None, int | None], asked: _Asked
    ) -> GainRow:
        """What splitting gains for one transfer, or what is missing to say so."""
        missing = missing_inputs(deployment, path, self.options)
        if asked.saved_s is not None or asked.saved_frac is not None or missing:
            return _article(path, row, deployment, osl, load, asked, missing, self._notices)
        key = work, path, deployment, row.ctx_tokens
        if key not in self._sides:
            self._sides = {key: sides_of(self.builder, work, path, deployment, row.ctx_tokens)}
        sides = self._sides[key]
        rate, concurrency = load
        cached = cached_tokens(deployment.cached, row.ctx_tokens)
        given = Load(row.ctx_tokens, osl or 1, rate or 0.0, concurrency, cached, row.prefix_hit_tokens, deployment.length_cv)
        cases = [case_of(side, work, path, deployment, given, draw) for side, draw in zip(sides, EXPECTED_FIRST, strict=True)]
        return self._compared(cases, sides[0], work, path, deployment, asked)

    def _wants(self, *fields: str) -> bool:
        return self.wanted is None or any(field in self.wanted for field in fields)

    def _compared(self, cases: list[Case], sides: Sides, work: Work, path: Path, deployment: Deployment, asked: _Asked) -> GainRow:
        outcomes = [compare(case, gap=True, p90=self._wants(*_TAILS)) for case in cases]
        expected = outcomes[0]
        wanted = [field for field in _SOLVED if self._wants(field) or (field == "breakeven_osl_tokens" and self._wants("reason"))]
        solved = {field: breakeven(cases[0], _SOLVED[field], asked.objective) for field in wanted}
        goodputs = _goodputs(cases, asked.limits) if asked.limits and self._wants("goodput_mono_per_gpu", "goodput_disagg_per_gpu", "verdict") else []
        osl_root = solved.get("breakeven_osl_tokens")
        turned = sign_turned_by(cases[0], _variants(cases[0], transfer_of(work, path, deployment, "low")), asked.objective) if self._wants("reason") else ()
        ratios = [theirs / ours if ours else (float("inf") if theirs else 1.0) for ours, theirs in goodputs]
        if asked.objective == "goodput" and not ratios:
            ratios = [1.0]
        verdict = decide(outcomes, asked.objective, goodput_ratios=ratios, breakeven_osl=osl_root, turned_by=turned)
        for notice in flags(expected):
            found = Notice(*notice)
            if found not in self._notices:
                self._notices.append(found)
        filled = _filled(expected, sides, deployment, verdict)
        limit, limit_rate = self._limit(cases[0])
        threshold = self._threshold(cases[0])
        gpus = sides.mono.instances * sides.mono_tp * deployment.pp
        costs = _costs(asked.price, gpus, expected, cases[0].work)
        return filled._replace(
            objective=asked.objective,
            limit=limit,
            limit_rate_per_s=limit_rate,
            goodput_mono_per_gpu=goodputs[0][0] / gpus if goodputs else None,
            goodput_disagg_per_gpu=goodputs[0][1] / gpus if goodputs else None,
            breakeven_saved_s=saved_needed_s(expected.disagg.exposed_s, sides.split.handover_s, sides.split.first_token, filled.decode_step_s),
            **{field: _root(field, root) for field, root in solved.items()},
            cost_mono_per_mtok=costs[0],
            cost_disagg_per_mtok=costs[1],
            **threshold,
            **self.layout,
        )

    def _limit(self, case: Case) -> tuple[str | None, float | None]:
        if not self._wants("limit", "limit_rate_per_s"):
            return None, None
        return disagg_saturation(case.work, case.split, case.transfer_s)

    def _threshold(self, case: Case) -> dict[str, Any]:
        if not self._wants("threshold_tokens", "threshold_half_rate_tokens", "threshold_higher_rate_tokens") or not case.work.rate_per_s:
            return {}
        found = router_threshold(case)
        return {
            "threshold_tokens": found.tokens,
            "threshold_half_rate_tokens": found.at_half_rate_tokens,
            "threshold_higher_rate_tokens": found.at_higher_rate_tokens,
        }

    def notices(self, lengths: Sequence[int]) -> list[Notice]:
        """Those of the transfer, and what the equations' validity asks to say; the list grows while rows are read."""
        for notice in self.transfer.notices(lengths):
            if notice not in self._notices:
                self._notices.append(notice)
        return self._notices

    def sources(self, lengths: Sequence[int]) -> dict[str, Source]:
        """Those of the transfer, and the GPUs."""
        gpus = {gpu.name: gpu for deployment in self.deployments for gpu in deployment[:3] if gpu is not None}
        found = self.transfer.sources(lengths)
        for name, gpu in gpus.items():
            basis = "measured" if gpu.constants.basis == "fitted" else "estimate"
            found[f"compute_constants[{name}]" if len(gpus) > 1 else "compute_constants"] = Source(gpu.constants.basis, basis, gpu.constants.evidence, name)
        return found


def _variants(expected: Case, slow_link: Transfer) -> dict[str, Case]:
    """The expected case with one thing replaced: the router, or the link at its low end."""
    found = {f"a {router} router": _routed(expected, router) for router in ("random", "round-robin") if router != expected.mono.router}
    found["the low end of the link"] = expected._replace(transfer=slow_link)
    return found


def _routed(case: Case, router: str) -> Case:
    return case._replace(mono=case.mono._replace(router=router), split=case.split._replace(router=router))


def _root(field: str, solved: Any) -> Any:
    if field == "breakeven_ctx_tokens":
        return solved.intervals or None
    return solved.value


def _goodputs(cases: Sequence[Case], limits: Limits) -> list[tuple[float, float]]:
    """Requests/s of both deployments within the limits, for every draw."""
    return [(mono_goodput(case.work, case.mono, limits), disagg_goodput(case.work, case.split, limits, case.transfer_s, case.derate)) for case in cases]


def _costs(price: float | None, gpus: float, outcome: Outcome, load: Load) -> tuple[float | None, float | None]:
    if price is None:
        return None, None
    if load.concurrency is None:
        rates = [load.rate_per_s, load.rate_per_s]
    else:
        rates = [outcome.mono.rate_per_s * outcome.mono.side.instances, outcome.disagg.pools.rate_per_s]
    mono, disagg = (cost_per_mtok(gpus, price, rate, load.output_tokens) for rate in rates)
    return mono, disagg


def _filled(outcome: Outcome, sides: Sides, deployment: Deployment, verdict: Verdict) -> GainRow:
    """Both sides' times; those of a side that saturates stay empty."""
    mono, disagg, pools = outcome.mono, outcome.disagg, outcome.disagg.pools
    given = mono.work
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
        tpot_mono_s=mono.tpot_s,
        tpot_disagg_s=disagg.tpot_s,
        itl_p99_mono_s=outcome.itl_p99_mono_s,
        itl_p99_disagg_s=outcome.itl_p99_disagg_s,
        e2e_mono_s=mono.e2e_s,
        e2e_disagg_s=disagg.e2e_s,
        ttft_gain_s=outcome.gains.ttft_s,
        tpot_gain_s=outcome.gains.tpot_s,
        itl_p99_gain_s=outcome.gains.itl_p99_s,
        e2e_gain_s=outcome.gains.e2e_s,
        net_gain_s=verdict.net_gain_s,
        net_gain_low_s=verdict.net_gain_low_s,
        net_gain_high_s=verdict.net_gain_high_s,
        link_utilisation=disagg.link_utilisation,
        link_wait_s=disagg.link_wait_s,
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


def _article(
    path: Path,
    row: TransferRow,
    deployment: Deployment,
    osl: int | None,
    load: tuple[float | None, int | None],
    asked: _Asked,
    missing: Sequence[str],
    notices: list[Notice],
) -> GainRow:
    """The article's question: the saving that would have to be there, or what a given saving leaves.

    net gain = saved - exposed, with the saving given as a time or as a share of the prefill time.
    """
    handover = path.engine.handover_s if deployment.handover_s is None else deployment.handover_s
    exposed = deployment.transfer_s if deployment.transfer_s is not None else row.exposed_s
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


def _saved(asked: _Asked, path: Path, ctx: int) -> float | None:
    """The saving given: a time, or a share of the measured prefill time. Raises KvcostError for a share of what is not known."""
    if asked.saved_s is not None:
        return asked.saved_s
    if asked.saved_frac is None:
        return None
    if path.prefill_times is None:
        raise KvcostError("a share of the prefill time needs that time", where=flag("saved_frac"), hint="give --prefill-time")
    from .plan import measured_s

    return asked.saved_frac * measured_s(path.prefill_times, ctx)


class Change(NamedTuple):
    """One thing changed, and what becomes of the answer."""

    change: str
    net_gain_s: float | None
    verdict: str
    breakeven_saved_s: float | None


def what_if(reader: Reader, options: Options, row: TransferRow, gain: GainRow) -> tuple[Change, ...]:
    """The same question with one thing changed at a time: fewer bytes, hidden bytes, a faster link."""
    changes: list[tuple[str, dict[str, list[str]]]] = []
    if row.kv_dtype in ("bf16", "fp16") and row.replication == 1:
        changes.append(("FP8 KV", {"kv_dtype": ["fp8"]}))
    if row.overlap == "serial" and row.transfer_s and (gain.prefill_s is not None or "prefill_time" in options):
        changes.append(("layer push", {"overlap": ["push"]}))
    if row.bandwidth_bytes_per_s is not None:
        changes.append(("4x the line rate", {"bandwidth": [f"{4 * row.bandwidth_bytes_per_s!r}B/s"]}))
        changes.append(("an unlimited link", {"bandwidth": ["inf"]}))
    found = []
    before = reader.wanted, reader.for_people
    reader.wanted, reader.for_people = frozenset(("net_gain_s", "verdict", "breakeven_saved_s")), False
    try:
        for name, change in changes:
            try:
                question = BreakevenQuestion(reader, {**options, **change})
                values = dict(zip(question.columns, next(question.rows([row.ctx_tokens])), strict=True))
            except KvcostError:
                continue
            found.append(Change(name, values["net_gain_s"], values["verdict"], values["breakeven_saved_s"]))
    finally:
        reader.wanted, reader.for_people = before
    return tuple(found)
