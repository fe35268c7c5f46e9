"""json (one document) and jsonl (a row a line), both streamed row by row."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any, TextIO

from ..cases.document import Document

__all__ = ["schema_name", "write_json", "write_jsonl"]


def schema_name(command: str) -> str:
    """The name and version of a command's document."""
    return f"kvcost/{command}/1"


def _text_for(stream: TextIO) -> Callable[[Any], str]:
    """JSON text of a value; escaped where the stream's encoding could not hold it."""
    escaped = not (getattr(stream, "encoding", None) or "utf-8").lower().startswith("utf")
    return json.JSONEncoder(ensure_ascii=escaped, allow_nan=False, default=list).encode


def write_json(document: Document, columns: tuple[str, ...], rows: Iterable[tuple[Any, ...]], stream: TextIO) -> None:
    """Write the one document of a command: schema, inputs, rows, warnings, sources."""
    text = _text_for(stream)
    stream.write(f'{{"schema": {text(schema_name(document.command))},\n "inputs": {text(document.inputs)},\n "rows": [')
    separator = "\n  "
    for row in rows:
        stream.write(separator + text(dict(zip(columns, row, strict=True))))
        separator = ",\n  "
    notices = [notice._asdict() for notice in document.notices]
    sources = {quantity: source._asdict() for quantity, source in document.sources().items()}
    stream.write(f'\n ],\n "warnings": {text(notices)},\n "sources": {text(sources)}}}\n')


def write_jsonl(columns: tuple[str, ...], rows: Iterable[tuple[Any, ...]], stream: TextIO) -> None:
    """Write each row as one JSON object on a line of its own."""
    text = _text_for(stream)
    for row in rows:
        stream.write(text(dict(zip(columns, row, strict=True))) + "\n")
