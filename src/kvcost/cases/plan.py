"""All options of a question → the works to price and the paths to send them over.

A work is what is sent (model, storage format, tensor-parallel sizes), a path how (link, engine,
overlap). Lists and ranges multiply. Everything that can be refused is refused here, before the
first row is written.
"""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, NamedTuple

from ..cost.dtypes import Encoding, parse_kv_dtype
from ..cost.kv import KvLayout, kv_layout
from ..cost.measured import interpolate
from ..cost.model import Model, check_model_tp, kv_layers
from ..cost.transfer import Engine, Link, check_tp_pair
from ..errors import KvcostError
from .linking import links_of
from .model_options import model_notices, models_of
from .reading import Options, Reader

if TYPE_CHECKING:
    from ..cost.techniques import WireCut

__all__ = [
    "Options",
    "Path",
    "Work",
    "contexts",
    "engines_of",
    "held_tokens",
    "measured_s",
    "model_notices",
    "models_of",
    "paths",
    "stored_work",
    "works",
]

DEFAULT_ENGINE = "vllm-nixl"
# Measured seconds by tokens; tokens 0 = at any length.
Points = tuple[tuple[int, float], ...]


class Work(NamedTuple):
    """What is sent, but for its length.

    layout, flat_layout   the cache with window layers as windows, and with every layer at full length
    codec                 what shrinks the bytes on the wire alone, of all layers but the `untouched` ones
    """

    model: Model
    encoding: Encoding
    prefill_tp: int
    decode_tp: int
    layout: KvLayout
    flat_layout: KvLayout
    layers: int
    codec: WireCut | None = None
    untouched: KvLayout | None = None


class Path(NamedTuple):
    """How it is sent; None = not given."""

    link: Link
    rails: int | None
    engine: Engine
    overlap: str
    basis: str
    prefill_times: Points | None
    decode_step_s: float | None


def works(reader: Reader, options: Options, *, both_sides: bool = True) -> list[Work]:
    """Every combination of model, KV dtype and TP sizes, checked to be servable.

    Raises KvcostError when no model is given, or a model's heads do not fit a TP size.
    """
    if not options.get("model"):
        raise KvcostError("no model given", where="--model", hint="give one, such as --model llama2-70b; `kvcost models` lists all")
    tps = reader.values("tp", options.get("tp", ()), [1])
    pairs: list[tuple[int, int]] = []
    for tp in tps:
        prefill = reader.values("prefill_tp", options.get("prefill_tp", ()), [tp])
        decode = reader.values("decode_tp", options.get("decode_tp", ()), [tp])
        pairs += [pair for pair in product(prefill, decode) if pair not in pairs]
    found = []
    for model, encoding, (prefill_tp, decode_tp) in product(
        models_of(reader, options),
        reader.values("kv_dtype", options.get("kv_dtype", ())),
        pairs,
    ):
        found.append(_work(model, encoding, prefill_tp, decode_tp, both_sides))
    return found


def _work(model: Model, encoding: Encoding | None, prefill_tp: int, decode_tp: int, both_sides: bool) -> Work:
    option = "--tp" if prefill_tp == decode_tp else "--decode-tp"
    try:
        check_model_tp(model, decode_tp)
        option = "--prefill-tp" if prefill_tp != decode_tp else option
        check_model_tp(model, prefill_tp)
        if both_sides:
            check_tp_pair(prefill_tp, decode_tp)
        option = "--kv-dtype"
        stored = encoding or parse_kv_dtype(model.dtype if model.kv_dtype == "auto" else model.kv_dtype)
        return stored_work(model, stored, prefill_tp, decode_tp)
    except KvcostError as error:
        raise error.at(option) from None


def stored_work(model: Model, encoding: Encoding, prefill_tp: int, decode_tp: int) -> Work:
    """A model's cache in one format. Raises KvcostError for a format that cannot store one of its layers."""
    layout, flat = kv_layout(model.groups, encoding), kv_layout(model.groups, encoding, hybrid_cache=False)
    return Work(model, encoding, prefill_tp, decode_tp, layout, flat, kv_layers(model))


def contexts(reader: Reader, options: Options) -> list[int]:
    """Every context length. Raises KvcostError when none is given."""
    if not options.get("ctx"):
        raise KvcostError("no context length given", where="--ctx", hint="give one, such as --ctx 4096 or --ctx 1k..128k")
    return reader.values("ctx", options["ctx"])


def engines_of(reader: Reader, options: Options) -> list[Engine]:
    """Engines with the user's block size and hybrid-cache support in place of their own."""
    engines = reader.values("engine", options.get("engine", ())) if options.get("engine") else [reader.catalog.engine(DEFAULT_ENGINE)]
    blocks = reader.values("block_size", options.get("block_size", ()))
    hybrids = reader.values("hybrid_cache", options.get("hybrid_cache", ()))
    return [
        engine._replace(
            block_tokens=engine.block_tokens if block is None else block,
            hybrid_cache=engine.hybrid_cache if hybrid is None else hybrid == "on",
        )
        for engine, block, hybrid in product(engines, blocks, hybrids)
    ]


def _timed(engine: Engine, link: Link, latency_s: float | None, block_given: bool, efficiency_given: bool) -> Engine:
    """The engine on this link: the user's latency is its t0, the user's efficiency holds for it too.

    An engine that cuts nothing by itself posts given blocks at the link's own time per message.
    """
    if latency_s is not None:
        engine = engine._replace(t0_s=latency_s, t0_low_s=latency_s, t0_high_s=latency_s)
    if block_given and engine.name == "line":
        engine = engine._replace(descriptor_s=link.message_s, descriptor_low_s=link.message_s, descriptor_high_s=link.message_s)
    return engine._replace(efficiency=None) if efficiency_given else engine


def paths(reader: Reader, options: Options) -> list[Path]:
    """Every combination of engine, link, rails, overlap and basis.

    Raises KvcostError when neither a link nor a rate is given.
    """
    found = []
    block_given, efficiency_given = bool(options.get("block_size")), bool(options.get("efficiency"))
    for engine, link, rails, latency, overlap, basis, prefill, decode in product(
        engines_of(reader, options),
        links_of(reader, options),
        reader.values("rails", options.get("rails", ())),
        reader.values("latency", options.get("latency", ())),
        reader.values("overlap", options.get("overlap", ())),
        reader.values("basis", options.get("basis", ()), ["achievable"]),
        reader.values("prefill_time", options.get("prefill_time", ())),
        reader.values("decode_step_time", options.get("decode_step_time", ())),
    ):
        if basis == "line-rate" and link.bandwidth_bytes_per_s is None:
            raise KvcostError(f"{link.name} has no published line rate", where="--basis", hint="use --basis achievable")
        if rails is not None and link.scope == "node" and rails > link.rails:
            raise KvcostError(f"{link.name} has {link.rails} rails, not {rails}", where="--rails", hint=f"give at most {link.rails}")
        timed = _timed(engine, link, latency, block_given, efficiency_given)
        found.append(Path(link, rails, timed, overlap or engine.overlap, basis, prefill, decode))
    return found


def measured_s(points: Points, tokens: int) -> float:
    """The measured seconds at a length: given for any length, or between the lengths given."""
    return points[0][1] if points[0][0] == 0 else interpolate(dict(points), tokens)


def held_tokens(share: float | None, ctx: int) -> int:
    """Tokens of a context that a side holds already: a share of it, or a count, at most all of it."""
    if share is None:
        return 0
    return min(share, ctx) if isinstance(share, int) else int(share * ctx + 1e-6)  # 0.29 x 100 is 28.999999999999996
