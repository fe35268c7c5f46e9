"""`breakeven`: what splitting prefill and decode gains and loses, where the sign turns, and how sure that is."""

from collections.abc import Callable, Iterator, Sequence
from itertools import product
from math import isnan
from typing import Any

from ..cost.breakeven import breakeven, saved_needed_s
from ..cost.case import Case, Transfer, compare
from ..cost.dtypes import Encoding
from ..cost.flags import flags
from ..cost.goodput import Limits, disagg_saturation
from ..cost.kv import kv_layout
from ..cost.serving import Work as Load
from ..cost.threshold import router_threshold
from ..cost.verdict import decide, goodput_edges, sign_turned_by
from ..errors import KvcostError, Notice
from .deployment import DEPLOYMENT_OPTIONS, EXPECTED_FIRST, Builder, Deployment, Sides, case_of, deployments, missing_inputs, sides_of, transfer_of
from .document import Source, keyed
from .gains import Asked, GainRow, article_gain, filled
from .goodputs import costs_of, deciding_ratios, goodput_ratios, goodputs_of
from .plan import Options, Path, Work, held_tokens, measured_s
from .reading import Reader, flag
from .sending import TransferRow, with_exposed, with_time
from .transfer import TRANSFER_OPTIONS, TransferQuestion

__all__ = ["BREAKEVEN_OPTIONS", "BreakevenQuestion"]

