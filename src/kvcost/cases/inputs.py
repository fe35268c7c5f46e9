"""A file of cases, one a row (JSONL or CSV): keys are option names, other keys pass through."""

import itertools
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from ..errors import KvcostError, Notice
from ..units.parse import MAX_TOKENS
from .case_lines import EMPTY, read_cases
from .case_shape import Shape
from .document import Document, Source, keyed
from .plan import Options
from .question import Ask, Question
from .reading import MEMO_LIMIT, Reader

__all__ = ["Priced", "price_cases"]


MOST_NOTICES = 1000


class Priced:
    """How many rows of a case file were answered and how many were not."""

    def __init__(self) -> None:
        self.good = 0
        self.bad = 0


_SEVERAL = "the row stands for several cases"
_SINGLE = "give single values in a row; lists belong on the command line"


# Warnings that differ in nothing but such numbers are one; the one with the largest is said.
_NUMBER = re.compile(r"(?<![\w.-])[\d,]+(?![\w.-])")


def _first_number(notice: Notice) -> int:
    found = _NUMBER.search(notice.message)
    return int(found[0].replace(",", "") or 0) if found else 0


class _Asked:
    """A question and the lengths that it was asked for."""

    def __init__(self, question: Question) -> None:
        self.question = question
        self.shortest, self.longest = MAX_TOKENS + 1, 0


class _Pricer:
    """Prices case by case; cases that differ in nothing but the length share one question."""

    def __init__(self, make: Ask, reader: Reader, defaults: Options, explain: bool) -> None:
        self.make, self.reader, self.defaults, self.explain = make, reader, defaults, explain
        self.default_lengths = reader.values("ctx", defaults.get("ctx", ()), [])
        self.questions: dict[tuple[tuple[str, ...], tuple[str, ...]], _Asked] = {}
        self.notices: list[Notice] = []
        self._seen: dict[tuple[str, str], int] = {}
        self._lengths: dict[str, list[int]] = {}

    def price(self, shape: Shape, cells: Sequence[Any]) -> tuple[Question, tuple[Any, ...]]:
        """The question of a case and the one row that answers it.

        Raises KvcostError for a case that cannot be answered or stands for several.
        """
        ctx, words = shape.read(cells)
        key = shape.options, words
        asked = self.questions.get(key) or self._ask(key)
        lengths = self._lengths.get(ctx) or self._read_lengths(ctx)
        if not lengths:
            raise KvcostError("no context length given", where="ctx", hint="give the row a ctx, or --ctx for all rows")
        if len(lengths) > 1:
            raise KvcostError(_SEVERAL, hint=_SINGLE)
        row = next(asked.question.rows(lengths))
        if not asked.shortest <= lengths[0] <= asked.longest:
            self._note(asked, lengths[0])
        return asked.question, row

    def _read_lengths(self, ctx: str) -> list[int]:
        if len(self._lengths) >= MEMO_LIMIT:
            self._lengths.clear()
        return self._lengths.setdefault(ctx, self.reader.values("ctx", (ctx,)) if ctx else self.default_lengths)

    def _ask(self, key: tuple[tuple[str, ...], tuple[str, ...]]) -> _Asked:
        if len(self.questions) >= MEMO_LIMIT:
            self.questions.clear()
        words = {option: [word] for option, word in zip(*key, strict=True) if word}
        question = self.make(self.reader, {**self.defaults, **words}, self.explain)
        if question.count((1,)) != 1:
            raise KvcostError(_SEVERAL, hint=_SINGLE)
        asked = self.questions[key] = _Asked(question)
        return asked

    def sources(self) -> dict[str, Source]:
        """Where the figures of the questions come from, the first of each quantity and entry."""
        found: dict[tuple[str, str], Source] = {}
        for asked in itertools.islice(self.questions.values(), MOST_NOTICES):
            for quantity, source in asked.question.sources((max(asked.longest, 1),)).items():
                found.setdefault((quantity.partition("[")[0], source.of), source)
        counts = Counter(quantity for quantity, _ in found)
        return {keyed(quantity, entry, counts[quantity]): source for (quantity, entry), source in found.items()}

    def _note(self, asked: _Asked, ctx: int) -> None:
        """Take over the warnings of a length outside those seen: what there is to warn of grows towards the ends."""
        asked.shortest, asked.longest = min(asked.shortest, ctx), max(asked.longest, ctx)
        for notice in asked.question.notices((ctx,)):
            key = notice.code, _NUMBER.sub("", notice.message)
            place = self._seen.get(key)
            if place is None and len(self._seen) < MOST_NOTICES:
                self._seen[key] = len(self.notices)
                self.notices.append(notice)
            elif place is not None and _first_number(notice) > _first_number(self.notices[place]):
                self.notices[place] = notice


