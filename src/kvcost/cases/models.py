"""A model by whatever it is called: catalog name, path of a config.json, hub id in the local cache."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

from ..catalog.store import Catalog
from ..cost.model import Model
from ..errors import KvcostError

if TYPE_CHECKING:
    from ..importers.hf_config import Conventions

__all__ = ["VIEWS", "ModelFinder"]

VIEWS = ("serving", "hf")


def _path(word: str) -> Path:
    """The word as a path, ~ resolved where that user is known."""
    try:
        return Path(word).expanduser()
    except RuntimeError:
        return Path(word)


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except (OSError, ValueError, RuntimeError):  # too long for a name, or links in a circle
        return False


class ModelFinder:
    """Finds models; `view` is how a config.json is counted, `download` whether the hub may be asked for one."""

    def __init__(self, catalog: Catalog, view: str = "serving", download: bool = False) -> None:
        if view not in VIEWS:
            raise KvcostError(f"unknown view '{view}'", where="--view", hint="write serving or hf")
        self.catalog, self.view, self.download = catalog, view, download

    def find(self, word: str) -> Model:
        """The model of a word. Raises KvcostError when nothing goes by that name, or its config cannot be read."""
        path = _path(word)
        named = self.catalog.has("models", word)
        if named and self.view == "serving":
            return self.catalog.model(word)
        if word.endswith(".json") or ((os.sep in word or not named) and _exists(path)):
            return self._read(path)
        found = self._cached(word)
        if found is not None:
            return self._read(found, word)
        if named:
            raise KvcostError(f"the catalog holds {word} in the serving view only", where="--view", hint="give the path of its config.json")
        return self._unknown(word)

    def _conventions(self) -> "Conventions":
        from ..importers.hf_config import Conventions

        return Conventions(hf_run=self.view == "hf")

    def _read(self, path: Path, name: str | None = None) -> Model:
        from ..importers.hf_config import load_hf_config

        return load_hf_config(path, name=name, conventions=self._conventions()).model

    def _cached(self, word: str) -> Path | None:
        """The config.json of a hub id, from the local cache or, when allowed, from the hub."""
        if "/" not in word:
            return None
        from ..importers.hf_config import find_in_hub_cache

        found = find_in_hub_cache(word, os.environ)
        if found is None and self.download:
            from ..importers.hf_config.download import download_config

            found = download_config(word)
        return found

    def _unknown(self, word: str) -> Model:
        try:
            return self.catalog.model(word)
        except KvcostError as error:
            hint = f"{error.hint}; or give the path of a config.json"
            if "/" in word:
                hint += ", or --download to fetch that of a hub id"
            raise KvcostError(error.message, hint=hint) from None
