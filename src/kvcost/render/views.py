"""What a person sees of a document: a card for one row, a table of what differs for many."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..cases.document import Document, Source
from ..units.show import show_rate, show_significant, show_time
from .cards import CARDS
from .cells import Column, columns_of
from .plain import Line, Screen

__all__ = ["show_document"]

# What a table of many rows shows unless columns are chosen. With a mark: only where rows differ in it;
# what they share stands once above the table.
_TABLES: dict[str, tuple[str, ...]] = {
    "size": (
        "model?",
        "ctx_tokens",
        "kv_dtype?",
        "kv_bytes",
        "kv_bytes_per_token",
        "state_bytes?",
        "reserved_bytes",
        "block_size_tokens?",
        "tp?",
        "rank_bytes?",
    ),
    "transfer": (
        *("model?", "ctx_tokens", "kv_dtype?", "prefill_tp?", "decode_tp?", "prefix_hit_tokens?", "link", "rails?", "engine?", "overlap?", "basis?"),
        *("wire_bytes", "line_rate_s", "achievable_s", "achievable_low_s", "achievable_high_s", "engine_s", "exposed_s", "provenance"),
    ),
    "breakeven": (
        *("model?", "ctx_tokens?", "kv_dtype?", "link?", "bandwidth_bytes_per_s?", "engine?", "gpu?", "osl_tokens?", "rate_per_s?", "concurrency?"),
        *("ttft_mono_s", "ttft_disagg_s", "tpot_mono_s", "tpot_disagg_s", "net_gain_s", "link_utilisation", "verdict"),
    ),
    "compute": (
        *("model?", "gpu?", "tp?", "pp?", "attention_dp?", "weight_dtype?", "kv_dtype?", "engine?", "phase?", "batch?", "ctx_tokens", "cached_tokens?"),
        *("time_s", "time_low_s", "time_high_s", "bound", "provenance"),
    ),
}
_LISTS = {
    "explain": ("quantity", "meaning"),
    "models": ("model", "layers", "bf16_bytes_per_token", "state_bytes", "context_limit_tokens", "params_total", "confidence"),
    "links": ("link", "per", "rails", "bandwidth_bytes_per_s", "achieved_bytes_per_s", "achieved_low_bytes_per_s", "achieved_high_bytes_per_s", "confidence"),
    "gpus": (
        "gpu",
        "bf16_flops_per_s",
        "fp8_flops_per_s",
        "hbm_bytes",
        "hbm_bytes_per_s",
        "scaleup_bytes_per_s",
        "peer_bytes_per_s",
        "constants",
        "confidence",
    ),
    "engines": ("engine", "t0_s", "t0_low_s", "t0_high_s", "descriptor_s", "block_tokens", "regions", "overlap", "first_token", "confidence"),
}
# What a narrow terminal shows in a second table, the least urgent first, and what names a row in both.
_CAN_WAIT = (
    *("achievable_low_s", "achievable_high_s", "time_low_s", "time_high_s", "achieved_low_bytes_per_s", "achieved_high_bytes_per_s"),
    *("t0_low_s", "t0_high_s", "state_bytes", "provenance", "reserved_bytes", "peer_bytes_per_s", "rails", "regions", "constants", "confidence"),
)
_KEYS = ("model", "ctx_tokens", "kv_dtype", "link", "engine", "gpu", "phase", "batch")
_SHARED = (
    "model",
    "gpu",
    "weight_dtype",
    "kv_dtype",
    "prefill_tp",
    "decode_tp",
    "tp",
    "pp",
    "phase",
    "batch",
    "engine",
    "overlap",
    "block_size_tokens",
    "ctx_tokens",
    "link",
    "osl_tokens",
    "rate_per_s",
    "concurrency",
)


def show_document(document: Document, columns: tuple[str, ...], rows: Sequence[tuple[Any, ...]], screen: Screen, *, chosen: bool) -> None:
    """Print the card of a single answer, or a table; `chosen` columns are shown as they are."""
    card = CARDS.get(document.command)
    if not chosen and document.command == "check":
        from .checks import show_checks

        show_checks([dict(zip(columns, row, strict=True)) for row in rows], document.inputs.get("summary", ""), screen)
    elif not chosen and document.command == "breakeven" and rows:
        _breakeven(document, columns, rows, screen)
    elif not chosen and card is not None and len(rows) == 1 and document.total is not None:  # rows of a case file have no sources
        title, lines = card(dict(zip(columns, rows[0], strict=True)), document.sources())
        screen.text(title, "bold")
        screen.text("")
        screen.card(lines)
    elif rows:
        fields = [field for field in columns if field != "terms"] if chosen else [*document.passed, *_shown(document.command, columns, rows, screen)]
        _table(fields, columns, rows, screen, chosen=chosen)
        if not chosen:
            _footnotes(document.sources(), screen)
    if "terms" in columns:
        for row in rows:
            _explain(dict(zip(columns, row, strict=True)), screen)


def _breakeven(document: Document, columns: tuple[str, ...], rows: Sequence[tuple[Any, ...]], screen: Screen) -> None:
    """One answer in full, a grid over two axes as a picture, anything else as a table."""
    from .comparison import show_breakeven
    from .heatmap import axes_of, show_heatmap

    if len(rows) == 1:
        show_breakeven(dict(zip(columns, rows[0], strict=True)), document.sources(), screen)
        return
    axes = axes_of(columns, rows)
    if axes is not None:
        _say_shared(columns, rows, screen)
        show_heatmap(axes, columns, rows, screen)
    else:
        _table([*document.passed, *_shown("breakeven", columns, rows, screen)], columns, rows, screen, chosen=False)
    _footnotes(document.sources(), screen)


def _table(fields: list[str], columns: tuple[str, ...], rows: Sequence[tuple[Any, ...]], screen: Screen, *, chosen: bool) -> None:
    """The fields as a table; on a narrow terminal as two, the second with what can wait, where that makes them fit."""
    places = [columns.index(field) for field in fields]
    table = dict(zip(fields, columns_of(fields, [[row[place] for place in places] for row in rows]), strict=True))
    later = [] if chosen or screen.width is None else _later(table, screen.width)
    screen.table([column for field, column in table.items() if field not in later])
    if later:
        screen.text("")
        screen.table([column for field, column in table.items() if field in later or field in _KEYS])


def _later(table: Mapping[str, Column], width: int) -> list[str]:
    """The fewest fields that can wait for a second table and without which the first fits; none where neither helps."""
    needs = {field: 2 + max(len(text) for text in (column.heading, *column.cells)) for field, column in table.items()}
    later: list[str] = []
    for field in ("", *(field for field in _CAN_WAIT if field in needs)):
        later += [field] if field else []
        fits = sum(need for name, need in needs.items() if name not in later) - 2 <= width
        if fits and sum(needs[name] for name in needs if name in later or name in _KEYS) - 2 <= width:
            return later
    return []


def _varied(columns: tuple[str, ...], rows: Sequence[tuple[Any, ...]]) -> set[str]:
    """The fields in which rows differ."""
    first = rows[0]
    return {field for place, field in enumerate(columns) if field != "terms" and any(row[place] != first[place] for row in rows)}


def _say_shared(columns: tuple[str, ...], rows: Sequence[tuple[Any, ...]], screen: Screen, table: Sequence[str] = ()) -> None:
    """Print above a table what all rows have in common and no column of it says."""
    said = {*_varied(columns, rows), *table}
    shared = [(field, rows[0][columns.index(field)]) for field in _SHARED if field in columns and field not in said]
    screen.text(", ".join(f"{field.removesuffix('_tokens').removesuffix('_per_s').replace('_', ' ')} {value}" for field, value in shared if value is not None))
    screen.text("")


def _shown(command: str, columns: tuple[str, ...], rows: Sequence[tuple[Any, ...]], screen: Screen) -> list[str]:
    """The fields of a command's table; what all rows share is said above it."""
    table = _TABLES.get(command)
    if table is None:
        return list(_LISTS.get(command, columns))
    _say_shared(columns, rows, screen, table)
    varied = _varied(columns, rows)
    fields = [field.removesuffix("?") for field in table if not field.endswith("?") or field[:-1] in varied]
    if "exposed_s" in fields and all(row[columns.index("overlap")] == "serial" for row in rows):
        fields.remove("exposed_s")
    return fields


