"""`kvcost reduce`."""

from typing import Any

import typer

from ..cases.reduce import REDUCE_OPTIONS, ReduceQuestion
from . import options as o
from .asking import answer

app = typer.Typer()


@app.command(cls=o.Grouped)
@o.taking((*REDUCE_OPTIONS, "preset", "view", "download", "catalog", *o.OUTPUT))
def reduce(**values: Any) -> int:
    r"""Every technique that cuts or hides the transfer, side by side: bytes, times, the new verdict, what is published of quality.

    \b
    kvcost reduce --model llama2-70b --ctx 4096 --link 100gbe
    kvcost reduce --model llama2-70b --ctx 4096 --osl 256 --gpu h100 --tp 8 --link 100gbe --rate 2 --with fp8,layer-push,block-128
    kvcost reduce --model qwen2.5-7b --ctx 8k..128k --link ib-ndr,100gbe --technique fp8,int4-g64,keep-tokens --keep 30% --format csv
    """
    return answer(ReduceQuestion, REDUCE_OPTIONS, {**values, "with": values["with_"], "input": None, "explain": False})
