"""A preset file → its option words and its limits, with the file, line and column of each.

`_defaults.yaml` of its folder lies lowest, then what it `extends`, then the file itself.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, NamedTuple

from ..catalog.strict_yaml import Document, read_yaml
from ..errors import KvcostError
from .keys import OPTION_OF, words_of
from .trees import Node, Place, laid_over, node_at, plain, tree_of

__all__ = ["DEFAULTS", "Limit", "PresetFile", "PresetReader"]

DEFAULTS = "_defaults.yaml"
MAX_BYTES = 256 * 2**10
MAX_CHAIN = 10
FORM = "write a preset such as `model: llama2-70b`; `kvcost schema preset` prints the form"


class Limit(NamedTuple):
    """What a preset says of an output field: its bound as it is written, and where."""

    field: str
    bound: Any
    place: Place
    key: Place


class PresetFile(NamedTuple):
    """A preset, read and merged.

    options  option → its word, `paths` where the word stands in the preset (`workload.isl`), `places` where in which file
    top      the file's start
    """

    name: str
    options: dict[str, list[str]]
    paths: dict[str, str]
    places: dict[str, Place]
    limits: tuple[Limit, ...]
    note: str
    top: Place


class _Extended(NamedTuple):
    """A file on top of what it extends: its tree, the folders of all these files, and how many of them stand on one another."""

    tree: Node
    folders: tuple[Path, ...]
    depth: int


class PresetReader:
    """Reads presets; files that several of them share are read once."""

    def __init__(self) -> None:
        self._read: dict[str, _Extended] = {}

    def read(self, path: Path, text: bytes | None = None, name: str = "") -> PresetFile:
        """The preset of a file, or of `text` that stands for one in the folder of `path`.

        Raises KvcostError with file:line:col for what cannot be read, an unknown key, a value of the wrong
        kind, and bases that are missing or run in a circle.
        """
        tree = self._whole(path, text, name or str(path))
        values = plain(tree)
        words = words_of(values)
        if words is None:
            from .complaint import complaint

            raise complaint(values, tree)
        return _filled(words, values, tree, name or str(path))

    def _whole(self, path: Path, text: bytes | None, name: str) -> Node:
        """The tree of a file on top of what it extends, and below all of it the defaults of their folders, its own folder's last."""
        extended, folders, _ = self._extended(path, text, name, ())
        whole = Node({}, extended.place, extended.key)
        for folder in (*(other for other in folders if other != path.parent), path.parent):
            defaults = folder / DEFAULTS
            if _is_file(defaults) and (text is not None or _key(defaults) != _key(path)):
                whole = laid_over(whole, self._extended(defaults, None, str(defaults), ()).tree)
        return laid_over(whole, extended)

    def _extended(self, path: Path, text: bytes | None, name: str, chain: tuple[str, ...]) -> _Extended:
        """A file on top of what it extends."""
        key = _key(path)
        if text is None and key in self._read:
            return self._read[key]
        tree = tree_of(_document(path, text, name))
        if not isinstance(tree.value, dict):
            raise KvcostError("a preset is a mapping of keys to values", where=str(tree.place), hint=FORM)
        tree, extends = _without_extends(tree)
        whole, folders, depth = Node({}, tree.place, tree.key), {path.parent: None}, 0
        for base in _bases(extends):
            below = self._base(path, base, (*chain, key) if text is None else chain)
            whole, folders, depth = laid_over(whole, below.tree), {**dict.fromkeys(below.folders), **folders}, max(depth, below.depth)
        found = _Extended(laid_over(whole, tree), tuple(folders), depth + 1)
        if text is None:
            self._read[key] = found
        return found

    def _base(self, path: Path, base: Node, chain: tuple[str, ...]) -> _Extended:
        """The preset that a file extends."""
        target = path.parent / base.value
        where = str(base.place)
        if _key(target) in chain:
            names = " -> ".join(os.path.basename(name) for name in (*chain, base.value))  # noqa: PTH119
            raise KvcostError(f"extends runs in a circle: {names}", where=where, hint="take one extends out of the circle")
        if not _is_file(target):
            raise KvcostError(f"there is no file {base.value} to extend", where=where, hint=f"the path is relative to the folder of {path.name}")
        # A file that was read before may stand on others; one that was not is only read where it may stand at all.
        known = self._read.get(_key(target))
        if len(chain) + (known.depth if known else 1) > MAX_CHAIN:
            raise KvcostError(f"more than {MAX_CHAIN} presets extend one another", where=where, hint="extend a preset that stands nearer to the first")
        return self._extended(target, None, os.path.normpath(target), chain)


def _key(path: Path) -> str:
    """What a file is by: its folder and its name there, since what it extends lies relative to that folder."""
    return os.path.join(os.path.realpath(path.parent), path.name)  # noqa: PTH118


def _document(path: Path, text: bytes | None, name: str) -> Document:
    try:
        return read_yaml(path, text, name=name, max_bytes=MAX_BYTES, form=FORM)
    except KvcostError as error:
        # A file that can be read and says nothing has a place all the same.
        raise KvcostError(error.message, hint=error.hint, where=f"{name}:1:1") if error.hint == FORM else error from None


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False


def _without_extends(tree: Node) -> tuple[Node, Node | None]:
    values = dict(tree.value)
    extends = values.pop("extends", None)
    return tree._replace(value=values), extends


def _bases(extends: Node | None) -> list[Node]:
    """The files that `extends` names, each with its place."""
    if extends is None or extends.value is None:
        return []
    names = extends.value if isinstance(extends.value, list) else [extends.value]
    if not names or not all(isinstance(name, str) and name.strip() for name in names):
        raise KvcostError("extends names another preset, or a list of them", where=str(extends.place), hint="write extends: base.yaml")
    for name in names:
        if not name.isprintable() or not name.endswith((".yaml", ".yml")):
            raise KvcostError(f"extends names a file that is no preset: {name!r}", where=str(extends.place), hint="a preset ends in .yaml or .yml")
    return [extends._replace(value=name) for name in names]


def _filled(words: dict[tuple[str, ...], str], values: dict[str, Any], tree: Node, name: str) -> PresetFile:
    options: dict[str, list[str]] = {}
    paths: dict[str, str] = {}
    places: dict[str, Place] = {}
    plain_link = not isinstance(node_at(tree, ("link",)).value, dict)
    for path, value in words.items():
        option, place = OPTION_OF[path], node_at(tree, path).place
        if option in options:
            raise KvcostError("link.rate and link.bandwidth are the same value", where=str(place), hint="give one of them")
        options[option], places[option] = [_beside(value, place) if option == "model" else value], place
        paths[option] = "link" if option == "link" and plain_link else ".".join(path)
    if "link" in options and "path" in options:
        raise KvcostError("a link's name and a path of hops contradict each other", where=str(places["path"]), hint="give one of them")
    below = node_at(tree, ("limits",))
    limits = tuple(Limit(field, plain(node), node.place, node.key) for field, node in below.value.items()) if values.get("limits") else ()
    return PresetFile(name, options, paths, places, limits, values.get("note") or "", tree.place)


def _beside(model: str, place: Place) -> str:
    """A path of a model is relative to the file that names it."""
    if "/" not in model and not model.endswith(".json"):
        return model
    beside = os.path.join(os.path.dirname(place.file), model)  # noqa: PTH118, PTH120
    return beside if os.path.exists(beside) else model  # noqa: PTH110
