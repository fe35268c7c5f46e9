"""A question: everything but the context lengths, read and checked once; then rows for any lengths."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol

from ..errors import Notice
from .document import Document, Source
from .plan import Options, contexts
from .reading import Reader

__all__ = ["Ask", "Question", "ask"]


class Question(Protocol):
    """What a pricing command was asked."""

    @property
    def command(self) -> str:
        """The command's name."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The fields of a row."""

    def count(self, lengths: Sequence[int]) -> int:
        """How many rows these lengths give."""

    def rows(self, lengths: Sequence[int]) -> Iterator[tuple[Any, ...]]:
        """The rows, computed as they are read. Raises KvcostError before the first where a length cannot be answered."""

    def notices(self, lengths: Sequence[int]) -> list[Notice]:
        """What to beware of at these lengths; the list may grow while rows are read."""

    def sources(self, lengths: Sequence[int]) -> dict[str, Source]:
        """Where the figures come from."""


# Reads and checks the options; with True every row carries its terms. Raises KvcostError.
Ask = Callable[[Reader, Options, bool], Question]


def ask(make: Ask, reader: Reader, options: Options, *, explain: bool = False) -> Document:
    """The document that answers a question for the lengths among its options.

    Raises KvcostError for words that cannot be read and combinations that cannot be served.
    """
    question = make(reader, options, explain)
    lengths = contexts(reader, options)
    return Document(
        command=question.command,
        inputs=dict(options),
        columns=question.columns,
        rows=question.rows(lengths),
        total=question.count(lengths),
        notices=question.notices(lengths),
        sources=lambda: question.sources(lengths),
    )
