"""`kvcost explain`."""

from typing import Annotated, Any

import typer

from ..cases.document import Document
from ..cases.quantities import QUANTITIES, Quantity
from ..catalog.names import near_names
from ..errors import KvcostError
from ..render.cells import LABELS
from ..render.output import emit
from . import options as o
from .asking import style_of

app = typer.Typer()
Asked = Annotated[str | None, typer.Argument(metavar="[QUANTITY]", help="A field of the output; without one, all of them.", show_default=False)]


def _field(words: str) -> str:
    """The field that words on the screen stand for: `on the wire` → wire_bytes."""
    plain = words.strip().lower().removeprefix("in an ").removeprefix("on the ").removeprefix("at ").replace("-", " ").replace(" ", "_")
    for name in (plain, *(plain + ending for ending in ("_s", "_bytes", "_tokens", "_bytes_per_s", "_per_s"))):
        if name in QUANTITIES:
            return name
    shown = {label.replace(" ", "_"): field for field, label in LABELS.items() if field in QUANTITIES}
    return shown.get(plain, plain)


@app.command(cls=o.Grouped)
@o.taking(o.OUTPUT)
def explain(quantity: Asked = None, **values: Any) -> int:
    r"""What a field of the output means: its formula, its symbols, where it is from.

    \b
    kvcost explain wire_bytes
    kvcost explain --format markdown
    """
    found = QUANTITIES
    if quantity is not None:
        name = _field(quantity)
        if name not in QUANTITIES:
            near = near_names(quantity, QUANTITIES)
            hint = f"nearest: {', '.join(near)}; `kvcost explain` lists all" if near else "`kvcost explain` lists all"
            raise KvcostError(f"unknown quantity '{quantity}'", hint=hint)
        found = {name: QUANTITIES[name]}
    rows = [(name, *text) for name, text in found.items()]
    emit(Document("explain", {"quantity": quantity}, ("quantity", *Quantity._fields), rows, len(rows), [], dict), style_of(values))
    return 0
