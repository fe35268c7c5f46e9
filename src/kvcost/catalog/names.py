"""Names as people type them: without regard to case, spaces, hyphens and underscores."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

__all__ = ["near_names", "normalise"]

_DROP = str.maketrans("", "", " -_\t")


def normalise(name: str) -> str:
    """The key under which a name is found.

    >>> normalise("IB NDR") == normalise("ib-ndr") == normalise("ib_ndr")
    True
    """
    return name.casefold().translate(_DROP)


def near_names(name: str, known: Iterable[str], count: int = 3) -> list[str]:
    """Up to `count` known names nearest to a mistyped one, nearest first.

    >>> near_names("llama2-70", ["llama2-7b", "llama2-70b", "opt-66b"])[0]
    'llama2-70b'
    """
    by_key: dict[str, str] = {}
    for candidate in known:
        by_key.setdefault(normalise(candidate), candidate)
    return [by_key[key] for key in difflib.get_close_matches(normalise(name), by_key, n=count, cutoff=0.3)]
