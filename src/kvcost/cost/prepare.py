"""One model on one GPU, tensor-parallel size and weight dtype: all that does not change from prompt to prompt."""

from __future__ import annotations

from typing import NamedTuple

from .dtypes import Encoding, parse_kv_dtype
from .gpu import NO_OVERHEAD, WEIGHT_BYTES, Constant, Constants, EngineOverhead, Gpu
from .layers import MlaLatent
from .model import Model
from .rates import Rates, check_layout, rates_of, warnings_of
from .work import Attention, Params, attentions, layer_count, params_of

__all__ = ["Ends", "Phase", "Prepared", "Reach", "prepare"]


class Reach(NamedTuple):
    """An attention group in seconds on one rank: per query-key pair, and per cached token read."""

    reach: str
    limit_tokens: int
    pair_s: float
    decode_s: float
    read_s: float


class Ends(NamedTuple):
    """How far each kind of time may move: squared relative distances, and squared seconds for the fixed part."""

    compute_fast: float
    compute_slow: float
    memory_fast: float
    memory_slow: float
    communication_fast: float
    communication_slow: float
    overhead_fast: float
    overhead_slow: float


class Phase(NamedTuple):
    """Seconds per unit of work in one phase, on the rank that has most of it.

    row_s, expert_row_s          products per token; head_s per sequence (0 in decode: it is part of row_s)
    weights_s, expert_weights_s  reading all weights once
    layers_s, sequence_s         fixed time of all layers, and what an engine adds per sequence
    comm_row_s, comm_all_row_s   collectives per token of an attention group, and per token of all groups
    """

    row_s: float
    head_s: float
    weights_s: float
    expert_row_s: float
    expert_weights_s: float
    layers_s: float
    sequence_s: float
    comm_row_s: float
    comm_all_row_s: float
    ends: Ends


class Prepared(NamedTuple):
    """One instance (tp x pp GPUs) of a model, in seconds per unit of work; see `compute` for how they combine.

    experts, experts_per_token  0 for a dense model
    hop_s, hop_row_s            pipeline hand-overs, fixed and per token
    attention_flops_per_s       what one attention group's ranks reach in attention; cache_bytes_per_s in reading the cache
    warnings                    (code, message, hint)
    """

    model: Model
    gpu: Gpu
    tp: int
    pp: int
    attention_dp: int
    weight_dtype: str
    encoding: Encoding
    params: Params
    reaches: tuple[Reach, ...]
    prefill: Phase
    decode: Phase
    experts: int
    experts_per_token: int
    hop_s: float
    hop_row_s: float
    flops_row: float
    weight_read_bytes: float
    expert_read_bytes: float
    attention_flops_per_s: float
    cache_bytes_per_s: float
    memory_bytes_per_s: float
    provenance: str
    warnings: tuple[tuple[str, str, str], ...]


def _ends(eta: Constant, memory: Constant, comm: Constant, layers_s: tuple[float, float, float]) -> Ends:
    return Ends(
        compute_fast=(1.0 - eta.value / eta.high) ** 2,
        compute_slow=(eta.value / eta.low - 1.0) ** 2,
        memory_fast=(1.0 - memory.value / memory.high) ** 2,
        memory_slow=(memory.value / memory.low - 1.0) ** 2,
        communication_fast=(1.0 - comm.low / comm.value) ** 2 if comm.value else 0.0,
        communication_slow=(comm.high / comm.value - 1.0) ** 2 if comm.value else 0.0,
        overhead_fast=(layers_s[0] - layers_s[1]) ** 2,
        overhead_slow=(layers_s[2] - layers_s[0]) ** 2,
    )


def _spread(value: float, overhead: EngineOverhead) -> Constant:
    return Constant(value, value * (1 - overhead.spread), value * (1 + overhead.spread))


def _layer_s(constants: Constants, model: Model, phase: str, tp: int, extra_s: Constant) -> tuple[float, float, float]:
    """Seconds of all layers' fixed time: expected, fast end, slow end."""
    parts = [constants.prefill_layer_s if phase == "prefill" else constants.decode_layer_s]
    if model.experts:
        parts.append(constants.moe_prefill_layer_s if phase == "prefill" else constants.moe_decode_layer_s)
    layers = layer_count(model)
    latent = sum(group.layers for group in model.groups if isinstance(group.layer, MlaLatent))
    mla = constants.mla_prefill_layer_s if phase == "prefill" else constants.mla_decode_layer_s
    reduce = 2 * layers if phase == "decode" and tp > 1 else 0
    sums = []
    for end in ("value", "low", "high"):
        total = layers * sum(getattr(part, end) for part in (extra_s, *parts))
        sums.append(total + latent * getattr(mla, end) + reduce * getattr(constants.allreduce_s, end))
    return sums[0], sums[1], sums[2]


