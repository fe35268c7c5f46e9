"""Catalog files that people get wrong: each is refused in one line that names file, line and column."""

import pytest

from kvcost.catalog import strict_yaml
from kvcost.catalog.compile import compile_file
from kvcost.catalog.store import KINDS, Catalog
from kvcost.catalog.strict_yaml import looks_like_float, read_yaml
from kvcost.errors import KvcostError

LINK = """mine:
  title: Mine
  kind: ethernet
  scope: port
  per: port
  line_rate: 10GB/s
  achieved: 9GB/s
  achieved_low: 8GB/s
  achieved_high: 9.5GB/s
  basis: iperf
  source: our lab
  confidence: measured
  checked: 2026-01-01
"""


@pytest.fixture
def read(tmp_path):
    """Compile a links file of this text, or these bytes."""

    def call(text, name="links.yaml"):
        file = tmp_path / name
        file.write_bytes(text if isinstance(text, bytes) else text.encode())
        return compile_file("links", file)

    return call


def complaint(read, text):
    with pytest.raises(KvcostError) as caught:
        read(text)
    error = caught.value
    assert error.hint
    assert "\n" not in str(error)
    place = error.where.partition("links.yaml")[2]
    return place.removeprefix(":"), error.message, error.hint


def test_a_good_file(read):
    assert read(LINK)["mine"]["line_rate"] == 10e9


@pytest.mark.parametrize(
    ("old", "new", "place", "words"),
    [
        ("  basis: iperf\n", "  basis: iperf\n  title: Again\n", "11:3", "'title' stands twice"),
        ("mine:", "no:", "1:1", "the key no as a boolean"),
        ("mine:", "Off:", "1:1", "the key Off as a boolean"),
        ("mine:", "100:", "1:1", "the key 100 as not a word"),
        ("mine:", "2026-01-01:", "1:1", "not a word"),
        ("mine:", "~:", "1:1", "not a word"),
        ("mine:", "? [a, b]\n:", "1:3", "a key must be a plain word"),
        ("10GB/s", "12.5e9", "6:14", "has no unit"),
        ("10GB/s", "12500000000", "6:14", "needs text with a unit"),
        ("10GB/s", "100", "6:14", "needs text with a unit"),
        ("10GB/s", "'100'", "6:14", "without a clear unit"),
        ("10GB/s", "-1GB/s", "6:14", "above zero"),
        ("10GB/s", "[10GB/s]", "6:14", "needs text with a unit"),
        ("ethernet", "carrier-pigeon", "3:9", "kind"),
        ("Mine", "no", "2:10", "valid string"),
        ("Mine", "17", "2:10", "valid string"),
        ("Mine", "[a]", "2:10", "valid string"),
        ("title: Mine", "aliases: [no]\n  title: Mine", "2:13", "valid string"),
        ("2026-01-01", "2026-13-45", "13:12", "cannot read the value"),
        ("2026-01-01", "yesterday", "13:12", "date"),
        ("measured", "certain", "12:15", "confidence"),
        ("  basis: iperf\n", "", "2:3", "lacks the key 'basis'"),
        ("achieved_low", "acheived_low", "8:17", "unknown key 'acheived_low'"),
        ("achieved: 9GB/s", "achieved: 9.9GB/s", "2:3", "between achieved_low and achieved_high"),
        ("9.5GB/s", "19GB/s", "2:3", "exceeds line_rate"),
        ("scope: port", "scope: node", "2:3", "rails"),
        ("basis: iperf", "<<: *x", "10:7", "undefined alias"),
        ("iperf", "!!python/object/apply:os.getcwd []", "10:10", "valid string"),
        ("iperf", "!!bool maybe", "10:10", "cannot read the value"),
        ("iperf", "!!int ''", "10:10", "cannot read the value"),
        ("iperf", "!!timestamp soon", "10:10", "cannot read the value"),
        ("iperf", "!mytag x", "10:10", "cannot read the value"),
        ("iperf", "9" * 5000, "10:10", "cannot read the value"),
        ("iperf", "'unclosed", "", "not valid YAML"),
        ("iperf", "a: b: c", "10:11", "not valid YAML"),
        ("  basis", "\tbasis", "10:1", "not valid YAML"),
        ("mine:\n", "mine: 5\nother:\n", "1:7", "valid dictionary"),
        ("mine:\n", "mine:\nother:\n", "1:6", "valid dictionary"),
    ],
)
def test_wrong_entries(read, old, new, place, words):
    found, message, hint = complaint(read, LINK.replace(old, new, 1))
    assert words in message
    assert found.startswith(place) if place else found
    assert len(message) < 300 or "999" in message
    assert hint


