"""The compiled catalog: an edit of the YAML is all that a new entry needs, and nothing is read twice."""

import json
import shutil

import pytest

from kvcost.catalog import compile as compiling
from kvcost.catalog import store
from kvcost.catalog.store import KINDS, Catalog, compile_builtin, compiled_path
from kvcost.errors import KvcostError


@pytest.fixture
def data(tmp_path, monkeypatch):
    """A copy of the package's data folder, with nothing compiled."""
    copy = tmp_path / "data"
    shutil.copytree(store._DATA, copy, ignore=shutil.ignore_patterns("*.json", "*.tmp"))
    monkeypatch.setattr(store, "_DATA", copy)
    monkeypatch.setattr(store, "compiled_path", lambda kind, data=copy: compiled_path(kind, data))
    monkeypatch.setattr(store, "compile_builtin", lambda kind, data=copy: compile_builtin(kind, data))
    return copy


@pytest.fixture
def readings(monkeypatch):
    """The kinds whose YAML was read."""
    found = []
    original = compiling.compile_file

    def counted(kind, path, text=None):
        found.append(kind)
        return original(kind, path, text)

    monkeypatch.setattr(compiling, "compile_file", counted)
    return found


def edit(data, old, new):
    file = data / "links.yaml"
    text = file.read_text(encoding="utf-8")
    assert old in text
    file.write_text(text.replace(old, new), encoding="utf-8")


def test_the_first_run_compiles_and_the_second_reads_that(data, readings):
    first = Catalog().entries("links")
    assert readings == ["links"]
    assert [file.name for file in data.glob("*.json")] == ["links.compiled.json"]
    assert Catalog().entries("links") == first
    assert readings == ["links"]
    assert not list(data.glob("*.tmp"))


def test_an_edit_is_seen_at_once(data, readings):
    assert Catalog().link("nvlink4").bandwidth_bytes_per_s == 450e9
    edit(data, "line_rate: 450GB/s", "line_rate: 451GB/s")
    assert Catalog().link("nvlink4").bandwidth_bytes_per_s == 451e9
    assert Catalog().link("nvlink4").bandwidth_bytes_per_s == 451e9
    assert readings == ["links", "links"]


def test_a_wrong_edit_is_refused_at_its_place(data):
    Catalog().entries("links")
    edit(data, "line_rate: 450GB/s", "line_rate: 450")
    with pytest.raises(KvcostError, match=r"needs text with a unit") as caught:
        Catalog().link("nvlink4")
    assert "links.yaml:" in caught.value.where


@pytest.mark.parametrize("content", ["", "{", "[]", "{}", "null", '{"crc": 1}', "\x00"])
def test_a_spoilt_compiled_file_is_made_again(data, readings, content):
    (data / "links.compiled.json").write_text(content)
    assert Catalog().link("nvlink4").bandwidth_bytes_per_s == 450e9
    assert readings == ["links"]
    assert json.loads((data / "links.compiled.json").read_text())["entries"]


def test_a_folder_that_cannot_be_written_costs_time_and_nothing_else(data, readings, monkeypatch):
    def refuse(self, *args, **kwargs):
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr("pathlib.Path.write_text", refuse)
    monkeypatch.setattr("pathlib.Path.unlink", refuse)
    for _ in range(2):
        assert Catalog().link("nvlink4").bandwidth_bytes_per_s == 450e9
    assert readings == ["links", "links"]


@pytest.mark.parametrize("kind", KINDS)
def test_compiled_and_read_entries_are_equal(data, kind):
    entries = compile_builtin(kind, data)
    stored = json.loads(compiled_path(kind, data).read_text())
    assert stored["entries"] == entries
    assert set(stored["index"].values()) == set(entries)
