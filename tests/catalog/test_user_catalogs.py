"""A user's own entries: files, folders, the environment, and what they replace."""

import os

import pytest

from kvcost.catalog.names import near_names, normalise
from kvcost.catalog.store import Catalog
from kvcost.errors import KvcostError

ABOUT = "  source: our lab\n  confidence: measured\n  checked: 2026-01-01\n"
MODEL = (
    "tiny:\n  title: Tiny\n  aliases: [our/Tiny]\n  layers:\n    - {count: 2, kind: full, kv_heads: 2, head_dim: 64}\n"
    "  query_heads: 2\n  head_dim: 64\n  hidden_size: 128\n  dtype: bf16\n" + ABOUT
)
RATES = "  kind: tcp\n  scope: port\n  per: port\n  line_rate: {0}GB/s\n  achieved: {0}GB/s\n  achieved_low: {0}GB/s\n  achieved_high: {0}GB/s\n  basis: b\n"


def link(name, rate, title="Mine", aliases="[]"):
    return f"{name}:\n  title: {title}\n  aliases: {aliases}\n" + RATES.format(rate) + ABOUT


ENGINE = "ours:\n  title: Ours\n  t0: 1ms\n" + ABOUT


@pytest.fixture
def folder(tmp_path):
    """A folder with one file of each kind."""
    for name, text in (("models", MODEL), ("links", link("lab", 3)), ("engines", ENGINE)):
        (tmp_path / f"{name}.yaml").write_text(text)
    return tmp_path


def rate(catalog, name):
    return catalog.link(name).bandwidth_bytes_per_s


def test_a_folder_adds_to_what_is_built_in(folder):
    catalog = Catalog([str(folder)])
    assert catalog.model("OUR/tiny").name == "tiny"
    assert rate(catalog, "Lab") == 3e9
    assert catalog.engine("ours").t0_s == 1e-3
    assert rate(catalog, "nvlink4") == 450e9
    assert "tiny" not in Catalog().entries("models")


def test_a_file_of_one_kind(folder):
    catalog = Catalog([str(folder / "links.yaml")])
    assert rate(catalog, "lab") == 3e9
    with pytest.raises(KvcostError, match="unknown model"):
        catalog.model("tiny")


def test_folders_named_after_a_kind(tmp_path):
    (tmp_path / "links").mkdir()
    (tmp_path / "links" / "berlin.yaml").write_text(link("berlin", 1))
    (tmp_path / "links" / "paris.yml").write_text(link("paris", 2))
    (tmp_path / ".hidden").write_text("not a catalog")
    catalog = Catalog([str(tmp_path)])
    assert (rate(catalog, "berlin"), rate(catalog, "paris")) == (1e9, 2e9)
    assert rate(Catalog([str(tmp_path / "links" / "paris.yml")]), "paris") == 2e9


