"""`transfer`: how long a request's KV takes over a link, and what of it is exposed."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from ..cost.kv import WireBytes, held_bytes, marginal_bytes, reserved_bytes, state_bytes, wire_bytes
from ..cost.overlap import exposed_time
from ..cost.transfer import Engine, LinkTimes, lanes_of, link_times
from ..errors import Notice
from .document import Source, keyed
from .plan import Options, Path, Work, held_tokens, measured_s, model_notices, paths, works
from .reading import Reader
from .size import model_sources

__all__ = ["TRANSFER_OPTIONS", "TransferQuestion", "TransferRow"]

TRANSFER_OPTIONS = (
    *("model", "ctx", "kv_dtype", "state_dtype", "encoder_tokens", "block_size", "hybrid_cache", "prefix_hit"),
    *("link", "path", "staging", "forwarding", "rails", "bandwidth", "efficiency", "latency", "engine", "overlap", "basis"),
    *("tp", "prefill_tp", "decode_tp", "prefill_time", "decode_step_time"),
)


class TransferRow(NamedTuple):
    """One request over one path.

    kv_bytes is held, reserved_bytes set aside in pages, wire_bytes sent to all decode ranks.
    bandwidth_bytes_per_s is one rail, one direction; None = unlimited, or no published line rate.
    transfer_s is the figure of `basis`, with its range; exposed_s what `overlap` leaves of it.
    """

    model: str
    ctx_tokens: int
    kv_dtype: str
    kv_bytes: int
    kv_bytes_per_token: int
    state_bytes: int
    reserved_bytes: int
    block_size_tokens: int
    params_total: int | None
    params_active: int | None
    link: str
    rails: int
    prefill_tp: int
    decode_tp: int
    prefix_hit_tokens: int
    wire_bytes: int
    replication: float
    descriptors: int
    bandwidth_bytes_per_s: float | None
    efficiency: float | None
    line_rate_s: float | None
    achievable_s: float
    engine_s: float
    transfer_s: float
    transfer_low_s: float
    transfer_high_s: float
    basis: str
    exposed_s: float | None
    engine: str
    overlap: str
    lanes: int
    provenance: str
    achievable_low_s: float
    achievable_high_s: float
    engine_low_s: float
    engine_high_s: float


class _Cut(NamedTuple):
    """How an engine cuts the cache; paths of equal cut send equal bytes."""

    block_tokens: int
    regions: int
    layers_share_blocks: bool
    hybrid_cache: bool


class _Send(NamedTuple):
    """A path with what does not change from request to request worked out; lanes and rails for one pair of TP sizes."""

    path: Path
    cut: int
    lanes: int
    rails: int
    bandwidth: float | None
    efficiency: float | None
    provenance: str


class _Cached(NamedTuple):
    """A request's byte counts under one cut."""

    held: int
    marginal: int
    state: int
    reserved: int
    wire: WireBytes


_WEAKEST = ("estimate", "measured", "user", "spec")


def _provenance(path: Path) -> str:
    """That of the headline figure: the weaker of link and engine where both take part."""
    if path.basis == "line-rate":
        return path.link.rate_provenance
    if path.basis == "achievable":
        return path.link.provenance
    return min((path.link.provenance, path.engine.provenance), key=_WEAKEST.index)


def _sends(planned: Sequence[Path]) -> tuple[list[_Send], list[_Cut]]:
    """The paths, prepared, and the distinct cuts among them."""
    cuts: dict[_Cut, int] = {}
    sends = []
    for path in planned:
        engine, link = path.engine, path.link
        cut = _Cut(engine.block_tokens, engine.regions, engine.layers_share_blocks, engine.hybrid_cache)
        bandwidth = None if link.bandwidth_bytes_per_s == float("inf") else link.bandwidth_bytes_per_s
        sends.append(_Send(path, cuts.setdefault(cut, len(cuts)), 1, 1, bandwidth, link.efficiency, _provenance(path)))
    return sends, list(cuts)


