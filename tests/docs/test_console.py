"""Every console block of the README and the examples shows what its command prints."""

import csv
import json
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from .console import ROOT, Command, commands, run

PAGES = [ROOT / "README.md", *sorted((ROOT / "examples").rglob("*.md"))]
CASES = [pytest.param(command, id=f"{page.relative_to(ROOT)}:{command.line}") for page in PAGES for command in commands(page.read_text(encoding="utf-8"))]
with (ROOT / "examples/article/figures.csv").open(encoding="utf-8", newline="") as stream:
    FIGURES = list(csv.DictReader(stream))


def test_there_are_console_blocks() -> None:
    assert len(CASES) >= 5


@pytest.mark.parametrize("command", CASES)
def test_block_is_true(command: Command) -> None:
    assert run(command.words) == command.output


@pytest.mark.parametrize("figure", FIGURES, ids=lambda figure: figure["command"])
def test_article_figure(figure: dict[str, str]) -> None:
    words = [sys.executable, "-m", "kvcost", *shlex.split(figure["command"]), "--json"]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=True)
    (row,) = json.loads(done.stdout)["rows"]
    assert row[figure["field"]] == pytest.approx(float(figure["exact"]), rel=1e-12)


def test_fabrics_differ_by_36_not_73() -> None:
    exact = {figure["command"]: float(figure["exact"]) for figure in FIGURES}
    ratio = exact["transfer --model llama2-70b --ctx 4k --link 100gbe"] / exact["transfer --model llama2-70b --ctx 4096 --link nvlink4"]
    assert ratio == pytest.approx(36)


def test_pages_are_found() -> None:
    assert Path("examples/article/README.md") in {page.relative_to(ROOT) for page in PAGES}