class _Shape(NamedTuple):
    """What both phases start from."""

    model: Model
    gpu: Gpu
    tp: int
    group_tp: int
    params: Params
    rates: Rates
    per_param: float
    overhead: EngineOverhead

    @property
    def dense_bytes(self) -> float:
        return self.params.body * self.per_param + 2.0 * self.params.head

    @property
    def expert_bytes(self) -> float:
        return self.params.expert_total * self.per_param


def _comm_row_s(shape: _Shape) -> tuple[float, float]:
    """Seconds per row of a group, and per row of all groups, for the collectives of all layers.

    A ring all-reduce of b bytes over t ranks takes 2(t-1)/t * b/rate; a layer has two of h*2 bytes a row. Under
    attention DP one runs inside the group of t/N ranks and the other is a gather and scatter over all t.
    """
    tp, group = shape.tp, shape.group_tp
    row_s = 2.0 * shape.model.hidden_size * layer_count(shape.model) / shape.gpu.scaleup_bytes_per_s
    if tp > 2:
        row_s *= max(1.0, shape.gpu.constants.comm_crowding.value * tp)
    if group == tp:
        return 2 * row_s * 2 * (tp - 1) / tp, 0.0
    return row_s * 2 * (group - 1) / group, row_s * 2 * (tp - 1) / tp


def _prefill(shape: _Shape) -> Phase:
    k, gpu, params, rates = shape.gpu.constants, shape.gpu, shape.params, shape.rates
    factor = k.moe_comm_factor if shape.model.experts else k.comm_factor
    if shape.overhead.comm_factor is not None:
        factor = _spread(shape.overhead.comm_factor, shape.overhead)
    comm_row, comm_all_row = _comm_row_s(shape)
    layers_s = _layer_s(k, shape.model, "prefill", shape.tp, _spread(shape.overhead.prefill_layer_s, shape.overhead))
    read_rate = gpu.hbm_bytes_per_s * k.eta_weights.value
    return Phase(
        row_s=2.0 * params.body / (shape.group_tp * rates.reached),
        head_s=2.0 * params.head / (shape.group_tp * gpu.bf16_flops_per_s * k.eta_bf16.value),
        weights_s=shape.dense_bytes / (shape.group_tp * read_rate),
        expert_row_s=2.0 * params.expert_active / (shape.tp * rates.experts),
        expert_weights_s=shape.expert_bytes / (shape.tp * read_rate),
        layers_s=layers_s[0],
        sequence_s=shape.overhead.prefill_sequence_s,
        comm_row_s=comm_row * factor.value,
        comm_all_row_s=comm_all_row * factor.value,
        ends=_ends(rates.expert_eta if params.expert_active > params.body else rates.eta, k.eta_weights, factor, layers_s),
    )


def _decode(shape: _Shape) -> Phase:
    k, gpu, params = shape.gpu.constants, shape.gpu, shape.params
    rate = shape.rates.peak * k.eta_decode.value
    # Kernels of few rows read 8-bit weights at a rate of their own; grouped expert kernels do not.
    eta_read = k.eta_bw_fp8 if shape.per_param == 1.0 else k.eta_bw
    comm_row, comm_all_row = _comm_row_s(shape)
    layers_s = _layer_s(k, shape.model, "decode", shape.tp, _spread(shape.overhead.decode_layer_s, shape.overhead))
    return Phase(
        row_s=2.0 * (params.body / rate + params.head / (gpu.bf16_flops_per_s * k.eta_decode.value)) / shape.group_tp,
        head_s=0.0,
        weights_s=shape.dense_bytes / (shape.group_tp * gpu.hbm_bytes_per_s * eta_read.value),
        expert_row_s=2.0 * params.expert_active / (shape.tp * rate),
        expert_weights_s=shape.expert_bytes / (shape.tp * gpu.hbm_bytes_per_s * k.eta_bw.value),
        layers_s=layers_s[0],
        sequence_s=shape.overhead.decode_sequence_s,
        comm_row_s=comm_row * k.decode_comm_factor.value,
        comm_all_row_s=comm_all_row * k.decode_comm_factor.value,
        ends=_ends(k.eta_decode, eta_read, k.decode_comm_factor, layers_s),
    )


