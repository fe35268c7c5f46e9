"""A config.json from disk: a file, its folder, or a model of the local hub cache."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ...errors import KvcostError
from .door import read_hf_config
from .types import SERVING, Conventions, ImportedModel

__all__ = ["MAX_CONFIG_BYTES", "find_in_hub_cache", "load_hf_config", "read_json_object"]

# The largest real ones (a table of block configs, label maps) stay below 1 MB.
MAX_CONFIG_BYTES = 5_000_000


def _constant(word: str) -> float:
    return float(word)


def read_json_object(path: Path) -> dict[str, Any]:
    """The JSON object that a file holds; at most 5 MB, UTF-8.

    Raises KvcostError with the file as its place.
    """
    where = str(path)
    try:
        size = path.stat().st_size
        if size > MAX_CONFIG_BYTES:
            raise KvcostError(f"{size} bytes is too large for a config: at most {MAX_CONFIG_BYTES}", hint="give the config.json, not the weights", where=where)
        with path.open("rb") as stream:
            data = stream.read(MAX_CONFIG_BYTES + 1)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise KvcostError(f"cannot be read: {reason}", hint="give the path of a config.json or of its folder", where=where) from error
    if len(data) > MAX_CONFIG_BYTES:
        raise KvcostError(f"too large for a config: more than {MAX_CONFIG_BYTES} bytes", hint="give the config.json, not the weights", where=where)
    try:
        value = json.loads(data.decode("utf-8-sig"), parse_constant=_constant)
    except UnicodeDecodeError as error:
        raise KvcostError(f"is not UTF-8: byte {error.start}", hint="save it as UTF-8", where=where) from error
    except json.JSONDecodeError as error:
        raise KvcostError(f"is not JSON: {error.msg}", hint="fetch the file again", where=f"{where}:{error.lineno}:{error.colno}") from error
    except (RecursionError, ValueError) as error:
        raise KvcostError("is nested too deeply, or holds a number too long to read", hint="give the config.json of a model", where=where) from error
    if not isinstance(value, dict):
        raise KvcostError(f"holds a {type(value).__name__}, not an object", hint="give a config.json with { ... } at its top", where=where)
    return value


def load_hf_config(path: Path, *, name: str | None = None, conventions: Conventions = SERVING) -> ImportedModel:
    """The model of a config.json, or of the folder that holds one; hf_quant_config.json beside it is read too.

    The name is the folder's unless given. Raises KvcostError with the file as its place.
    """
    folder = path.is_dir()
    file = path / "config.json" if folder else path
    config = read_json_object(file)
    beside = file.parent / "hf_quant_config.json"
    quant: Mapping[str, Any] | None = read_json_object(beside) if beside.is_file() else None
    try:
        called = name or _name(file)
        return read_hf_config(config, name=called, hf_quant=quant, conventions=conventions)
    except KvcostError as error:
        raise error.at(str(file)) from error


def _name(file: Path) -> str:
    """A name from the path: the hub id of a snapshot, the folder of a config.json, else the file's stem."""
    for part in reversed(file.absolute().parts):
        if part.startswith("models--"):
            return part.removeprefix("models--").replace("--", "/")
    if file.name == "config.json":
        return file.absolute().parent.name or "model"
    return file.stem


def _hub_caches(env: Mapping[str, str]) -> list[Path]:
    """Folders that may hold the hub cache, the most specific setting alone where one is given."""
    if env.get("HF_HUB_CACHE") or env.get("HUGGINGFACE_HUB_CACHE"):
        return [Path(env.get("HF_HUB_CACHE") or env["HUGGINGFACE_HUB_CACHE"]).expanduser()]
    if env.get("HF_HOME"):
        return [Path(env["HF_HOME"]).expanduser() / "hub"]
    home = Path(env["HOME"]) if env.get("HOME") else Path("~").expanduser()
    base = Path(env["XDG_CACHE_HOME"]) if env.get("XDG_CACHE_HOME") else home / ".cache"
    return [base / "huggingface" / "hub"]


def find_in_hub_cache(repo_id: str, env: Mapping[str, str]) -> Path | None:
    """The config.json of a hub id in the local cache: the snapshot that refs/main names, else the newest that holds one.

    HF_HUB_CACHE, then HF_HOME/hub, then XDG_CACHE_HOME (or ~/.cache)/huggingface/hub. None where it is
    not there, or where the id is not of the form org/name.
    """
    parts = repo_id.split("/")
    if len(parts) not in (1, 2) or any(not part or part.startswith(".") or "\\" in part or "\0" in part for part in parts):
        return None
    for cache in _hub_caches(env):
        folder = cache / ("models--" + "--".join(parts))
        try:
            main = folder / "refs" / "main"
            if main.is_file():
                named = folder / "snapshots" / main.read_text("utf-8").strip() / "config.json"
                if named.is_file():
                    return named
            found = [path for path in (folder / "snapshots").glob("*/config.json") if path.is_file()]
        except (OSError, ValueError):
            continue
        if found:
            return max(found, key=lambda path: path.parent.stat().st_mtime)
    return None
