"""A user's own catalog: one YAML file, or a folder of them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..errors import KvcostError
from .compile import compile_document
from .names import KINDS
from .schema import SCHEMAS, Entry
from .strict_yaml import Document, read_yaml

__all__ = ["read_user_catalogs"]

_SUFFIXES = {".yaml", ".yml"}
_HINT = "name it models.yaml, links.yaml, gpus.yaml, engines.yaml or techniques.yaml, or put its entries below a key models:, links: and so on"
Found = dict[str, dict[str, dict[str, Any]]]


def read_user_catalogs(paths: Sequence[str]) -> Found:
    """Kind → entries of all files, later ones replacing earlier ones of the same id.

    A path is a file, or a folder of files. What a file holds is told by its name (`models.yaml`), its
    folder's name, sections of these names inside it, or else by the keys of its entries. Every YAML
    file of a folder is read; any other file is an error.
    """
    found: Found = {kind: {} for kind in KINDS}
    for path in paths:
        for file in _files(Path(path)):
            document = read_yaml(file)
            for kind, prefix in _parts(file, document):
                found[kind].update(compile_document(kind, document, prefix))
    return found


def _parts(file: Path, document: Document) -> list[tuple[str, tuple[str, ...]]]:
    """The kinds that a file holds and where in it their entries stand."""
    value = document.value
    if isinstance(value, dict) and value and all(key in KINDS for key in value):
        return [(key, (key,)) for key in value]
    for word in (file.stem, file.parent.name):
        if word in KINDS:
            return [(word, ())]
    return [(_kind_by_keys(document), ())]


def _kind_by_keys(document: Document) -> str:
    """The kind whose own keys the entries use most."""
    value = document.value
    used = {key for entry in value.values() if isinstance(entry, dict) for key in entry} if isinstance(value, dict) else set()
    common = set(Entry.model_fields)
    scores = {kind: len(used & (set(schema.model_fields) - common)) for kind, schema in SCHEMAS.items()}
    best = max(scores, key=lambda kind: scores[kind])
    if not scores[best]:
        raise KvcostError("cannot tell what this catalog file holds", where=document.where(()), hint=_HINT)
    return best


def _files(path: Path) -> list[Path]:
    if path.is_file():
        return [path]
    if not path.is_dir():
        raise KvcostError("no such catalog file or folder", where=str(path), hint="check --catalog and KVCOST_CATALOG")
    inside = ((file, file.relative_to(path).parts) for file in path.rglob("*"))
    files = sorted(file for file, parts in inside if file.is_file() and not any(part.startswith(".") for part in parts))
    for file in files:
        if file.suffix not in _SUFFIXES:
            raise KvcostError("a catalog folder holds YAML files only", where=str(file), hint="move the file elsewhere")
        if path == file.parent and file.stem not in KINDS:
            raise KvcostError("unknown file in a catalog folder", where=str(file), hint=_HINT)
    if not files:
        raise KvcostError(
            "the catalog folder holds no YAML file", where=str(path), hint="add models.yaml, links.yaml, gpus.yaml, engines.yaml or techniques.yaml"
        )
    return files
