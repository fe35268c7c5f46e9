"""The presets that paths stand for: files, folders of them, and standard input."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from ..errors import KvcostError

__all__ = ["STDIN", "preset_files"]

STDIN = "-"
MAX_FILES = 10_000
_SUFFIXES = (".yaml", ".yml")


def preset_files(paths: Iterable[str]) -> Iterator[Path | KvcostError]:
    """The files that paths stand for, each once, and an error for a path that stands for none.

    Of a folder those that end in .yaml or .yml at any depth, in the order of their names; names that start with
    `_` or `.` are no presets. Links to folders are not followed. A folder may turn out to hold none.
    """
    seen: set[str] = set()
    for word in paths:
        path, kind = Path(word), _kind(word)
        if word == STDIN or kind == "file":
            found: Iterable[Path] = (path,)
        elif kind == "folder":
            found = _inside(path)
        else:
            yield KvcostError("there is no such file or folder", where=word, hint="give preset files, folders of them, or - for standard input")
            continue
        for file in found:
            # The same file in another folder has other defaults.
            key = os.path.join(os.path.realpath(file.parent), file.name)  # noqa: PTH118
            if key not in seen:
                seen.add(key)
                yield file


def _kind(word: str) -> str:
    """A folder, a file, or nothing that there is."""
    try:
        return "folder" if word and Path(word).is_dir() else "file" if word and Path(word).exists() else ""
    except (OSError, ValueError):  # longer than a name may be, or with a NUL
        return ""


def _inside(folder: Path) -> Iterator[Path]:
    count = 0
    for base, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith((".", "_")))
        for name in sorted(names):
            if name.endswith(_SUFFIXES) and not name.startswith((".", "_")):
                if (Path(base) / name).exists() and not (Path(base) / name).is_file():
                    continue  # a pipe or a device would wait for ever
                count += 1
                if count > MAX_FILES:
                    raise KvcostError(f"the folder holds more than {MAX_FILES:,} presets", where=str(folder), hint="check its folders one by one")
                yield Path(base) / name
