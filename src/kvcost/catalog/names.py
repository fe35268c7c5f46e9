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


def near_names(name: str, known: Iterable[str], count: int = 3) -> list[str]:
    """Up to `count` known names nearest to a mistyped one, nearest first.

    >>> near_names("llama2-70", ["llama2-7b", "llama2-70b", "opt-66b"])[0]
    'llama2-70b'
    """
    by_key: dict[str, str] = {}
    for candidate in known:
        by_key.setdefault(normalise(candidate), candidate)
    return [by_key[key] for key in difflib.get_close_matches(normalise(name), by_key, n=count, cutoff=0.3)]
