"""The one-screen answer to a question with a single row."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ..cases.document import Source
from ..units.show import show_bytes, show_flops, show_rate, show_time
from .cells import columns_of
from .plain import Line

__all__ = ["CARDS"]

Row = Mapping[str, Any]
Sources = Mapping[str, Source]


def _title(row: Row) -> str:
    return f"{row['model']}, {row['ctx_tokens']:,} tokens, {row['kv_dtype']} KV"


def _size_lines(row: Row) -> list[Line]:
    lines = [Line("KV held", show_bytes(row["kv_bytes"]), note=f"{row['kv_bytes_per_token']:,} B for one more token")]
    if row["state_bytes"]:
        lines.append(Line("of it constant", show_bytes(row["state_bytes"]), note="does not grow with the context"))
    if row["block_size_tokens"]:
        lines.append(Line("reserved", show_bytes(row["reserved_bytes"]), note=f"in pages of {row['block_size_tokens']} tokens"))
    return lines


def size_card(row: Row, sources: Sources) -> tuple[str, list[Line]]:
    """What a request holds."""
    lines = _size_lines(row)
    if row["tp"] > 1:
        lines.append(Line("on each rank", show_bytes(row["rank_bytes"]), note=f"TP {row['tp']}"))
    if row["params_total"]:
        lines.append(Line("parameters", f"{row['params_total']:,}", note=f"{row['params_active']:,} active per token" if row["params_active"] else ""))
    lines.append(_source_line(sources))
    return _title(row), lines


def _source_line(sources: Sources) -> Line:
    found = next((source for quantity, source in sources.items() if quantity.startswith("kv_bytes_per_token")), None)
    return Line("source", note=f"{found.source} ({found.provenance})" if found else "")


def _span(low: float, high: float) -> str:
    return f"{show_time(low)} to {show_time(high)}" if low != high else ""


def _achievable(row: Row, sources: Sources) -> Line:
    low, high = row["achievable_low_s"], row["achievable_high_s"]
    efficiency = sources["efficiency"]
    note = f"{row['efficiency']:.3g} of line rate" if row["efficiency"] is not None else "no line rate is published"
    named = (low, sources["achieved_high_bytes_per_s"].source), (high, sources["achieved_low_bytes_per_s"].source)
    ends = [f"{show_time(time)}: {name}" for time, name in named if name]
    return Line("achievable", show_time(row["achievable_s"]), _span(low, high), efficiency.provenance, "; ".join([note, *ends]))


def transfer_card(row: Row, sources: Sources) -> tuple[str, list[Line]]:
    """What travels and how long it takes, at line rate, achievable and in an engine."""
    rate, lanes = row["bandwidth_bytes_per_s"], row["lanes"]
    copies = f", {row['replication']:.4g} copies" if row["replication"] != 1 else ""
    held = f"; {row['prefix_hit_tokens']:,} tokens already at the decode side" if row["prefix_hit_tokens"] else ""
    lines = _size_lines(row)
    posted = f"{row['descriptors']:,} descriptors per decode rank" if row["descriptors"] else "not cut into descriptors"
    lines.append(Line("on the wire", show_bytes(row["wire_bytes"]), note=posted + copies + held))
    lines.append(Line(""))
    if row["line_rate_s"] is not None:
        per_rail = "unlimited" if rate is None else f"{show_rate(rate)}, one direction"
        lines.append(Line("at line rate", show_time(row["line_rate_s"]), "", sources["bandwidth_bytes_per_s"].provenance, f"{lanes} x {per_rail}"))
    if not row["wire_bytes"]:
        lines += [Line("nothing to send", note="the decode side holds the whole prompt"), _source_line(sources)]
        return _transfer_title(row), lines
    lines.append(_achievable(row, sources))
    engine = row["engine"]
    t0, per_descriptor = sources["t0_s"], sources["descriptor_s"]
    note = f"{engine}: {show_time(t0.value)} + {row['descriptors']:,} x {show_time(per_descriptor.value)} + the bytes"
    weaker = min((t0.provenance, sources["efficiency"].provenance), key=("estimate", "measured", "user", "spec").index)
    lines.append(Line("in an engine", show_time(row["engine_s"]), _span(row["engine_low_s"], row["engine_high_s"]), weaker, note))
    exposed = row["exposed_s"]
    hidden = "nothing hides it" if row["overlap"] == "serial" else "the rest hides behind compute"
    if row["basis"] != "engine" and row["engine_s"] > 1.2 * row["transfer_s"]:
        hidden += f"; the engine's own time is left out, with it (--basis engine) {show_time(row['engine_s'])}"
    shown = "unknown" if exposed is None else show_time(exposed)
    lines += [Line(""), Line("exposed", shown, note=f"{row['overlap']}, basis {row['basis']}: {hidden}")]
    lines.append(_source_line(sources))
    return _transfer_title(row), lines


def _transfer_title(row: Row) -> str:
    return f"{_title(row)} over {row['link']}, prefill TP {row['prefill_tp']} to decode TP {row['decode_tp']}"


def compute_card(row: Row, sources: Sources) -> tuple[str, list[Line]]:
    """How long a prefill or a step takes, and what bounds it."""
    what = (
        f"prefill of {row['batch']} x {row['ctx_tokens']:,} tokens"
        if row["phase"] == "prefill"
        else f"decode step of {row['batch']} at {row['ctx_tokens']:,} tokens"
    )
    gpus = row["tp"] * row["pp"]
    cached = f"{row['cached_tokens']:,} of each prompt cached" if row["cached_tokens"] else ""
    fitted = "constants fitted to measurements" if row["provenance"] == "measured" else "constants of a relative"
    bound = "given" if row["bound"] == "measured" else f"modelled, {fitted}; bound by {row['bound']}"
    source = next(iter(sources.values()), None)
    lines = [
        Line("time", show_time(row["time_s"]), _span(row["time_low_s"], row["time_high_s"]), row["provenance"], "; ".join(filter(None, (bound, cached)))),
        Line("arithmetic", show_flops(row["flops"]), note=f"all {gpus} GPUs together" if gpus > 1 else ""),
        Line("memory read", show_bytes(round(row["bytes_read"])), note="weights and cache"),
        Line("source", note=f"{source.of}: {source.source}" if source else ""),
    ]
    layout = f"{gpus} x {row['gpu']}, TP {row['tp']}" + (f", PP {row['pp']}" if row["pp"] > 1 else "")
    return f"{row['model']}, {what}, {row['weight_dtype']} weights, {row['kv_dtype']} KV on {layout}", lines


def entry_card(row: Row, sources: Sources) -> tuple[str, list[Line]]:  # noqa: ARG001
    """A catalog entry, key by key."""
    shown = columns_of(list(row), [list(row.values())])
    title, *rest = shown
    return title.cells[0], [Line(column.heading, column.cells[0]) for column in rest if column.cells[0] not in ("", "-")]


Card = Callable[[Row, Sources], tuple[str, list[Line]]]
CARDS: dict[str, Card] = {
    "size": size_card,
    "transfer": transfer_card,
    "compute": compute_card,
    "gpus": entry_card,
    "models": entry_card,
    "links": entry_card,
    "engines": entry_card,
    "techniques": entry_card,
    "explain": entry_card,
}
