"""How long a prefill and a decode step take, what bounds them, and how sure that is.

    T_prefill = L*t_layer + hypot(C/eta, Wt/eta_w) + experts + A/(eta_a*eta_bf16) + c*M
    T_decode  = L*t_layer_d + hypot(Wt/eta_bw, C/eta_d) + K/eta_bw + 2*L*t_ar + c_d*M

C: products of the rows with the parameters they use; Wt: weights read; A: attention's products; K: cache
read; M: all-reduces; hypot is a soft maximum. `prepare` folds everything that stays the same into
seconds per row, so that one time is some twenty multiplications.
"""

from __future__ import annotations

from math import ceil, hypot, sqrt
from typing import NamedTuple

from .prepare import Ends, Prepared
from .work import attended, attended_tokens

__all__ = [
    "BOUNDS",
    "ComputeTime",
    "Groups",
    "chunked_prefill_s",
    "decode_groups",
    "decode_step_s",
    "decode_time",
    "mixed_step_s",
    "prefill_groups",
    "prefill_s",
    "prefill_time",
]

BOUNDS = ("compute", "memory", "overhead", "communication")
# Rows of one expert are computed in tiles of this many.
_EXPERT_TILE = 64


class Groups(NamedTuple):
    """Seconds by what they are spent on; a soft maximum is split by the squares of its sides."""

    products_s: float
    weights_s: float
    expert_products_s: float
    expert_weights_s: float
    attention_s: float
    kv_read_s: float
    layers_s: float
    communication_s: float


class ComputeTime(NamedTuple):
    """A time with its range, what bounds it, and the work done by all GPUs of the instance together."""

    time_s: float
    time_low_s: float
    time_high_s: float
    flops: float
    bytes_read: float
    bound: str
    provenance: str
    groups: Groups


def _touched(prepared: Prepared, rows: int) -> float:
    """Share of the routed experts that at least one of `rows` tokens runs: 1 - (1 - k/E)^rows."""
    return float(1.0 - (1.0 - prepared.experts_per_token / prepared.experts) ** rows)


def _padded(prepared: Prepared, rows: int, touched: float) -> float:
    """Rows that the experts' tiles compute, over the rows there are (each expert's rounded up to whole tiles)."""
    mean = rows * prepared.experts_per_token / (prepared.experts * touched)
    return ceil(mean / _EXPERT_TILE - 1e-9) * _EXPERT_TILE / mean


def _experts(p: Prepared, rows: int) -> tuple[float, float]:
    """Seconds of the routed experts' products and of reading those touched, in prefill; a soft maximum split in two."""
    touched = _touched(p, rows)
    products, weights = p.prefill.expert_row_s * rows * _padded(p, rows, touched), p.prefill.expert_weights_s * touched
    both = hypot(products, weights)
    return products * products / both, weights * weights / both


def _attention(p: Prepared, tokens: int, cached_tokens: int) -> tuple[float, float]:
    """Seconds of attention's products, and of reading the cache once, per sequence."""
    attention = read = 0.0
    for reach, limit, pair_s, _, read_s in p.reaches:
        if reach == "full":
            attention += pair_s * (tokens * tokens - cached_tokens * cached_tokens) / 2
            read += read_s * tokens
        else:
            attention += pair_s * (attended(reach, limit, tokens) - attended(reach, limit, cached_tokens))
            read += read_s * attended_tokens(reach, limit, tokens)
    return attention, read


def _cache_read(p: Prepared, ctx_tokens: int) -> tuple[float, float]:
    """The same for one sequence of a decode step at `ctx_tokens`."""
    attention = read = 0.0
    for reach, limit, _, decode_s, read_s in p.reaches:
        tokens = ctx_tokens if reach == "full" else attended_tokens(reach, limit, ctx_tokens)
        attention += decode_s * tokens
        read += read_s * tokens
    return attention, read


