"""YAML files of one kind → checked entries as plain JSON-able values."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pydantic import ValidationError

from ..errors import KvcostError
from .names import near_names
from .schema import SCHEMAS
from .strict_yaml import Document, read_yaml

__all__ = ["compile_document", "compile_file"]


def compile_file(kind: str, path: Path, text: bytes | None = None) -> dict[str, dict[str, Any]]:
    """The entries of a YAML file that holds one kind, id → values in base units.

    Raises KvcostError with file:line:col for the first thing that the schema refuses.
    """
    return compile_document(kind, read_yaml(path, text), ())


def compile_document(kind: str, document: Document, prefix: tuple[str, ...]) -> dict[str, dict[str, Any]]:
    """The entries of one kind that stand in a document below the keys of `prefix`."""
    value = document.value
    for key in prefix:
        value = value[key]
    if not isinstance(value, dict):
        raise KvcostError(f"{kind} are a mapping of ids to entries", where=document.where(prefix), hint="write id: {title: ..., ...}")
    return {name: _entry(kind, (*prefix, name), entry, document) for name, entry in value.items()}


def _entry(kind: str, place: tuple[str, ...], value: Any, document: Document) -> dict[str, Any]:
    schema = SCHEMAS[kind]
    try:
        entry = schema.model_validate(value)
    except ValidationError as error:
        raise _readable(error, place, document, kind) from None
    return entry.model_dump(mode="json")


def _readable(error: ValidationError, place: tuple[str, ...], document: Document, kind: str) -> KvcostError:
    """A complaint of pydantic in our words, at its place in the file."""
    complaints = error.errors(include_url=False)
    # A mistyped key is at once unknown and missing; the unknown one says more.
    first = next((complaint for complaint in complaints if complaint["type"] == "extra_forbidden"), complaints[0])
    name = place[-1]
    path: tuple[str | int, ...] = place
    for part in first["loc"]:
        # Some parts (the tag of a union, a key that is missing) are no places in the file.
        path = (*path, part) if (*path, part) in document.places else path
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
    place_in_entry = f"{field}: " if first["loc"] else ""
    return KvcostError(
        f"{name}: {place_in_entry}{message[:1].lower()}{message[1:]}{shown}",
        where=where,
        hint="see `kvcost schema " + kind.removesuffix("s") + "` for the form of an entry",
    )