def test_a_tab_is_named(read):
    assert "spaces, not tabs" in complaint(read, LINK.replace("  basis", "\tbasis"))[2]


def test_a_mistyped_key_is_offered_its_name(read):
    assert "achieved_low" in complaint(read, LINK.replace("achieved_low", "acheived_low"))[2]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        *(
            ("", "empty"),
            ("# nothing here\n", "empty"),
            ("\n\n", "empty"),
            ("hello\n", "mapping of ids"),
            ("- a\n- b\n", "mapping of ids"),
            ("null\n", "mapping"),
        ),
        *((LINK + LINK, "'mine' stands twice"), (LINK + "---\n" + LINK, "another document"), ("[" * 20_000, "not valid YAML"), ("{" * 5_000, "not valid YAML")),
        *((b"\x00\x01\x02", "not valid YAML"), (b"\xff\xfe\x00\x01", "not UTF-8"), (LINK.encode("utf-16"), "not UTF-8"), (b"a: \xe9\n", "not UTF-8")),
        *(("mine: " + "[" * 200 + "]" * 200, "beyond measure"), ("mine: &x {a: *x}\n", "beyond measure"), ("a: &a b\na: *a\n", "stands twice")),
        *(("<<: {a: 1}\n", "<<"), ("'':\n  title: x\n", "lacks the key")),
    ],
)
def test_wrong_files(read, text, words):
    message = complaint(read, text)[1]
    assert words in message


def test_an_alias_bomb_is_refused_before_it_grows(read):
    lines = ["a: &a [x, x, x, x, x, x, x, x, x]"]
    lines += [f"{key}: &{key} [{', '.join(['*' + before] * 9)}]" for before, key in zip("abcdefgh", "bcdefghi", strict=True)]
    assert "beyond measure" in complaint(read, "\n".join(lines))[1]


def test_a_huge_file_is_refused(read, monkeypatch):
    monkeypatch.setattr(strict_yaml, "MAX_BYTES", 1000)
    assert "more than 1,000" in complaint(read, LINK + "#" * 1000)[1]


def test_a_missing_file(tmp_path):
    with pytest.raises(KvcostError, match="cannot read the file") as caught:
        read_yaml(tmp_path / "links.yaml")
    assert caught.value.hint


@pytest.mark.parametrize("newline", ["\r\n", "\r", "\n"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_marks_and_line_ends_do_not_matter(read, newline, mark):
    assert read((mark + LINK).replace("\n", newline)) == read(LINK)


def test_positions_count_from_one_whatever_the_line_ends(read):
    wrong = LINK.replace("10GB/s", "100")
    for text in (wrong, wrong.replace("\n", "\r\n"), "\ufeff" + wrong):
        assert complaint(read, text)[0] == "6:14"


def test_json_is_yaml(read):
    text = '{"mine": {"title": "M", "kind": "tcp", "scope": "port", "per": "port", "line_rate": null, "achieved": "1GB/s", "achieved_low": "1GB/s",'
    text += ' "achieved_high": "1GB/s", "basis": "b", "source": "s", "confidence": "spec", "checked": "2026-01-01"}}'
    assert read(text)["mine"]["line_rate"] is None


def test_a_place_that_is_not_there_is_that_of_what_encloses_it(tmp_path):
    file = tmp_path / "a.yaml"
    file.write_text("a:\n  b: 1\n")
    document = read_yaml(file)
    assert document.where(("a", "b", "c")).endswith("a.yaml:2:6")
    assert document.where(()).endswith("a.yaml:1:1")
    assert document.where(("z",)).endswith("a.yaml:1:1")


@pytest.mark.parametrize(("value", "found"), [("12.5e9", True), ("1e9", True), ("12.5", False), ("12.5e9B/s", False), (12.5e9, False)])
def test_looks_like_float(value, found):
    assert looks_like_float(value) is found


@pytest.mark.parametrize("kind", KINDS)
def test_every_built_in_entry_validates_and_is_found(kind):
    catalog = Catalog()
    entries = catalog.entries(kind)
    assert entries
    for name, values in entries.items():
        assert catalog.find(kind, name) == name
        assert values["checked"]
