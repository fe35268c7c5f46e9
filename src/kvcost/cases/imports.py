"""`import`: other people's files → catalog entries."""

import datetime
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..errors import KvcostError
from ..importers.entry import entry_of
from .document import Document
from .models import ModelFinder

__all__ = ["import_document"]

_COLUMNS = (
    *("file", "format", "model", "prefill_instances", "prefill_tp", "decode_instances", "decode_tp", "prefill_gpus", "decode_gpus"),
    *("kv_dtype", "backend", "prefill_role", "decode_role", "max_model_len", "unknown", "entry"),
)


def import_document(finder: ModelFinder, names: Sequence[str]) -> Document:
    """One row a file: what it describes, and as `entry` the catalog entry (`{id: {...}}`) that it turns into.

    What a file does not say is listed in `unknown`. Raises KvcostError for a file that cannot be read.
    """
    rows: list[tuple[Any, ...]] = []
    notices = []
    for name in names:
        if Path(name).suffix.lower() in (".yaml", ".yml"):
            raise KvcostError("deployment files cannot be imported yet", where=name, hint="give a Hugging Face config.json, its folder, or a hub id")
        model = finder.find(name)
        entry_id, entry = entry_of(model, checked=datetime.date.today().isoformat())
        unknown = [key for key in ("context_limit_tokens", "params_total", "params_active") if key not in entry]
        row = {"file": name, "format": "hf-config", "model": model.name, "kv_dtype": model.kv_dtype, "max_model_len": model.context_limit_tokens}
        rows.append(tuple({**row, "unknown": unknown, "entry": {entry_id: entry}}.get(column) for column in _COLUMNS))
        notices += [note._replace(message=f"{model.name}: {note.message}") for note in model.notes]
    return Document("import", {"files": list(names)}, _COLUMNS, rows, len(rows), notices, dict)
