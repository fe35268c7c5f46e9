"""The way of every pricing command: words → options → document → output."""

from __future__ import annotations

import contextlib
import io
import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TextIO

from ..cases.document import Document
from ..cases.models import ModelFinder
from ..cases.plan import Options
from ..cases.question import Ask, ask
from ..cases.reading import Reader, flag
from ..catalog.store import Catalog
from ..cost.words import VERDICTS
from ..errors import KvcostError
from ..render.output import FORMATS, PICTURES, Style, emit, say_error
from ..units.lists import split_list

EXIT_NOTHING = 3
__all__ = ["EXIT_NOTHING", "answer", "catalog_of", "stdin_of", "style_of"]


def style_of(values: Mapping[str, Any]) -> Style:
    """The output options of a command. Raises KvcostError for a format or colour that is not known."""
    name = values["format"] or ("json" if values["json"] else "table")
    if values["json"] and name != "json":
        raise KvcostError(f"--json and --format {name} contradict each other", where="--format", hint="give one of them")
    if name not in FORMATS:
        raise KvcostError(f"unknown format '{name}'", where="--format", hint="write one of " + ", ".join(FORMATS))
    if values["color"] not in ("auto", "always", "never"):
        raise KvcostError(f"unknown value '{values['color']}'", where="--color", hint="write auto, always or never")
    columns = tuple(name for words in values["columns"] or () for name in split_list(words)) or None
    return Style(name, values["output"], columns, values["color"], values["quiet"], _picture(values.get("save"), name))


def _picture(save: str | None, format_name: str) -> str | None:
    """The file of --save, if it is one that a picture can be written to."""
    if save is not None and format_name != "table":
        raise KvcostError(f"--save draws the table that the terminal shows, not {format_name}", where="--save", hint="leave --format out")
    if save is not None and not save.lower().endswith(tuple(f".{kind}" for kind in PICTURES)):
        hint = "write FILE.svg or FILE.html; a browser or rsvg-convert makes other pictures of an SVG"
        raise KvcostError(f"no picture of the kind '{save}' can be drawn", where="--save", hint=hint)
    return save


def catalog_of(values: Mapping[str, Any]) -> Catalog:
    """Built-in entries with the user's own (--catalog, else KVCOST_CATALOG) on top."""
    paths = values["catalog"] or [path for path in os.environ.get("KVCOST_CATALOG", "").split(os.pathsep) if path]
    return Catalog(paths)


def stdin_of(where: str) -> TextIO:
    """Standard input, as UTF-8 whatever the locale."""
    if sys.stdin is None:
        raise KvcostError("standard input is closed", where=where, hint="pipe something into it, or name a file")
    if isinstance(sys.stdin, io.TextIOWrapper):
        sys.stdin.reconfigure(encoding="utf-8", errors="surrogateescape")
    return sys.stdin


def _expanded(words: Sequence[str], where: str) -> list[str]:
    """Words with `@file` replaced by the words of the file, and `-` by those of stdin."""
    found: list[str] = []
    for word in words:
        if not word.strip():
            raise KvcostError("an empty value", where=where, hint="give a value or leave the option out")
        if word == "-":
            found += stdin_of(where).read().split()
        elif word.startswith("@"):
            try:
                found += Path(word[1:]).read_text(encoding="utf-8").split()
            except (OSError, UnicodeDecodeError) as error:
                reason = error.strerror if isinstance(error, OSError) else "not UTF-8 text"
                raise KvcostError(f"cannot read {word[1:]}: {reason}", where=where, hint="@FILE names a file with one value a line") from None
        else:
            found.append(word)
    if not found:
        raise KvcostError("the file names no value", where=where, hint="write one value a line")
    return found


def _opened(name: str) -> TextIO:
    try:
        return Path(name).open(encoding="utf-8", errors="surrogateescape", newline="")
    except OSError as error:
        raise KvcostError(f"cannot read {name}: {error.strerror}", where="--input", hint="give a CSV or JSON lines file, or - for stdin") from None


