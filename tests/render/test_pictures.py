"""--save: what the terminal shows, as SVG or HTML that loads nothing."""

import re
import xml.etree.ElementTree as ET

import pytest

GRID = ("breakeven", "--model", "llama2-70b", "--ctx", "1k,2k,4k", "--link", "nvlink4,100gbe", "--gpu", "h100", "--tp", 8, "--osl", 256, "--rate", 2, "-q")
CASE = ("transfer", "--model", "llama2-70b", "--ctx", "4k", "--link", "100gbe")
ANSWERS = {
    "size": ("size", "--model", "llama2-70b", "--ctx", "4k"),
    "transfer": CASE,
    "compute": ("compute", "--model", "llama2-70b", "--gpu", "h100", "--tp", 8, "--ctx", "4k"),
    "breakeven": GRID,
    "links": ("links",),
    "explain": ("explain",),
}


def words_of(svg):
    """The lines of text of a picture below its title."""
    lines = {}
    for text in ET.fromstring(svg).iter("{http://www.w3.org/2000/svg}text"):
        if text.get("class", "").endswith("-title"):
            continue
        lines.setdefault(float(text.get("y", 0)), []).append((float(text.get("x", 0)), (text.text or "").replace("\xa0", " ")))
    return [" ".join(" ".join(words for _, words in sorted(parts)).split()) for _, parts in sorted(lines.items())]


@pytest.mark.parametrize("name", ANSWERS)
@pytest.mark.parametrize("columns", [40, 120, 250])
def test_a_picture_holds_every_word_of_the_table(kvcost, tmp_path, monkeypatch, name, columns):
    monkeypatch.setenv("COLUMNS", str(columns))
    ran = kvcost(*ANSWERS[name], "--save", tmp_path / "picture.svg")
    assert (ran.code, ran.err) == (0, "")
    svg = (tmp_path / "picture.svg").read_text(encoding="utf-8")
    shown = re.sub(r"[\s;:,]", "", "".join(words_of(svg)))
    if columns == 250 and name != "breakeven":
        assert shown == re.sub(r"[\s;:,]", "", ran.out)
    else:
        for word in set(ran.out.split()):
            assert re.sub(r"[\s;:,]", "", word) in shown, word
    assert [file.name for file in tmp_path.iterdir()] == ["picture.svg"]


@pytest.mark.parametrize("kind", ["svg", "html", "SVG"])
def test_a_picture_loads_nothing_and_is_the_same_each_time(kvcost, tmp_path, kind):
    file = tmp_path / f"picture.{kind}"
    found = []
    for _ in range(2):
        assert kvcost(*CASE, "--save", file).code == 0
        found.append(file.read_text(encoding="utf-8"))
    assert found[0] == found[1]
    assert not re.search(r"@font-face|url\(\s*['\"]?http|src=|@import|<script|<link", found[0])
    assert "1,342,177,280" in found[0].replace("&#160;", " ")


def test_the_answer_is_printed_as_well(kvcost, tmp_path):
    assert kvcost(*CASE, "--save", tmp_path / "a.svg") == kvcost(*CASE)
    assert kvcost(*CASE, "--save", tmp_path / "a.html", "-o", tmp_path / "a.txt") == (0, "", "")
    assert (tmp_path / "a.txt").read_text() == kvcost(*CASE).out


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("--save", "a.png"), ("--save: no picture of the kind 'a.png'", "FILE.svg or FILE.html")),
        (("--save", "svg"), ("--save: no picture of the kind 'svg'",)),
        (("--save", ""), ("--save: no picture",)),
        (("--save", "a.svg", "--json"), ("--save draws the table that the terminal shows, not json", "leave --format out")),
        (("--save", "/nonexistent/a.svg"), ("--save: cannot write /nonexistent/a.svg",)),
        (("--save", "/proc/a.svg"), ("--save: cannot write /proc/a.svg",)),
    ],
    ids=str,
)
def test_what_cannot_be_drawn_is_refused(kvcost, words, expected):
    ran = kvcost(*CASE, *words)
    assert (ran.code, ran.out) == (2, "")
    for part in expected:
        assert part in ran.err


def test_of_nothing_there_is_no_picture(kvcost, tmp_path):
    assert kvcost("links", "--like", "qqq", "--save", tmp_path / "a.svg").code == 3
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(("kind", "colors", "ground"), [("svg", r"-r\d+ \{ fill: (#\w{6})", "#18181b"), ("html", r"color: (#\w{6})", "#ffffff")])
def test_dim_text_keeps_its_contrast(kvcost, tmp_path, kind, colors, ground):
    def luminance(color):
        parts = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    assert kvcost(*CASE, "--save", tmp_path / f"a.{kind}").code == 0
    text = (tmp_path / f"a.{kind}").read_text(encoding="utf-8")
    assert ground in text
    found = set(re.findall(colors, text)) - {ground}
    assert len(found) >= 2
    for color in found:
        darker, lighter = sorted((luminance(color), luminance(ground)))
        assert (lighter + 0.05) / (darker + 0.05) >= 4.5, color
