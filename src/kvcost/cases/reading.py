"""One option's words → its values, whether typed on a command line or given in a row of a file."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from ..catalog.store import Catalog
from ..cost.transfer import Link
from ..errors import KvcostError
from ..units.lists import split_list
from ..units.parse import parse_rate
from .models import ModelFinder
from .values import PLAIN

__all__ = ["MEMO_LIMIT", "Options", "Reader", "flag", "user_link"]

# Option name → the words given for it; an option that was not given is absent.
Options = Mapping[str, Sequence[str]]
MEMO_LIMIT = 20_000
_GPUS = ("gpu", "prefill_gpu", "decode_gpu", "mono_gpu")


def flag(option: str) -> str:
    """The option as it is typed."""
    return "--" + option.replace("_", "-")


def user_link(bytes_per_s: float, word: str = "") -> Link:
    """A link of a rate that the user gave: efficiency 1, no range."""
    name = "unlimited" if bytes_per_s == float("inf") else word.strip() or f"{bytes_per_s * 8 / 1e9:g}Gbps"
    return Link(name, bytes_per_s, bytes_per_s, bytes_per_s, bytes_per_s)


def _each(find: Callable[[str], Any]) -> Callable[[str], list[Any]]:
    """What finds every item of a list."""
    return lambda word: [find(item) for item in split_list(word)]


class Reader:
    """Reads the words of every option once; equal words give the same values without reading again."""

    def __init__(self, catalog: Catalog, finder: ModelFinder | None = None) -> None:
        self.catalog = catalog
        self.wanted_order: tuple[str, ...] | None = None  # the columns that will be shown, in order; None = all
        self.wanted: frozenset[str] | None = None  # the same as a set
        self.for_people = False  # the answer is a table or a card, not data
        find = (finder or ModelFinder(catalog)).find
        self._seen: dict[tuple[str, str], list[Any]] = {}
        self._parsers: dict[str, Callable[[str], list[Any]]] = {
            **PLAIN,
            "model": _each(find),
            **dict.fromkeys(_GPUS, _each(catalog.gpu)),
            "engine": _each(catalog.engine),
            "overhead": _each(catalog.overhead),
            "link": _each(self._link),
            "path": lambda word: [tuple(self._link(item) for item in split_list(word))],
            "technique": _each(catalog.technique),
            "with": lambda word: [tuple(catalog.technique(item) for item in split_list(word))],
        }

    def _link(self, word: str) -> Link:
        if self.catalog.has("links", word) or not word[:1].isdigit():
            return user_link(parse_rate(word)) if word.lower() in ("inf", "unlimited") else self.catalog.link(word)
        try:
            return user_link(parse_rate(word), word)
        except KvcostError as error:
            known = self.catalog.suggest("links", word)
            raise KvcostError(f"'{word}' is neither a known link nor a rate", hint=f"{known}; a rate is written 100Gbps or 12.5GB/s") from error

    def values(self, option: str, words: Iterable[str], default: Sequence[Any] = (None,)) -> list[Any]:
        """All values of an option, in the order written; the default when it is not given.

        Raises KvcostError that names the option.
        """
        found: list[Any] = []
        for word in words:
            key = option, word
            if key not in self._seen:
                try:
                    values = self._parsers[option](word)
                except KvcostError as error:
                    raise error.at(flag(option)) from None
                if len(self._seen) >= MEMO_LIMIT:
                    self._seen.clear()
                self._seen[key] = values
            else:
                values = self._seen[key]
            found.extend(values)
        return found or list(default)
