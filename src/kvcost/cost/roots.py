"""Where a function is zero, without missing two roots between neighbouring samples; and the least fixed point.

A cell is sampled at its ends, middle and quarters. The parabola through ends and middle is compared with the
quarters: the deviation seen there, times `_MARGIN`, bounds the deviation anywhere in the cell. A cell whose parabola
keeps further away from zero than that is dismissed; a cell in which the function is monotone by the same bound holds
one root at a sign change; any other cell is halved.

Guarantee: all roots are found if in every cell of the starting grid the function is a polynomial of degree four or
less (so it may turn three times inside one cell), or deviates from such a one by less than the margin: the deviation
of a cubic from its parabola is at most 1.03 times that at the quarters, of a quartic 1.34 times. Not guaranteed: a
spike narrower than a quarter of a starting cell.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from math import exp, inf, isfinite, log
from typing import Literal, NamedTuple

__all__ = ["Crossing", "crossings", "least_fixed_point", "positive_intervals"]

_MARGIN = 3.0
_DEPTH = 44
# From this depth on a deviation that halving does not shrink is a jump (a smooth function's falls eightfold).
_JUMP_DEPTH = 7
_MOST_CALLS = 1500
_SMALL = 1e-9


class Crossing(NamedTuple):
    """Where the sign turns: at a root, or where the function jumps over zero or ceases to be finite."""

    at: float
    rising: bool
    kind: Literal["root", "jump"]


def least_fixed_point(function: Callable[[float], float], most: float) -> float | None:
    """The smallest x in [0, most] with function(x) = x, None when there is none; the function must not fall.

    From x = 0, x <- function(x) rises to the smallest fixed point of a rising function and never past it; secant steps
    (which stay left of it where the function is convex) shorten the way, and a step that overshoots is bisected.

    >>> round(least_fixed_point(lambda x: 1 + x * x / 8, 10), 6), least_fixed_point(lambda x: 3 + x * x / 8, 10)
    (1.171573, None)

    Source: Kleene and Tarski; convergence is that of the secant method.
    """
    x, gap = 0.0, function(0.0)
    last_x, last_gap, safe = -1.0, inf, False
    for _ in range(400):
        if gap <= 1e-13 * max(1.0, x):
            return x
        step = gap
        if not safe and last_gap < inf and gap < last_gap:
            step = max(gap, gap * (x - last_x) / (last_gap - gap) * (1.0 - 1e-12))
        ahead = min(x + step, most)
        ahead_gap = function(ahead) - ahead
        if ahead_gap < -1e-13 * max(1.0, ahead):
            return _between(function, x, ahead)
        if ahead >= most and ahead_gap > 1e-13 * max(1.0, ahead):
            if step == gap or x >= most:
                return None
            safe = True
            continue
        if not isfinite(ahead_gap):
            if step == gap:
                return None
            safe = True
            continue
        last_x, last_gap, x, gap, safe = x, gap, ahead, ahead_gap, False
    return None


def _between(function: Callable[[float], float], low: float, high: float) -> float:
    """The fixed point between two points of which the lower is below its value and the higher above."""
    return _bisect(lambda x: function(x) - x, low, high)[0]


def _bisect(function: Callable[[float], float], low: float, high: float) -> tuple[float, float]:
    """A sign change between two points, by regula falsi with halving (Illinois): x and the value there.

    Where the function jumps, x is the last point before the jump.
    """
    f_low, f_high = function(low), function(high)
    best, f_best = (low, f_low) if abs(f_low) < abs(f_high) else (high, f_high)
    w_low, w_high, side = f_low, f_high, 0
    for count in range(200):
        width = high - low
        # Every third step halves, so that a jump is closed in on as well.
        finite = isfinite(w_low) and isfinite(w_high) and w_low != w_high and count % 3 != 2
        x = low - w_low * width / (w_high - w_low) if finite else low + width / 2
        if not low < x < high:
            x = low + width / 2
            if not low < x < high:
                break
        value = function(x)
        if abs(value) < abs(f_best):
            best, f_best = x, value
        if value == 0.0 or (abs(f_best) < 1e-12 and width < 1e-9 * max(1.0, abs(x))):
            break
        if (value > 0) == (f_low > 0):
            low, f_low, w_low = x, value, value
            w_high, side = (w_high / 2 if side == 1 else w_high), 1
        else:
            high, f_high, w_high = x, value, value
            w_low, side = (w_low / 2 if side == -1 else w_low), -1
    return (best, f_best) if abs(f_best) < _SMALL else (low, f_low)


class _Search:
    """The samples so far, and the crossings found in them."""

    def __init__(self, function: Callable[[float], float], tolerance: float) -> None:
        self.function = function
        self.tolerance = tolerance
        self.values: dict[float, float] = {}
        self.found: list[Crossing] = []

    def at(self, u: float) -> float:
        if u not in self.values:
            self.values[u] = self.function(u)
        return self.values[u]

    def close_in(self, low: float, high: float) -> None:
        """One crossing between two samples of different sign."""
        rising = self.at(high) > self.at(low)
        u, value = _bisect(self.function, low, high)
        self.found.append(Crossing(u, rising, "root" if abs(value) <= self.tolerance else "jump"))

    def scan(self, low: float, high: float, depth: int, parent: float = inf) -> None:
        """All crossings in (low, high); `parent` is the deviation of the cell that was halved."""
        middle = (low + high) / 2
        samples = [self.at(low + (high - low) * i / 4) for i in range(5)]
        signs = [_sign(value) for value in samples]
        changes = sum(a != b for a, b in pairwise(signs))
        deviation = inf
        if all(map(isfinite, samples)):
            apart, steady, deviation = _verdict(samples)
            if not changes and apart:
                return
            if changes == 1 and steady:
                self.close_in(*_edges(low, high, signs))
                return
        elif not changes:
            return
        jumps = depth >= _JUMP_DEPTH and deviation > 0.7 * parent and deviation > 0.05 * (max(samples) - min(samples))
        jumps = jumps or (depth >= 2 * _JUMP_DEPTH and deviation == inf)
        if jumps or depth >= _DEPTH or len(self.values) > _MOST_CALLS:
            for i in range(4):
                if signs[i] != signs[i + 1]:
                    self.close_in(low + (high - low) * i / 4, low + (high - low) * (i + 1) / 4)
            return
        self.scan(low, middle, depth + 1, deviation)
        self.scan(middle, high, depth + 1, deviation)


def _sign(value: float) -> int:
    """Not above zero counts as below: a gain of exactly nothing is none. NaN (undefined) is below too."""
    return 1 if value > 0 else -1


def _edges(low: float, high: float, signs: list[int]) -> tuple[float, float]:
    i = next(i for i in range(4) if signs[i] != signs[i + 1])
    return low + (high - low) * i / 4, low + (high - low) * (i + 1) / 4


def _verdict(samples: list[float]) -> tuple[bool, bool, float]:
    """Whether the cell keeps away from zero, whether it is monotone, by its parabola on [-1, 1], and the deviation from it."""
    left, left_quarter, middle, right_quarter, right = samples
    slope, bend = (right - left) / 2, (right + left) / 2 - middle
    deviation = max(abs(left_quarter - (middle - slope / 2 + bend / 4)), abs(right_quarter - (middle + slope / 2 + bend / 4)))
    least = min(abs(left), abs(right), abs(middle))
    if bend and abs(slope) < 2 * abs(bend):
        least_inside = middle - slope * slope / (4 * bend)
        least = min(least, abs(least_inside)) if (least_inside > 0) == (middle > 0) else -1.0
    # The slope of a cubic's deviation t*(t^2 - 1) is at most 5.4 times its value at the quarters.
    return least > _MARGIN * deviation, abs(slope) - 2 * abs(bend) > 5.4 * _MARGIN * deviation, deviation


def crossings(
    function: Callable[[float], float], low: float, high: float, *, cells: int = 8, logarithmic: bool = True, tolerance: float = 1e-9
) -> list[Crossing]:
    """Every sign change of `function` in [low, high], in order; see the module for what is guaranteed.

    logarithmic: the starting cells are equal in log(x), for 0 < low. A crossing with |value| <= tolerance is a root;
    one where the function jumps over zero or becomes infinite is a jump. +-inf and NaN are allowed as values.

    >>> [round(found.at, 3) for found in crossings(lambda x: (x - 2) * (x - 2.001) * (x - 2.002), 0, 100, logarithmic=False)]
    [2.0, 2.001, 2.002]

    Raises nothing of its own.
    """
    if not low < high:
        return []
    start, end = (log(low), log(high)) if logarithmic else (low, high)
    there: Callable[[float], float] = exp if logarithmic else float
    search = _Search(lambda u: function(there(u)), tolerance)
    for i in range(cells):
        search.scan(start + (end - start) * i / cells, start + (end - start) * (i + 1) / cells if i + 1 < cells else end, 0)
    return sorted((item._replace(at=min(high, max(low, there(item.at)))) for item in search.found), key=lambda item: item.at)


def positive_intervals(function: Callable[[float], float], low: float, high: float, found: list[Crossing]) -> list[tuple[float | None, float | None]]:
    """The intervals of [low, high] in which the function is above zero; None for an end that the range leaves open.

    >>> wave = lambda x: (x - 2) * (5 - x)
    >>> [(round(a, 6), round(b, 6)) for a, b in positive_intervals(wave, 1, 10, crossings(wave, 1, 10))]
    [(2.0, 5.0)]
    """
    if not found:
        return [(None, None)] if function((low + high) / 2) > 0 else []
    intervals: list[tuple[float | None, float | None]] = []
    opened: float | None = None
    for i, item in enumerate(found):
        if item.rising:
            opened = item.at
        else:
            intervals.append((None if i == 0 else opened, item.at))
    if found[-1].rising:
        intervals.append((opened, None))
    return intervals
