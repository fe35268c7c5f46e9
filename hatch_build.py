"""Check the catalog's YAML while building, and store it compiled beside the YAML."""

import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class CompileCatalog(BuildHookInterface):  # type: ignore[type-arg]
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if self.target_name != "wheel":
            return
        sys.path.insert(0, str(Path(self.root) / "src"))
        try:
            from kvcost.catalog.store import KINDS, compile_builtin

            for kind in KINDS:
                compile_builtin(kind)
        finally:
            sys.path.pop(0)