def _answer_cases(name: str, make: Ask, reader: Reader, options: Options, known: Sequence[str], style: Style, watch: _Watch, *, explain: bool) -> int:
    """Answer a file of cases; 1 when some rows could not be answered."""
    from ..cases.inputs import price_cases

    with contextlib.ExitStack() as stack:
        try:
            lines = stdin_of("--input") if name == "-" else stack.enter_context(_opened(name))
            document, tally = price_cases(make, reader, "stdin" if name == "-" else name, lines, options, known, say_error, explain=explain)
            emit(watch.over(document), style)
        except UnicodeDecodeError:
            raise KvcostError(f"{name} is not UTF-8 text", where="--input", hint="save it as UTF-8") from None
    return 1 if tally.bad else watch.code()


def answer(make: Ask, known: Sequence[str], values: Mapping[str, Any]) -> int:
    """Answer one question: `make` prices it, `known` are its options, `values` everything typed.

    Returns the exit code: 0, or 1 when rows of --input could not be answered.
    """
    style, catalog = style_of(values), catalog_of(values)
    reader = Reader(catalog, ModelFinder(catalog, values["view"], values["download"]))
    reader.wanted_order, reader.for_people = style.columns, style.format in ("table", "markdown")
    reader.wanted = None if style.columns is None else frozenset(style.columns)
    explain = values["explain"]
    if explain and style.format in ("csv", "tsv", "markdown"):
        raise KvcostError(f"--explain does not fit into {style.format}", where="--explain", hint="use --format table, json or jsonl")
    _check_stdin({option: values.get(option) for option in ("preset", "input", *known)})
    options: Options = {option: _expanded(values[option], flag(option)) for option in known if values.get(option)}
    if values["preset"] is not None:
        make, options = _with_preset(values["preset"], make, reader, options, known)
    watch = _Watch(values.get("fail_if"), reader)
    if values["input"] is None:
        emit(watch.over(ask(make, reader, options, explain=explain)), style)
        return watch.code()
    return _answer_cases(values["input"], make, reader, options, known, style, watch, explain=explain)


def _check_stdin(values: Mapping[str, Any]) -> None:
    """Raises KvcostError where two options would read standard input, which can be read once."""
    readers = [flag(option) for option, words in values.items() if words == "-" or (isinstance(words, list) and "-" in words)]
    if len(readers) > 1:
        raise KvcostError("standard input can be read once", where=" and ".join(readers), hint="give a file in place of one -")


def _with_preset(name: str, make: Ask, reader: Reader, typed: Options, known: Sequence[str]) -> tuple[Ask, Options]:
    """The question and its options with those of a preset below what was typed."""
    from ..cases.preset import over_preset
    from ..presets.read import MAX_BYTES, PresetReader

    if not name.strip():
        raise KvcostError("an empty value", where="--preset", hint="name a preset file, or leave the option out")
    if name == "-":
        preset = PresetReader().read(Path("stdin"), stdin_of("--preset").read(MAX_BYTES + 1).encode("utf-8", "surrogateescape"), "stdin")
    else:
        preset = PresetReader().read(Path(name))
    return over_preset(make, reader, preset, typed, known)


class _Watch:
    """Sees the verdicts go by, for --fail-if."""

    def __init__(self, words: str | None, reader: Reader) -> None:
        self.wanted = [] if words is None else split_list(words.lower())
        for word in self.wanted:
            if word not in (*VERDICTS, "never"):
                raise KvcostError(f"unknown verdict '{word}'", where="--fail-if", hint="write one of " + ", ".join((*VERDICTS, "never")))
        self.met = self.gains = False
        if self.wanted and reader.wanted is not None:
            # Rows then carry what the verdict needs; `emit` cuts them to the columns asked for.
            reader.wanted_order, reader.wanted = None, reader.wanted | {"verdict", "net_gain_s"}

    def over(self, document: Document) -> Document:
        """The same document, its rows watched as they are written."""
        if not self.wanted:
            return document
        verdict, gain = document.columns.index("verdict"), document.columns.index("net_gain_s")
        return document._replace(rows=self._rows(document.rows, verdict, gain))

    def _rows(self, rows: Iterable[tuple[Any, ...]], verdict: int, gain: int) -> Iterator[tuple[Any, ...]]:
        for row in rows:
            self.met = self.met or row[verdict] in self.wanted
            self.gains = self.gains or (row[gain] is not None and row[gain] > 0) or row[verdict] == "disaggregate"
            yield row

    def code(self) -> int:
        """1 when a verdict to fail at was met, or nothing gained and `never` was asked for."""
        return 1 if self.met or ("never" in self.wanted and not self.gains) else 0
