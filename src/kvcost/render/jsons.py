"""json (one document) and jsonl (a row a line), both streamed row by row."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, TextIO

from ..cases.document import Document

__all__ = ["schema_name", "write_json", "write_jsonl"]


def schema_name(command: str) -> str:
    """The name and version of a command's document."""
    return f"kvcost/{command}/1"


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False, default=_plain)


def _plain(value: Any) -> Any:
    return list(value)


def write_json(document: Document, columns: tuple[str, ...], rows: Iterable[tuple[Any, ...]], stream: TextIO) -> None:
    """Write the one document of a command: schema, inputs, rows, warnings, sources."""
    stream.write(f'{{"schema": {_text(schema_name(document.command))},\n "inputs": {_text(document.inputs)},\n "rows": [')
    separator = "\n  "
    for row in rows:
        stream.write(separator + _text(dict(zip(columns, row, strict=True))))
        separator = ",\n  "
    notices = [notice._asdict() for notice in document.notices]
    sources = {quantity: source._asdict() for quantity, source in document.sources().items()}
    stream.write(f'\n ],\n "warnings": {_text(notices)},\n "sources": {_text(sources)}}}\n')


def write_jsonl(columns: tuple[str, ...], rows: Iterable[tuple[Any, ...]], stream: TextIO) -> None:
    """Write each row as one JSON object on a line of its own."""
    for row in rows:
        stream.write(_text(dict(zip(columns, row, strict=True))) + "\n")
