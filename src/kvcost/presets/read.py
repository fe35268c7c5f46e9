"""A preset file → its option words and its limits, with the file, line and column of each.

`_defaults.yaml` of the preset's folder lies below, then what it `extends`, then the file itself.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import ValidationError

from ..catalog.names import near_names
from ..catalog.strict_yaml import read_yaml
from ..errors import KvcostError
from .form import OPTION_OF, Preset
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


class PresetReader:
    """Reads presets; files that several of them share are read once."""

    def __init__(self) -> None:
        self._merged: dict[str, Node] = {}

    def read(self, path: Path, text: bytes | None = None, name: str = "") -> PresetFile:
        """The preset of a file, or of `text` that stands for one in the folder of `path`.

        Raises KvcostError with file:line:col for what cannot be read, an unknown key, a value of the wrong
        kind, and bases that are missing or run in a circle.
        """
        tree = self._whole(path, text, name or str(path), ())
        try:
            preset = Preset.model_validate(plain(tree))
        except ValidationError as error:
            raise _readable(error, tree) from None
        return _filled(preset, tree, name or str(path))

    def _whole(self, path: Path, text: bytes | None, name: str, chain: tuple[str, ...]) -> Node:
        """The tree of a file on top of the defaults of its folder and of what it extends."""
        key = os.path.realpath(path)
        if text is None and key in self._merged:
            return self._merged[key]
        tree = tree_of(read_yaml(path, text, name=name, max_bytes=MAX_BYTES, form=FORM))
        if not isinstance(tree.value, dict):
            raise KvcostError("a preset is a mapping of keys to values", where=str(tree.place), hint=FORM)
        tree, extends = _without_extends(tree)
        below = Node({}, tree.place, tree.key)
        defaults = path.parent / DEFAULTS
        if (text is not None or path.name != DEFAULTS) and defaults.is_file():
            below = laid_over(below, self._whole(defaults, None, str(defaults), (*chain, key)))
        for base in _bases(extends):
            below = laid_over(below, self._base(path, base, (*chain, key) if text is None else chain))
        whole = laid_over(below, tree)
        if text is None:
            self._merged[key] = whole
        return whole

    def _base(self, path: Path, base: Node, chain: tuple[str, ...]) -> Node:
        """The preset that a file extends."""
        target = path.parent / base.value
        where = str(base.place)
        if os.path.realpath(target) in chain:
            names = " -> ".join(os.path.basename(name) for name in (*chain, base.value))  # noqa: PTH119
            raise KvcostError(f"extends runs in a circle: {names}", where=where, hint="take one extends out of the circle")
        if len(chain) >= MAX_CHAIN:
            raise KvcostError(f"more than {MAX_CHAIN} presets extend one another", where=where, hint="extend a preset that stands nearer to the first")
        if not _is_file(target):
            raise KvcostError(f"there is no file {base.value} to extend", where=where, hint=f"the path is relative to the folder of {path.name}")
        return self._whole(target, None, os.path.normpath(target), chain)


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
    return [extends._replace(value=name) for name in names]


def _filled(preset: Preset, tree: Node, name: str) -> PresetFile:
    options: dict[str, list[str]] = {}
    paths: dict[str, str] = {}
    places: dict[str, Place] = {}
    plain_link = not isinstance(node_at(tree, ("link",)).value, dict)
    for path, option in OPTION_OF.items():
        value: Any = preset
        for part in path:
            value = None if value is None else getattr(value, part)
        if value is None:
            continue
        place = node_at(tree, path).place
        if option in options:
            raise KvcostError("link.rate and link.bandwidth are the same value", where=str(place), hint="give one of them")
        options[option], places[option] = [_beside(value, place) if option == "model" else value], place
        paths[option] = "link" if option == "link" and plain_link else ".".join(path)
    if "link" in options and "path" in options:
        raise KvcostError("a link's name and a path of hops contradict each other", where=str(places["path"]), hint="give one of them")
    below = node_at(tree, ("limits",))
    limits = tuple(Limit(field, plain(node), node.place, node.key) for field, node in below.value.items()) if preset.limits else ()
    return PresetFile(name, options, paths, places, limits, preset.note or "", tree.place)


def _beside(model: str, place: Place) -> str:
    """A path of a model is relative to the file that names it."""
    if "/" not in model and not model.endswith(".json"):
        return model
    beside = os.path.join(os.path.dirname(place.file), model)  # noqa: PTH118, PTH120
    return beside if os.path.exists(beside) else model  # noqa: PTH110


_SECTION = "is a mapping of keys to values"
_WANTED = {"model_type": _SECTION, "model_attributes_type": _SECTION, "dict_type": _SECTION, "string_type": "needs a text"}


def _readable(error: ValidationError, tree: Node) -> KvcostError:
    """The complaint of pydantic that stands first in the file, in our words."""
    complaints = [(complaint, node_at(tree, complaint["loc"])) for complaint in error.errors(include_url=False)]
    first, node = min(complaints, key=lambda item: item[1].key[1:])
    *section, name = (str(part) for part in first["loc"])
    if first["type"] == "extra_forbidden":
        where = f" in {'.'.join(section)}" if section else ""
        return KvcostError(f"unknown key '{name}'{where}", where=str(node.key), hint=_near_key(section, name))
    said = _WANTED.get(str(first["type"]), first["msg"].removeprefix("Value error, "))
    path = ".".join((*section, name))
    return KvcostError(f"{path} {said}" if said in _WANTED.values() else f"{path}: {said}", where=str(node.place), hint=_example(path))


def _example(path: str) -> str:
    field: Mapping[str, Any] = Preset.model_fields
    name, _, rest = path.partition(".")
    if rest and name in _FORMS and rest in _FORMS[name]:
        return f"{path}: {_FORMS[name][rest]}"
    return f"{path}: {field[name].description}" if name in field else "`kvcost schema preset` prints the form"


def _sections() -> dict[str, dict[str, str]]:
    """Section → its keys with what they mean."""
    found: dict[str, dict[str, str]] = {}
    for name, field in Preset.model_fields.items():
        form = next((part for part in getattr(field.annotation, "__args__", ()) if hasattr(part, "model_fields")), None)
        if form is not None:
            found[name] = {key: item.description for key, item in form.model_fields.items()}
    return found


_FORMS = _sections()
# What people call a key that has another name here, where no spelling would lead to it.
_MEANT = {
    "ctx": "isl",
    "context": "isl",
    "input": "isl",
    "input_len": "isl",
    "prompt": "isl",
    "output": "osl",
    "output_len": "osl",
    "qps": "rate",
    "rps": "rate",
}


def _near_key(section: list[str], name: str) -> str:
    """The keys that an unknown one may have been meant as: of its own section, else where a key of that name belongs."""
    known = list(Preset.model_fields) if not section else list(_FORMS.get(section[0], ()))
    meant = _MEANT.get(name, name)
    elsewhere = [".".join(path) for path, option in OPTION_OF.items() if meant in (path[-1], option)]
    if meant in known:
        return f"did you mean {meant}?"
    if elsewhere:
        return f"it is written {' or '.join(elsewhere)}"
    near = near_names(name, known)
    return f"did you mean {' or '.join(near)}?" if near else "known keys: " + ", ".join(known)
