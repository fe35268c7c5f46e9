"""`compute`: how long a prefill or a decode step takes."""

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any, NamedTuple

from ..cost.capacity import check_fits, longest_request
from ..cost.compute import ComputeTime, decode_time, prefill_time
from ..cost.gpu import NO_OVERHEAD
from ..cost.prepare import Prepared, prepare
from ..errors import KvcostError, Notice
from ..units.parse import MAX_TOKENS
from .document import Document, Source, keyed
from .plan import Options, Points, contexts, given, measured_s, model_notices, models_of
from .reading import Reader

__all__ = ["COMPUTE_OPTIONS", "ComputeRow", "compute_document"]

COMPUTE_OPTIONS = (
    *("model", "ctx", "kv_dtype", "state_dtype", "encoder_tokens", "gpu", "tp", "pp", "attention_dp"),
    *("weight_dtype", "phase", "batch", "cached", "engine", "prefill_time", "decode_step_time"),
)
_FIXED = frozenset(COMPUTE_OPTIONS) - {"ctx"}


class ComputeRow(NamedTuple):
    """One prefill, or one decode step of the whole batch, each request at ctx_tokens.

    flops and bytes_read count all GPUs of the instance together; `bound` is what takes most of the time.
    """

    model: str
    gpu: str
    tp: int
    weight_dtype: str
    kv_dtype: str
    phase: str
    batch: int
    ctx_tokens: int
    cached_tokens: int
    time_s: float
    time_low_s: float
    time_high_s: float
    flops: float
    bytes_read: float
    bound: str
    provenance: str
    pp: int
    attention_dp: int
    engine: str


_EXPLAINED = (*ComputeRow._fields, "terms")


class Instance(NamedTuple):
    """A model on its GPUs, with what the engine adds, and the longest request that fits."""

    prepared: Prepared
    engine: str
    longest_tokens: int


def _instances(reader: Reader, options: Options) -> list[Instance]:
    if not options.get("model"):
        raise KvcostError("no model given", where="--model", hint="give one, such as --model llama2-70b; `kvcost models` lists all")
    if not options.get("gpu"):
        raise KvcostError("no GPU given", where="--gpu", hint="give one, such as --gpu h100; `kvcost gpus` lists all")
    engines = [
        (engine.name, overhead)
        for words in options.get("engine", ())
        for engine, overhead in zip(reader.values("engine", [words]), reader.values("overhead", [words]), strict=True)
    ]
    found = []
    for model, encoding, gpu, tp, pp, attention_dp, dtype, (engine, overhead) in product(
        models_of(reader, options),
        reader.values("kv_dtype", options.get("kv_dtype", ())),
        reader.values("gpu", options["gpu"]),
        reader.values("tp", options.get("tp", ()), [1]),
        reader.values("pp", options.get("pp", ()), [1]),
        reader.values("attention_dp", options.get("attention_dp", ()), [1]),
        reader.values("weight_dtype", options.get("weight_dtype", ()), ["auto"]),
        engines or [("none", NO_OVERHEAD)],
    ):
        weight_dtype = None if dtype == "auto" else dtype
        prepared = prepare(model, gpu, tp=tp, pp=pp, attention_dp=attention_dp, weight_dtype=weight_dtype, encoding=encoding, overhead=overhead)
        found.append(Instance(prepared, engine, longest_request(prepared, MAX_TOKENS)))
    return found


def cached_tokens(share: float | None, ctx: int) -> int:
    """Tokens that the prefill side holds already, at most all of them."""
    if share is None:
        return 0
    return min(share, ctx) if isinstance(share, int) else int(share * ctx)


class _Plan(NamedTuple):
    """All but the lengths: instances, phases, cached shares, batches, and times that replace the model."""

    instances: list[Instance]
    phases: list[str]
    shares: list[float | None]
    batches: list[int]
    prefill_times: Points | None
    decode_step_s: float | None
    longest_tokens: int  # beyond it some instance lacks the memory
    quiet_tokens: int  # up to it there is nothing to warn of but `notices`
    notices: list[Notice]


