"""`kvcost size`."""

from typing import Any

import typer

from ..cases.size import SIZE_OPTIONS, SizeQuestion
from . import options as o
from .asking import answer

app = typer.Typer()


@app.command(cls=o.Grouped)
@o.taking((*SIZE_OPTIONS, *o.PRICING))
def size(**values: Any) -> int:
    r"""How many KV bytes a request holds: in all, per token, constant, per rank.

    \b
    kvcost size --model llama2-70b --ctx 4096
    kvcost size --model gemma-3-27b,gpt-oss-120b --ctx 1k..128k --kv-dtype auto,fp8
    kvcost size --model deepseek-v3 --ctx 32k --tp 8 --json
    """
    return answer(SizeQuestion, SIZE_OPTIONS, values)
