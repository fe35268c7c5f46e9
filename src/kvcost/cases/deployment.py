"""Both deployments of a question: the options' words → the records that `cost` compares, in every joint draw."""

from collections.abc import Sequence
from itertools import product
from math import inf
from typing import Any, Literal, NamedTuple

from ..cost.case import DRAWS, Case, Draw, Transfer, draw_gpu, fixed_transfer, link_transfer
from ..cost.gpu import NO_OVERHEAD, EngineOverhead, Gpu
from ..cost.model import check_model_tp
from ..cost.prepare import Prepared, prepare
from ..cost.serving import NO_CAP, Capacity, Colocated, Split, model_capacity
from ..cost.serving import Work as Load
from ..cost.steps import Steps, measured_steps, model_steps
from ..errors import KvcostError
from .plan import Options, Path, Points, Work
from .reading import Reader

__all__ = ["DEPLOYMENT_OPTIONS", "EXPECTED_FIRST", "Builder", "Deployment", "Sides", "case_of", "deployments", "missing_inputs", "sides_of", "transfer_of"]

DEPLOYMENT_OPTIONS = (
    *("gpu", "prefill_gpu", "decode_gpu", "mono_gpu", "mono_tp", "pp", "prefill_instances", "decode_instances", "mono_instances"),
    *("weight_dtype", "cached", "isl_cv", "chunk", "max_seqs", "router", "handover", "pool_derate", "transfer_time"),
)
OTHER_PROTOCOL = 2.0
MONO_MAX_SEQS, DECODE_MAX_SEQS = 256.0, 1024.0


class Deployment(NamedTuple):
    """Hardware and scheduling of both sides; None = the engine's, or equal GPUs.

    A pool's GPU is None where its times are measured and no GPU is given.
    """

    prefill_gpu: Gpu | None
    decode_gpu: Gpu | None
    mono_gpu: Gpu | None
    mono_tp: int | None
    pp: int
    prefill_instances: int
    decode_instances: int
    mono_instances: int | None
    weight_dtype: str | None
    cached: float | None
    length_cv: float
    chunk_tokens: int | None
    max_seqs: int | None
    router: str
    handover_s: float | None
    derate: float
    transfer_s: float | None


class Sides(NamedTuple):
    """Both deployments of one work over one path, and their capacities, for any load and length of prompt."""

    mono: Colocated
    split: Split
    weight_dtype: str
    mono_tp: int


def deployments(reader: Reader, options: Options) -> list[Deployment]:
    """Every combination of the layout, work and scheduler options."""

    def values(option: str, default: Sequence[Any] = (None,)) -> list[Any]:
        return reader.values(option, options.get(option, ()), default)

    gpus = values("gpu")
    found = []
    for gpu, weight_dtype, rest in product(gpus, values("weight_dtype", ["auto"]), _rest(values)):
        prefill_gpu, decode_gpu, mono_gpu, *others = rest
        sides = prefill_gpu or gpu, decode_gpu or gpu, mono_gpu or gpu or prefill_gpu
        mono_tp, pp, prefills, decodes, monos, cached, cv, chunk, seqs, router, handover, derate, transfer = others
        dtype = None if weight_dtype == "auto" else weight_dtype
        found.append(Deployment(*sides, mono_tp, pp, prefills, decodes, monos, dtype, cached, cv, chunk, seqs, router, handover, derate, transfer))
    return found


def _rest(values: Any) -> list[tuple[Any, ...]]:
    return list(
        product(
            *(values(option) for option in ("prefill_gpu", "decode_gpu", "mono_gpu", "mono_tp")),
            *(values(option, [1]) for option in ("pp", "prefill_instances", "decode_instances")),
            values("mono_instances"),
            values("cached"),
            values("isl_cv", [0.0]),
            values("chunk"),
            values("max_seqs"),
            values("router", ["round-robin"]),
            values("handover"),
            values("pool_derate", [0.92]),
            values("transfer_time"),
        )
    )


def missing_inputs(deployment: Deployment, path: Path, options: Options) -> list[str]:
    """The options without which nothing can be said of what disaggregation gains; empty when all are there."""
    missing = []
    if deployment.prefill_gpu is None and path.prefill_times is None:
        missing.append("--gpu (or --prefill-time)")
    if deployment.decode_gpu is None and path.decode_step_s is None:
        missing.append("--gpu (or --decode-step-time)")
    if not options.get("osl"):
        missing.append("--osl")
    if missing and not (options.get("rate") or options.get("concurrency")):
        missing.append("--rate (or --concurrency)")
    if missing[:2] == ["--gpu (or --prefill-time)", "--gpu (or --decode-step-time)"]:
        missing[:2] = ["--gpu (or --prefill-time and --decode-step-time)"]
    return missing


class _Pool(NamedTuple):
    """One kind of instance."""

    gpu: Gpu | None
    tp: int


