"""A YAML file as a tree whose every value knows where it stands, and one tree laid over another."""

from __future__ import annotations

from typing import Any, NamedTuple

from ..catalog.strict_yaml import Document

__all__ = ["Node", "Place", "laid_over", "node_at", "plain", "tree_of"]


# Key of a section → the keys that it takes the place of.
_INSTEAD = {
    ("workload", "rate"): ("concurrency",),
    ("workload", "concurrency"): ("rate",),
    ("link", "name"): ("path",),
    ("link", "path"): ("name",),
    ("link", "rate"): ("bandwidth",),
    ("link", "bandwidth"): ("rate",),
}


class Place(NamedTuple):
    """Where something stands in a file; lines and columns from 1."""

    file: str
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


class Node(NamedTuple):
    """A value with its place and that of its key; the value of a mapping is a dict of nodes."""

    value: Any
    place: Place
    key: Place


def tree_of(document: Document, path: tuple[str | int, ...] = ()) -> Node:
    """The part of a document at `path`."""
    value: Any = document.value
    for part in path:
        value = value[part]
    place = Place(document.file, *document.places.get(path, (1, 1)))
    key = Place(document.file, *document.keys[path]) if path in document.keys else place
    if isinstance(value, dict):
        return Node({name: tree_of(document, (*path, name)) for name in value}, place, key)
    return Node(value, place, key)


def laid_over(base: Node, over: Node, *, section: str = "") -> Node:
    """`over` on top of `base`: mappings are merged, all else is replaced, null takes away what the base has.

    A link that the base names by a plain word takes the keys of a mapping laid over it, and of two keys that
    say the same in two ways (a rate and a concurrency) the upper one stays.
    """
    found = dict(base.value)
    for name, node in over.value.items():
        for other in _INSTEAD.get((section, name), ()):
            if other not in over.value and node.value is not None:
                found.pop(other, None)
        below = found.get(name)
        if below is None:
            found[name] = node
        elif node.value is None:
            del found[name]
        elif isinstance(node.value, dict):
            if not section and name == "link" and isinstance(below.value, str):
                below = Node({"name": below}, below.place, below.key)
            found[name] = laid_over(below, node, section=name) if isinstance(below.value, dict) else node
        else:
            found[name] = node
    return Node(found, over.place, over.key)


def plain(node: Node) -> Any:
    """The value without its places."""
    return {name: plain(item) for name, item in node.value.items()} if isinstance(node.value, dict) else node.value


def node_at(node: Node, path: tuple[str | int, ...]) -> Node:
    """The node at `path`, or the nearest one that encloses it."""
    for part in path:
        if not isinstance(node.value, dict) or part not in node.value:
            break
        node = node.value[part]
    return node
