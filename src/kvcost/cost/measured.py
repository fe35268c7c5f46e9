"""Measured times in place of modelled ones."""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite

from ..errors import KvcostError

__all__ = ["interpolate"]


def interpolate(points: Mapping[int, float], tokens: int) -> float:
    """Seconds at `tokens` from measured {tokens: seconds}, piecewise linear.

    Above the last point the last segment goes on (never falling); below the first the first segment does, but not
    under the straight line to the origin's zero time. A single point is taken as proportional to tokens.

    >>> round(interpolate({4096: 0.390, 8192: 0.845}, 6144), 4)
    0.6175
    >>> round(interpolate({4096: 0.390, 8192: 0.845}, 16384), 4)
    1.755

    Raises KvcostError without points and for tokens or seconds that are not above zero.
    """
    if not points:
        raise KvcostError("no measured times", hint="write 4k=390ms,8k=845ms")
    for at, value in points.items():
        if at < 1 or not value > 0 or not isfinite(value):
            raise KvcostError(f"a measured time needs tokens and seconds above zero, not {at}={value:g}s", hint="write 4k=390ms,8k=845ms")
    xs = sorted(points)
    if len(xs) == 1:
        return points[xs[0]] * tokens / xs[0]
    if tokens < xs[0]:
        slope = (points[xs[1]] - points[xs[0]]) / (xs[1] - xs[0])
        start = min(points[xs[0]], max(0.0, points[xs[0]] - slope * xs[0]))
        return start + (points[xs[0]] - start) * tokens / xs[0]
    if tokens > xs[-1]:
        slope = max(0.0, (points[xs[-1]] - points[xs[-2]]) / (xs[-1] - xs[-2]))
        return points[xs[-1]] + slope * (tokens - xs[-1])
    last = next(i for i in range(1, len(xs)) if tokens <= xs[i])
    x0, x1 = xs[last - 1], xs[last]
    return points[x0] + (points[x1] - points[x0]) * (tokens - x0) / (x1 - x0)
