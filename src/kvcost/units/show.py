"""Numbers for people: four significant digits, and one unit for a whole column."""

from __future__ import annotations

import math
from collections.abc import Iterable

__all__ = ["UNITS", "pick_unit", "show_bytes", "show_count", "show_flops", "show_rate", "show_significant", "show_time"]

# Quantity -> (unit, its size in the base unit), from small to large.
UNITS: dict[str, tuple[tuple[str, float], ...]] = {
    "time": (("us", 1e-6), ("ms", 1e-3), ("s", 1.0)),
    "bytes": (("B", 1.0), ("kB", 1e3), ("MB", 1e6), ("GB", 1e9), ("TB", 1e12)),
    "binary": (("B", 1.0), ("KiB", 2.0**10), ("MiB", 2.0**20), ("GiB", 2.0**30), ("TiB", 2.0**40)),
    "rate": (("B/s", 1.0), ("kB/s", 1e3), ("MB/s", 1e6), ("GB/s", 1e9), ("TB/s", 1e12)),
    "flops": (("FLOP", 1.0), ("GFLOP", 1e9), ("TFLOP", 1e12), ("PFLOP", 1e15)),
    "flops_rate": (("GFLOP/s", 1e9), ("TFLOP/s", 1e12), ("PFLOP/s", 1e15)),
    "bits": (("b/s", 1.0), ("kb/s", 1e3), ("Mb/s", 1e6), ("Gb/s", 1e9), ("Tb/s", 1e12)),
}


def show_significant(value: float, digits: int = 4) -> str:
    """`value` with `digits` significant digits and no exponent between 1e-4 and 1e15.

    >>> show_significant(107.3741824), show_significant(0.37282), show_significant(2.0)
    ('107.4', '0.3728', '2.000')
    """
    if value == 0 or not math.isfinite(value):
        return "0" if value == 0 else str(value)
    rounded = f"{value:.{digits - 1}e}"
    magnitude = int(rounded.partition("e")[2])  # of what is shown: 9.9999 has four digits as 10.00
    if magnitude < -4 or magnitude > 14:
        return rounded
    return f"{value:,.{max(0, digits - 1 - magnitude)}f}"


def pick_unit(quantity: str, values: Iterable[float]) -> tuple[str, float]:
    """One unit for all values: the largest in which the middle one of those above 0 is at least 1.

    >>> pick_unit("time", [0.0014, 0.107, 9.0])
    ('ms', 0.001)
    """
    units = UNITS[quantity]
    sizes = sorted(abs(value) for value in values if value and math.isfinite(value))
    middle = sizes[len(sizes) // 2] if sizes else 0.0
    fitting = [unit for unit in units if middle >= unit[1]]
    return fitting[-1] if fitting else units[0]


def _show(quantity: str, value: float) -> str:
    unit, size = pick_unit(quantity, [value])
    return f"{show_significant(value / size)} {unit}"


def show_time(seconds: float) -> str:
    """A duration in the unit that suits it.

    >>> show_time(0.1073741824)
    '107.4 ms'
    """
    return _show("time", seconds)


def show_count(value: int) -> str:
    """A count with thousands separated.

    >>> show_count(1342177280)
    '1,342,177,280'
    """
    return f"{value:,}"


def show_bytes(value: int) -> str:
    """Exact bytes with the decimal and the binary unit beside them, which people confuse.

    >>> show_bytes(1342177280)
    '1,342,177,280 B (1.342 GB, 1.250 GiB)'
    """
    if value < 1000:
        return f"{value} B"
    return f"{value:,} B ({_show('bytes', value)}, {_show('binary', value)})"


def show_flops(value: float) -> str:
    """Arithmetic in the unit that suits it.

    >>> show_flops(5.6e14)
    '560.0 TFLOP'
    """
    return _show("flops", value)


def show_rate(bytes_per_s: float) -> str:
    """A one-direction rate in bytes and in bits.

    >>> show_rate(12.5e9)
    '12.50 GB/s (100.0 Gb/s)'
    """
    if math.isinf(bytes_per_s):
        return "unlimited"
    return f"{_show('rate', bytes_per_s)} ({_show('bits', bytes_per_s * 8)})"
