"""A preset → the values that its limits ask for, and what became of each limit."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from ..cases.breakeven import BreakevenQuestion
from ..cases.deployment import Builder
from ..cases.plan import Options, contexts
from ..cases.preset import in_preset, in_yaml_words, placed, preset_options
from ..cases.reading import Reader, flag
from ..cases.transfer import TransferRow
from ..cost.model import Model
from ..errors import KvcostError, Notice
from ..presets.read import PresetFile
from .limits import Bound, bounds_of, listed, met, overrun
from .names import named

__all__ = ["Answers", "Held", "Outcome", "held"]

MEMO_LIMIT = 4096
# That the p99 gap stands at an edge matters to limits that it decides, and is noise to all others.
GAP_EDGE = "gap-edge"
UNKNOWN = "unknown: "
_TARGETS = ("objective", "slo_ttft", "slo_tpot", "slo_itl_p99", "attainment")
# How a field's name begins → the options of which it needs one.
_NEEDS = (
    ("cost_", ("gpu_hour_price",)),
    ("cost_", ("rate", "concurrency")),
    ("goodput_", ("slo_ttft", "slo_tpot", "slo_itl_p99")),
    ("threshold_", ("rate",)),
    ("rate_per_s", ("rate",)),
    ("concurrency", ("concurrency",)),
)
GAP_FIELDS = frozenset(("verdict", "itl_p99_mono_s", "itl_p99_disagg_s", "itl_p99_gain_s"))


class Answers:
    """Answers questions of single deployments; equal ones once, and what deployments of one model share is prepared once."""

    def __init__(self, reader: Reader) -> None:
        self.reader = reader
        self._builders: dict[Any, Builder] = {}
        self._seen: dict[Any, tuple[dict[str, Any], list[Notice]]] = {}

    def values(self, options: Options, fields: Iterable[str]) -> tuple[dict[str, Any], list[Notice]]:
        """The output of one deployment, right in `fields`, and what to beware of.

        Raises KvcostError for a deployment that cannot be served or lacks a model, a context or a link.
        """
        wanted = frozenset(fields)
        key = tuple((option, tuple(options[option])) for option in sorted(options)), wanted
        found = self._seen.get(key)
        if found is None:
            if len(self._seen) >= MEMO_LIMIT:
                self._seen.clear()
            found = self._seen[key] = self._asked(options, wanted)
        return found

    def _asked(self, options: Options, wanted: frozenset[str]) -> tuple[dict[str, Any], list[Notice]]:
        self.reader.wanted = wanted
        question = BreakevenQuestion(self.reader, options)
        question.builder = self._builder(question.transfer.works[0].model)
        lengths = contexts(self.reader, options)
        row = next(question.rows(lengths))
        return dict(zip(question.columns, row, strict=True)), list(question.notices(lengths))

    def _builder(self, model: Model) -> Builder:
        """What is prepared is kept by the model's name, so models of one name that differ have a builder each."""
        key = model.name, model.groups, model.params_total
        if key not in self._builders:
            self._builders[key] = Builder(self.reader)
        return self._builders[key]


class Outcome(NamedTuple):
    """What became of a bound; `excess` how far the value lies beyond it, in base units (negative: how much is left)."""

    bound: Bound
    value: Any
    met: bool
    excess: float | None


class Held(NamedTuple):
    """A preset held to its limits; `reason` the verdict in one sentence where a limit is broken.

    lacks   place of an outcome without a value → what to give for it to have one
    """

    preset: PresetFile
    outcomes: tuple[Outcome, ...]
    reason: str
    notices: list[Notice]
    lacks: dict[int, str]


def judged(bounds: Sequence[Bound], values: dict[str, Any]) -> tuple[Outcome, ...]:
    """What became of each bound."""
    return tuple(Outcome(bound, values[bound.field], met(bound, values[bound.field]), overrun(bound, values[bound.field])) for bound in bounds)


def held(answers: Answers, preset: PresetFile) -> Held:
    """The preset held to its limits.

    Raises KvcostError at its place in the file for a word or a bound that cannot be read and a deployment that cannot be served.
    """
    options = preset_options(answers.reader, preset)
    bounds = [bound for limit in preset.limits for bound in bounds_of(limit)]
    try:
        values, notices = answers.values(options, (bound.field for bound in bounds))
        bounds = [named(bound, answers.reader, values) for bound in bounds]
        outcomes = judged(bounds, values)
        reason = ""
        if not all(outcome.met for outcome in outcomes):
            reason = in_yaml_words(_reason(answers, options, empty=any(outcome.value is None for outcome in outcomes)))
    except KvcostError as error:
        raise placed(error, preset) from None
    found = in_preset(notice for notice in notices if notice.code != GAP_EDGE or GAP_FIELDS.intersection(bound.field for bound in bounds))
    if not bounds:
        found.append(Notice("no-limits", "the preset has no limits, so nothing is checked", 'add limits, such as net_gain_s: "> 0"'))
    lacks = {place: lacking(one.bound.field, options) for place, one in enumerate(outcomes) if one.value is None}
    if reason.startswith(UNKNOWN):
        # What the link takes is known all the same.
        needed = f"{reason.removeprefix(UNKNOWN)}: without it nothing can be said of what splitting gains"
        lacks |= {place: needed for place, one in enumerate(outcomes) if not one.met and one.bound.field not in TransferRow._fields}
    return Held(preset, outcomes, reason, found, {place: needed for place, needed in lacks.items() if needed})


def lacking(field: str, options: Options) -> str:
    """The input that a field cannot do without and a preset does not give; empty where there is none.

    >>> lacking("cost_mono_per_mtok", {"rate": ["2"]}), lacking("transfer_s", {})
    ('give gpu_hour_price', '')
    """
    missing = [needed for start, needed in _NEEDS if field.startswith(start) and not any(option in options for option in needed)]
    return f"give {' and '.join(in_yaml_words(listed(map(flag, needed))) for needed in missing)}" if missing else ""


def _reason(answers: Answers, options: Options, *, empty: bool) -> str:
    """The verdict in one sentence; where a value is missing, what saturates rather than what the objective says."""
    asked = {option: words for option, words in options.items() if not empty or option not in _TARGETS}
    return str(answers.values(asked, ("verdict", "reason"))[0]["reason"])
