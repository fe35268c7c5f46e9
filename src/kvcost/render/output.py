"""One way out: pick the format, the place and the width, and write a document whole or not at all."""

import contextlib
import itertools
import os
import shutil
import stat
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TextIO

from ..cases.document import Document, picked
from ..errors import KvcostError
from .cells import harmless

__all__ = ["FORMATS", "PICTURES", "Style", "destination", "emit", "emit_text", "say_error", "say_notices"]

# Commands whose rows hold lists in some and not in others.
MIXED = ("check",)
PIPE_WIDTH = 100_000  # no limit that a table could reach
FORMATS = ("table", "json", "jsonl", "csv", "tsv", "markdown")
PICTURES = ("svg", "html")
PICTURE_WIDTH = 120  # where there is no terminal to be as wide as


class Style(NamedTuple):
    """How an answer is to be written."""

    format: str = "table"
    output: str | None = None
    columns: tuple[str, ...] | None = None
    color: str = "auto"
    quiet: bool = False
    save: str | None = None


def _wants_color(stream: TextIO, color: str) -> bool:
    if color != "auto":
        return color == "always"
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return stream.isatty() and os.environ.get("TERM") != "dumb"


@contextlib.contextmanager
def destination(output: str | None, option: str = "--output") -> Iterator[TextIO]:
    """Standard output, or a file that appears only when all of it is written; `option` is blamed where it cannot be."""
    if output is None or output == "-":
        yield sys.stdout
        sys.stdout.flush()
        return
    import tempfile

    mode = _mode_of(Path(output))
    try:
        if mode is None:  # a device or a pipe is written to; there is nothing to replace
            with Path(output).open("w", encoding="utf-8", errors="backslashreplace", newline="") as stream:
                yield stream
            return
        target = Path(output).resolve()  # of a symbolic link the file that it names is replaced
        if target.is_symlink():  # from Python 3.13 on a circle is no error of resolve
            raise RuntimeError
        handle, scratch = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.", suffix=".tmp")
    except BrokenPipeError:
        raise
    except RuntimeError:
        raise KvcostError(f"cannot write {output}: symbolic links in a circle", where=option, hint="give the path of a file") from None
    except OSError as error:
        raise KvcostError(f"cannot write {output}: {error.strerror}", where=option, hint="give a path in a folder that exists and is writable") from None
    try:
        with os.fdopen(handle, "w", encoding="utf-8", errors="backslashreplace", newline="") as stream:
            yield stream
        Path(scratch).chmod(mode)
        Path(scratch).replace(target)
    except OSError as error:
        raise KvcostError(f"cannot write {output}: {error.strerror}", where=option, hint="check the path and the space on the disk") from None
    finally:
        Path(scratch).unlink(missing_ok=True)


def _mode_of(target: Path) -> int | None:
    """Permissions of the file that will be there: those of the one that is, else as the umask says; None for a device or a pipe."""
    if target.is_file():
        return stat.S_IMODE(target.stat().st_mode)
    if target.exists() and not target.is_dir():
        return None
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


def _started(rows: Iterable[tuple[Any, ...]]) -> Iterable[tuple[Any, ...]]:
    """The same rows with the first one computed, so that nothing is written when it cannot be."""
    iterator = iter(rows)
    first = next(iterator, None)
    return () if first is None else itertools.chain((first,), iterator)


def emit(document: Document, style: Style) -> None:
    """Write a document in the format asked for, and its warnings to stderr.

    Raises KvcostError for a column that is not there or a place that cannot be written.
    """
    columns, rows = picked(document, style.columns)
    if not style.quiet and sys.stderr is not None and sys.stderr.isatty():
        from .progress import watched

        rows = watched(rows, document.total)
    rows = _started(rows)
    if style.save is not None:
        rows = list(rows)
        _save(document, columns, rows, style.save, style)
    with destination(style.output) as stream:
        _write(document, columns, rows, stream, style)
    if style.format != "json":
        say_notices(document, style)


def emit_text(text: str, style: Style) -> None:
    """Write finished text where the answer goes."""
    with destination(style.output) as stream:
        stream.write(text)


def _write(document: Document, columns: tuple[str, ...], rows: Iterable[tuple[Any, ...]], stream: TextIO, style: Style) -> None:
    if style.format in ("csv", "tsv"):
        from .delimited import write_delimited

        write_delimited(columns, rows, stream, "," if style.format == "csv" else "\t", mixed=bool(document.passed) or document.command in MIXED)
    elif style.format == "json":
        from .jsons import write_json

        write_json(document, columns, rows, stream)
    elif style.format == "jsonl":
        from .jsons import write_jsonl

        write_jsonl(columns, rows, stream)
    elif style.format == "markdown":
        from .cells import columns_of
        from .markdown import write_markdown

        shown: Sequence[Any] = list(rows)
        if document.command == "reduce" and style.columns is None and shown:
            from .techniques import table_of

            columns, shown = table_of(columns, shown)
        write_markdown(columns_of(columns, shown), stream)
    else:
        _write_table(document, columns, list(rows), stream, style)


def _write_table(document: Document, columns: tuple[str, ...], rows: Sequence[tuple[Any, ...]], stream: TextIO, style: Style) -> None:
    from .plain import PlainScreen, Screen
    from .views import show_document

    color = _wants_color(stream, style.color)
    screen: Screen = PlainScreen(stream)
    if stream.isatty() or color:
        from .terminal import RichScreen

        screen = RichScreen(stream, shutil.get_terminal_size().columns if stream.isatty() else PIPE_WIDTH, color)
    show_document(document, columns, rows, screen, chosen=style.columns is not None)


def _save(document: Document, columns: tuple[str, ...], rows: Sequence[tuple[Any, ...]], name: str, style: Style) -> None:
    """A picture of the table, in the file of that name; of nothing there is none."""
    from .picture import write_picture
    from .views import show_document

    if rows:
        width = shutil.get_terminal_size((PICTURE_WIDTH, 1)).columns
        kind = name.rpartition(".")[2].lower()
        with destination(name, "--save") as stream:
            write_picture(
                lambda screen: show_document(document, columns, rows, screen, chosen=style.columns is not None),
                stream,
                kind,
                width,
                f"kvcost {document.command}",
            )


def say_notices(document: Document, style: Style) -> None:
    """Warnings, a line each, on stderr."""
    if style.quiet:
        return
    for notice in document.notices:
        hint = f" ({notice.hint})" if notice.hint else ""
        print(harmless(f"warning: {notice.code}: {notice.message}{hint}"), file=sys.stderr)


def say_error(error: KvcostError) -> None:
    """An error and the hint that mends it, on stderr."""
    print(f"error: {harmless(str(error))}", file=sys.stderr)
    if error.hint:
        print(f"hint: {harmless(error.hint)}", file=sys.stderr)
