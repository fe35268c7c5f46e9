"""`kvcost compute`."""

from typing import Any

import typer

from ..cases.compute import COMPUTE_OPTIONS, ComputeQuestion
from . import options as o
from .asking import answer

app = typer.Typer()


@app.command(cls=o.Grouped)
@o.taking((*COMPUTE_OPTIONS, *o.PRICING), engine=o.OVERHEAD)
def compute(**values: Any) -> int:
    r"""How long a prefill or a decode step takes, what bounds it, and how far off that may be.

    \b
    kvcost compute --model llama2-70b --gpu h100 --tp 8 --ctx 4096
    kvcost compute --model llama3.1-8b --gpu a100,h100,l40s --ctx 1k..32k --phase prefill,decode --batch 1,32
    kvcost compute --model deepseek-v3 --gpu h200 --tp 8 --weight-dtype fp8 --ctx 8k --explain
    """
    return answer(ComputeQuestion, COMPUTE_OPTIONS, values)