BREAKEVEN_OPTIONS = (
    *TRANSFER_OPTIONS,
    *DEPLOYMENT_OPTIONS,
    *("osl", "rate", "concurrency", "objective", "slo_ttft", "slo_tpot", "slo_itl_p99", "attainment", "gpu_hour_price", "saved", "saved_frac", "gpus_total"),
)
_SOLVED = {
    "breakeven_osl_tokens": "osl",
    "breakeven_bandwidth_bytes_per_s": "bandwidth",
    "breakeven_ctx_tokens": "ctx",
    "breakeven_rate_per_s": "rate",
    "breakeven_prefix_hit_tokens": "prefix-hit",
}
# What a table of many rows shows, and what a sweep of a million points can ask for without pricing each anew.
TABLE_FIELDS = (
    *("model", "ctx_tokens", "kv_dtype", "link", "bandwidth_bytes_per_s", "engine", "gpu", "osl_tokens", "rate_per_s", "concurrency", "transfer_s"),
    *("ttft_mono_s", "ttft_disagg_s", "tpot_mono_s", "tpot_disagg_s", "net_gain_s", "link_utilisation", "verdict", "breakeven_saved_s", "objective"),
)
_TAILS = frozenset(("ttft_p90_mono_s", "ttft_p90_disagg_s"))
_PLACE = {field: len(TransferRow._fields) + place for place, field in enumerate(GainRow._fields)}


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
        self.asked = [Asked(*combination) for combination in product(*self._targets(reader, options))]
        self.layout: dict[str, Any] = {}  # how the layout was chosen, where it was
        self.comment: Callable[[Reader, Options, TransferRow, GainRow], GainRow] | None = None
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
                sent, gain = self.answer(work, path, row, deployment, osl, load, asked)
                if self.for_people and not several and self.wanted is None:
                    gain = self._commented(sent, gain)
                yield (*sent, *gain, *base[len(TransferRow._fields) :])

    def answer(
        self, work: Work, path: Path, row: TransferRow, deployment: Deployment, osl: int | None, load: tuple[float | None, int | None], asked: Asked
    ) -> tuple[TransferRow, GainRow]:
        """What splitting gains for one transfer, and the transfer with what its modelled compute hides of it."""
        row = with_time(row, deployment.transfer_s)
        if path.overlap != "serial" and deployment.transfer_s is not None:
            prefill_s = None if path.prefill_times is None else measured_s(path.prefill_times, row.ctx_tokens)
            row = with_exposed(row, path, work.layers, _new_tokens(row, deployment), prefill_s, path.decode_step_s)
        gain = self._gain(work, path, row, deployment, osl, load, asked)
        return self.hidden(work, path, row, deployment, gain), gain

    @staticmethod
    def hidden(work: Work, path: Path, row: TransferRow, deployment: Deployment, gain: GainRow) -> TransferRow:
        """The transfer with what is exposed of it under the compute times that the gain is priced with."""
        if path.overlap == "serial" or gain.prefill_s is None:
            return row
        return with_exposed(row, path, work.layers, _new_tokens(row, deployment), gain.prefill_s, gain.decode_step_s)

    def _commented(self, row: TransferRow, gain: GainRow) -> GainRow:
        """The one answer of a question asked by a person, with what `comment` adds to it."""
        return gain if self.comment is None else self.comment(self.reader, self.options, row, gain)

    def _gain(
        self, work: Work, path: Path, row: TransferRow, deployment: Deployment, osl: int | None, load: tuple[float | None, int | None], asked: Asked
    ) -> GainRow:
        """What splitting gains for one transfer, or what is missing to say so."""
        missing = missing_inputs(deployment, path, self.options)
        if asked.saved_s is not None or asked.saved_frac is not None or missing:
            return article_gain(path, row, deployment, osl, load, asked, missing, self._notices)
        key = work, path, deployment, row.ctx_tokens
        if key not in self._sides:
            self._sides = {key: sides_of(self.builder, work, path, deployment, row.ctx_tokens)}
        sides = self._sides[key]
        rate, concurrency = load
        cached = held_tokens(deployment.cached, row.ctx_tokens)
        given = Load(row.ctx_tokens, osl or 1, rate or 0.0, concurrency, cached, row.prefix_hit_tokens, deployment.length_cv)
        cases = [case_of(side, work, path, deployment, given, draw) for side, draw in zip(sides, EXPECTED_FIRST, strict=True)]
        return self._compared(cases, sides[0], work, path, deployment, asked)

    def _wants(self, *fields: str) -> bool:
        return self.wanted is None or any(field in self.wanted for field in fields)

    def _compared(self, cases: list[Case], sides: Sides, work: Work, path: Path, deployment: Deployment, asked: Asked) -> GainRow:
        outcomes = [compare(case, gap=True, p90=self._wants(*_TAILS)) for case in cases]
        expected = outcomes[0]
        wanted = [field for field in _SOLVED if self._wants(field) or (field == "breakeven_osl_tokens" and self._wants("reason"))]
        solved = {field: breakeven(cases[0], _SOLVED[field], asked.objective) for field in wanted}
        exact = asked.objective == "goodput" or self._wants("reason")
        shown = exact or self._wants("goodput_mono_per_gpu", "goodput_disagg_per_gpu")
        goodputs = goodputs_of(cases if exact else cases[:1], asked.limits) if asked.limits and shown else []
        if self._wants_bits(work):
            solved["breakeven_kv_bits"] = breakeven(cases[0], "kv-bits", asked.objective, kv_case=self._at_bits(work, path, deployment, cases[0].work))
        osl_root = solved.get("breakeven_osl_tokens")
        turned = sign_turned_by(cases[0], _variants(cases[0], transfer_of(work, path, deployment, "low")), asked.objective) if self._wants("reason") else ()
        ratios = goodput_ratios(goodputs)
        if asked.limits and not exact and self._wants("verdict"):
            ratios = deciding_ratios(cases, asked.limits, goodput_edges(outcomes, asked.objective))
        if (ratios and isnan(ratios[0])) or (goodputs and not any(goodputs[0])):
            self._note_limits(cases[:1], asked.limits)
        verdict = decide(outcomes, asked.objective, goodput_ratios=ratios, breakeven_osl=osl_root, turned_by=turned)
        for notice in flags(expected):
            found = Notice(*notice)
            if found not in self._notices:
                self._notices.append(found)
        values = filled(expected, sides, deployment, verdict)
        limit, limit_rate = self._limit(cases[0])
        threshold = self._threshold(cases[0])
        gpus = sides.mono.instances * sides.mono_tp * deployment.pp
        costs = costs_of(asked.price, gpus, expected, cases[0].work)
        return values._replace(
            objective=asked.objective,
            limit=limit,
            limit_rate_per_s=limit_rate,
            goodput_mono_per_gpu=goodputs[0][0] / gpus if goodputs else None,
            goodput_disagg_per_gpu=goodputs[0][1] / gpus if goodputs else None,
            breakeven_saved_s=saved_needed_s(expected.disagg.exposed_s, sides.split.handover_s, sides.split.first_token, values.decode_step_s),
            **{field: _root(field, root) for field, root in solved.items()},
            cost_mono_per_mtok=costs[0],
            cost_disagg_per_mtok=costs[1],
            **threshold,
            **self.layout,
        )

    def _note_limits(self, cases: Sequence[Case], limits: Limits | None) -> None:
        """Warn of the limits that even alone neither side meets at any rate."""
        given = {name: value for name, value in (limits or Limits())._asdict().items() if value is not None and name != "attainment"}
        alone = {name: Limits(attainment=limits.attainment if limits else None)._replace(**{name: value}) for name, value in given.items()}
        unmet = [flag(f"slo_{name.removesuffix('_s')}") for name, only in alone.items() if not any(goodputs_of(cases, only)[0])]
        words = " and ".join(unmet) if unmet else " with ".join(flag(f"slo_{name.removesuffix('_s')}") for name in given)
        notice = Notice(
            "limits-not-met", f"neither side meets {words} at any rate", "loosen them, or give faster GPUs, more tensor parallelism or a faster link"
        )
        if notice not in self._notices:
            self._notices.append(notice)

    def _wants_bits(self, work: Work) -> bool:
        """The root over KV bits prepares the model anew at every point, so it is found for people and on request alone."""
        asked = self.for_people if self.wanted is None else "breakeven_kv_bits" in self.wanted
        return asked and not work.encoding.latent_only

    def _at_bits(self, work: Work, path: Path, deployment: Deployment, load: Load) -> Callable[[float], Case]:
        """The case as a function of the bits that an element of the cache takes, scales included."""
        draw = EXPECTED_FIRST[0]

        def case(bits: float) -> Case:
            encoding = Encoding(f"{bits!r} bit", bits, whole_bytes=False)  # type: ignore[arg-type]  # real numbers of bits, for the search alone
            stored = work._replace(
                encoding=encoding, layout=kv_layout(work.model.groups, encoding), flat_layout=kv_layout(work.model.groups, encoding, hybrid_cache=False)
            )
            sides = Builder(self.reader).sides(stored, path, deployment, int(load.prompt_tokens), draw)
            return case_of(sides, stored, path, deployment, load, draw)

        return case

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
        engines = {path.engine.name: path.engine for path in self.transfer.paths}
        for name, engine in engines.items():
            said = Source(
                engine.handover_s, "estimate", f"from about {1e3 * engine.handover_low_s:g} to {1e3 * engine.handover_high_s:g} ms are published", name
            )
            found[keyed("handover_s", name, len(engines))] = said
        for name, gpu in gpus.items():
            basis = "measured" if gpu.constants.basis == "fitted" else "estimate"
            found[f"compute_constants[{name}]" if len(gpus) > 1 else "compute_constants"] = Source(gpu.constants.basis, basis, gpu.constants.evidence, name)
        return found


def _new_tokens(row: TransferRow, deployment: Deployment) -> int:
    """Prompt tokens that the prefill side computes."""
    return row.ctx_tokens - held_tokens(deployment.cached, row.ctx_tokens)


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
