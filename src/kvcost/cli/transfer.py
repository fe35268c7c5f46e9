"""`kvcost transfer`."""

from typing import Any

import typer

from ..cases.transfer import TRANSFER_OPTIONS, TransferQuestion
from . import options as o
from .asking import answer

app = typer.Typer()


@app.command(cls=o.Grouped)
@o.taking((*TRANSFER_OPTIONS, *o.PRICING))
def transfer(**values: Any) -> int:
    r"""How long a request's KV takes over a link.

    \b
    kvcost transfer --model llama2-70b --ctx 4096 --link 100gbe
    kvcost transfer --model llama2-70b --ctx 1k..128k --link nvlink4,ib-ndr,100gbe --format csv
    kvcost transfer --model qwen3-235b-a22b --ctx 32k --link ib-ndr --rails 8 --tp 8 --basis engine --explain
    """
    return answer(TransferQuestion, TRANSFER_OPTIONS, values)
