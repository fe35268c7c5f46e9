"""All options of a question → the works to price and the paths to send them over.

A work is what is sent (model, storage format, tensor-parallel sizes), a path how (link, engine,
overlap). Lists and ranges multiply. Everything that can be refused is refused here, before the
first row is written.
"""

from collections.abc import Sequence
from itertools import product
from math import inf
from typing import NamedTuple

from ..cost.dtypes import Encoding, parse_kv_dtype
from ..cost.kv import KvLayout, kv_layout
from ..cost.measured import interpolate
from ..cost.model import Model, check_model_tp, kv_layers
from ..cost.path import Forwarding, path_link, staged_hops
from ..cost.transfer import Engine, Link, check_tp_pair
from ..errors import KvcostError
from .model_options import Options, model_notices, models_of
from .reading import Reader, user_link

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
    "works",
]

DEFAULT_ENGINE = "vllm-nixl"
# The copy between a GPU and pinned host memory that staging adds at either end.
STAGING_COPY = "host_dram_pcie4"
# Measured seconds by tokens; tokens 0 = at any length.
Points = tuple[tuple[int, float], ...]


class Work(NamedTuple):
    """What is sent, but for its length.

    layout, flat_layout   the cache with window layers as windows, and with every layer at full length
    """

    model: Model
    encoding: Encoding
    prefill_tp: int
    decode_tp: int
    layout: KvLayout
    flat_layout: KvLayout
    layers: int


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
        layout = kv_layout(model.groups, stored)
    except KvcostError as error:
        raise error.at(option) from None
    return Work(model, stored, prefill_tp, decode_tp, layout, kv_layout(model.groups, stored, hybrid_cache=False), kv_layers(model))


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


def _links(reader: Reader, options: Options) -> list[Link]:
    """Links with the user's bandwidth and efficiency in place of their own."""
    links = _named_links(reader, options)
    bandwidths = reader.values("bandwidth", options.get("bandwidth", ()))
    if links == [None] and bandwidths == [None]:
        hint = "give one, such as --link 100gbe or --bandwidth 100Gbps; `kvcost links` lists all"
        raise KvcostError("no link given", where="--link", hint=hint)
    efficiencies = reader.values("efficiency", options.get("efficiency", ()))
    return [_at_efficiency(_at_rate(link, rate), share) for link, rate, share in product(links, bandwidths, efficiencies)]


def _named_links(reader: Reader, options: Options) -> list[Link | None]:
    """The links given by name or rate, and the paths of hops, each staged in host memory where asked."""
    forwardings: list[Forwarding | None] = reader.values("forwarding", options.get("forwarding", ()))
    stagings = reader.values("staging", options.get("staging", ()), ["none"])
    hops: list[tuple[Link, ...]] = [(link,) for link in reader.values("link", options.get("link", ()), [])]
    hops += reader.values("path", options.get("path", ()), [])
    if not hops:
        return [None]
    found: list[Link | None] = []
    for path, staging, forwarding in product(hops, stagings, forwardings):
        whole = path
        if staging == "host":
            copy = reader.catalog.link(STAGING_COPY)
            # A link that is itself a slot of the host is one of the two copies.
            if all(_is_slot(reader, end) for end in (path[0], path[-1])):
                whole = (path[0], path[0]) if len(path) == 1 else path
            else:
                whole = staged_hops(path_link(path, "pipelined"), copy)
        found.append(_forwarded(whole, forwarding))
    return found


def _is_slot(reader: Reader, link: Link) -> bool:
    """Whether a link ends in host memory."""
    return reader.catalog.entries("links").get(link.name, {}).get("kind") in ("pcie", "c2c", "tier")


def _forwarded(hops: Sequence[Link], forwarding: Forwarding | None) -> Link:
    """A path as one link: pipelined unless told otherwise, its low end then one hop after the other."""
    if forwarding is not None or len(hops) == 1:
        return path_link(hops, forwarding or "pipelined")
    slow = path_link(hops, "store-and-forward")
    return path_link(hops, "pipelined")._replace(
        achieved_low_bytes_per_s=slow.achieved_low_bytes_per_s, low_name="one hop after the other, each at its low end"
    )


def _at_rate(link: Link | None, bandwidth: float | None) -> Link:
    """The link with the user's line rate; its efficiency and range keep their shares of it."""
    if link is None or bandwidth == inf or (bandwidth is not None and link.achieved_bytes_per_s == inf):
        return user_link(bandwidth or inf)
    if bandwidth is None:
        return link
    scale = bandwidth / (link.bandwidth_bytes_per_s or link.achieved_bytes_per_s)
    return link._replace(
        bandwidth_bytes_per_s=bandwidth,
        achieved_bytes_per_s=link.achieved_bytes_per_s * scale,
        achieved_low_bytes_per_s=link.achieved_low_bytes_per_s * scale,
        achieved_high_bytes_per_s=min(bandwidth, link.achieved_high_bytes_per_s * scale),
        provenance="user",
        rate_provenance="user",
        source=f"rate given; efficiency of {link.name}: {link.source}",
    )


def _at_efficiency(link: Link, efficiency: float | None) -> Link:
    """The link at the user's efficiency, without a range."""
    if efficiency is None:
        return link
    if link.bandwidth_bytes_per_s is None:
        raise KvcostError(f"{link.name} has no line rate that an efficiency could apply to", where="--efficiency", hint="give --bandwidth as well")
    achieved = link.bandwidth_bytes_per_s * efficiency
    return link._replace(
        achieved_bytes_per_s=achieved,
        achieved_low_bytes_per_s=achieved,
        achieved_high_bytes_per_s=achieved,
        provenance="user",
        source="efficiency given",
        low_name="",
        high_name="",
    )


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
        _links(reader, options),
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