def price_cases(
    make: Ask,
    reader: Reader,
    name: str,
    lines: Iterable[str],
    defaults: Options,
    known: Iterable[str],
    report: Callable[[KvcostError], None],
    *,
    explain: bool = False,
) -> tuple[Document, Priced]:
    """The document of all cases in the lines of a file (called `name` in messages), read and priced as it streams.

    A row that cannot be answered is handed to `report` with its line, and the others still run.
    Raises KvcostError when not one row can be answered.
    """
    tally, pricer = Priced(), _Pricer(make, reader, defaults, explain)
    options, shapes = frozenset(known), dict[tuple[str, ...], Shape]()

    def answers() -> Iterator[tuple[Question, tuple[Any, ...], Shape, Sequence[Any]]]:
        for number, case in read_cases(name, lines):
            try:
                if isinstance(case, KvcostError):
                    raise case
                keys, cells = case
                shape = shapes.get(keys) or _shaped(shapes, keys, options)
                question, row = pricer.price(shape, cells)
            except KvcostError as error:
                tally.bad += 1
                report(KvcostError(str(error), hint=error.hint, where=f"{name}:{number}"))
                continue
            tally.good += 1
            yield question, row, shape, cells

    stream = answers()
    first = next(stream, None)
    if first is None and not tally.bad:
        raise KvcostError("the file holds no case", where=name, hint=EMPTY)
    if first is None:
        raise KvcostError("no row could be answered", where=name, hint="see the errors above")
    question, _, shape, _ = first
    extras = _names_of([key for _, key in shape.extras], question.columns)
    document = Document(
        command=question.command,
        inputs={"input": name, **defaults},
        columns=(*question.columns, *extras.values()),
        rows=_with_extras(itertools.chain((first,), stream), extras, pricer.notices),
        total=None,
        notices=pricer.notices,
        sources=pricer.sources,
        passed=tuple(extras.values()),
    )
    return document, tally


def _names_of(extra: Iterable[str], columns: Sequence[str]) -> dict[str, str]:
    """The column of each passed-through key: its own name, or one that is free."""
    found: dict[str, str] = {}
    taken = {*columns, *extra}
    for key in extra:
        name = key
        while name in columns or (name != key and name in taken):
            name += "_input"
        found[key] = name
        taken.add(name)
    return found


def _shaped(shapes: dict[tuple[str, ...], Shape], keys: tuple[str, ...], known: frozenset[str]) -> Shape:
    if len(shapes) >= MEMO_LIMIT:
        shapes.clear()
    return shapes.setdefault(keys, Shape(keys, known))


def _with_extras(
    answers: Iterable[tuple[Question, tuple[Any, ...], Shape, Sequence[Any]]], extras: Mapping[str, str], notices: list[Notice]
) -> Iterator[tuple[Any, ...]]:
    dropped: set[str] = set()
    for _, row, shape, cells in answers:
        if not shape.extras and not extras:
            yield row
            continue
        extra = {key: cells[place] for place, key in shape.extras}
        for key in [key for key in extra if key not in extras and key not in dropped]:
            dropped.add(key)
            notices.append(Notice("extra-key-dropped", f"the key '{key}' is not in the first row and is left out", "give the first row all keys"))
        yield (*row, *(extra.get(key) for key in extras))
