"""The picture in the README is what its command draws today."""

import re

import pytest

from tests.render.test_pictures import words_of

from .console import ROOT

WORDS = "breakeven --model llama2-70b --ctx 4096 --osl 256 --gpu h100 --tp 8 --link 100gbe --rate 2 -q"


def test_the_picture_is_true(kvcost, tmp_path, monkeypatch):
    """To draw it anew: COLUMNS=110 kvcost breakeven ... --save examples/breakeven.svg."""
    monkeypatch.setenv("COLUMNS", "110")
    assert kvcost(*WORDS.split(), "--save", tmp_path / "breakeven.svg").code == 0
    ours, now = (path.read_text(encoding="utf-8") for path in (ROOT / "examples/breakeven.svg", tmp_path / "breakeven.svg"))
    assert words_of(ours) == words_of(now)


@pytest.mark.parametrize("page", ["README.md"])
def test_pictures_that_pages_show_are_there(page):
    for target in re.findall(r"!\[[^\]]*\]\(([^)]+)\)", (ROOT / page).read_text(encoding="utf-8")):
        assert (ROOT / target).is_file(), target
