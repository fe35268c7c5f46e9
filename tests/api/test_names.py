"""The Python API: the names that are stable, that they are light to import, typed, and written down."""

import ast
import importlib
import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest

import kvcost

ROOT = Path(__file__).parents[2]
SOURCE = ast.parse((ROOT / "src/kvcost/__init__.py").read_text(encoding="utf-8"))
NAMES = [name for name in kvcost.__all__ if name != "__version__"]


def typed_imports():
    """Module → names, as type checkers see them."""
    (checked,) = (node for node in SOURCE.body if isinstance(node, ast.If))
    return {node.module: sorted(alias.name for alias in node.names) for node in checked.body}


def test_type_checkers_and_python_see_the_same():
    assert typed_imports() == {home: sorted(names.split()) for home, names in kvcost._HOMES.items()}
    assert sorted(name for names in typed_imports().values() for name in names) == sorted(NAMES)
    assert kvcost.__all__ == sorted(set(kvcost.__all__))


@pytest.mark.parametrize("name", NAMES)
def test_a_name_is_what_its_module_holds_and_is_described(name):
    (home,) = (home for home, names in typed_imports().items() if name in names)
    module = importlib.import_module(f"kvcost.{home}")
    found = getattr(kvcost, name)
    assert found is getattr(module, name)
    assert name in module.__all__
    assert inspect.getdoc(found)
    if inspect.isfunction(found):
        assert inspect.signature(found).return_annotation is not inspect.Signature.empty


def test_the_list_of_stable_names_is_the_list():
    page = (ROOT / "examples/api/README.md").read_text(encoding="utf-8").partition("## Stable names")[2]
    named = [name for line in page.splitlines() if line.startswith("| `") for name in re.findall(r"`(\w+)`", line.split("|")[1])]
    assert sorted(named) == sorted(kvcost.__all__)


def test_names_can_be_listed_and_unknown_ones_are_refused():
    assert set(kvcost.__all__) <= set(dir(kvcost))
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = kvcost.nothing


def test_importing_the_package_loads_none_of_it():
    probe = "import sys; before = set(sys.modules); import kvcost; print(*sorted(set(sys.modules) - before))"
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["kvcost"]


def test_everything_can_be_imported_at_once():
    probe = "from kvcost import *; print(held_bytes.__name__, __version__)"
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["held_bytes", kvcost.__version__]


def test_type_checkers_know_the_types(tmp_path):
    api = pytest.importorskip("mypy.api")
    file = tmp_path / "script.py"
    file.write_text(
        "import kvcost\n"
        "from kvcost import Catalog, KvcostError, held_bytes, kv_layout, parse_kv_dtype\n"
        "reveal_type(held_bytes(kv_layout(Catalog('a.yaml').model('x').groups, parse_kv_dtype('fp8')), 4096))\n"
        "reveal_type(kvcost.rows('transfer', model='x', ctx=[4096, '8k'], link='100gbe', efficiency=0.9))\n"
        "kvcost.nothing\n"
        "kvcost.rows('transfer', model=object())\n"
    )
    out, _, _ = api.run(["--strict", "--no-incremental", "--cache-dir", str(tmp_path / "cache"), "--config-file", "", str(file)])
    assert 'Revealed type is "int"' in out.replace("builtins.", "")
    assert 'Revealed type is "list[dict[str, Any]]"' in out.replace("builtins.", "")
    assert 'Module has no attribute "nothing"' in out
    assert "arg-type" in out
    assert out.count(" error: ") == 2
