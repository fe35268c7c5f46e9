"""Entries by name: the built-in ones, compiled, and a user's own on top.

The compiled file of a kind carries the checksum of its YAML and schema. Where they differ (a source checkout
with an edited YAML) the YAML is read and checked again, so an edit is all that a new entry needs.
"""

from __future__ import annotations

import contextlib
import json
import zlib
from collections.abc import Sequence
from os import PathLike, fspath, getpid
from pathlib import Path
from typing import Any

from ..cost.gpu import EngineOverhead, Gpu
from ..cost.model import Model
from ..cost.technique import Technique
from ..cost.transfer import Engine, Link
from ..errors import KvcostError
from .names import KINDS, near_names, normalise, without_variant
from .records import engine_record, gpu_record, link_record, model_record, overhead_record, technique_record

__all__ = ["KINDS", "Catalog", "compile_builtin", "compiled_path"]

_DATA = Path(__file__).parent / "data"
Entries = dict[str, dict[str, Any]]


def compiled_path(kind: str, data: Path = _DATA) -> Path:
    """Where the compiled entries of a kind lie, beside their YAML."""
    return data / f"{kind}.compiled.json"


def _stamp(text: bytes) -> int:
    """A checksum of a YAML file and of the modules that check it: either may change what the entries are."""
    stamp = zlib.crc32(text)
    for module in ("compile.py", "fields.py", "gpu_schema.py", "schema.py", "technique_schema.py"):
        with contextlib.suppress(OSError):  # an installation may hold byte code alone
            stamp = zlib.crc32((Path(__file__).parent / module).read_bytes(), stamp)
    return stamp


def compile_builtin(kind: str, data: Path = _DATA) -> Entries:
    """Read and check the YAML of a kind, and write it compiled where that is possible."""
    from .compile import compile_file

    yaml_path = data / f"{kind}.yaml"
    text = yaml_path.read_bytes()
    entries = compile_file(kind, yaml_path, text)
    index = _index(kind, entries)
    compiled = {"stamp": _stamp(text), "index": index, "entries": entries}
    target = compiled_path(kind, data)
    scratch = target.with_suffix(f".{getpid()}-{id(compiled)}.tmp")  # of several first runs at once, each writes its own
    try:
        scratch.write_text(json.dumps(compiled, separators=(",", ":")))
        scratch.replace(target)
    except OSError:
        with contextlib.suppress(OSError):  # a read-only file system refuses this as well
            scratch.unlink(missing_ok=True)
    return entries


def _builtin(kind: str) -> tuple[dict[str, str], Entries]:
    text = (_DATA / f"{kind}.yaml").read_bytes()
    try:
        compiled = json.loads(compiled_path(kind).read_bytes())
        if compiled["stamp"] == _stamp(text):
            return compiled["index"], compiled["entries"]
    except (OSError, ValueError, KeyError, TypeError):
        pass
    entries = compile_builtin(kind)
    return _index(kind, entries), entries


def _index(kind: str, entries: Entries) -> dict[str, str]:
    """Normalised name or alias → id; raises KvcostError for a name that stands for two entries."""
    index: dict[str, str] = {}
    for name, values in entries.items():
        for word in (name, *values["aliases"]):
            key = normalise(word)
            if index.setdefault(key, name) != name:
                raise KvcostError(f"the name '{word}' stands for two {kind}: {index[key]} and {name}", hint="rename one of them")
    return index


class Catalog:
    """Models, links and engines by name or alias.

    `user_paths` are files or folders of a user's own YAML, one or several; their entries replace built-in
    ones of the same id. Every look-up raises KvcostError with the nearest three names when it fails.
    """

    def __init__(self, user_paths: str | PathLike[str] | Sequence[str | PathLike[str]] = ()) -> None:
        paths = (user_paths,) if isinstance(user_paths, str | PathLike) else user_paths
        self._user_paths = tuple(fspath(path) for path in paths)
        self._user: dict[str, Entries] | None = None
        self._loaded: dict[str, tuple[dict[str, str], Entries]] = {}
        self._records: dict[tuple[str, str, str], Any] = {}

    def _kind(self, kind: str) -> tuple[dict[str, str], Entries]:
        if kind not in self._loaded:
            index, entries = _builtin(kind)
            if self._user_paths:
                if self._user is None:
                    from .user import read_user_catalogs

                    self._user = read_user_catalogs(self._user_paths)
                own = self._user.get(kind, {})
                # A user's entry wins over a built-in one, by its id and by its aliases.
                index, entries = {**index, **_index(kind, own)}, {**entries, **own}
            self._loaded[kind] = index, entries
        return self._loaded[kind]

    def entries(self, kind: str) -> Entries:
        """All entries of a kind, id → values."""
        return self._kind(kind)[1]

    def find(self, kind: str, name: str) -> str:
        """The id that a name stands for."""
        index = self._kind(kind)[0]
        found = index.get(normalise(name))
        if found is None and kind == "models":
            found = index.get(normalise(without_variant(name)))
        if found is None:
            raise KvcostError(f"unknown {kind.removesuffix('s')} '{name}'", hint=self.suggest(kind, name))
        return found

    def suggest(self, kind: str, name: str) -> str:
        """A hint with the three entries whose names or aliases are nearest to a mistyped one."""
        index, entries = self._kind(kind)
        words = [word for known, values in entries.items() for word in (known, *values["aliases"])]
        ids = list(dict.fromkeys(index[normalise(word)] for word in near_names(name, words, 9)))[:3]
        return f"nearest: {', '.join(ids)}; `kvcost {kind}` lists all" if ids else f"`kvcost {kind}` lists all"

    def has(self, kind: str, name: str) -> bool:
        """Whether a name stands for an entry."""
        index = self._kind(kind)[0]
        return normalise(name) in index or (kind == "models" and normalise(without_variant(name)) in index)

    def _record(self, kind: str, name: str, build: Any, use: str = "") -> Any:
        key = kind, name, use
        if key not in self._records:
            found = self.find(kind, name)
            self._records[key] = build(found, self.entries(kind)[found])
        return self._records[key]

    def model(self, name: str) -> Model:
        """The model of that name."""
        record: Model = self._record("models", name, model_record)
        return record

    def link(self, name: str) -> Link:
        """The link of that name, one rail of it."""
        record: Link = self._record("links", name, link_record)
        return record

    def engine(self, name: str) -> Engine:
        """The engine of that name."""
        record: Engine = self._record("engines", name, engine_record)
        return record

    def gpu(self, name: str) -> Gpu:
        """The GPU of that name."""
        record: Gpu = self._record("gpus", name, gpu_record)
        return record

    def overhead(self, name: str) -> EngineOverhead:
        """What the engine of that name adds to compute time."""
        record: EngineOverhead = self._record("engines", name, overhead_record, "overhead")
        return record

    def technique(self, name: str) -> Technique:
        """The technique of that name."""
        places = list(self.entries("techniques"))
        record: Technique = self._record("techniques", name, lambda found, values: technique_record(found, values, places.index(found)))
        return record