def _cached(work: Work, ctx: int, prefix: int, cut: _Cut) -> _Cached:
    layout = work.layout if cut.hybrid_cache else work.flat_layout
    wire = wire_bytes(
        layout,
        ctx,
        prefix_hit_tokens=prefix,
        prefill_tp=work.prefill_tp,
        decode_tp=work.decode_tp,
        block_tokens=cut.block_tokens,
        regions=cut.regions,
        layers_share_blocks=cut.layers_share_blocks,
    )
    return _Cached(held_bytes(layout, ctx), marginal_bytes(layout, ctx), state_bytes(layout), reserved_bytes(layout, ctx, cut.block_tokens), wire)


def _headline(times: LinkTimes, basis: str) -> tuple[float, float, float]:
    if basis == "achievable":
        return times.achievable_s, times.achievable_low_s, times.achievable_high_s
    if basis == "engine":
        return times.engine_s, times.engine_low_s, times.engine_high_s
    line_rate = times.line_rate_s or 0.0
    return line_rate, line_rate, line_rate


def _overlap(engine: Engine, overlap: str, ctx: int) -> str:
    """The overlap that the engine uses at this length: some push only from a length on."""
    return "serial" if overlap == "push" and ctx < engine.push_from_tokens else overlap


def _on_lanes(send: _Send, work: Work) -> _Send:
    lanes, rails = lanes_of(send.path.link, send.path.rails, work.prefill_tp, work.decode_tp)
    return send._replace(lanes=lanes, rails=rails)


def _row(work: Work, ctx: int, prefix: int, cached: _Cached, cut: _Cut, send: _Send) -> tuple[Any, ...]:
    """The values of a TransferRow, as the plain tuple that costs a sweep of a million rows a fraction of the record."""
    path = send.path
    wire = cached.wire
    times = link_times(path.link, path.engine, wire.wire_bytes, send.lanes, wire.descriptors)
    transfer_s, low_s, high_s = _headline(times, path.basis)
    overlap = path.overlap
    exposed_s: float | None = transfer_s
    if overlap != "serial":
        overlap = _overlap(path.engine, overlap, ctx)
        exposed_s = exposed_time(
            overlap,
            transfer_s,
            work.layers,
            prefill_s=None if path.prefill_times is None else measured_s(path.prefill_times, ctx),
            decode_step_s=path.decode_step_s,
            floor_s=path.engine.push_floor_s,
        )
    model = work.model
    return (
        model.name,
        ctx,
        work.encoding.name,
        cached.held,
        cached.marginal,
        cached.state,
        cached.reserved,
        cut.block_tokens,
        model.params_total,
        model.params_active,
        path.link.name,
        send.rails,
        work.prefill_tp,
        work.decode_tp,
        prefix,
        wire.wire_bytes,
        wire.replication,
        wire.descriptors,
        send.bandwidth,
        send.efficiency,
        times.line_rate_s,
        times.achievable_s,
        times.engine_s,
        transfer_s,
        low_s,
        high_s,
        path.basis,
        exposed_s,
        path.engine.name,
        overlap,
        send.lanes,
        send.provenance,
        times.achievable_low_s,
        times.achievable_high_s,
        times.engine_low_s,
        times.engine_high_s,
    )


def path_sources(sent: Sequence[Path]) -> dict[str, Source]:
    """Where the rates, efficiencies and engine times come from."""
    links = {path.link.name: path.link for path in sent}
    engines = {path.engine.name: path.engine for path in sent}
    found = {}
    for name, link in links.items():
        rate = None if link.bandwidth_bytes_per_s == float("inf") else link.bandwidth_bytes_per_s
        nominal = link.rate_provenance
        found[keyed("bandwidth_bytes_per_s", name, len(links))] = Source(rate, nominal, link.source, name)
        found[keyed("efficiency", name, len(links))] = Source(link.efficiency, link.provenance, link.source, name)
        for end, value, what in (("low", link.achieved_low_bytes_per_s, link.low_name), ("high", link.achieved_high_bytes_per_s, link.high_name)):
            shown = None if value == float("inf") else value
            found[keyed(f"achieved_{end}_bytes_per_s", name, len(links))] = Source(shown, link.provenance, what, name)
    for name, engine in engines.items():
        found[keyed("t0_s", name, len(engines))] = Source(engine.t0_s, engine.provenance, engine.source, name)
        found[keyed("descriptor_s", name, len(engines))] = Source(engine.descriptor_s, engine.provenance, engine.source, name)
    return found


