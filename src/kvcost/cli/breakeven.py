"""`kvcost breakeven`."""

import typer

from ..cases.breakeven import BREAKEVEN_OPTIONS
from ..cases.gain import ask_breakeven
from . import options as o
from .asking import answer

app = typer.Typer()


@app.command()
def breakeven(
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
    gpu: o.Gpu = None,
    prefill_gpu: o.PrefillGpu = None,
    decode_gpu: o.DecodeGpu = None,
    mono_gpu: o.MonoGpu = None,
    tp: o.Tp = None,
    prefill_tp: o.PrefillTp = None,
    decode_tp: o.DecodeTp = None,
    mono_tp: o.MonoTp = None,
    pp: o.Pp = None,
    prefill_instances: o.PrefillInstances = None,
    decode_instances: o.DecodeInstances = None,
    mono_instances: o.MonoInstances = None,
    gpus_total: o.GpusTotal = None,
    osl: o.Osl = None,
    rate: o.Rate = None,
    concurrency: o.Concurrency = None,
    weight_dtype: o.WeightDtype = None,
    cached: o.Cached = None,
    isl_cv: o.IslCv = None,
    chunk: o.Chunk = None,
    max_seqs: o.MaxSeqs = None,
    router: o.Router = None,
    handover: o.Handover = None,
    pool_derate: o.PoolDerate = None,
    objective: o.Objective = None,
    slo_ttft: o.SloTtft = None,
    slo_tpot: o.SloTpot = None,
    slo_itl_p99: o.SloItlP99 = None,
    attainment: o.Attainment = None,
    gpu_hour_price: o.GpuHourPrice = None,
    fail_if: o.FailIf = None,
    prefill_time: o.PrefillTime = None,
    decode_step_time: o.DecodeStepTime = None,
    transfer_time: o.TransferTime = None,
    saved: o.Saved = None,
    saved_frac: o.SavedFrac = None,
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
    r"""Is splitting prefill and decode worth it: TTFT, TPOT, gaps, E2E, goodput, and where the sign turns.

    \b
    kvcost breakeven --model llama2-70b --ctx 4096 --osl 256 --gpu h100 --tp 8 --link 100gbe --rate 2
    kvcost breakeven --model llama2-70b --ctx 4096 --link 100gbe --saved 40ms
    kvcost breakeven --model qwen3-32b --gpu h100 --tp 2 --osl 256 --rate 1..8 --ctx 1k..32k --link ib-ndr --format csv
    """
    return answer(ask_breakeven, BREAKEVEN_OPTIONS, locals())
