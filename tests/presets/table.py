"""The table of presets/README.md: one line a preset, priced. As a script it writes the table back as it is now.

Run `python -m tests.presets.table` after a change that is meant to change a verdict or a figure.
"""

import contextlib
import io
import json
from pathlib import Path
from typing import Any

import yaml

from kvcost.cli.app import run
from kvcost.units.show import show_time

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "presets"
PRESETS = sorted(path for path in FOLDER.glob("*.yaml") if not path.name.startswith("_"))
README = FOLDER / "README.md"
HEAD = ("preset", "link", "prompt, answer", "verdict", "gain of the split", "transfer", "link busy")
GAINS = {"all": "E2E", "e2e": "E2E", "ttft": "TTFT", "tpot": "TPOT", "itl-p99": "p99 gap"}
FIELDS = (
    "ctx_tokens",
    "osl_tokens",
    "link",
    "verdict",
    "objective",
    "net_gain_s",
    "transfer_s",
    "link_utilisation",
    "goodput_mono_per_gpu",
    "goodput_disagg_per_gpu",
)


def whole(path: Path) -> dict[str, Any]:
    """A preset with what it extends filled in, as plain values."""
    own: dict[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))
    base = own.pop("extends", None)
    if base is None:
        return own
    below = whole(path.parent / base)
    return {**below, **{key: {**below[key], **value} if isinstance(value, dict) and isinstance(below.get(key), dict) else value for key, value in own.items()}}


def answer(path: Path) -> dict[str, Any]:
    """What `kvcost breakeven` says of a preset."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        code = run(["breakeven", "--preset", str(path), "--columns", ",".join(FIELDS), "--json", "-q"])
    assert code == 0, path
    (row,) = json.loads(printed.getvalue())["rows"]
    return row


def gain(row: dict[str, Any]) -> str:
    """The quantity that decides, and what the split does to it."""
    if row["objective"] == "goodput":
        return f"goodput x{row['goodput_disagg_per_gpu'] / row['goodput_mono_per_gpu']:.2g}"
    size = row["net_gain_s"]
    return f"{GAINS[row['objective']]} {show_time(abs(size))} {'better' if size > 0 else 'worse'}"


def table() -> str:
    """The table in Markdown."""
    lines = ["| " + " | ".join(HEAD) + " |", "| --- " * len(HEAD) + "|"]
    for path in PRESETS:
        row = answer(path)
        work = f"{row['ctx_tokens']:,}, {row['osl_tokens']:,}"
        cells = (
            f"[{path.stem}]({path.name})",
            row["link"],
            work,
            row["verdict"],
            gain(row),
            show_time(row["transfer_s"]),
            f"{100 * row['link_utilisation']:.2g}%",
        )
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def updated(text: str) -> str:
    """A text with its table (the lines that begin with a bar) as it is now."""
    lines = text.splitlines(keepends=True)
    first = next(number for number, line in enumerate(lines) if line.startswith("| preset |"))
    after = next(number for number, line in enumerate([*lines[first:], "\n"], first) if not line.startswith("|"))
    return "".join([*lines[:first], table(), *lines[after:]])


if __name__ == "__main__":
    README.write_text(updated(README.read_text(encoding="utf-8")), encoding="utf-8")
