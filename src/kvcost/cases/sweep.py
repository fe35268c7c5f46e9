"""A million points of `breakeven`: what does not change along an axis is computed once."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from operator import itemgetter
from typing import Any

from ..cost.case import Case
from ..cost.serving import Work as Load
from ..cost.sweep import costs_of, load
from .breakeven import BreakevenQuestion
from .deployment import EXPECTED_FIRST, Sides, case_of, missing_inputs, sides_of
from .plan import held_tokens
from .transfer import TransferRow

__all__ = ["SweepQuestion", "sweepable"]

_POINT = ("net_gain_s", "net_gain_low_s", "net_gain_high_s", "verdict")
_SETTINGS = ("osl_tokens", "rate_per_s", "objective")
# What is exposed hangs on the compute times of each point.
_FROM_TRANSFER = frozenset(TransferRow._fields) - {"exposed_s", "overlap"}
# Points of one set of sides that are kept for the other paths of a group; more of them are worked out anew for each.
_MOST_KEPT = 4096


def sweepable(question: BreakevenQuestion, wanted: Sequence[str] | None) -> bool:
    """Whether the columns asked for and the load are those that a sweep can answer."""
    if wanted is None or any(stream is not None for _, stream in question.loads):
        return False
    plain = all(asked.saved_s is None and asked.saved_frac is None and asked.objective != "goodput" and asked.limits is None for asked in question.asked)
    plain = plain and all(deployment.transfer_s is None for deployment in question.deployments)
    known = all(not missing_inputs(deployment, path, question.options) for deployment in question.deployments for path in question.transfer.paths)
    return plain and known and all(field in _FROM_TRANSFER or field in _POINT or field in _SETTINGS for field in wanted)


class SweepQuestion:
    """A break-even question for chosen cheap columns; rows in the order of the question itself."""

    command = "breakeven"

    def __init__(self, question: BreakevenQuestion, wanted: Sequence[str]) -> None:
        self.question = question
        self.columns = tuple(wanted)

    def count(self, lengths: Sequence[int]) -> int:
        """Rows at these lengths."""
        return self.question.count(lengths)

    def notices(self, lengths: Sequence[int]) -> list[Any]:
        """Those of the transfer; the flags of single points are not collected in a sweep."""
        return self.question.notices(lengths)

    def sources(self, lengths: Sequence[int]) -> Any:
        """Where the figures come from."""
        return self.question.sources(lengths)

    def rows(self, lengths: Sequence[int]) -> Iterator[tuple[Any, ...]]:
        """The rows, with the chosen columns alone."""
        asked = self.question
        pick, put = _pickers(self.columns)
        paths = len(asked.transfer.paths)
        priced = asked.transfer.priced(lengths)
        for first in priced:
            # All paths of one work, context and prefix hit come in a row.
            group = [first, *(next(priced) for _ in range(paths - 1))]
            yield from self._group([(work, path, pick(values)) for work, path, values in group], group[0][2], put)

    def _group(self, group: list[Any], values: tuple[Any, ...], put: Callable[[tuple[Any, ...]], tuple[Any, ...]]) -> Iterator[tuple[Any, ...]]:
        asked = self.question
        row = TransferRow._make(values[: len(TransferRow._fields)])
        sides: dict[Any, list[Sides]] = {}
        kept: dict[Any, list[tuple[Any, Any]]] = {}
        for work, path, base in group:
            for place, deployment in enumerate(asked.deployments):
                # Links differ from path to path; the sides hang on all else of it.
                key = place, path.engine, path.overlap, path.prefill_times, path.decode_step_s
                if key not in sides:
                    sides[key] = sides_of(asked.builder, work, path, deployment, row.ctx_tokens)
                cached = held_tokens(deployment.cached, row.ctx_tokens)
                for osl in asked.osls:
                    given = Load(row.ctx_tokens, osl or 1, 0.0, None, cached, row.prefix_hit_tokens, deployment.length_cv)
                    cases = [case_of(side, work, path, deployment, given, draw) for side, draw in zip(sides[key], EXPECTED_FIRST, strict=True)]
                    times = [case.transfer_s for case in cases]
                    for settings, point in self._points((*key, osl), osl, cases, kept):
                        yield put(base + point(times) + settings)

    def _points(self, key: Any, osl: int | None, cases: list[Case], kept: dict[Any, list[tuple[Any, Any]]]) -> Iterable[tuple[Any, Any]]:
        """The settings of each point and what gives its values for a transfer time, by load and then objective."""
        if key in kept:
            return kept[key]
        asked = self.question
        costs = [costs_of(case) for case in cases]
        points = (((osl, rate, target.objective), load(costs, rate or 0.0, target.objective).point) for rate, _ in asked.loads for target in asked.asked)
        if len(asked.transfer.paths) == 1 or len(asked.loads) * len(asked.asked) > _MOST_KEPT:
            return points
        return kept.setdefault(key, list(points))


def _pickers(columns: Sequence[str]) -> tuple[Callable[[tuple[Any, ...]], tuple[Any, ...]], Callable[[tuple[Any, ...]], tuple[Any, ...]]]:
    """What picks the columns out of a transfer's values, once a path; and out of these, a point's and the settings, one behind the other."""
    sent = tuple(field for field in columns if field in _FROM_TRANSFER and field not in _SETTINGS)
    return _picker(TransferRow._fields, sent), _picker((*sent, *_POINT, *_SETTINGS), columns)


def _picker(fields: Sequence[str], columns: Sequence[str]) -> Callable[[tuple[Any, ...]], tuple[Any, ...]]:
    places = [fields.index(field) for field in columns]
    if len(places) > 1:
        return itemgetter(*places)
    return lambda values: tuple(values[place] for place in places)