def _reaches(attention: tuple[Attention, ...], group_tp: int, attention_rate: float, cache_rate: float) -> tuple[Reach, ...]:
    """Copies of a cache over the ranks of a group: max(1, t/heads), a latent whole on each, a state on none twice."""
    found = []
    for item in attention:
        copies = 1.0 if item.kv_heads < 0 else max(1.0, group_tp / (item.kv_heads or 1))
        seconds = item.flops_per_pair / attention_rate, item.decode_flops / attention_rate, item.row_bytes * copies / cache_rate
        found.append(Reach(item.reach, item.limit_tokens, *seconds))
    return tuple(found)


def prepare(
    model: Model,
    gpu: Gpu,
    *,
    tp: int = 1,
    pp: int = 1,
    attention_dp: int = 1,
    weight_dtype: str | None = None,
    encoding: Encoding | None = None,
    overhead: EngineOverhead = NO_OVERHEAD,
) -> Prepared:
    """What prompts and steps cost on `tp` x `pp` GPUs, folded into seconds per unit of work.

    weight_dtype defaults to the checkpoint's, `encoding` (of the cache) to the model's own. Under
    `attention_dp` N, N groups of tp/N ranks each run whole requests (their attention and dense weights are
    copied N times, the cache is not), and the routed experts are spread whole over all tp ranks.

    >>> from ..catalog.store import Catalog
    >>> prepare(Catalog().model("llama2-70b"), Catalog().gpu("a100"), tp=8, weight_dtype="fp8").warnings[0][0]
    'weight-only'

    Raises KvcostError for sizes that do not fit the model and for a model without parameter counts.
    """
    weight_dtype = weight_dtype or (model.dtype if model.weight_dtype == "auto" else model.weight_dtype)
    check_layout(model, tp, pp, weight_dtype, attention_dp)
    encoding = encoding or parse_kv_dtype(model.dtype if model.kv_dtype == "auto" else model.kv_dtype)
    group_tp = tp // attention_dp
    shape = _Shape(model, gpu, tp, group_tp, params_of(model), rates_of(gpu, weight_dtype), WEIGHT_BYTES[weight_dtype], overhead)
    return _fold(shape, pp, weight_dtype, encoding)


def _fold(shape: _Shape, pp: int, weight_dtype: str, encoding: Encoding) -> Prepared:
    model, gpu, params, k, group_tp = shape.model, shape.gpu, shape.params, shape.gpu.constants, shape.group_tp
    attention_rate = group_tp * gpu.bf16_flops_per_s * k.eta_bf16.value * k.eta_attention.value
    cache_rate = group_tp * gpu.hbm_bytes_per_s * k.eta_bw.value
    attention_dp = shape.tp // group_tp
    return Prepared(
        model=model,
        gpu=gpu,
        tp=shape.tp,
        pp=pp,
        attention_dp=attention_dp,
        weight_dtype=weight_dtype,
        encoding=encoding,
        params=params,
        reaches=_reaches(attentions(model, encoding), group_tp, attention_rate, cache_rate),
        prefill=_prefill(shape),
        decode=_decode(shape),
        experts=model.experts.experts if model.experts else 0,
        experts_per_token=model.experts.per_token if model.experts else 0,
        hop_s=(pp - 1) * k.allreduce_s.value,
        hop_row_s=(pp - 1) * model.hidden_size * 2.0 * k.comm_factor.value / gpu.peer_bytes_per_s,
        flops_row=2.0 * (params.body + params.expert_active),
        weight_read_bytes=shape.dense_bytes * attention_dp,
        expert_read_bytes=shape.expert_bytes,
        attention_flops_per_s=attention_rate,
        cache_bytes_per_s=cache_rate,
        memory_bytes_per_s=gpu.hbm_bytes_per_s * shape.tp,
        provenance="measured" if k.basis == "fitted" and model.provenance != "estimate" else "estimate",
        warnings=warnings_of(model, gpu, shape.rates, shape.tp, attention_dp),
    )