def test_a_folder_under_version_control(folder):
    (folder / ".git" / "objects").mkdir(parents=True)
    (folder / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    (folder / ".git" / "objects" / "pack").write_bytes(b"\x00")
    assert rate(Catalog([str(folder)]), "lab") == 3e9


def test_sections_of_one_file(tmp_path):
    file = tmp_path / "ours.yaml"
    file.write_text("links:\n" + "".join("  " + line + "\n" for line in link("lab", 3).splitlines()))
    assert rate(Catalog([str(file)]), "lab") == 3e9


def test_a_file_of_any_name_is_told_by_its_keys(tmp_path):
    for text, kind, name in ((MODEL, "models", "tiny"), (link("lab", 3), "links", "lab"), (ENGINE, "engines", "ours")):
        file = tmp_path / "ours.yaml"
        file.write_text(text)
        assert Catalog([str(file)]).find(kind, name) == name


def test_a_users_entry_replaces_a_built_in_one(tmp_path):
    file = tmp_path / "links.yaml"
    file.write_text(link("nvlink4", 7))
    catalog = Catalog([str(file)])
    assert rate(catalog, "NVLink 4") == 7e9
    assert len(catalog.entries("links")) == len(Catalog().entries("links"))


def test_a_users_alias_wins_over_a_built_in_name(tmp_path):
    file = tmp_path / "links.yaml"
    file.write_text(link("lab", 7, aliases="[ib-ndr]"))
    catalog = Catalog([str(file)])
    assert rate(catalog, "IB NDR") == 7e9
    assert "ib_ndr" in catalog.entries("links")


def test_of_two_paths_the_later_wins(tmp_path):
    for place, value in (("a", 1), ("b", 2)):
        (tmp_path / place).mkdir()
        (tmp_path / place / "links.yaml").write_text(link("lab", value))
    paths = [str(tmp_path / "a"), str(tmp_path / "b")]
    assert rate(Catalog(paths), "lab") == 2e9
    assert rate(Catalog(paths[::-1]), "lab") == 1e9


def test_a_name_of_two_entries_is_refused(tmp_path):
    file = tmp_path / "links.yaml"
    file.write_text(link("lab", 1, aliases="[l a b 2]") + link("lab-2", 2))
    with pytest.raises(KvcostError, match="stands for two links") as caught:
        Catalog([str(file)]).link("lab")
    assert caught.value.hint


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("notes.txt", "hello", "YAML files only"),
        ("links.json", "{}", "YAML files only"),
        ("ours.yaml", link("lab", 1), "unknown file"),
        ("linkz.yaml", link("lab", 1), "unknown file"),
    ],
)
def test_an_unknown_file_in_a_folder_is_an_error(folder, name, text, words):
    (folder / name).write_text(text)
    with pytest.raises(KvcostError, match=words) as caught:
        Catalog([str(folder)]).link("lab")
    assert caught.value.where.endswith(name)
    assert caught.value.hint


def test_places_that_are_not_there(tmp_path):
    for path, words in ((tmp_path / "nowhere", "no such catalog"), (tmp_path, "holds no YAML file")):
        with pytest.raises(KvcostError, match=words) as caught:
            Catalog([str(path)]).link("lab")
        assert caught.value.where == str(path)
        assert caught.value.hint


def test_a_file_of_nothing_known(tmp_path):
    file = tmp_path / "ours.yaml"
    for text in ("a: {b: c}\n", "- a\n", "hello\n"):
        file.write_text(text)
        with pytest.raises(KvcostError, match="cannot tell what") as caught:
            Catalog([str(file)]).link("lab")
        assert caught.value.hint


def test_by_option_and_by_environment(kvcost, folder, monkeypatch):
    words = ("transfer", "--model", "tiny", "--ctx", 1000, "--link", "lab", "--format", "csv", "--columns", "wire_bytes,line_rate_s", "--engine", "line")
    by_option = kvcost(*words, "--catalog", folder)
    assert by_option == (0, f"wire_bytes,line_rate_s\n1024000,{1024000 / 3e9!r}\n", "")
    monkeypatch.setenv("KVCOST_CATALOG", str(folder))
    assert kvcost(*words) == by_option
    monkeypatch.setenv("KVCOST_CATALOG", os.pathsep.join([str(folder / "models.yaml"), str(folder / "links.yaml")]))
    assert kvcost(*words) == by_option
    assert kvcost(*words, "--catalog", folder / "links.yaml").code == 2, "the option replaces the environment"


def test_near_names():
    with pytest.raises(KvcostError) as caught:
        Catalog().model("lama2-70b")
    hint = caught.value.hint
    assert hint.startswith("nearest: llama2-70b, ")
    assert hint.count(",") == 2
    assert near_names("zzzzzzzz", ["llama2-70b", "opt-66b"]) == []
    assert Catalog().suggest("links", "foo") == "`kvcost links` lists all"
    assert Catalog().suggest("links", "rdma").count(",") == 2, "a part of a name leads to it"
    assert near_names("ib_ndr", ["IB NDR", "ib-ndr", "ib-hdr"])[0] == "IB NDR"
    assert len(near_names("llama", [f"llama{i}" for i in range(20)])) == 3


@pytest.mark.parametrize("word", ["NVLink 4", "nvlink-4", "NVLINK_4", "nv link4", "\tnvlink4"])
def test_names_without_regard_to_case_spaces_hyphens(word):
    assert normalise(word) == "nvlink4"
    assert Catalog().find("links", word) == "nvlink4"
