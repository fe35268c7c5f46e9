"""Whether weights and cache fit, how many requests do, and how many GPUs it takes."""

from __future__ import annotations

from math import ceil
from typing import NamedTuple

from ..errors import KvcostError
from .dtypes import Encoding
from .gpu import WEIGHT_BYTES, Gpu
from .kv import kv_layout
from .model import Model, check_model_tp
from .prepare import Prepared
from .wire import wire_bytes
from .work import params_of

__all__ = ["Memory", "check_fits", "gpus_needed", "longest_request", "memory"]

# An engine gives 0.9 of the memory to weights and cache, less 2 GB for activations and graphs.
_USABLE_SHARE = 0.9
_RESERVE_BYTES = 2e9
_MOST_GPUS = 1024


class Memory(NamedTuple):
    """Bytes on the fullest GPU, and how many requests fit beside the weights.

    batch_limit = floor((0.9*HBM - 2 GB - weights)/KV of one request) x attention_dp; 0 = not even one.
    """

    weight_bytes_per_gpu: float
    kv_bytes_per_gpu: float
    usable_bytes_per_gpu: float
    batch_limit: int


def _memory(model: Model, gpu: Gpu, encoding: Encoding, weight_dtype: str, tp: int, pp: int, attention_dp: int, ctx_tokens: int) -> Memory:
    params, per_param = params_of(model), WEIGHT_BYTES[weight_dtype]
    group_tp = tp // attention_dp
    weights = ((params.body * per_param + 2.0 * (params.head + params.idle)) / group_tp + params.expert_total * per_param / tp) / pp
    kv = wire_bytes(kv_layout(model.groups, encoding), ctx_tokens, decode_tp=group_tp).wire_bytes / (group_tp * pp)
    usable = _USABLE_SHARE * gpu.hbm_bytes - _RESERVE_BYTES
    limit = int((usable - weights) / kv) * attention_dp if kv and usable > weights else int(usable > weights) * 10**9
    return Memory(weights, kv, usable, max(0, limit))


def memory(prepared: Prepared, ctx_tokens: int) -> Memory:
    """Bytes of weights and of one request's cache on each GPU, and how many such requests fit.

    >>> from ..catalog.store import Catalog
    >>> from .prepare import prepare
    >>> memory(prepare(Catalog().model("llama2-70b"), Catalog().gpu("h100"), tp=4), 4096).batch_limit
    105
    """
    p = prepared
    return _memory(p.model, p.gpu, p.encoding, p.weight_dtype, p.tp, p.pp, p.attention_dp, ctx_tokens)


def longest_request(prepared: Prepared, limit_tokens: int) -> int:
    """The longest request of at most `limit_tokens` that fits beside the weights, 0 if none does.

    >>> from ..catalog.store import Catalog
    >>> from .prepare import prepare
    >>> longest_request(prepare(Catalog().model("llama2-70b"), Catalog().gpu("h100"), tp=2), 10**9)
    6246
    """
    low, high = 0, limit_tokens
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if memory(prepared, middle).batch_limit else (low, middle - 1)
    return low


def gpus_needed(prepared: Prepared, ctx_tokens: int) -> int | None:
    """The smallest tensor-parallel size at which weights and one request fit, None beyond 1024 GPUs."""
    p = prepared
    first = max(1, ceil((params_of(p.model).body + params_of(p.model).expert_total) * WEIGHT_BYTES[p.weight_dtype] / (p.gpu.hbm_bytes * p.pp)))
    for tp in range(first, _MOST_GPUS + 1):
        if tp % p.attention_dp:
            continue
        try:
            check_model_tp(p.model, tp // p.attention_dp)
        except KvcostError:
            continue
        if _memory(p.model, p.gpu, p.encoding, p.weight_dtype, tp, p.pp, p.attention_dp, ctx_tokens).batch_limit:
            return tp
    return None


def check_fits(prepared: Prepared, ctx_tokens: int) -> Memory:
    """What `memory` says, once it is known that one request of `ctx_tokens` fits.

    Raises KvcostError when weights + one request's KV > 0.9*HBM*t - 2 GB*t; it says how many GPUs it takes.
    """
    p = prepared
    found = memory(p, ctx_tokens)
    if found.batch_limit:
        return found
    gpus = p.tp * p.pp
    need = (found.weight_bytes_per_gpu + found.kv_bytes_per_gpu) * gpus
    tp = gpus_needed(p, ctx_tokens)
    raise KvcostError(
        f"{p.model.name} with {p.weight_dtype} weights and one request of {ctx_tokens:,} tokens takes {need / 1e9:.1f} GB"
        f" and does not fit: {gpus} x {p.gpu.name} offer{'' if gpus > 1 else 's'} {found.usable_bytes_per_gpu * gpus / 1e9:.1f} GB",
        hint=f"it takes {tp * p.pp} GPUs: --tp {tp}" if tp else "choose GPUs with more memory, smaller weights or a shorter context",
    )