def _prefill(p: Prepared, tokens: int, cached_tokens: int, batch: int, attention: float, read: float) -> Groups:
    phase = p.prefill
    local = -(-batch // p.attention_dp) if p.attention_dp > 1 else batch
    rows, all_rows = local * (tokens - cached_tokens), batch * (tokens - cached_tokens)
    products, weights = rows * phase.row_s + local * phase.head_s, phase.weights_s
    total = hypot(products, weights) or 1.0
    products, weights = products * products / total, weights * weights / total
    experts, expert_weights = _experts(p, all_rows) if p.experts else (0.0, 0.0)
    attention, read = (local * attention, 0.0) if attention >= read else (0.0, local * read)
    communication = rows * (phase.comm_row_s + p.hop_row_s) + all_rows * phase.comm_all_row_s + p.hop_s
    return Groups(products, weights, experts, expert_weights, attention, read, phase.layers_s + local * phase.sequence_s, communication)


def _decode(p: Prepared, batch: int, attention: float, read: float) -> Groups:
    phase = p.decode
    local = -(-batch // p.attention_dp) if p.attention_dp > 1 else batch
    products, weights = local * phase.row_s, phase.weights_s
    experts, expert_weights = (batch * phase.expert_row_s, phase.expert_weights_s * _touched(p, batch)) if p.experts else (0.0, 0.0)
    total = hypot(products + experts, weights + expert_weights) or 1.0
    c, w = (products + experts) / total, (weights + expert_weights) / total
    attention, read = (local * attention, 0.0) if attention > read else (0.0, local * read)
    communication = local * (phase.comm_row_s + p.hop_row_s) + batch * phase.comm_all_row_s + p.hop_s
    return Groups(products * c, weights * w, experts * c, expert_weights * w, attention, read, phase.layers_s + local * phase.sequence_s, communication)


def prefill_groups(prepared: Prepared, tokens: int, cached_tokens: int = 0, batch: int = 1) -> Groups:
    """Seconds of a prefill by what they are spent on; their sum is the time. See `prefill_time`."""
    cached_tokens = min(cached_tokens, tokens - 1)
    return _prefill(prepared, tokens, cached_tokens, batch, *_attention(prepared, tokens, cached_tokens))


def decode_groups(prepared: Prepared, batch: int, ctx_tokens: int) -> Groups:
    """Seconds of a decode step by what they are spent on; their sum is the time. See `decode_time`."""
    return _decode(prepared, batch, *_cache_read(prepared, ctx_tokens))


def prefill_s(prepared: Prepared, tokens: int, cached_tokens: int = 0, batch: int = 1) -> float:
    """Seconds of a prefill, the time alone."""
    return sum(prefill_groups(prepared, tokens, cached_tokens, batch))


def decode_step_s(prepared: Prepared, batch: int, ctx_tokens: int) -> float:
    """Seconds of one decode step of the whole batch, the time alone."""
    return sum(decode_groups(prepared, batch, ctx_tokens))


def chunked_prefill_s(prepared: Prepared, tokens: int, chunk_tokens: int, cached_tokens: int = 0) -> float:
    """Seconds of a prefill in chunks, one after the other, each on top of what is cached by then."""
    total, start = 0.0, min(cached_tokens, tokens - 1)
    while start < tokens:
        end = min(tokens, start + chunk_tokens)
        total += prefill_s(prepared, end, start)
        start = end
    return total


def mixed_step_s(prepared: Prepared, chunk_tokens: int, cached_tokens: int, batch: int, ctx_tokens: int) -> float:
    """Seconds of a step that carries `chunk_tokens` of one prompt beside `batch` decoding sequences.

    T = L*t_layer + hypot(C_q/eta + C_B/eta_d, Wt/eta_w) + experts(q + B) + A/(eta_a*eta) + K/eta_bw + c*M(q) + c_d*M(B);
    without a chunk it is the decode step, without a batch the prefill of the chunk.
    """
    p, prefill, decode = prepared, prepared.prefill, prepared.decode
    if chunk_tokens <= 0:
        return decode_step_s(p, batch, ctx_tokens)
    if batch <= 0:
        return prefill_s(p, cached_tokens + chunk_tokens, cached_tokens)
    local = -(-batch // p.attention_dp)
    total = hypot(chunk_tokens * prefill.row_s + prefill.head_s + local * decode.row_s, prefill.weights_s)
    if p.experts:
        total += sum(_experts(p, chunk_tokens + batch))
    total += max(_attention(p, cached_tokens + chunk_tokens, cached_tokens)) + local * max(_cache_read(p, ctx_tokens))
    total += chunk_tokens * (prefill.comm_row_s + prefill.comm_all_row_s) + local * decode.comm_row_s + batch * decode.comm_all_row_s
    total += prefill.layers_s + prefill.sequence_s + local * decode.sequence_s
    return total + (chunk_tokens + local) * p.hop_row_s + p.hop_s


def _answer(groups: Groups, ends: Ends, flops: float, bytes_read: float, p: Prepared) -> ComputeTime:
    """The sum with its range: each kind of time moves between its constants' ends, independently of the others.

    The fast end is never faster than reading the bytes at the memory's full rate.
    """
    products, weights, experts, expert_weights, attention, read, layers, communication = groups
    compute, memory = products + experts + attention, weights + expert_weights + read
    total = compute + memory + layers + communication
    c2, m2, t2 = compute * compute, memory * memory, communication * communication
    cf, cs, mf, ms, tf, ts, of, os = ends
    fast, slow = sqrt(c2 * cf + m2 * mf + t2 * tf + of), sqrt(c2 * cs + m2 * ms + t2 * ts + os)
    kinds = compute, memory, layers, communication
    low = min(total, max(total - fast, bytes_read / p.memory_bytes_per_s))
    return ComputeTime(total, low, total + slow, flops, bytes_read, BOUNDS[kinds.index(max(kinds))], p.provenance, groups)


def prefill_time(prepared: Prepared, tokens: int, cached_tokens: int = 0, batch: int = 1) -> ComputeTime:
    """Seconds of a prefill of `batch` prompts of `tokens` tokens each, of which `cached_tokens` are cached.

    T = L*t_layer + hypot(C/eta, Wt/eta_w) + hypot(Cx/eta_x, Wx/eta_w) + A/(eta_a*eta_bf16) + c*M; a wholly cached
    prompt still computes its last token; the output head runs once per sequence; routed experts (x) compute whole
    tiles of 64 rows and are read only where a token touches them.

    >>> from ..catalog.store import Catalog
    >>> from .prepare import prepare
    >>> round(prefill_time(prepare(Catalog().model("llama2-70b"), Catalog().gpu("h100"), tp=8), 4096).time_s, 4)
    0.1772

    Source: fitted to vLLM operator times on A100, H100, H200, B200 and L40S as published by NVIDIA AIConfigurator.
    """
    p = prepared
    cached_tokens = min(cached_tokens, tokens - 1)
    rows = batch * (tokens - cached_tokens)
    attention, read = _attention(p, tokens, cached_tokens)
    flops = rows * p.flops_row + 2.0 * batch * p.params.head + batch * attention * p.attention_flops_per_s
    bytes_read = p.weight_read_bytes + (p.expert_read_bytes * _touched(p, rows) if p.experts else 0.0) + batch * read * p.cache_bytes_per_s
    return _answer(_prefill(p, tokens, cached_tokens, batch, attention, read), p.prefill.ends, flops, bytes_read, p)


def decode_time(prepared: Prepared, batch: int, ctx_tokens: int) -> ComputeTime:
    """Seconds of one decode step of `batch` sequences, each at context `ctx_tokens`.

    T = L*t_layer_d + hypot(Wt/eta_bw, C/eta_d) + K/eta_bw + 2*L*t_ar (t > 1) + c_d*M; Wt counts the experts that
    the batch touches, K each rank's share of the cache with copied heads; a latent is whole on every rank.

    >>> from ..catalog.store import Catalog
    >>> from .prepare import prepare
    >>> round(decode_time(prepare(Catalog().model("llama2-70b"), Catalog().gpu("h100"), tp=8), 32, 4096).time_s, 5)
    0.01243

    Source: as `prefill_time`.
    """
    p = prepared
    attention, read = _cache_read(p, ctx_tokens)
    flops = batch * (p.flops_row + 2.0 * p.params.head + attention * p.attention_flops_per_s)
    bytes_read = p.weight_read_bytes + (p.expert_read_bytes * _touched(p, batch) if p.experts else 0.0) + batch * read * p.cache_bytes_per_s
    return _answer(_decode(p, batch, attention, read), p.decode.ends, flops, bytes_read, p)