class Builder:
    """Builds both sides of works, paths and deployments; what two of them share is prepared once."""

    def __init__(self, reader: Reader) -> None:
        self.reader = reader
        self._prepared: dict[tuple[Any, ...], Prepared] = {}

    def prepared(self, work: Work, pool: _Pool, draw: Draw, deployment: Deployment, overhead: EngineOverhead) -> Prepared | None:
        """A model on one pool's GPUs at one end of the constants."""
        if pool.gpu is None:
            return None
        key = work.model.name, work.encoding, pool.gpu.name, pool.tp, draw.constants, deployment.pp, deployment.weight_dtype, overhead
        if key not in self._prepared:
            gpu = draw_gpu(pool.gpu, draw.constants)
            self._prepared[key] = prepare(
                work.model, gpu, tp=pool.tp, pp=deployment.pp, weight_dtype=deployment.weight_dtype, encoding=work.encoding, overhead=overhead
            )
        return self._prepared[key]

    def sides(self, work: Work, path: Path, deployment: Deployment, ctx: int, draw: Draw) -> Sides:
        """Both deployments for prompts around `ctx` tokens in one draw.

        Raises KvcostError for tensor-parallel sizes that the model does not have.
        """
        mono_tp = deployment.mono_tp or max(work.prefill_tp, work.decode_tp)
        try:
            check_model_tp(work.model, mono_tp)
        except KvcostError as error:
            raise error.at("--mono-tp") from None
        overhead = self.reader.catalog.overhead(path.engine.name)
        overhead = overhead if overhead._replace(name="") != NO_OVERHEAD else NO_OVERHEAD
        pools = _Pool(deployment.mono_gpu, mono_tp), _Pool(deployment.prefill_gpu, work.prefill_tp), _Pool(deployment.decode_gpu, work.decode_tp)
        mono, prefill, decode = (self.prepared(work, pool, draw, deployment, overhead) for pool in pools)
        steps = [_steps(found, path, ctx) for found in (mono, prefill, decode)]
        engine, router = path.engine, draw.router or deployment.router
        gpus = deployment.prefill_instances * work.prefill_tp + deployment.decode_instances * work.decode_tp
        instances = deployment.mono_instances or gpus / mono_tp
        colocated = Colocated(
            steps[0], _capacity(mono, deployment.max_seqs or MONO_MAX_SEQS), instances, float(deployment.chunk_tokens or engine.chunk_tokens), router
        )
        split = Split(
            prefill=steps[1],
            decode=steps[2],
            capacity=_capacity(decode, deployment.max_seqs or DECODE_MAX_SEQS),
            prefill_instances=deployment.prefill_instances,
            decode_instances=deployment.decode_instances,
            router=router,
            first_token=engine.first_token,
            handover_s=engine.handover_s if deployment.handover_s is None else deployment.handover_s,
            overlap=path.overlap,
            layers=work.layers,
            push_floor_s=engine.push_floor_s,
            push_from_tokens=engine.push_from_tokens,
            prefill_capacity=_capacity(prefill, inf),
        )
        any_prepared = mono or prefill or decode
        return Sides(colocated, split, any_prepared.weight_dtype if any_prepared else "", mono_tp)


def _steps(prepared: Prepared | None, path: Path, ctx: int) -> Steps:
    base = None if prepared is None else model_steps(prepared)
    points = None if path.prefill_times is None else _lengths(path.prefill_times, ctx)
    return measured_steps(points, None if path.decode_step_s is None else {1: path.decode_step_s}, base)


def _lengths(points: Points, ctx: int) -> dict[int, float]:
    """Measured times by length; a time without one is that of the length asked for."""
    return {tokens or ctx: seconds for tokens, seconds in points}


def _capacity(prepared: Prepared | None, max_seqs: float) -> Capacity:
    return NO_CAP if prepared is None else model_capacity(prepared, max_seqs)


def transfer_of(work: Work, path: Path, deployment: Deployment, end: Literal["low", "expected", "high"]) -> Transfer:
    """A request's transfer time, measured or priced, at one end of the link's range."""
    if deployment.transfer_s is not None:
        return fixed_transfer(deployment.transfer_s)
    basis: Any = path.basis
    layout = work.layout if path.engine.hybrid_cache else work.flat_layout
    return link_transfer(
        layout,
        path.link,
        path.engine,
        prefill_tp=work.prefill_tp,
        decode_tp=work.decode_tp,
        rails=path.rails,
        basis=basis,
        end=end,
        codec=work.codec,
        untouched=work.untouched,
    )


def _link_end(path: Path, draw: Draw) -> Literal["low", "expected", "high"]:
    """The end of the link that belongs to a draw.

    An end further off than a factor of two is another protocol (one TCP flow on a wire that also carries
    RoCE), not an uncertainty of this one: it is named beside the verdict and does not widen its range.
    """
    link = path.link
    if draw.link == "low" and link.achieved_low_bytes_per_s * OTHER_PROTOCOL < link.achieved_bytes_per_s:
        return "expected"
    return draw.link


def case_of(sides: Sides, work: Work, path: Path, deployment: Deployment, load: Load, draw: Draw) -> Case:
    """The comparison of one work under one load in one draw."""
    derate = deployment.derate if draw.name == "expected" else draw.derate
    return Case(load, sides.mono, sides.split, transfer_of(work, path, deployment, _link_end(path, draw)), derate)


def sides_of(builder: Builder, work: Work, path: Path, deployment: Deployment, ctx: int) -> list[Sides]:
    """Both deployments in every joint draw, the expected one first."""
    return [builder.sides(work, path, deployment, ctx, draw) for draw in EXPECTED_FIRST]


EXPECTED_FIRST = tuple(sorted(DRAWS, key=lambda draw: draw.name != "expected"))
