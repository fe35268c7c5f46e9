"""A user's own catalog: one YAML file, or a folder of them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..errors import KvcostError
from .compile import compile_file
from .store import KINDS

__all__ = ["read_user_catalogs"]

_SUFFIXES = {".yaml", ".yml"}


def read_user_catalogs(paths: Sequence[str]) -> dict[str, dict[str, dict[str, Any]]]:
    """Kind → entries of all files, later ones replacing earlier ones of the same id.

    A path is a file named after its kind (`models.yaml`, or in a folder of that name), or a folder
    that holds such files or folders. Every YAML file in it is read; any other file is an error.
    """
    found: dict[str, dict[str, dict[str, Any]]] = {kind: {} for kind in KINDS}
    for path in paths:
        for kind, file in _files(Path(path)):
            found[kind].update(compile_file(kind, file))
    return found


def _kind_of(file: Path) -> str:
    for word in (file.stem, file.parent.name):
        if word in KINDS:
            return word
    raise KvcostError(
        "cannot tell what this catalog file holds",
        where=str(file),
        hint="name it models.yaml, links.yaml or engines.yaml, or put it into a folder of that name",
    )


def _files(path: Path) -> list[tuple[str, Path]]:
    if path.is_file():
        return [(_kind_of(path), path)]
    if not path.is_dir():
        raise KvcostError("no such catalog file or folder", where=str(path), hint="check --catalog and KVCOST_CATALOG")
    files = sorted(file for file in path.rglob("*") if file.is_file() and not file.name.startswith("."))
    for file in files:
        if file.suffix not in _SUFFIXES:
            raise KvcostError("a catalog folder holds YAML files only", where=str(file), hint="move the file elsewhere")
    if not files:
        raise KvcostError("the catalog folder holds no YAML file", where=str(path), hint="add models.yaml, links.yaml or engines.yaml")
    return [(_kind_of(file), file) for file in files]
