"""The house from the ground up: a room imports only what lies below it, and the core stays pure."""

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "src" / "kvcost"
FILES = sorted(PACKAGE.rglob("*.py"))
# Rooms on one floor do not see each other, but for those of FLOORS that stand higher in their tuple.
FLOORS = (
    ("units", "errors"),
    ("cost",),
    ("catalog", "importers"),
    ("presets",),
    ("cases",),
    ("check",),
    ("render",),
    ("cli",),
    ("__main__",),
)
FLOOR = {room: height for height, rooms in enumerate(FLOORS) for room in rooms}
# Constants alone: anyone may read them.
ANYWHERE = {"__init__", "errors"}
IMPURE = {
    *("os", "sys", "time", "io", "pathlib", "json", "csv", "random", "datetime", "logging", "importlib", "socket", "subprocess", "tempfile", "shutil"),
    *("typer", "click", "pydantic", "rich", "yaml"),
}


def room_of(file):
    """The room of a file: the folder below the package, or the module beside it."""
    return file.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imports_of(file, tree=None):
    """Absolute names of all that a file imports, also inside functions."""
    package = ("kvcost", *file.relative_to(PACKAGE).parts[:-1])
    found = set()
    for node in ast.walk(tree or ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else ()
            name = ".".join((*base, *([node.module] if node.module else [])))
            # `from . import options` imports modules, `from .options import Model` a name of one.
            found |= {f"{name}.{alias.name}" for alias in node.names} if node.module is None else {name}
    return found


def rooms_of(file):
    """The rooms that a file imports from."""
    parts = (name.split(".") for name in imports_of(file) if name.split(".")[0] == "kvcost")
    return {part[1] if len(part) > 1 else "__init__" for part in parts}


each_file = pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(PACKAGE)))


@each_file
def test_every_file_stands_on_a_floor(file):
    assert room_of(file) in {*FLOOR, "__init__"}


@each_file
def test_no_arrow_runs_upward(file):
    room = room_of(file)
    if room == "__init__":  # the public names: for type checkers alone; at run time each is imported when it is used
        tree = ast.parse(file.read_text(encoding="utf-8"))
        tree.body = [node for node in tree.body if not (isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING")]
        assert not imports_of(file, tree)
        return
    for other in rooms_of(file) - ANYWHERE - {"__version__"}:
        assert other == room or FLOOR[other] < FLOOR[room], f"{room} must not know {other}"


@each_file
def test_the_core_is_pure(file):
    if room_of(file) in ("cost", "units", "errors"):
        names = {name.split(".")[0] for name in imports_of(file)}
        assert not names & IMPURE
        calls = {
            node.func.id for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
        }
        assert not calls & {"print", "open", "input", "exec", "eval"}


@each_file
@pytest.mark.parametrize(
    ("library", "rooms"),
    [("typer", {"cli"}), ("rich", {"render"}), ("pydantic", {"catalog", "presets", "importers"}), ("yaml", {"catalog", "importers"})],
)
def test_a_library_lives_in_its_room(file, library, rooms):
    if any(name.split(".")[0] == library for name in imports_of(file)):
        assert room_of(file) in rooms


@each_file
def test_only_the_edges_print(file):
    if room_of(file) in ("cli", "render"):
        return
    tree = ast.parse(file.read_text(encoding="utf-8"))
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print"]
    assert not calls


@pytest.mark.parametrize(
    ("line", "names"),
    [
        ("import os.path, csv", {"os.path", "csv"}),
        ("from ..errors import KvcostError", {"kvcost.errors"}),
        ("from .kv import held_bytes", {"kvcost.cost.kv"}),
        ("from . import kv, layers", {"kvcost.cost.kv", "kvcost.cost.layers"}),
        ("from .. import __version__", {"kvcost.__version__"}),
        ("def f():\n    from ..render.output import emit", {"kvcost.render.output"}),
        ("from typing import Any", {"typing"}),
    ],
)
def test_imports_are_found_wherever_they_stand(line, names):
    assert imports_of(PACKAGE / "cost" / "kv.py", ast.parse(line)) == names


@pytest.mark.parametrize("room", ["cases", "cost"])
def test_the_face_of_a_room_names_all_of_its_modules(room):
    face = (PACKAGE / room / "__init__.py").read_text(encoding="utf-8")
    missing = [file.stem for file in (PACKAGE / room).glob("*.py") if file.stem != "__init__" and f"`{file.stem}`" not in face]
    assert not missing, f"say in {room}/__init__.py what these are for: {missing}"
