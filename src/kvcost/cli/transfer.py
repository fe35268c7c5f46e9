"""`kvcost transfer`."""

import typer

from ..cases.transfer import TRANSFER_OPTIONS, TransferQuestion
from . import options as o
from .asking import answer

app = typer.Typer()


@app.command()
def transfer(
    model: o.Model = None,
    ctx: o.Ctx = None,
    kv_dtype: o.KvDtype = None,
    state_dtype: o.StateDtype = None,
    encoder_tokens: o.EncoderTokens = None,
    block_size: o.BlockSize = None,
    hybrid_cache: o.HybridCache = None,
    prefix_hit: o.PrefixHit = None,
    link: o.Link = None,
    path: o.Path = None,
    staging: o.Staging = None,
    forwarding: o.Forwarding = None,
    rails: o.Rails = None,
    bandwidth: o.Bandwidth = None,
    efficiency: o.Efficiency = None,
    latency: o.Latency = None,
    engine: o.Engine = None,
    overlap: o.Overlap = None,
    basis: o.Basis = None,
    tp: o.Tp = None,
    prefill_tp: o.PrefillTp = None,
    decode_tp: o.DecodeTp = None,
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
    r"""How long a request's KV takes over a link.

    \b
    kvcost transfer --model llama2-70b --ctx 4096 --link 100gbe
    kvcost transfer --model llama2-70b --ctx 1k..128k --link nvlink4,ib-ndr,100gbe --format csv
    kvcost transfer --model qwen3-235b-a22b --ctx 32k --link ib-ndr --rails 8 --tp 8 --basis engine --explain
    """
    return answer(TransferQuestion, TRANSFER_OPTIONS, locals())