class TransferQuestion:
    """Works, prefix hits and paths; rows in the order model, KV dtype, TP, context, prefix hit, path."""

    command = "transfer"

    def __init__(self, reader: Reader, options: Options, explain: bool = False) -> None:
        self.explain = explain
        self.columns = (*TransferRow._fields, "terms") if explain else TransferRow._fields
        self.works = works(reader, options)
        self.hits: list[float | None] = reader.values("prefix_hit", options.get("prefix_hit", ()))
        self.paths = paths(reader, options)
        self.sends, self.cuts = _sends(self.paths)

    def count(self, lengths: Sequence[int]) -> int:
        """Rows at these lengths."""
        return len(self.works) * len(lengths) * len(self.hits) * len(self.paths)

    def rows(self, lengths: Sequence[int]) -> Iterator[tuple[Any, ...]]:
        """The rows: the values of a TransferRow each."""
        return (row for _, _, row in self.priced(lengths))

    def priced(self, lengths: Sequence[int]) -> Iterator[tuple[Work, Path, tuple[Any, ...]]]:
        """The rows with the work and the path that they price."""
        sends, cuts = self.sends, self.cuts
        for work in self.works:
            on_lanes = [_on_lanes(send, work) for send in sends]
            for ctx in lengths:
                for hit in self.hits:
                    prefix = held_tokens(hit, ctx)
                    cached = [_cached(work, ctx, prefix, cut) for cut in cuts]
                    for send in on_lanes:
                        row = _row(work, ctx, prefix, cached[send.cut], cuts[send.cut], send)
                        yield work, send.path, (*row, self._terms(work, TransferRow._make(row), send.path)) if self.explain else row

    def _terms(self, work: Work, row: TransferRow, path: Path) -> list[Any]:
        from .terms import size_terms, transfer_terms

        layout = work.layout if path.engine.hybrid_cache else work.flat_layout
        held = size_terms(layout, work.encoding, row.ctx_tokens, row.kv_bytes, work.model.provenance)
        return held + transfer_terms(path.link, path.engine, row.wire_bytes, row.lanes, row.descriptors, row.engine_s)

    def notices(self, lengths: Sequence[int]) -> list[Notice]:
        """Assumptions, lengths beyond a model's limit, prefix hits beyond a length, overlap that cannot be priced."""
        notices = model_notices([work.model for work in self.works], max(lengths))
        if any(isinstance(hit, int) and hit > min(lengths) for hit in self.hits):
            message = "the prefix hit exceeds a context length; there the whole prompt counts as held"
            notices.append(Notice("prefix-hit-clamped", message, "give a share such as 50%"))
        notices += self._rail_notices()
        for overlap, option, missing in (("push", "--prefill-time", "prefill_times"), ("decode-start", "--decode-step-time", "decode_step_s")):
            if any(path.overlap == overlap and getattr(path, missing) is None for path in self.paths):
                notices.append(Notice("exposed-unknown", f"what {overlap} hides depends on the compute time, which is not known", f"give {option}"))
        return notices

    def _rail_notices(self) -> list[Notice]:
        """Ports that several ranks share unless told otherwise, and rails that no rank can use."""
        ranks = max(min(work.prefill_tp, work.decode_tp) for work in self.works)
        found = []
        for path in self.paths:
            if path.link.scope == "port" and path.rails is None and ranks > 1 and path.link.bandwidth_bytes_per_s != float("inf"):
                found.append(Notice("one-port", f"{ranks} ranks share one port of {path.link.name}", f"give --rails {ranks} if every rank has its own"))
            if path.rails is not None and path.rails > ranks:
                found.append(Notice("rails-unused", f"{path.rails} rails, but {ranks} {'ranks send' if ranks > 1 else 'rank sends'}: one rail each", ""))
        return list(dict.fromkeys(found))

    def sources(self, lengths: Sequence[int]) -> dict[str, Source]:
        """Models, links and engines."""
        return {**model_sources(self.works, lengths[0]), **path_sources(self.paths)}
