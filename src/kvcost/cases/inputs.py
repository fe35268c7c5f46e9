"""A file of cases, one a row (JSONL or CSV): keys are option names, other keys pass through."""

import csv
import itertools
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from ..errors import KvcostError, Notice
from ..units.parse import MAX_TOKENS
from .document import Document, Source, keyed
from .plan import Options
from .question import Ask, Question
from .reading import MEMO_LIMIT, Reader

__all__ = ["Priced", "price_cases"]


MOST_NOTICES = 1000
_NUMBERS = (int, float)


class Priced:
    """How many rows of a case file were answered and how many were not."""

    def __init__(self) -> None:
        self.good = 0
        self.bad = 0


_EMPTY = 'write CSV with a header, or JSON lines such as {"model": "llama2-70b", "ctx": 4096}'
Numbered = Iterable[tuple[int, str]]


def _cases(name: str, lines: Iterable[str]) -> Iterator[tuple[int, Mapping[str, Any] | KvcostError]]:
    """Line number and case of each row; a row that cannot be read is its error."""
    numbered = enumerate(lines, 1)
    first = next(((number, line) for number, line in numbered if line.strip("\ufeff \t\r\n")), None)
    if first is None:
        raise KvcostError("the file holds no case", where=name, hint=_EMPTY)
    whole = itertools.chain((first,), numbered)
    if first[1].lstrip("\ufeff \t").startswith("{"):
        for number, line in whole:
            if line.strip():
                yield number, _json_case(line.lstrip("\ufeff"))
        return
    yield from _csv_cases(whole)


def _csv_cases(numbered: Numbered) -> Iterator[tuple[int, Mapping[str, Any] | KvcostError]]:
    """Cases of a CSV file, each with the line on which it ends; blank rows are none."""
    at = 0

    def source() -> Iterator[str]:
        nonlocal at
        for number, line in numbered:
            at = number
            yield line.lstrip("\ufeff")

    text = source()
    header = next(text, "")
    rows = csv.DictReader(itertools.chain((header,), text), delimiter=";" if ";" in header and "," not in header else ",")
    while True:
        try:
            row = next(rows, None)
        except csv.Error as error:
            yield at, KvcostError(f"not a row of CSV: {error}", hint="quote cells that hold commas or quotes, and keep each below 128 KiB")
            continue
        if row is None:
            return
        if None in row:
            yield at, KvcostError("the row has more cells than the header", hint="quote cells that hold commas")
        elif any(cell and not cell.isspace() for cell in row.values()):
            yield at, row


def _finite(text: str) -> float:
    value = float(text)
    if value - value:
        raise ValueError(f"{text} is no number that JSON can hold")
    return value


_decode = json.JSONDecoder(parse_float=_finite, parse_constant=_finite).decode


def _json_case(line: str) -> Mapping[str, Any] | KvcostError:
    try:
        case = _decode(line)
    except (ValueError, RecursionError) as error:
        return KvcostError(f"not a JSON object: {error}", hint='write one object a line, such as {"model": "llama2-70b", "ctx": 4096}')
    return case if isinstance(case, dict) else KvcostError("not a JSON object", hint="write one object a line")


def _word(option: str, value: Any) -> str:
    if value.__class__ not in _NUMBERS:
        raise KvcostError(f"{option}: needs text or a number, not {type(value).__name__}", hint="one case a row: give single values")
    return repr(value)


class _Keys(dict[str, str]):
    """The option that each key of a case names, "" for a key that is passed through."""

    def __init__(self, known: Iterable[str]) -> None:
        super().__init__()
        self.known = frozenset(known)

    def __missing__(self, key: str) -> str:
        option = key.strip().lower().replace("-", "_")
        self[key] = option if option in self.known else ""
        return self[key]


def _split(case: Mapping[str, Any], keys: _Keys) -> tuple[str, dict[str, str], dict[str, Any]]:
    """The context length's word, the other options' words, and the passed-through values of a case."""
    ctx, options, extra = "", {}, {}
    for key, value in case.items():
        option = keys[key]
        if not option:
            extra[key] = value
        elif value is not None and value != "":
            word = value if value.__class__ is str else _word(option, value)
            if option == "ctx":
                ctx = word
            else:
                options[option] = word
    return ctx, options, extra


_SEVERAL = "the row stands for several cases"
_SINGLE = "give single values in a row; lists belong on the command line"


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
        self.questions: dict[tuple[tuple[str, str], ...], _Asked] = {}
        self.notices: list[Notice] = []
        self._seen: set[tuple[str, str]] = set()

    def price(self, ctx: str, options: dict[str, str]) -> tuple[Question, tuple[Any, ...]]:
        """The question of a case and the one row that answers it.

        Raises KvcostError for a case that cannot be answered or stands for several.
        """
        key = tuple(options.items())
        asked = self.questions.get(key) or self._ask(key)
        lengths = self.reader.values("ctx", (ctx,)) if ctx else self.default_lengths
        if not lengths:
            raise KvcostError("no context length given", where="ctx", hint="give the row a ctx, or --ctx for all rows")
        if len(lengths) > 1:
            raise KvcostError(_SEVERAL, hint=_SINGLE)
        row = next(asked.question.rows(lengths))
        if not asked.shortest <= lengths[0] <= asked.longest:
            self._note(asked, lengths[0])
        return asked.question, row

    def _ask(self, key: tuple[tuple[str, str], ...]) -> _Asked:
        if len(self.questions) >= MEMO_LIMIT:
            self.questions.clear()
        words = {option: [word] for option, word in key}
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
            if notice[:2] not in self._seen and len(self._seen) < MOST_NOTICES:
                self._seen.add(notice[:2])
                self.notices.append(notice)


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
    tally, keys, pricer = Priced(), _Keys(known), _Pricer(make, reader, defaults, explain)

    def answers() -> Iterator[tuple[Question, tuple[Any, ...], dict[str, Any]]]:
        for number, case in _cases(name, lines):
            try:
                if isinstance(case, KvcostError):
                    raise case
                ctx, options, extra = _split(case, keys)
                question, row = pricer.price(ctx, options)
            except KvcostError as error:
                tally.bad += 1
                report(KvcostError(str(error), hint=error.hint, where=f"{name}:{number}"))
                continue
            tally.good += 1
            yield question, row, extra

    stream = answers()
    first = next(stream, None)
    if first is None and not tally.bad:
        raise KvcostError("the file holds no case", where=name, hint=_EMPTY)
    if first is None:
        raise KvcostError("no row could be answered", where=name, hint="see the errors above")
    question, _, extra = first
    extras = {key: key if key not in question.columns else f"{key}_input" for key in extra}
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


def _with_extras(
    answers: Iterable[tuple[Question, tuple[Any, ...], dict[str, Any]]], extras: Mapping[str, str], notices: list[Notice]
) -> Iterator[tuple[Any, ...]]:
    dropped: set[str] = set()
    for _, row, extra in answers:
        for key in extra.keys() - extras.keys() - dropped:
            dropped.add(key)
            notices.append(Notice("extra-key-dropped", f"the key '{key}' is not in the first row and is left out", "give the first row all keys"))
        yield (*row, *(extra.get(key) for key in extras)) if extras else row
