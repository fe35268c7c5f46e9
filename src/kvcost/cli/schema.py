"""`kvcost schema`."""

import json
from typing import Annotated

import typer

from ..errors import KvcostError

app = typer.Typer()
WHAT = ("preset", "result", "model", "link", "gpu", "engine")


@app.command()
def schema(
    what: Annotated[str, typer.Argument(metavar="WHAT", help="preset, result, model, link, gpu or engine.")],
    debug: Annotated[bool, typer.Option("--debug", help="Show tracebacks.")] = False,  # noqa: ARG001
) -> int:
    r"""JSON Schema of a preset, of a command's JSON document, or of a catalog file.

    \b
    kvcost schema preset > kvcost-preset.schema.json
    kvcost schema result > kvcost-result.schema.json
    kvcost schema link > kvcost-links.schema.json
    """
    if what not in WHAT:
        raise KvcostError(f"no schema of '{what}'", hint="write one of " + ", ".join(WHAT))
    if what == "result":
        from ..cases.schemas import result_schema
        from ..check.document import CheckRow

        found = result_schema(check=(CheckRow,))
    elif what == "preset":
        from ..check.schema import preset_schema

        found = preset_schema()
    else:
        from ..catalog.schema import file_schema

        found = file_schema(what + "s")
    print(json.dumps(found, indent=2))
    return 0
