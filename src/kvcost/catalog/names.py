"""Names as people type them: without regard to case, spaces, hyphens and underscores."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable

KINDS = ("models", "links", "engines", "gpus", "techniques")
__all__ = ["KINDS", "near_names", "normalise", "without_variant"]

# Endings of hub ids that change the training, not the architecture.
_VARIANT = re.compile(r"(?i)([-_](instruct|chat|hf|it|base|thinking|\d{4}))+$")

_DROP = str.maketrans("", "", " -_\t")


def normalise(name: str) -> str:
    """The key under which a name is found.

    >>> normalise("IB NDR") == normalise("ib-ndr") == normalise("ib_ndr")
    True
    """
    return name.casefold().translate(_DROP)


def without_variant(name: str) -> str:
    """A model's name without organisation and without endings such as -Instruct, -chat-hf or a date.

    >>> without_variant("Qwen/Qwen3-235B-A22B-Instruct-2507")
    'Qwen3-235B-A22B'
    """
    return _VARIANT.sub("", name.rpartition("/")[2])


# A name less alike than this to all that is known is no mistyping of any; the second and third nearest may be less alike.
ALIKE, ALIKE_AT_ALL = 0.55, 0.3


def near_names(name: str, known: Iterable[str], count: int = 3) -> list[str]:
    """Up to `count` known names nearest to a mistyped one, nearest first; none where it has too little in common with any.

    >>> near_names("llama2-70", ["llama2-7b", "llama2-70b", "opt-66b"])[0]
    'llama2-70b'
    >>> near_names("foo", ["bloom", "opt-66b"])
    []
    """
    by_key: dict[str, str] = {}
    for candidate in known:
        by_key.setdefault(normalise(candidate), candidate)
    typed = normalise(name)
    near = difflib.get_close_matches(typed, by_key, n=count, cutoff=ALIKE_AT_ALL)
    if not near or difflib.SequenceMatcher(None, near[0], typed).ratio() < ALIKE:
        # A part of a name leads to it, however much longer it is.
        near = sorted((key for key in by_key if len(typed) > 1 and _part_of(typed, key)), key=len)[:count]
    return [by_key[key] for key in near]


def _part_of(typed: str, key: str) -> bool:
    return key.startswith(typed) or (len(typed) > 2 and typed in key)
