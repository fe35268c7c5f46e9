"""Rows of base units → columns of text, one unit a column, told by the end of the field's name."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from ..units.show import pick_unit, show_significant

__all__ = ["Column", "columns_of", "harmless"]


class Column(NamedTuple):
    """A heading and the cells below it."""

    heading: str
    cells: list[str]
    right: bool


_QUANTITIES = (("_bytes_per_s", "rate"), ("_flops_per_s", "flops_rate"), ("_bytes", "bytes"), ("_s", "time"))
_PER_SECOND = ("rate_per_s",)
# A name from somebody's file must not move the cursor or break a line.
_CONTROLS = dict.fromkeys([*range(32), *range(127, 160)], "?")
# Headings that say more than the field's name.
LABELS = {
    "ctx_tokens": "ctx",
    "achievable_low_s": "from",
    "achievable_high_s": "to",
    "time_low_s": "from",
    "time_high_s": "to",
    "transfer_low_s": "from",
    "transfer_high_s": "to",
    "engine_s": "in engine",
    "wire_bytes": "on wire",
    "kv_bytes": "held",
    "kv_fraction": "share",
    "codec_budget_s": "codec budget",
    "codec_worth": "codec worth it",
    "breakeven_saved_s": "to be saved",
    "bandwidth_bytes_per_s": "line",
}


def harmless(text: str) -> str:
    """The text on one line, control characters written out: a file's words do not steer the terminal."""
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else char.encode("unicode_escape", "surrogatepass").decode() for char in text)


def _plain(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return show_significant(value)
    return _words(value).translate(_CONTROLS)


def _words(value: Any) -> str:
    """Text, words of which one holds, or keys with their values, as a person would write them."""
    if isinstance(value, dict):
        return ", ".join(f"{key}: {{{_words(item)}}}" if isinstance(item, dict) else f"{key}: {item}" for key, item in value.items())
    if isinstance(value, list | tuple) and all(isinstance(item, str) for item in value):
        return " or ".join(value) or "-"
    return str(value)


def _scaled(size: float) -> Callable[[Any], str]:
    return lambda value: "-" if value is None else show_significant(value / size)


def _quantity(field: str) -> tuple[str, str]:
    """Label and quantity of a field in base units; no quantity where the number is shown as it is."""
    for suffix, quantity in _QUANTITIES:
        if field.endswith(suffix) and field not in _PER_SECOND:
            return field.removesuffix(suffix), quantity
    return field, ""


def columns_of(fields: Sequence[str], rows: Sequence[Sequence[Any]]) -> list[Column]:
    """The columns of all fields: `transfer_s` → heading "transfer ms" and cells in ms.

    Fields of one quantity (times, bytes, rates) share one unit, so that cells compare across columns.
    """
    values = [[row[place] for row in rows] for place in range(len(fields))]
    pooled: dict[str, list[float]] = {}
    for field, cells in zip(fields, values, strict=True):
        pooled.setdefault(_quantity(field)[1], []).extend(cell for cell in cells if isinstance(cell, int | float))
    units = {quantity: pick_unit(quantity, numbers) for quantity, numbers in pooled.items() if quantity}
    named = [LABELS[field] for field in fields if field in LABELS]
    labels = {field: LABELS[field] for field in fields if field in LABELS and named.count(LABELS[field]) == 1}
    return [_column(field, cells, units, labels) for field, cells in zip(fields, values, strict=True)]


def _column(field: str, cells: Sequence[Any], units: Mapping[str, tuple[str, float]], labels: Mapping[str, str]) -> Column:
    label, quantity = _quantity(field)
    unit = ""
    show: Callable[[Any], str] = _plain
    if quantity:
        unit, size = units[quantity]
        show = _scaled(size)
    elif field.endswith("_tokens"):
        label, unit = field.removesuffix("_tokens"), "tokens"
    elif field.endswith("_bytes_per_token"):
        label, unit = field.removesuffix("_bytes_per_token"), "B/token"
    label = labels.get(field, label.replace("_", " "))
    numeric = any(isinstance(cell, int | float) for cell in cells)
    return Column(f"{label} {unit}".rstrip(), [show(cell) for cell in cells], numeric)
