"""The console blocks of a Markdown file: read them, run them, and (as a script) write their true output back.

A block is fenced with ```console; a line that starts with "$ " is a command, "> " below it goes on with it, the other lines are its output.
Run `python tests/docs/console.py FILE...` after a change that is meant to change output.
"""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]


class Command(NamedTuple):
    """A command, its output as printed in the file, and the line it stands on."""

    line: int
    words: str
    output: str


def commands(text: str) -> Iterator[Command]:
    """Every command of every console block."""
    inside, line_number, words, output = False, 0, "", []
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("```"):
            if inside and words:
                yield Command(line_number, words, "".join(output))
            inside, words, output = line.strip() == "```console", "", []
        elif inside and line.startswith("$ "):
            if words:
                yield Command(line_number, words, "".join(output))
            line_number, words, output = number, line[2:], []
        elif inside and line.startswith("> ") and words and not output:
            words += "\n" + line[2:]
        elif inside:
            output.append(line + "\n")


def run(words: str) -> str:
    """What a command prints on stdout and stderr, run from the project's root."""
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    for name in ("KVCOST_CATALOG", "NO_COLOR", "FORCE_COLOR", "COLUMNS"):
        environment.pop(name, None)
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", words],
        cwd=ROOT,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        timeout=120,
    )
    return done.stdout


def updated(text: str) -> str:
    """The same text with every command's output as it is now."""
    lines, outputs = text.splitlines(keepends=True), {command.line: run(command.words) for command in commands(text)}
    kept, inside, told = [], False, ""
    for number, line in enumerate(lines, 1):
        if line.startswith("```"):
            kept += [told, line]
            inside, told = line.strip() == "```console", ""
        elif not inside:
            kept.append(line)
        elif number in outputs:
            kept += [told, line]
            told = outputs[number]
        elif line.startswith("> ") and kept[-1].startswith(("$ ", "> ")):
            kept.append(line)
    return "".join(kept)


if __name__ == "__main__":
    for name in sys.argv[1:]:
        path = Path(name)
        path.write_text(updated(path.read_text(encoding="utf-8")), encoding="utf-8")
