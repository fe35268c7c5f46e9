"""`kvcost reduce`."""

from typing import Any

import typer

from ..cases.plan import Options
from ..cases.reading import Reader
from ..cases.reduce import REDUCE_OPTIONS, ReduceQuestion
from ..errors import KvcostError
from ..render.output import say_error
from . import options as o
from .asking import EXIT_NOTHING, answer

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
    asked: list[ReduceQuestion] = []

    def make(reader: Reader, options: Options, explain: bool = False) -> ReduceQuestion:
        asked.append(ReduceQuestion(reader, options, explain))
        return asked[-1]

    code = answer(make, REDUCE_OPTIONS, {**values, "with": values["with_"], "input": None, "explain": False})
    why = asked[-1].nothing_to_do
    if not why:
        return code
    say_error(KvcostError(f"nothing to do, as none applies: {why}", where="--technique", hint="leave --technique out to see what applies"))
    return EXIT_NOTHING
