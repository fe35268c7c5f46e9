"""Questions asked from Python: the words of the command line in, its rows as dicts out."""

from collections.abc import Iterable, Sequence
from numbers import Integral, Real
from os import PathLike, fspath
from pathlib import Path
from typing import Any, NamedTuple

from ..catalog.names import near_names
from ..catalog.store import Catalog
from ..errors import KvcostError, Notice
from .document import Source, picked
from .models import ModelFinder
from .plan import Options
from .question import Ask, ask
from .reading import Reader

__all__ = ["ASKED", "Answer", "Given", "answer", "rows"]

# What may be given for an option: a word as typed on the command line, a number, a path, or several of them.
Word = str | float | PathLike[str]
Given = Word | Sequence[Word] | None
ASKED = ("size", "transfer", "compute", "breakeven", "reduce")


class Answer(NamedTuple):
    """What a command answers.

    rows      field → value, as in the command's `--json`
    warnings  what to beware of
    sources   quantity → value, provenance and source
    """

    rows: list[dict[str, Any]]
    warnings: list[Notice]
    sources: dict[str, Source]


def _asked(command: str) -> tuple[Ask, Sequence[str]]:
    """What reads a command's options, and their names."""
    match command:
        case "size":
            from .size import SIZE_OPTIONS, SizeQuestion

            return SizeQuestion, SIZE_OPTIONS
        case "transfer":
            from .transfer import TRANSFER_OPTIONS, TransferQuestion

            return TransferQuestion, TRANSFER_OPTIONS
        case "compute":
            from .compute import COMPUTE_OPTIONS, ComputeQuestion

            return ComputeQuestion, COMPUTE_OPTIONS
        case "breakeven":
            from .breakeven import BREAKEVEN_OPTIONS
            from .gain import ask_breakeven

            return ask_breakeven, BREAKEVEN_OPTIONS
        case "reduce":
            from .reduce import REDUCE_OPTIONS, ReduceQuestion

            return ReduceQuestion, REDUCE_OPTIONS
    raise KvcostError(f"unknown command '{command}'", hint="ask one of " + ", ".join(ASKED))


def _word(option: str, value: object) -> str:
    if isinstance(value, str | PathLike):
        word = fspath(value)
        if not word.strip():
            raise KvcostError("an empty value", where=option, hint="give a value or leave the option out")
        return word
    if isinstance(value, bool) or not isinstance(value, Real):
        raise KvcostError(f"needs text or a number, not {type(value).__name__}", where=option, hint="write values as on the command line")
    return str(int(value)) if isinstance(value, Integral) else repr(float(value))


def _options(command: str, given: Iterable[tuple[str, Given]], known: Sequence[str]) -> Options:
    found = {}
    for name, value in given:
        option = name.removesuffix("_")  # with_, as Python has `with` for itself
        if option not in known:
            near = near_names(option, known)
            hint = f"nearest: {', '.join(near)}" if near else "known: " + ", ".join(known)
            raise KvcostError(f"{command} has no option '{option}'", hint=hint)
        if value is not None:
            several = isinstance(value, Sequence) and not isinstance(value, str | bytes)
            found[option] = [_word(option, item) for item in (value if several else (value,))]  # type: ignore[union-attr]
    return found


def answer(
    command: str,
    *,
    preset: str | PathLike[str] | None = None,
    catalog: Catalog | str | PathLike[str] | None = None,
    columns: Sequence[str] | None = None,
    view: str = "serving",
    explain: bool = False,
    **options: Given,
) -> Answer:
    """What `kvcost COMMAND --json` answers: rows in base units, with their warnings and sources.

    `options` are those of the command line, `_` for `-` (and `with_` for --with): text in its grammar (lists and ranges multiply), numbers, paths, or
    lists of them. `preset` is a preset file, whose words the options go before; `columns` picks fields, and spares the work
    that only the others need; `explain` adds each row's terms; `view` is how a config.json is counted (serving or hf).

    >>> found = answer("transfer", model="llama2-70b", ctx=[4096, "8k"], link="100gbe", columns=["ctx_tokens", "wire_bytes"])
    >>> found.rows[1]
    {'ctx_tokens': 8192, 'wire_bytes': 2684354560}
    >>> found.warnings[0].code
    'ctx-beyond-limit'

    Raises KvcostError for an unknown command, option or column, for words that cannot be read and combinations that cannot be served.
    """
    make, known = _asked(command)
    catalog = catalog if isinstance(catalog, Catalog) else Catalog(catalog or ())
    reader = Reader(catalog, ModelFinder(catalog, view))
    if columns is not None:
        reader.wanted_order, reader.wanted = tuple(columns), frozenset(columns)
    words = _options(command, options.items(), known)
    if preset is not None:
        from ..presets.read import PresetReader
        from .preset import over_preset

        make, words = over_preset(make, reader, PresetReader().read(Path(preset)), words, known)
    document = ask(make, reader, words, explain=explain)
    fields, values = picked(document, None if columns is None else tuple(columns))
    found = [dict(zip(fields, row, strict=True)) for row in values]
    return Answer(found, document.notices, document.sources())


def rows(
    command: str,
    *,
    preset: str | PathLike[str] | None = None,
    catalog: Catalog | str | PathLike[str] | None = None,
    columns: Sequence[str] | None = None,
    view: str = "serving",
    explain: bool = False,
    **options: Given,
) -> list[dict[str, Any]]:
    """The rows of `answer`, for the same arguments.

    >>> [row] = rows("transfer", model="llama2-70b", ctx="4k", link="100gbe")
    >>> row["wire_bytes"], row["line_rate_s"]
    (1342177280, 0.1073741824)

    Raises KvcostError as `answer` does.
    """
    return answer(command, preset=preset, catalog=catalog, columns=columns, view=view, explain=explain, **options).rows
