"""`kvcost models`, `kvcost links`, `kvcost gpus`, `kvcost engines`, `kvcost techniques`."""

from typing import Annotated, Any

import typer

from ..cases.entries import entries_document
from ..render.output import emit
from . import options as o
from .asking import EXIT_NOTHING, catalog_of, style_of

Name = Annotated[str | None, typer.Argument(metavar="[NAME]", help="One entry, by name or alias.", show_default=False)]
Like = Annotated[str | None, typer.Option("--like", metavar="TEXT", help="Entries whose names hold the text.", show_default=False)]


def _command(kind: str, example: str) -> typer.Typer:
    app = typer.Typer()

    @app.command(
        kind,
        cls=o.Grouped,
        help=f"The {kind} that kvcost knows, with where their figures come from.\n\n\b\nkvcost {kind}\nkvcost {kind} {example}\nkvcost {kind} --json",
    )
    @o.taking(("catalog", *o.OUTPUT))
    def show(name: Name = None, like: Like = None, **values: Any) -> int:
        document = entries_document(catalog_of(values), kind, name, like)
        emit(document, style_of(values))
        return EXIT_NOTHING if document.total == 0 else 0

    return app


models_app = _command("models", "llama2-70b")
links_app = _command("links", "100gbe")
gpus_app = _command("gpus", "h100")
engines_app = _command("engines", "vllm-nixl")
techniques_app = _command("techniques", "fp8")
