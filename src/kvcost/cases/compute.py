"""`compute`: how long a prefill or a decode step takes."""

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any, NamedTuple

from ..cost.capacity import check_fits, longest_request, memory
from ..cost.compute import ComputeTime, decode_time, prefill_time
from ..cost.gpu import NO_OVERHEAD
from ..cost.prepare import Prepared, prepare
from ..errors import KvcostError, Notice
from ..units.parse import MAX_TOKENS
from .document import Source, keyed
from .plan import Options, Points, held_tokens, measured_s, model_notices, models_of
from .reading import Reader

__all__ = ["COMPUTE_OPTIONS", "ComputeQuestion", "ComputeRow"]

COMPUTE_OPTIONS = (
    *("model", "ctx", "kv_dtype", "state_dtype", "encoder_tokens", "gpu", "tp", "pp", "attention_dp"),
    *("weight_dtype", "phase", "batch", "cached", "engine", "prefill_time", "decode_step_time"),
)


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


def _batch_notices(prepared: Prepared, batch: int, ctx: int) -> list[Notice]:
    limit = memory(prepared, ctx).batch_limit
    if batch <= limit:
        return []
    gpus = f"{prepared.tp * prepared.pp} x {prepared.gpu.name}"
    message = f"{batch:,} requests of {ctx:,} tokens do not fit beside the weights of {prepared.model.name} on {gpus}: the most is {limit:,}"
    return [Notice("batch-beyond-memory", message, f"larger batches are timed as if they fitted; give --batch {limit} at most, more GPUs or an FP8 cache")]


class ComputeQuestion:
    """Instances, phases, cached shares and batches; rows in the order instance, phase, context, cached, batch."""

    command = "compute"

    def __init__(self, reader: Reader, options: Options, explain: bool = False) -> None:
        self.explain = explain
        self.columns = (*ComputeRow._fields, "terms") if explain else ComputeRow._fields
        self.instances = _instances(reader, options)
        self.phases: list[str] = reader.values("phase", options.get("phase", ()), ["prefill"])
        self.shares: list[float | None] = reader.values("cached", options.get("cached", ()))
        self.batches: list[int] = reader.values("batch", options.get("batch", ()), [1])
        self.prefill_times: Points | None = reader.values("prefill_time", options.get("prefill_time", ()))[0]
        self.decode_step_s: float | None = reader.values("decode_step_time", options.get("decode_step_time", ()))[0]
        self.cases = list(product(self.phases, self.shares, self.batches))
        self.longest_tokens = min(instance.longest_tokens for instance in self.instances)

    def count(self, lengths: Sequence[int]) -> int:
        """Rows at these lengths."""
        return len(self.instances) * len(lengths) * len(self.cases)

    def rows(self, lengths: Sequence[int]) -> Iterator[tuple[Any, ...]]:
        """The rows, a ComputeRow each. Raises KvcostError where a request of the longest does not fit into memory."""
        longest = max(lengths)
        if longest > self.longest_tokens:
            for instance in self.instances:
                check_fits(instance.prepared, longest)
        return self._rows(lengths)

    def _rows(self, lengths: Sequence[int]) -> Iterator[tuple[Any, ...]]:
        for instance in self.instances:
            for ctx in lengths:
                for phase, share, batch in self.cases:
                    cached = held_tokens(share, ctx) if phase == "prefill" else 0
                    time = self._time(instance.prepared, phase, ctx, cached, batch)
                    row = _row(instance, phase, ctx, cached, batch, time)
                    yield (*row, _terms(instance.prepared, phase, time)) if self.explain else row

    def _time(self, prepared: Prepared, phase: str, ctx: int, cached: int, batch: int) -> ComputeTime:
        """The modelled time, or the measured one in its place (with the modelled work)."""
        seconds: float | None
        if phase == "prefill":
            time = prefill_time(prepared, ctx, cached, batch)
            seconds = None if self.prefill_times is None else measured_s(self.prefill_times, ctx)
        else:
            time = decode_time(prepared, batch, ctx)
            seconds = self.decode_step_s
        if seconds is None:
            return time
        return time._replace(time_s=seconds, time_low_s=seconds, time_high_s=seconds, bound="measured", provenance="user")

    def notices(self, lengths: Sequence[int]) -> list[Notice]:
        """Assumptions of models and layouts, and lengths beyond a model's limit."""
        notices = model_notices([instance.prepared.model for instance in self.instances], max(lengths))
        if self.shares != [None] and (self.prefill_times is not None or "prefill" not in self.phases):
            why = "a decode step has none to compute" if "prefill" not in self.phases else "--prefill-time is the time as it was measured"
            notices.append(Notice("without-effect", f"--cached changes no time: {why}", "leave it out"))
        for instance in self.instances:
            notices += [Notice(*warning) for warning in instance.prepared.warnings]
            notices += _batch_notices(instance.prepared, max(self.batches), max(lengths))
        return list(dict.fromkeys(notices)) if notices else notices

    def sources(self, lengths: Sequence[int]) -> dict[str, Source]:  # noqa: ARG002
        """The GPUs."""
        gpus = {instance.prepared.gpu.name: instance.prepared.gpu for instance in self.instances}
        return {keyed("hbm_bytes_per_s", name, len(gpus)): Source(gpu.hbm_bytes_per_s, gpu.provenance, gpu.source, name) for name, gpu in gpus.items()}


def _row(instance: Instance, phase: str, ctx: int, cached: int, batch: int, time: ComputeTime) -> tuple[Any, ...]:
    """The values of a ComputeRow."""
    prepared = instance.prepared
    return (
        prepared.model.name,
        prepared.gpu.name,
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
        instance.engine,
    )


def _terms(prepared: Prepared, phase: str, time: ComputeTime) -> list[Any]:
    from .terms import compute_terms

    return compute_terms(prepared, phase, time)
