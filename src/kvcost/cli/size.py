"""`kvcost size`."""

import typer

from ..cases.size import SIZE_OPTIONS, SizeQuestion
from . import options as o
from .asking import answer

app = typer.Typer()


@app.command()
def size(
    model: o.Model = None,
    ctx: o.Ctx = None,
    kv_dtype: o.KvDtype = None,
    state_dtype: o.StateDtype = None,
    encoder_tokens: o.EncoderTokens = None,
    block_size: o.BlockSize = None,
    hybrid_cache: o.HybridCache = None,
    engine: o.Engine = None,
    tp: o.Tp = None,
    view: o.View = "serving",
    download: o.Download = False,
    input: o.Input = None,  # noqa: A002
    explain: o.Explain = False,
    format: o.Format = None,  # noqa: A002
    json: o.Json = False,
    output: o.Output = None,
    save: o.Save = None,
    columns: o.Columns = None,
    catalog: o.CatalogPath = None,
    color: o.Color = "auto",
    quiet: o.Quiet = False,
    debug: o.Debug = False,
) -> int:
    r"""How many KV bytes a request holds: in all, per token, constant, per rank.

    \b
    kvcost size --model llama2-70b --ctx 4096
    kvcost size --model gemma-3-27b,gpt-oss-120b --ctx 1k..128k --kv-dtype auto,fp8
    kvcost size --model deepseek-v3 --ctx 32k --tp 8 --json
    """
    return answer(SizeQuestion, SIZE_OPTIONS, locals())
