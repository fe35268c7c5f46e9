"""One request over one path: its bytes under the engine's cut, its three times, what is exposed of them."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil
from typing import Any, NamedTuple

from ..cost.kv import KvLayout, held_bytes, marginal_bytes, reserved_bytes, state_bytes
from ..cost.overlap import exposed_time, overlap_used
from ..cost.transfer import LinkTimes, lanes_of, link_times
from ..cost.wire import WireBytes, wire_bytes
from .plan import Path, Work, measured_s

__all__ = ["TransferRow", "cached", "on_lanes", "one_row", "row_of", "sends_of", "with_exposed", "with_time"]


class TransferRow(NamedTuple):
    """One request over one path.

    kv_bytes is held, reserved_bytes set aside in pages, wire_bytes sent to all decode ranks.
    bandwidth_bytes_per_s is one rail, one direction; None = unlimited, or no published line rate.
    transfer_s is the figure of `basis`, with its range and any codec's time; exposed_s what `overlap` leaves of it.
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
    """A request's byte counts under one cut, and the time of its codec."""

    held: int
    marginal: int
    state: int
    reserved: int
    wire: WireBytes
    codec_s: float


_WEAKEST = ("estimate", "measured", "user", "spec")


def _provenance(path: Path) -> str:
    """That of the headline figure: the weaker of link and engine where both take part."""
    if path.basis == "line-rate":
        return path.link.rate_provenance
    if path.basis == "achievable":
        return path.link.provenance
    return min((path.link.provenance, path.engine.provenance), key=_WEAKEST.index)


def sends_of(planned: Sequence[Path]) -> tuple[list[_Send], list[_Cut]]:
    """The paths, prepared, and the distinct cuts among them."""
    cuts: dict[_Cut, int] = {}
    sends = []
    for path in planned:
        engine, link = path.engine, path.link
        cut = _Cut(engine.block_tokens, engine.regions, engine.layers_share_blocks, engine.hybrid_cache)
        bandwidth = None if link.bandwidth_bytes_per_s == float("inf") else link.bandwidth_bytes_per_s
        sends.append(_Send(path, cuts.setdefault(cut, len(cuts)), 1, 1, bandwidth, link.efficiency, _provenance(path)))
    return sends, list(cuts)


def _wire(work: Work, layout: KvLayout, ctx: int, prefix: int, cut: _Cut) -> WireBytes:
    return wire_bytes(
        layout,
        ctx,
        prefix_hit_tokens=prefix,
        prefill_tp=work.prefill_tp,
        decode_tp=work.decode_tp,
        block_tokens=cut.block_tokens,
        regions=cut.regions,
        layers_share_blocks=cut.layers_share_blocks,
    )


def _coded(work: Work, wire: WireBytes, ctx: int, prefix: int, cut: _Cut) -> tuple[WireBytes, float]:
    """What the work's codec leaves of the bytes, rounded up, and its time: it touches all layers but those named."""
    codec = work.codec
    if codec is None or not wire.wire_bytes:
        return wire, 0.0
    kept = 0 if work.untouched is None else _wire(work, work.untouched, ctx, prefix, cut).wire_bytes
    coded = wire.wire_bytes - kept
    left = wire._replace(wire_bytes=kept + ceil(coded * codec.share(ctx, prefix)), descriptors=ceil(wire.descriptors * codec.pages))
    return left, codec.codec_s + codec.codec_s_per_byte * coded


def cached(work: Work, ctx: int, prefix: int, cut: _Cut) -> _Cached:
    """A request's byte counts under one cut."""
    layout = work.layout if cut.hybrid_cache else work.flat_layout
    wire, codec_s = _coded(work, _wire(work, layout, ctx, prefix, cut), ctx, prefix, cut)
    return _Cached(held_bytes(layout, ctx), marginal_bytes(layout, ctx), state_bytes(layout), reserved_bytes(layout, ctx, cut.block_tokens), wire, codec_s)


def _headline(times: LinkTimes, basis: str) -> tuple[float, float, float]:
    if basis == "achievable":
        return times.achievable_s, times.achievable_low_s, times.achievable_high_s
    if basis == "engine":
        return times.engine_s, times.engine_low_s, times.engine_high_s
    line_rate = times.line_rate_s or 0.0
    return line_rate, line_rate, line_rate


def on_lanes(send: _Send, work: Work) -> _Send:
    """The path with the rails that this work uses; what was measured on one port is an estimate for several."""
    link = send.path.link
    lanes, rails = lanes_of(link, send.path.rails, work.prefill_tp, work.decode_tp)
    carried_over = lanes > 1 and link.scope == "port" and send.provenance == "measured"
    return send._replace(lanes=lanes, rails=rails, provenance="estimate" if carried_over else send.provenance)


def row_of(work: Work, ctx: int, prefix: int, found: _Cached, cut: _Cut, send: _Send) -> tuple[Any, ...]:
    """The values of a TransferRow, as the plain tuple that costs a sweep of a million rows a fraction of the record."""
    path = send.path
    wire = found.wire
    times = link_times(path.link, path.engine, wire.wire_bytes, send.lanes, wire.descriptors)
    transfer_s, low_s, high_s = _headline(times, path.basis)
    if found.codec_s:
        transfer_s, low_s, high_s = transfer_s + found.codec_s, low_s + found.codec_s, high_s + found.codec_s
    overlap = path.overlap
    exposed_s: float | None = transfer_s
    if overlap != "serial":
        overlap = overlap_used(overlap, ctx, path.engine.push_from_tokens)
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
        found.held,
        found.marginal,
        found.state,
        found.reserved,
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


def one_row(work: Work, path: Path, ctx: int, prefix: int) -> tuple[TransferRow, float]:
    """One request over one path, and the seconds of its transfer that a codec takes."""
    (send,), (cut,) = sends_of([path])
    found = cached(work, ctx, prefix, cut)
    return TransferRow._make(row_of(work, ctx, prefix, found, cut, on_lanes(send, work))), found.codec_s


def with_time(row: TransferRow, transfer_s: float | None) -> TransferRow:
    """The row with a measured transfer in place of the priced one; all of it exposed until `with_exposed` says otherwise."""
    if transfer_s is None:
        return row
    return row._replace(transfer_s=transfer_s, transfer_low_s=transfer_s, transfer_high_s=transfer_s, exposed_s=transfer_s, provenance="user")


def with_exposed(row: TransferRow, path: Path, layers: int, new_tokens: int, prefill_s: float | None, decode_step_s: float | None) -> TransferRow:
    """The row with what these compute times leave exposed of its transfer, for a prompt of which `new_tokens` are computed."""
    overlap = overlap_used(path.overlap, new_tokens, path.engine.push_from_tokens)
    exposed = exposed_time(overlap, row.transfer_s, layers, prefill_s=prefill_s, decode_step_s=decode_step_s, floor_s=path.engine.push_floor_s)
    return row._replace(overlap=overlap, exposed_s=exposed)
