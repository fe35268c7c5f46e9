"""What a person sees, whole: cards and tables on terminals of several widths, and piped.

The texts in golden/ are what each must print; after a wanted change, read the
difference and take it over with KVCOST_GOLDEN=write.
"""

import os
import re
import sys
from pathlib import Path

import pytest

from kvcost.cli.app import run

GOLDEN = Path(__file__).parent / "golden"
CARD = ("transfer", "--model", "llama2-70b", "--ctx", "4096", "--link", "100gbe")
TABLE = ("transfer", "--model", "llama2-70b", "--ctx", "1k,4k", "--link", "nvlink4,ib-ndr,100gbe", "--tp", "1,8", "-q")
SIZE = ("size", "--model", "deepseek-v3", "--ctx", "32k", "--tp", "8")
EXPLAINED = ("transfer", "--model", "gemma-3-27b", "--ctx", "8k", "--link", "ib-ndr", "--explain")
REDUCED = (
    "reduce",
    "--model",
    "llama2-70b",
    "--ctx",
    "4k",
    "--link",
    "nvlink4",
    "--technique",
    "fp8,int4-g64,layer-push,block-128",
    "--codec-time",
    "2ms",
    "-q",
)
DEPLOYED = ("reduce", *["--model", "qwen2.5-7b", "--ctx", "4k", "--osl", "128", "--gpu", "h100", "--rate", "4", "--link", "100gbe", "--with", "push,fp8", "-q"])
ESCAPE = re.compile(r"\x1b\[[0-9;]*m")


@pytest.fixture
def screen(capsys, monkeypatch):
    """Run a command on a terminal of this width (None: piped), with or without colour."""

    def call(width, *words, color=False):
        # A setting of its own for each call: the streams of capsys are new in every test.
        if width is not None:
            monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
            monkeypatch.setenv("COLUMNS", str(width))
        code = run([*words, "--color", "always" if color else "never"])
        out, err = capsys.readouterr()
        assert (code, err) == (0, "")
        return out

    return call


def compare(name, text):
    file = GOLDEN / f"{name}.txt"
    if os.environ.get("KVCOST_GOLDEN") == "write":
        file.write_text(text, encoding="utf-8")
    assert text == file.read_text(encoding="utf-8"), f"{file.name} differs: see the head of this file"


@pytest.mark.parametrize("width", [80, 200, None])
@pytest.mark.parametrize(
    ("name", "words"), [("card", CARD), ("table", TABLE), ("size", SIZE), ("explained", EXPLAINED), ("reduced", REDUCED), ("techniques", DEPLOYED)]
)
def test_whole_output(screen, name, words, width):
    text = screen(width, *words)
    compare(f"{name}-{width or 'piped'}", text)
    assert "\x1b" not in text
    assert all(line == line.rstrip() for line in text.splitlines())
    if width is not None:
        assert max(map(len, text.splitlines())) <= width or words == TABLE


def words_of(text):
    """The figures and names of a text, whatever its lines: what must not be lost."""
    return re.findall(r"[\w./+-]*\w", text.replace(",", ""))


@pytest.mark.parametrize("words", [CARD, TABLE, SIZE, EXPLAINED, REDUCED, ("links", "100gbe"), ("engines",), ("models", "--like", "llama")])
@pytest.mark.parametrize("width", [40, 80, 120, 200])
def test_no_width_cuts_anything(screen, words, width):
    piped = screen(None, *words)
    narrow = screen(width, *words)
    joined = re.sub(r"\s+", "", narrow)
    missing = [word for word in words_of(piped) if word not in joined.replace(",", "")]
    assert not missing
    assert "…" not in narrow
    # A table of many rows is left to the terminal to wrap, whole.
    assert max(map(len, narrow.splitlines())) <= width or words in (TABLE, ("engines",), ("models", "--like", "llama"))


def test_a_width_of_one_is_survived(screen):
    assert screen(1, *CARD)


@pytest.mark.parametrize("words", [CARD, TABLE, SIZE])
@pytest.mark.parametrize("width", [80, 200])
def test_colour_changes_no_character(screen, words, width):
    plain, coloured = screen(width, *words), screen(width, *words, color=True)
    assert "\x1b[" in coloured
    stripped = "\n".join(line.rstrip() for line in ESCAPE.sub("", coloured).splitlines())
    assert stripped == plain.rstrip("\n")


def test_piped_and_a_wide_terminal_say_the_same(screen):
    for words in (CARD, TABLE, SIZE):
        assert screen(400, *words).split() == screen(None, *words).split()


def test_a_table_names_what_its_rows_share_once(screen):
    head = screen(200, *TABLE).splitlines()[0]
    assert head.startswith("model llama2-70b, kv dtype fp16, ")
    assert "prefill tp" not in head, "sizes that differ are columns"


def test_columns_of_one_quantity_share_a_unit(screen):
    head = screen(None, *TABLE, "--columns", "line_rate_s,achievable_s,engine_s,wire_bytes,kv_bytes").splitlines()[0]
    assert [heading.split()[-1] for heading in re.split(r" {2,}", head)] == ["ms", "ms", "ms", "GB", "GB"]


def test_chosen_columns_stand_as_chosen(screen):
    lines = screen(None, *CARD, "--columns", "link,ctx_tokens,replication").splitlines()
    assert [line.split() for line in lines] == [["link", "ctx", "tokens", "replication"], ["eth_100g", "4,096", "1.000"]]


def test_an_answer_without_rows(kvcost):
    assert kvcost("models", "--like", "§§§", "-q") == (3, "", "")
