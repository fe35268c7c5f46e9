"""The nearest single change under which a deployment meets its limits, found by asking the model.

Nearest means, in this order: a setting of the software, the layout, the link, the load (rate, output and at
last prompt length); of a kind the smallest step first. Where a limit asks for a split not to pay the load comes first, since
nobody would make the split worse to keep it. Only a change under which all limits hold is called one that meets
them; where there is none, one that mends the limit at hand is named with what it leaves broken.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from ..cases.gains import GainRow
from ..cases.plan import Options
from ..cases.preset import changed
from ..errors import KvcostError
from ..presets.keys import PATH_OF
from ..presets.read import PresetFile
from .candidates import Assignments, backward, layouts, links, settings
from .consequences import consequences, threshold
from .evaluate import Answers, Held, Outcome, judged
from .limits import Bound, listed, shown

__all__ = ["Change", "Searcher"]

MAX_TRIES, MAX_TRIES_OF_A_RUN = 150, 1500
ROOT_TRIES = 12
ROOTS = frozenset(field for field in GainRow._fields if field.startswith(("breakeven_", "threshold_"))) - {"breakeven_saved_s"}
KINDS_TRIED = "dtype, overlap, rails, TP, instances, link, rate or lengths"
_NUMBERS = {
    "rate",
    "concurrency",
    "ctx",
    "osl",
    "rails",
    "block_size",
    *(f"{pool}_{what}" for pool in ("prefill", "decode", "mono") for what in ("tp", "instances")),
}
FACTOR_STEPS, BISECTIONS = 10, 7


class Change(NamedTuple):
    """What to write where (path in the preset → value), None where nothing was found; and the same in words."""

    assignments: dict[str, Any] | None
    hint: str


class Searcher:
    """Looks for changes within a bounded number of questions to the model."""

    def __init__(self, answers: Answers) -> None:
        self.answers = answers
        self.left = MAX_TRIES_OF_A_RUN

    def changes(self, held: Held) -> dict[int, Change]:
        """Place of a broken limit among the outcomes → the change that mends it."""
        told = {place: Change(None, needed) for place, needed in held.lacks.items()}
        broken = [place for place, outcome in enumerate(held.outcomes) if not outcome.met and place not in told]
        return told | (self._changes(held, broken) if broken else {})

    def _changes(self, held: Held, broken: Sequence[int]) -> dict[int, Change]:
        if self.left <= 0:
            return dict.fromkeys(broken, Change(None, "so many limits are broken that no change was looked for; check this preset by itself"))
        search = _Search(self.answers, held, min(self.left, MAX_TRIES))
        try:
            found = search.run(broken)
            return {place: search.told([other for other in broken if found[other] is one], one) for place, one in found.items()}
        finally:
            self.left -= search.tries


class _Found(NamedTuple):
    """A change and what becomes of the limits under it."""

    assignments: Assignments
    outcomes: tuple[Outcome, ...]


class _Search:
    """The search for one preset."""

    def __init__(self, answers: Answers, held: Held, budget: int) -> None:
        self.answers, self.held, self.budget = answers, held, budget
        self.preset: PresetFile = held.preset
        self.options: Options = self.preset.options
        self.bounds: list[Bound] = [outcome.bound for outcome in held.outcomes]
        # A field that is the root of a gain takes as long as many other answers.
        self.price = ROOT_TRIES if any(bound.field in ROOTS for bound in self.bounds) else 1
        self.tries = self.ctx = 0
        self.named = "all other limits" if held.lacks else "all limits"
        self.tried: list[_Found] = []
        self.against = any(not outcome.met and _against_split(outcome.bound) for outcome in held.outcomes)

    def run(self, broken: Sequence[int]) -> dict[int, _Found | None]:
        """The change for each broken limit: one that meets all limits, else the first that mends it."""
        row = self.answers.values(self.options, {bound.field for bound in self.bounds} | {"verdict"})[0]
        self.ctx = row["ctx_tokens"]
        whole = self._nearest(row, self._all_met)
        if whole is not None:
            return dict.fromkeys(broken, whole)
        found: dict[int, _Found | None] = {}
        for place in broken:
            found[place] = next((one for one in self.tried if one.outcomes[place].met), None)
            if found[place] is None and len(self.bounds) > 1:
                found[place] = self._load(row, lambda one, place=place: one.outcomes[place].met)  # type: ignore[misc]
        return found

    def _all_met(self, found: _Found) -> bool:
        """Whether every limit is met that any change could meet."""
        return all(outcome.met for place, outcome in enumerate(found.outcomes) if place not in self.held.lacks)

    def _nearest(self, row: dict[str, Any], passes: Callable[[_Found], bool]) -> _Found | None:
        if self.against and (found := self._load(row, passes)) is not None:
            return found
        for change in (*settings(row, self.options), *layouts(row, self.options)):
            found = self.try_(change)
            if found is not None and passes(found):
                return found
        for ladder in (*links(row, self.options, self.answers.reader.catalog), *([change] for change in backward(row))):
            found = self._lowest(ladder, passes)
            if found is not None:
                return found
        return None if self.against else self._load(row, passes)

    def try_(self, change: Mapping[str, str]) -> _Found | None:
        """What becomes of the limits under a change; None where it cannot be served or the effort is used up."""
        if self.tries >= self.budget:
            return None
        self.tries += self.price
        try:
            values, _ = self.answers.values(changed(self.options, change), (bound.field for bound in self.bounds))
        except KvcostError:
            return None
        found = _Found(dict(change), judged(self.bounds, values))
        self.tried.append(found)
        return found

    def _lowest(self, ladder: Sequence[Assignments], passes: Callable[[_Found], bool]) -> _Found | None:
        """The first step of an ascending ladder that passes, found by halving; None where the last one does not."""
        best = self.try_(ladder[-1]) if ladder else None
        if best is None or not passes(best):
            return None
        low, high = 0, len(ladder) - 1
        while low < high:
            middle = (low + high) // 2
            found = self.try_(ladder[middle])
            if found is not None and passes(found):
                best, high = found, middle
            else:
                low = middle + 1
        return best

    def _load(self, row: dict[str, Any], passes: Callable[[_Found], bool]) -> _Found | None:
        """A lower or higher rate, another output and at last another prompt length: the nearest in ratio that passes."""
        rate = "concurrency" if "concurrency" in self.options else "rate"
        for option, now, most in (
            (rate, row["rate_per_s" if rate == "rate" else rate], 1e6),
            ("osl", row["osl_tokens"], 2**20),
            ("ctx", row["ctx_tokens"], 2**20),
        ):
            found = self._nearest_number(option, now, most, passes) if now else None
            if found is not None:
                return found
        return None

    def _nearest_number(self, option: str, now: float, most: float, passes: Callable[[_Found], bool]) -> _Found | None:
        whole = option != "rate"

        def at(value: float) -> _Found | None:
            word = _rounded(value, whole)
            found = self.try_({option: word}) if (float(word) >= 1 or not whole) and float(word) <= most else None
            return found if found is not None and passes(found) else None

        for step in range(1, FACTOR_STEPS + 1):
            for factor in (0.5, 2.0):
                found = at(now * factor**step)
                if found is not None:
                    return self._closer(found, at, now * factor ** (step - 1), now * factor**step)
        return None

    @staticmethod
    def _closer(found: _Found, at: Callable[[float], _Found | None], fails: float, holds: float) -> _Found:
        """Between a value that fails and one that holds, one that holds and lies nearer to the first."""
        for _ in range(BISECTIONS):
            middle = (fails * holds) ** 0.5
            nearer = at(middle)
            if nearer is None:
                fails = middle
            else:
                found, holds = nearer, middle
        return found

    def told(self, places: Sequence[int], found: _Found | None) -> Change:
        """A change that mends the limits at `places` in words: what to write where, and what comes of it."""
        if found is None:
            return Change(None, f"no single change of {KINDS_TRIED} was found that meets it")
        words = " and ".join(self._written(option, word) for option, word in found.assignments.items())
        if "ctx" in found.assignments and not self.against:
            words += f" ({threshold(self.ctx, int(found.assignments['ctx']))})"
        meets = "meets" if len(found.assignments) == 1 else "meet"
        outcomes = {found.outcomes[place].bound.field: found.outcomes[place].value for place in places}
        gives = listed([f"{field} {shown(field, value)}" for field, value in outcomes.items()], "and").replace(" ", " is then ", 1)
        taken = list(consequences(self.options, found.assignments, self.answers.reader.catalog))
        if taken:
            gives += f"; it takes {listed(taken, 'and')}"
        if self.against and any(_against_split(self.bounds[place]) for place in places):
            gives += "; or, as a split pays now, let the limit ask for one"
        assignments = dict(self._assigned(found.assignments))
        if self._all_met(found):
            return Change(assignments, f"{words} {meets} {self.named} of the preset; {gives}")
        still = list(dict.fromkeys(one.bound.field for one in found.outcomes if not one.met))
        those = "this limit" if len(outcomes) == 1 else listed(outcomes, "and")
        return Change(assignments, f"{words} {meets} {those}, but {listed(still, 'and')} {'stays' if len(still) == 1 else 'stay'} broken; {gives}")

    def _path(self, option: str) -> str:
        return self.preset.paths.get(option, ".".join(PATH_OF[option]))

    def _written(self, option: str, word: str) -> str:
        """`kv_dtype: fp8 (line 3)`, with the file where that is another one."""
        place = self.preset.places.get(option)
        if place is None:
            return f"{self._path(option)}: {word} (to add)"
        here = place.file == self.preset.top.file
        return f"{self._path(option)}: {word} ({f'line {place.line}' if here else f'{place.file}:{place.line}'})"

    def _assigned(self, change: Assignments) -> Iterator[tuple[str, Any]]:
        """Path → value as YAML would read it; a link that is a plain word becomes a mapping where another key joins it."""
        for option, word in change.items():
            value: Any = (float(word) if "." in word or "e" in word else int(word)) if option in _NUMBERS else word
            path = self._path(option)
            if path.startswith("link.") and self.preset.paths.get("link") == "link":
                yield "link", {"name": self.options["link"][0], path.removeprefix("link."): value}
            else:
                yield path, value


def _against_split(bound: Bound) -> bool:
    """Whether a limit asks for a split not to pay."""
    if bound.field == "verdict":
        return bound.sign == "==" and "disaggregate" not in bound.value  # type: ignore[operator]
    return "_gain_" in bound.field and bound.sign in ("<", "<=")


def _rounded(value: float, whole: bool) -> str:
    """A number of at most three digits that count, as a word."""
    short = float(f"{value:.3g}")
    return str(round(short) if short >= 1000 else round(value)) if whole else f"{short:g}"
