"""JSON Schema of the documents that commands print."""

import types
import typing
from typing import Any

from .compute import ComputeRow
from .gains import GainRow
from .size import SizeRow
from .transfer import TransferRow

__all__ = ["result_schema"]

_ROWS: dict[str, tuple[type, ...]] = {"size": (SizeRow,), "transfer": (TransferRow,), "compute": (ComputeRow,), "breakeven": (TransferRow, GainRow)}
# Catalogs and texts: their rows hold what each entry has.
_OTHERS = ("models", "links", "gpus", "engines", "explain", "import")
_TYPES = {int: "integer", float: "number", str: "string", bool: "boolean", type(None): "null", dict: "object"}
_NOTICE = {"type": "object", "properties": {key: {"type": "string"} for key in ("code", "message", "hint")}, "required": ["code", "message"]}


def _type_of(annotation: Any) -> dict[str, Any]:
    parts = typing.get_args(annotation) if isinstance(annotation, types.UnionType) else (annotation,)
    return {"type": [_TYPES.get(typing.get_origin(part) or part, "array") for part in parts]}


def _document(command: str, rows: tuple[type, ...]) -> dict[str, Any]:
    fields = {name: _type_of(annotation) for row in rows for name, annotation in typing.get_type_hints(row).items()}
    return {
        "type": "object",
        "properties": {
            "schema": {"const": f"kvcost/{command}/1"},
            "inputs": {"type": "object"},
            "rows": {"type": "array", "items": {"type": "object", "properties": fields}},
            "warnings": {"type": "array", "items": _NOTICE},
            "sources": {"type": "object"},
        },
        "required": ["schema", "inputs", "rows", "warnings"],
    }


def result_schema(**more: tuple[type, ...]) -> dict[str, Any]:
    """One schema for every command's document, told apart by its `schema` field; rows of known records field by field.

    `more` are the records of commands that stand above this module.
    """
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "kvcost result",
        "oneOf": [_document(command, rows) for command, rows in {**_ROWS, **more, **dict.fromkeys(_OTHERS, ())}.items()],
    }