def _footnotes(sources: Mapping[str, Source], screen: Screen) -> None:
    """Below a table: the values that it rests on, an entry a line, and where they are from."""
    if not sources:
        return
    screen.text("")
    entries: dict[str, list[tuple[str, Source]]] = {}
    for quantity, source in sources.items():
        entries.setdefault(source.of, []).append((quantity.partition("[")[0], source))
    for entry, found in entries.items():
        known = [(quantity, source) for quantity, source in found if source.value is not None and source.source]
        figures = ", ".join(f"{_name(quantity)} {_value(quantity, source)} ({source.provenance})" for quantity, source in known)
        if figures:
            screen.text(f"{entry}: {figures}; {found[0][1].source}", "dim")


def _name(quantity: str) -> str:
    for suffix in ("_bytes_per_s", "_s"):
        if quantity.endswith(suffix):
            return quantity.removesuffix(suffix).replace("_", " ")
    return quantity.replace("_", " ")


def _value(quantity: str, source: Source) -> str:
    if quantity.endswith("_bytes_per_s"):
        ends = f", {source.source}" if quantity.startswith("achieved") else ""
        return show_rate(source.value) + ends
    if quantity.endswith("_s"):
        return show_time(source.value)
    if isinstance(source.value, str):
        return source.value
    return f"{source.value:,}" if isinstance(source.value, int) else show_significant(source.value)


def _explain(row: Mapping[str, Any], screen: Screen) -> None:
    screen.text("")
    screen.text(f"{row['model']}, {row['ctx_tokens']:,} tokens" + (f", {row['link']}" if "link" in row else "") + ": term by term", "bold")
    lines = []
    for term in row["terms"]:
        value = show_time(term["value"]) if term["unit"] == "s" else f"{term['value']:,} {term['unit']}"
        share = "" if term["share"] is None else f"{term['share']:.1%}"
        lines.append(Line("  " + term["term"], value, share, term["provenance"], term["formula"]))
    screen.card(lines)
