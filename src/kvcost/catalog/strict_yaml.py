"""YAML as people mean it: duplicate keys, `no` as a boolean and other traps are errors with a position."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from ..errors import KvcostError

__all__ = ["Document", "read_yaml"]

MAX_BYTES = 8 * 2**20
MAX_NODES = 200_000
CATALOG_FORM = "see the catalog files of the package for the form"
_Path = tuple[str | int, ...]
_FLOAT_LIKE = re.compile(r"[+-]?\d+(\.\d*)?[eE]\d+")
# Numbers to base 8, 2, 16 and 60 that people mean otherwise: 010 is 8, and 1:30 is 90.
_TRAP = re.compile(r"[-+]?(0[0-9_bBxXoO]|[0-9_]+:)")
_NUMBER_TAGS = ("tag:yaml.org,2002:int", "tag:yaml.org,2002:float")
_BOOLEAN_WORDS = {"yes", "no", "on", "off", "y", "n", "true", "false"}
_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class Document(NamedTuple):
    """The values of a YAML file, where each of them stands, and where the key before it."""

    file: str
    value: Any
    places: dict[_Path, tuple[int, int]]
    keys: dict[_Path, tuple[int, int]]

    def where(self, path: _Path) -> str:
        """`file:line:col` of a value, or of the nearest part of the file that encloses it."""
        while path and path not in self.places:
            path = path[:-1]
        line, column = self.places.get(path, (1, 1))
        return f"{self.file}:{line}:{column}"


def read_yaml(path: Path, text: bytes | None = None, *, name: str = "", max_bytes: int | None = None, form: str = CATALOG_FORM) -> Document:
    """The single YAML document of a file, called `name` in messages; `form` says where its form is described.

    Raises KvcostError (with file:line:col) for what cannot be read, is not YAML, says a key twice,
    uses a boolean word as a key, or grows beyond measure through aliases.
    """
    name, max_bytes = name or str(path), max_bytes or MAX_BYTES
    try:
        data = _start_of(path, max_bytes + 1) if text is None else text
    except OSError as error:
        raise KvcostError(f"cannot read the file: {error.strerror}", where=name, hint="check the path and its permissions") from None
    if len(data) > max_bytes:
        raise KvcostError(f"the file has more than {max_bytes:,} bytes", where=name, hint="split it")
    try:
        words = data.decode("utf-8-sig")
        loader = _Loader(words)
        try:
            node = loader.get_single_node()
        finally:
            loader.dispose()
    except UnicodeDecodeError:
        raise KvcostError("the file is not UTF-8 text", where=name, hint="save it as UTF-8 YAML") from None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = f"{name}:{mark.line + 1}:{mark.column + 1}" if mark else name
        line = words.splitlines()[mark.line : mark.line + 1] if mark else []
        tabbed = bool(line) and "\t" in line[0][: len(line[0]) - len(line[0].lstrip())]
        hint = "YAML indents with spaces, not tabs" if tabbed else "check the YAML syntax at this place"
        raise KvcostError(f"not valid YAML: {error.problem or error.context}", where=place, hint=hint) from None
    except (yaml.YAMLError, RecursionError) as error:
        raise KvcostError(f"not valid YAML: {str(error).splitlines()[0]}", where=name, hint="check the YAML syntax") from None
    if node is None:
        raise KvcostError("the file is empty", where=name, hint=form)
    reader = _Reader(name)
    value = reader.build(node, ())
    return Document(name, value, reader.places, reader.keys)


def _start_of(path: Path, count: int) -> bytes:
    with path.open("rb") as file:
        return file.read(count)


class _Reader:
    """Builds plain values from YAML nodes and notes where each stands."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.places: dict[_Path, tuple[int, int]] = {}
        self.keys: dict[_Path, tuple[int, int]] = {}
        self.nodes = 0
        self.scalars = yaml.SafeLoader("")

    def fail(self, node: yaml.Node, message: str, hint: str) -> KvcostError:
        return KvcostError(message, where=f"{self.file}:{node.start_mark.line + 1}:{node.start_mark.column + 1}", hint=hint)

    def build(self, node: yaml.Node, path: _Path) -> Any:
        self.nodes += 1
        if self.nodes > MAX_NODES or len(path) > 60:
            raise self.fail(node, "the file grows beyond measure, through aliases or nesting", "write the values out without anchors")
        self.places[path] = (node.start_mark.line + 1, node.start_mark.column + 1)
        if isinstance(node, yaml.MappingNode):
            return self.mapping(node, path)
        if isinstance(node, yaml.SequenceNode):
            return [self.build(item, (*path, index)) for index, item in enumerate(node.value)]
        if node.tag in _NUMBER_TAGS and _TRAP.match(node.value):
            read = self.scalars.construct_object(node)
            raise self.fail(node, f"YAML reads {node.value} as the number {read}", f"write {read}, or quote it: '{node.value}'")
        try:
            return self.scalars.construct_object(node)
        except (yaml.YAMLError, ValueError, LookupError, AttributeError):  # the last two: a tag that does not fit, such as !!bool maybe
            raise self.fail(node, f"cannot read the value '{node.value}'", "quote it") from None

    def mapping(self, node: yaml.MappingNode, path: _Path) -> dict[str, Any]:
        values: dict[str, Any] = {}
        for key_node, value_node in node.value:
            key = key_node.value
            if not isinstance(key_node, yaml.ScalarNode) or not isinstance(key, str):
                raise self.fail(key_node, "a key must be a plain word", "write key: value")
            if key_node.tag == "tag:yaml.org,2002:merge":
                raise self.fail(key_node, "merge keys (<<) are not read", "write the keys out; a preset takes over those of another file by extends: base.yaml")
            if key_node.tag != "tag:yaml.org,2002:str":
                kind = "a boolean" if key.lower() in _BOOLEAN_WORDS else "not a word"
                raise self.fail(key_node, f"YAML reads the key {key} as {kind}", f"quote it: '{key}'")
            if key in values:
                raise self.fail(key_node, f"the key '{key}' stands twice in one mapping", "keep one of them")
            self.keys[*path, key] = (key_node.start_mark.line + 1, key_node.start_mark.column + 1)
            values[key] = self.build(value_node, (*path, key))
        return values


def looks_like_float(value: object) -> bool:
    """True for text such as 12.5e9, which YAML 1.1 leaves a string."""
    return isinstance(value, str) and _FLOAT_LIKE.fullmatch(value) is not None
