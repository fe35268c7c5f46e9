"""Two axes as a grid: a letter for the verdict and the gain, readable without colour."""

from collections.abc import Mapping, Sequence
from typing import Any

from ..units.show import pick_unit, show_significant
from .cells import Column, columns_of
from .plain import Screen

__all__ = ["axes_of", "show_heatmap"]

_AXES = (
    "model",
    "kv_dtype",
    "engine",
    "gpu",
    "prefill_tp",
    "decode_tp",
    "link",
    "bandwidth_bytes_per_s",
    "ctx_tokens",
    "osl_tokens",
    "rate_per_s",
    "concurrency",
)
_LETTERS = {"disaggregate": "D", "mixed": "m", "colocate": "c", "infeasible": "x", "unknown": ""}
_LEAST_CELLS = 6


def axes_of(columns: Sequence[str], rows: Sequence[tuple[Any, ...]]) -> tuple[str, str] | None:
    """The two fields that span the rows as a full grid; None where they do not."""
    varied = [field for field in _AXES if field in columns and len({row[columns.index(field)] for row in rows}) > 1]
    if "link" in varied and "bandwidth_bytes_per_s" in varied:
        varied.remove("bandwidth_bytes_per_s")
    if len(varied) != 2 or len(rows) < _LEAST_CELLS:
        return None
    sizes = [len({row[columns.index(field)] for row in rows}) for field in varied]
    return (varied[0], varied[1]) if sizes[0] * sizes[1] == len(rows) else None


def _labels(field: str, values: Sequence[Any]) -> list[str]:
    return columns_of([field], [[value] for value in values])[0].cells


def show_heatmap(axes: tuple[str, str], columns: Sequence[str], rows: Sequence[tuple[Any, ...]], screen: Screen) -> None:
    """Print verdicts and net gains over two axes; the saving that is needed where there is no verdict."""
    across, down = axes if len({row[columns.index(axes[0])] for row in rows}) <= len({row[columns.index(axes[1])] for row in rows}) else axes[::-1]
    xs, ys = (list(dict.fromkeys(row[columns.index(field)] for row in rows)) for field in (across, down))
    gain, verdict, saved = (columns.index(field) for field in ("net_gain_s", "verdict", "breakeven_saved_s"))
    known = any(row[gain] is not None or row[verdict] != "unknown" for row in rows)
    value = gain if known else saved
    unit, size = pick_unit("time", [row[value] for row in rows if row[value] is not None])
    cells: Mapping[tuple[Any, Any], str] = {
        (row[columns.index(across)], row[columns.index(down)]): _cell(row[value], size, _LETTERS[row[verdict]], signed=known) for row in rows
    }
    heading = columns_of([down], [[ys[0]]])[0].heading
    grid = [Column(heading, _labels(down, ys), True)]
    grid += [Column(label, [cells.get((x, y), "") for y in ys], True) for x, label in zip(xs, _labels(across, xs), strict=True)]
    what = f"net gain {unit}: D disaggregate, m mixed, c colocate, x infeasible" if known else f"saving that would have to be there, {unit}"
    screen.text(f"{what}; across: {columns_of([across], [[xs[0]]])[0].heading}", "bold")
    screen.table(grid)


def _cell(value: float | None, size: float, letter: str, *, signed: bool) -> str:
    number = "-" if value is None else f"{'+' if value >= 0 and signed else ''}{show_significant(value / size, 3)}"
    return f"{number} {letter}".rstrip()
