"""`kvcost reduce`."""

import typer

from ..cases.reduce import REDUCE_OPTIONS, ReduceQuestion
from . import options as o
from .asking import answer

app = typer.Typer()


@app.command()
def reduce(
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
    prefill_time: o.PrefillTime = None,
    decode_step_time: o.DecodeStepTime = None,
    transfer_time: o.TransferTime = None,
    saved: o.Saved = None,
    saved_frac: o.SavedFrac = None,
    technique: o.Technique = None,
    with_: o.With = None,
    mix: o.Mix = None,
    layers: o.Layers = None,
    budget: o.Budget = None,
    keep: o.Keep = None,
    codec_time: o.CodecTime = None,
    view: o.View = "serving",
    download: o.Download = False,
    format: o.Format = None,  # noqa: A002
    json: o.Json = False,
    output: o.Output = None,
    columns: o.Columns = None,
    catalog: o.CatalogPath = None,
    color: o.Color = "auto",
    quiet: o.Quiet = False,
    debug: o.Debug = False,
) -> int:
    r"""Every technique that cuts or hides the transfer, side by side: bytes, times, the new verdict, what is published of quality.

    \b
    kvcost reduce --model llama2-70b --ctx 4096 --link 100gbe
    kvcost reduce --model llama2-70b --ctx 4096 --osl 256 --gpu h100 --tp 8 --link 100gbe --rate 2 --with fp8,layer-push,block-128
    kvcost reduce --model qwen2.5-7b --ctx 8k..128k --link ib-ndr,100gbe --technique fp8,int4-g64,keep-tokens --keep 30% --format csv
    """
    values = locals()
    return answer(ReduceQuestion, REDUCE_OPTIONS, {**values, "with": values.pop("with_"), "input": None, "explain": False})
