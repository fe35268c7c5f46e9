"""Step times of one instance as functions of its batch: modelled, or measured ones in their place.

Everything that serving needs of the hardware is in `Curves`; a `Steps` makes them for one length of prompt, so
that what does not depend on the batch is computed once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import ceil, hypot
from typing import NamedTuple

from ..errors import KvcostError
from .compute import _padded, _touched, prefill_s
from .measured import interpolate
from .prepare import Prepared, Reach
from .work import attended, attended_tokens

__all__ = ["Curves", "Steps", "attention_s", "measured_steps", "model_steps"]


class Curves(NamedTuple):
    """Seconds of steps at one prompt length, cached share and mean context; batches are real numbers.

    prefill_s                 a prompt by itself, in one piece
    decode(batch)             a step of decoding requests alone
    packed(tokens, batch)     a step with that many prompt tokens of average attention, as a full budget has
    chunks(budget, batch)     all chunks of one prompt of at most `budget` tokens, one step each: total, and how many
    longest(budget, batch)    the longest of these steps
    """

    prefill_s: float
    decode: Callable[[float], float]
    packed: Callable[[float, float], float]
    chunks: Callable[[float, float], tuple[float, int]]
    longest: Callable[[float, float], float]


# (prompt tokens, of these cached, mean context of a decoding request) -> curves
Steps = Callable[[float, float, float], Curves]


def _attended_sum(reach: Reach, start: float, chunk: float, count: int) -> float:
    """Cached tokens that `count` chunks after `start` read, one chunk after the other."""
    if reach.reach == "constant":
        return float(count)
    growing = count if reach.reach == "full" else min(count, max(0, int((reach.limit_tokens - start) // chunk)))
    return growing * start + chunk * growing * (growing + 1) / 2 + (count - growing) * reach.limit_tokens


def attention_s(prepared: Prepared, start: float, chunk: float, count: int = 1) -> float:
    """Seconds of attention of `count` chunks of `chunk` tokens, the first after `start` tokens.

    The longer of its products, n^2/2 for full layers, and of reading the cache once a chunk; over several chunks the
    longer of the two sums. Windows and chunked layers use their own sums.
    """
    end = start + count * chunk
    products = read = 0.0
    for reach in prepared.reaches:
        kind, limit, pair_s, _, read_s = reach
        if kind == "full":
            products += pair_s * (end * end - start * start) / 2
            read += read_s * (count * start + chunk * count * (count + 1) / 2)
        else:
            products += pair_s * (attended(kind, limit, end) - attended(kind, limit, start))  # type: ignore[arg-type]
            read += read_s * (_attended_sum(reach, start, chunk, count) if count > 1 else attended_tokens(kind, limit, end))  # type: ignore[arg-type]
    return max(products, read)


def _decode_curve(p: Prepared, ctx_tokens: float) -> Callable[[float], float]:
    """`decode_step_s` as a function of a real batch; under attention DP the fullest group holds max(1, batch/N)."""
    phase, dp = p.decode, p.attention_dp
    attention = read = 0.0
    for kind, limit, _, decode_s, read_s in p.reaches:
        tokens = ctx_tokens if kind == "full" else attended_tokens(kind, limit, ctx_tokens)  # type: ignore[arg-type]
        attention += decode_s * tokens
        read += read_s * tokens
    fixed_s = phase.layers_s + p.hop_s
    each_s = max(attention, read) + phase.sequence_s + phase.comm_row_s + p.hop_row_s
    row_s, weights_s, all_row_s = phase.row_s, phase.weights_s, phase.comm_all_row_s
    if not p.experts and dp == 1:
        each_s += all_row_s
        return lambda batch: fixed_s + each_s * batch + hypot(row_s * batch, weights_s)

    def step_s(batch: float) -> float:
        local = batch if dp == 1 else max(min(batch, 1.0), batch / dp)
        products, weights = local * row_s, weights_s
        if p.experts:
            products += batch * phase.expert_row_s
            weights += phase.expert_weights_s * (1.0 - (1.0 - p.experts_per_token / p.experts) ** batch)
        return fixed_s + local * each_s + batch * all_row_s + hypot(products, weights)

    return step_s


def _mixed_curve(p: Prepared, ctx_tokens: float) -> Callable[[float, float, float], float]:
    """`mixed_step_s` as a function of prompt tokens, their attention in seconds, and a real batch."""
    prefill, decode, dp = p.prefill, p.decode, p.attention_dp
    cache_s = max(sum(r.decode_s * _reached(r, ctx_tokens) for r in p.reaches), sum(r.read_s * _reached(r, ctx_tokens) for r in p.reaches))
    fixed_s = prefill.layers_s + prefill.sequence_s + p.hop_s
    token_s = prefill.comm_row_s + prefill.comm_all_row_s + p.hop_row_s
    each_s = cache_s + decode.comm_row_s + decode.sequence_s + p.hop_row_s
    row_s, head_s, decode_row_s, weights_s, all_row_s = prefill.row_s, prefill.head_s, decode.row_s, prefill.weights_s, decode.comm_all_row_s

    def step_s(tokens: float, attention: float, batch: float) -> float:
        local = batch if dp == 1 else max(min(batch, 1.0), batch / dp)
        total = fixed_s + attention + tokens * token_s + local * each_s + batch * all_row_s
        total += hypot(tokens * row_s + head_s + local * decode_row_s, weights_s)
        if p.experts:
            rows = tokens + batch
            touched = _touched(p, rows)  # type: ignore[arg-type]
            total += hypot(prefill.expert_row_s * rows * _padded(p, rows, touched), prefill.expert_weights_s * touched)  # type: ignore[arg-type]
        return total

    return step_s


def _reached(reach: Reach, ctx_tokens: float) -> float:
    return ctx_tokens if reach.reach == "full" else attended_tokens(reach.reach, reach.limit_tokens, ctx_tokens)  # type: ignore[arg-type]


def _cut(tokens: float, budget: float) -> tuple[int, float]:
    """How many chunks, and the tokens of the last one."""
    count = max(1, ceil(tokens / budget - 1e-9))
    return count, tokens - (count - 1) * budget


def _in_every_group_s(p: Prepared, prompt_tokens: float, cached_tokens: float) -> float:
    return prefill_s(p, prompt_tokens, cached_tokens, p.attention_dp)  # type: ignore[arg-type]


def model_steps(prepared: Prepared) -> Steps:
    """Step times from the compute model, for one instance.

    Under attention data parallelism `prefill_s` is that of a prompt in every group at once.

    The same terms as `prefill_s`, `decode_step_s` and `mixed_step_s`, folded for a fixed prompt; a batch may be any
    real number >= 0.

    >>> from ..catalog.store import Catalog
    >>> from .prepare import prepare
    >>> curves = model_steps(prepare(Catalog().model("llama3.1-70b"), Catalog().gpu("h100"), tp=4, weight_dtype="fp8"))(4000, 0, 4250)
    >>> round(curves.prefill_s * 1e3), round(curves.decode(32) * 1e3, 1), curves.chunks(2048, 32)[1]
    (209, 14.4, 2)
    """

    def curves(prompt_tokens: float, cached_tokens: float, ctx_tokens: float) -> Curves:
        cached = min(cached_tokens, prompt_tokens - 1)
        new = prompt_tokens - cached
        mixed = _mixed_curve(prepared, ctx_tokens)
        whole_s = attention_s(prepared, cached, new)

        def chunks(budget: float, batch: float) -> tuple[float, int]:
            if new <= budget:
                return mixed(new, whole_s, batch), 1
            count, last = _cut(new, budget)
            total = (count - 1) * mixed(budget, 0.0, batch) + attention_s(prepared, cached, budget, count - 1)
            return total + mixed(last, attention_s(prepared, prompt_tokens - last, last), batch), count

        def longest(budget: float, batch: float) -> float:
            if new <= budget:
                return mixed(new, whole_s, batch)
            _, last = _cut(new, budget)
            start = prompt_tokens - last
            full = mixed(budget, attention_s(prepared, start - budget, budget), batch)
            return max(full, mixed(last, attention_s(prepared, start, last), batch))

        alone_s = mixed(new, whole_s, 0.0) if prepared.attention_dp == 1 else _in_every_group_s(prepared, prompt_tokens, cached)
        return Curves(alone_s, _decode_curve(prepared, ctx_tokens), lambda tokens, batch: mixed(tokens, tokens * whole_s / new, batch), chunks, longest)

    return curves


def _points_curve(points: Mapping[float, float]) -> Callable[[float], float]:
    """Seconds of a measured decode step at a real batch; one point stands for every batch."""
    if not points:
        raise KvcostError("no measured decode step", hint="write --decode-step-time 12ms")
    xs = sorted(points)
    if any(not points[x] > 0 for x in xs):
        raise KvcostError("a measured decode step needs seconds above zero", hint="write --decode-step-time 12ms")
    if len(xs) == 1:
        only_s = points[xs[0]]
        return lambda _: only_s

    def step_s(batch: float) -> float:
        last = next((i for i in range(1, len(xs)) if batch <= xs[i]), len(xs) - 1)
        x0, x1 = xs[last - 1], xs[last]
        slope = max(0.0, (points[x1] - points[x0]) / (x1 - x0))
        return points[x0] + slope * (max(batch, xs[0]) - x0)

    return step_s


def measured_steps(prefill_points: Mapping[int, float] | None, decode_points: Mapping[float, float] | None, base: Steps | None = None) -> Steps:
    """Step times with measured ones in place of those of `base`.

    T(q, B) = T_p*q/n + T_d(B): a chunk takes its share of the measured prefill, beside the decode step. prefill_points
    is {prompt tokens: seconds}, decode_points {batch: seconds} (one point: the same for every batch); a side that is
    None comes from `base`.

    >>> curves = measured_steps({4096: 0.390}, {1: 0.040})(4096, 0, 4224)
    >>> curves.prefill_s, curves.decode(8), round(curves.chunks(2048, 8)[0], 3)
    (0.39, 0.04, 0.47)

    Raises KvcostError when a side is neither measured nor modelled.
    """
    if base is None and (prefill_points is None or decode_points is None):
        missing = "prefill time" if prefill_points is None else "decode step"
        raise KvcostError(f"the {missing} is neither measured nor modelled", hint="give --gpu, or --prefill-time and --decode-step-time")
    if base is not None and prefill_points is None and decode_points is None:
        return base
    decode_of = _points_curve(decode_points) if decode_points is not None else None

    def curves(prompt_tokens: float, cached_tokens: float, ctx_tokens: float) -> Curves:
        modelled = base(prompt_tokens, cached_tokens, ctx_tokens) if base is not None else None
        decode = decode_of if decode_of is not None else modelled.decode  # type: ignore[union-attr]
        if prefill_points is not None:
            new = max(1.0, prompt_tokens - cached_tokens)
            return _shared_out(interpolate(prefill_points, prompt_tokens) * new / prompt_tokens, new, decode)  # type: ignore[arg-type]
        return _beside(modelled, decode)  # type: ignore[arg-type]

    return curves


def _decoding(decode: Callable[[float], float], batch: float) -> float:
    """What a decode step adds to a chunk's step; nothing where nothing decodes."""
    return min(1.0, batch) * decode(max(1.0, batch)) if batch > 0 else 0.0


def _shared_out(prefill_s: float, new_tokens: float, decode: Callable[[float], float]) -> Curves:
    """A measured prefill: every chunk takes its share of it, beside the decode step."""

    def chunks(budget: float, batch: float) -> tuple[float, int]:
        count, _ = _cut(new_tokens, budget)
        return prefill_s + count * _decoding(decode, batch), count

    return Curves(
        prefill_s,
        decode,
        lambda tokens, batch: prefill_s * tokens / new_tokens + _decoding(decode, batch),
        chunks,
        lambda budget, batch: prefill_s * min(1.0, budget / new_tokens) + _decoding(decode, batch),
    )


def _beside(modelled: Curves, decode: Callable[[float], float]) -> Curves:
    """Modelled chunks beside a measured decode step."""

    def chunks(budget: float, batch: float) -> tuple[float, int]:
        alone_s, count = modelled.chunks(budget, 0.0)
        return alone_s + count * _decoding(decode, batch), count

    return Curves(
        modelled.prefill_s,
        decode,
        lambda tokens, batch: modelled.packed(tokens, 0.0) + _decoding(decode, batch),
        chunks,
        lambda budget, batch: modelled.longest(budget, 0.0) + _decoding(decode, batch),
    )
