"""YAML files of one kind → checked entries as plain JSON-able values."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pydantic import ValidationError

from ..errors import KvcostError
from .names import near_names
from .schema import SCHEMAS
from .strict_yaml import Document, read_yaml

__all__ = ["compile_file"]


def compile_file(kind: str, path: Path, text: bytes | None = None) -> dict[str, dict[str, Any]]:
    """The entries of one YAML file, id → values in base units.

    Raises KvcostError with file:line:col for the first thing that the schema refuses.
    """
    document = read_yaml(path, text)
    if not isinstance(document.value, dict):
        raise KvcostError(f"a {kind} file is a mapping of ids to entries", where=document.where(()), hint="write id: {title: ..., ...}")
    return {name: _entry(kind, name, value, document) for name, value in document.value.items()}


def _entry(kind: str, name: str, value: Any, document: Document) -> dict[str, Any]:
    schema = SCHEMAS[kind]
    try:
        entry = schema.model_validate(value)
    except ValidationError as error:
        raise _readable(error, name, document, kind) from None
    return entry.model_dump(mode="json")


def _readable(error: ValidationError, name: str, document: Document, kind: str) -> KvcostError:
    """The first complaint of pydantic in our words, at its place in the file."""
    first = error.errors(include_url=False)[0]
    path = (name, *(part for part in first["loc"] if (name, part) is not None))
    # A tagged union puts the tag into the location; it is not a key of the file.
    while path and path not in document.places and len(path) > 1:
        shorter = [path[:i] + path[i + 1 :] for i in range(1, len(path))]
        found = [candidate for candidate in shorter if candidate in document.places]
        path = found[0] if found else path[:-1]
    where = document.where(path)
    field = str(first["loc"][-1]) if first["loc"] else name
    message = first["msg"].removeprefix("Value error, ")
    if first["type"] == "extra_forbidden":
        known = list(SCHEMAS[kind].model_fields)
        near = near_names(field, known)
        return KvcostError(
            f"unknown key '{field}' in {name}", where=where, hint=f"did you mean {' or '.join(near)}?" if near else "known keys: " + ", ".join(known)
        )
    if first["type"] == "missing":
        return KvcostError(f"{name} lacks the key '{field}'", where=where, hint=f"add {field}: ...")
    given = first.get("input")
    shown = f" (given: {given!r})" if isinstance(given, str | int | float | bool) and first["type"] != "value_error" else ""
    return KvcostError(
        f"{name}: {field}: {message[:1].lower()}{message[1:]}{shown}",
        where=where,
        hint="see `kvcost schema " + kind.removesuffix("s") + "` for the form of an entry",
    )
