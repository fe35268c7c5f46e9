"""`kvcost import`."""

from typing import Annotated, Any

import typer

from ..cases.imports import import_document
from ..cases.models import ModelFinder
from ..render.output import emit, emit_text, say_notices
from . import options as o
from .asking import catalog_of, style_of

import_app = typer.Typer()
Files = Annotated[list[str], typer.Argument(metavar="FILE...", help="config.json files, their folders, or hub ids.", show_default=False)]


@import_app.command("import", cls=o.Grouped)
@o.taking(("view", "download", "catalog", *o.OUTPUT))
def import_files(files: Files, **values: Any) -> int:
    r"""Turn a Hugging Face config.json into a catalog entry: YAML for --catalog, to keep and to edit.

    \b
    kvcost import ./config.json > models.yaml
    kvcost size --catalog models.yaml --model NAME --ctx 32k
    kvcost import Qwen/Qwen3-8B --json
    """
    style = style_of(values)
    document = import_document(ModelFinder(catalog_of(values), values["view"], values["download"]), files)
    if style.format != "table":
        emit(document, style)
        return 0
    from ..importers.entry import yaml_of

    entries = {name: entry for row in document.rows for name, entry in row[-1].items()}
    emit_text(yaml_of(entries), style)
    say_notices(document, style)
    return 0
