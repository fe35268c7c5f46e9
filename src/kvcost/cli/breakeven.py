"""`kvcost breakeven`."""

from typing import Any

import typer

from ..cases.breakeven import BREAKEVEN_OPTIONS
from ..cases.gain import ask_breakeven
from . import options as o
from .asking import answer

app = typer.Typer()


@app.command(cls=o.Grouped)
@o.taking((*BREAKEVEN_OPTIONS, "fail_if", *o.PRICING))
def breakeven(**values: Any) -> int:
    r"""Is splitting prefill and decode worth it: TTFT, TPOT, gaps, E2E, goodput, and where the sign turns.

    \b
    kvcost breakeven --model llama2-70b --ctx 4096 --osl 256 --gpu h100 --tp 8 --link 100gbe --rate 2
    kvcost breakeven --model llama2-70b --ctx 4096 --link 100gbe --saved 40ms
    kvcost breakeven --model qwen3-32b --gpu h100 --tp 2 --osl 256 --rate 1..8 --ctx 1k..32k --link ib-ndr --format csv
    """
    return answer(ask_breakeven, BREAKEVEN_OPTIONS, values)
