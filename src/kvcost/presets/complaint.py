"""What is wrong with a preset that is not of the form, in our words and at its place."""

from __future__ import annotations

from typing import Any

from pydantic import ValidationError

from ..catalog.names import near_names
from ..errors import KvcostError
from .form import Preset
from .keys import MEANT, OPTION_OF, SECTIONS, TEXTS, TITLES
from .trees import Node, node_at

__all__ = ["complaint"]


def complaint(values: dict[str, Any], tree: Node) -> KvcostError:
    """The first thing in the file that the form refuses."""
    try:
        Preset.model_validate(values)
    except ValidationError as error:
        return _readable(error, tree)
    return KvcostError("the preset is not of the form", where=str(tree.place), hint="`kvcost schema preset` prints it")


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
    """What the key at `path` is for."""
    section, _, key = path.rpartition(".")
    found = SECTIONS[section][key].meaning if section in SECTIONS and key in SECTIONS[section] else {**TITLES, **TEXTS}.get(path)
    return f"{path}: {found}" if found else "`kvcost schema preset` prints the form"


def _near_key(section: list[str], name: str) -> str:
    """The keys that an unknown one may have been meant as: of its own section, else where a key of that name belongs."""
    known = list(SECTIONS.get(section[0], ())) if section else [*TEXTS, *SECTIONS[""], *TITLES]
    meant = MEANT.get(name, name)
    elsewhere = [".".join(path) for path, option in OPTION_OF.items() if meant in (path[-1], option)]
    if meant in known:
        return f"did you mean {meant}?"
    if elsewhere:
        return f"it is written {' or '.join(elsewhere)}"
    near = near_names(name, known)
    return f"did you mean {' or '.join(near)}?" if near else "known keys: " + ", ".join(known)
