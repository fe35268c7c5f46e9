"""Reports of `check` for other programs: one small writer a format, each made of the same findings."""

import os
from pathlib import PurePath
from urllib.parse import quote

__all__ = ["relative_file", "relative_uri"]


def _root() -> str:
    """The folder that a CI system takes paths to be relative to: that of its check-out, else the working directory."""
    return os.environ.get("GITHUB_WORKSPACE") or os.getcwd()  # noqa: PTH109


def relative_file(file: str) -> str:
    """A file relative to the root of the check-out where it lies inside, with forward slashes."""
    full = os.path.abspath(file)  # noqa: PTH100
    try:
        inside = os.path.relpath(full, _root())
    except ValueError:  # another drive
        inside = os.pardir
    return PurePath(full if inside.startswith(os.pardir) else inside).as_posix()


def relative_uri(file: str) -> str:
    """The same as a URI reference."""
    path = relative_file(file)
    return f"file://{quote(os.fsencode(path))}" if path.startswith("/") else quote(os.fsencode(path))
