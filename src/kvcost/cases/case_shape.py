"""Which cells of a case are options and which pass through; found once for all cases with the same keys."""

from collections.abc import Sequence
from operator import itemgetter
from typing import Any

from ..errors import KvcostError

__all__ = ["Shape"]

_NUMBERS = (int, float)


def _word(key: str, cell: Any) -> str:
    """The word of a cell, "" where it is empty. Raises KvcostError for what is neither text nor a number."""
    if cell.__class__ is str:
        return str(cell)
    if cell is None:
        return ""
    if cell.__class__ not in _NUMBERS:
        raise KvcostError(f"{key}: needs text or a number, not {type(cell).__name__}", hint="one case a row: give single values")
    return repr(cell)


class Shape:
    """The keys of a case, read: options by any spelling of their names, the context length apart, all else passed through.

    options   names of the options but for ctx, in the order in which `read` gives their words
    extras    place and key of each cell that passes through
    """

    def __init__(self, keys: Sequence[str], known: frozenset[str]) -> None:
        named = [(place, key.strip().lower().replace("-", "_").replace(" ", "_")) for place, key in enumerate(keys)]
        self._keys = keys
        self._named = [(place, name) for place, name in named if name in known]
        self.options = tuple(dict.fromkeys(name for _, name in self._named if name != "ctx"))
        self.extras = tuple((place, keys[place]) for place, name in named if name not in known)
        # The context length first, then the options, where no name stands twice: one picking of cells reads a case.
        ctx = [place for place, name in self._named if name == "ctx"]
        places = [*ctx, *(place for place, name in self._named if name != "ctx")]
        self._pick = itemgetter(*places) if len(ctx) == 1 and len(places) == 1 + len(self.options) > 1 else None

    def read(self, cells: Sequence[Any]) -> tuple[str, tuple[str, ...]]:
        """The word of the context length and those of the other options, "" for an empty cell.

        Raises KvcostError for a cell that is neither text nor a number, and for an option that two keys give.
        """
        if self._pick is not None:
            words = self._pick(cells)
            try:
                "".join(words)  # the fastest way to see that all of them are text
            except TypeError:
                pass
            else:
                return words[0], words[1:]
        found: dict[str, str] = {}
        for place, name in self._named:
            word = _word(self._keys[place], cells[place])
            if word and name in found:
                raise KvcostError(f"{name} is given twice", where=self._keys[place], hint="keep one of the keys that name it")
            if word:
                found[name] = word
        return found.get("ctx", ""), tuple(found.get(option, "") for option in self.options)