def _plan(reader: Reader, options: Options) -> _Plan:
    instances = _instances(reader, options)
    limits = [instance.prepared.model.context_limit_tokens or MAX_TOKENS for instance in instances]
    return _Plan(
        instances,
        reader.values("phase", options.get("phase", ()), ["prefill"]),
        reader.values("cached", options.get("cached", ())),
        reader.values("batch", options.get("batch", ()), [1]),
        reader.values("prefill_time", options.get("prefill_time", ()))[0],
        reader.values("decode_step_time", options.get("decode_step_time", ()))[0],
        min(instance.longest_tokens for instance in instances),
        min(limits),
        _notices(instances, 1),
    )


def _time(plan: _Plan, prepared: Prepared, phase: str, ctx: int, cached: int, batch: int) -> ComputeTime:
    """The modelled time, or the measured one in its place (with the modelled work)."""
    seconds: float | None
    if phase == "prefill":
        time = prefill_time(prepared, ctx, cached, batch)
        seconds = None if plan.prefill_times is None else measured_s(plan.prefill_times, ctx)
    else:
        time = decode_time(prepared, batch, ctx)
        seconds = plan.decode_step_s
    if seconds is None:
        return time
    return time._replace(time_s=seconds, time_low_s=seconds, time_high_s=seconds, bound="measured", provenance="user")


def _rows(plan: _Plan, lengths: Sequence[int], *, explain: bool) -> Iterator[tuple[Any, ...]]:
    """Rows in the order instance, phase, context, cached, batch."""
    for prepared, engine, _ in plan.instances:
        model, gpu = prepared.model.name, prepared.gpu.name
        for phase, ctx, share, batch in product(plan.phases, lengths, plan.shares, plan.batches):
            cached = cached_tokens(share, ctx) if phase == "prefill" else 0
            time = _time(plan, prepared, phase, ctx, cached, batch)
            row = ComputeRow(
                model,
                gpu,
                prepared.tp,
                prepared.weight_dtype,
                prepared.encoding.name,
                phase,
                batch,
                ctx,
                cached,
                time.time_s,
                time.time_low_s,
                time.time_high_s,
                time.flops,
                time.bytes_read,
                time.bound,
                time.provenance,
                prepared.pp,
                prepared.attention_dp,
                engine,
            )
            yield (*row, _terms(prepared, phase, time)) if explain else row


def _terms(prepared: Prepared, phase: str, time: ComputeTime) -> list[Any]:
    from .terms import compute_terms

    return compute_terms(prepared, phase, time)


def _sources(instances: Sequence[Instance]) -> dict[str, Source]:
    gpus = {instance.prepared.gpu.name: instance.prepared.gpu for instance in instances}
    found = {}
    for name, gpu in gpus.items():
        found[keyed("hbm_bytes_per_s", name, len(gpus))] = Source(gpu.hbm_bytes_per_s, gpu.provenance, gpu.source, name)
    return found


def _notices(instances: Sequence[Instance], longest: int) -> list[Notice]:
    notices = model_notices([instance.prepared.model for instance in instances], longest)
    for instance in instances:
        notices += [Notice(*warning) for warning in instance.prepared.warnings]
    return list(dict.fromkeys(notices))


def compute_document(reader: Reader, options: Options, *, explain: bool = False) -> Document:
    """The time of every combination of the options given.

    Raises KvcostError for words that cannot be read, sizes that do not fit the model, and a model that
    does not fit into the GPUs' memory.
    """
    plan = reader.remember(("compute", *given(options, _FIXED)), lambda: _plan(reader, options))
    lengths = contexts(reader, options)
    longest = max(lengths)
    if longest > plan.longest_tokens:
        for instance in plan.instances:
            check_fits(instance.prepared, longest)
    return Document(
        command="compute",
        inputs=dict(options),
        columns=_EXPLAINED if explain else ComputeRow._fields,
        rows=_rows(plan, lengths, explain=explain),
        total=len(plan.instances) * len(plan.phases) * len(lengths) * len(plan.shares) * len(plan.batches),
        notices=plan.notices if longest <= plan.quiet_tokens else _notices(plan.instances, longest),
        sources=lambda: _sources(plan.instances),
    )
