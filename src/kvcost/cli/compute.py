"""`kvcost compute`."""

import typer

from ..cases.compute import COMPUTE_OPTIONS, ComputeQuestion
from . import options as o
from .asking import answer

app = typer.Typer()


@app.command()
def compute(
    model: o.Model = None,
    ctx: o.Ctx = None,
    kv_dtype: o.KvDtype = None,
    state_dtype: o.StateDtype = None,
    encoder_tokens: o.EncoderTokens = None,
    engine: o.Overhead = None,
    gpu: o.Gpu = None,
    tp: o.Tp = None,
    pp: o.Pp = None,
    attention_dp: o.AttentionDp = None,
    weight_dtype: o.WeightDtype = None,
    phase: o.Phase = None,
    batch: o.Batch = None,
    cached: o.Cached = None,
    prefill_time: o.PrefillTime = None,
    decode_step_time: o.DecodeStepTime = None,
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
    r"""How long a prefill or a decode step takes, what bounds it, and how far off that may be.

    \b
    kvcost compute --model llama2-70b --gpu h100 --tp 8 --ctx 4096
    kvcost compute --model llama3.1-8b --gpu a100,h100,l40s --ctx 1k..32k --phase prefill,decode --batch 1,32
    kvcost compute --model deepseek-v3 --gpu h200 --tp 8 --weight-dtype fp8 --ctx 8k --explain
    """
    return answer(ComputeQuestion, COMPUTE_OPTIONS, locals())
