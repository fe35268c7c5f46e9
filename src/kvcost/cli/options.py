"""Every option, spelled once. A value is one or more words; lists and ranges are read in `cases`."""

from typing import Annotated

import typer

Words = list[str] | None


# model, KV
Model = Annotated[Words, typer.Option("--model", metavar="NAME|PATH,...", help="Catalog name, config.json or folder, hub id.", show_default=False)]
Ctx = Annotated[Words, typer.Option("--ctx", metavar="TOKENS,...", help="Prompt tokens: 4096, 4k, 1k,8k, 1k..128k.", show_default=False)]
KvDtype = Annotated[
    Words, typer.Option("--kv-dtype", metavar="DTYPE,...", help="auto bf16 fp16 fp8 fp8_ds_mla int8 int4:gN[:zero] nvfp4 kivi2.", show_default="auto")
]
StateDtype = Annotated[Words, typer.Option("--state-dtype", metavar="DTYPE,...", help="Of state: bf16 fp16 fp32 fp8.", show_default="the model's")]
EncoderTokens = Annotated[Words, typer.Option("--encoder-tokens", metavar="TOKENS,...", help="Output of the encoder.", show_default="the model's")]
BlockSize = Annotated[Words, typer.Option("--block-size", metavar="TOKENS,...", help="Tokens a page.", show_default="the engine's")]
HybridCache = Annotated[Words, typer.Option("--hybrid-cache", metavar="on|off", help="off: windows keep every token.", show_default="the engine's")]
PrefixHit = Annotated[Words, typer.Option("--prefix-hit", metavar="TOKENS|SHARE", help="Held by the decode side: 512, 50%, 0.5.", show_default="0")]
# link
Link = Annotated[Words, typer.Option("--link", metavar="NAME|RATE,...", help="Link by name, or a rate: 100Gbps, 12.5GB/s.", show_default=False)]
Path = Annotated[Words, typer.Option("--path", metavar="HOP,...", help="Hops in a row: pcie5,ib-ndr,pcie5.", show_default=False)]
Staging = Annotated[Words, typer.Option("--staging", metavar="KIND", help="host: no GPUDirect, a copy at either end.", show_default="none")]
Forwarding = Annotated[Words, typer.Option("--forwarding", metavar="KIND", help="Of hops: pipelined or store-and-forward.", show_default="pipelined")]
Rails = Annotated[Words, typer.Option("--rails", metavar="N,...", help="Rails that a request may use.", show_default="1 a port; every rank its own GPU link")]
Bandwidth = Annotated[Words, typer.Option("--bandwidth", metavar="RATE,...", help="Line rate of a rail, one way, or inf.", show_default="the link's")]
Efficiency = Annotated[Words, typer.Option("--efficiency", metavar="SHARE,...", help="Achieved share of line rate.", show_default="the link's")]
Latency = Annotated[Words, typer.Option("--latency", metavar="TIME,...", help="Fixed time in basis engine.", show_default="the engine's")]
Engine = Annotated[Words, typer.Option("--engine", metavar="NAME,...", help="Serving engine; line: the bare link.", show_default="vllm-nixl")]
Overhead = Annotated[Words, typer.Option("--engine", metavar="NAME,...", help="Serving engine; line: the bare link.", show_default="nothing")]
Overlap = Annotated[Words, typer.Option("--overlap", metavar="KIND,...", help="serial, push or decode-start.", show_default="the engine's")]
Basis = Annotated[Words, typer.Option("--basis", metavar="BASIS,...", help="Headline: line-rate, achievable, engine.", show_default="achievable")]
# layout
Gpu = Annotated[Words, typer.Option("--gpu", metavar="NAME,...", help="GPU by name, such as h100.", show_default=False)]
Tp = Annotated[Words, typer.Option("--tp", metavar="N,...", help="Tensor-parallel size of both sides.", show_default="1")]
PrefillTp = Annotated[Words, typer.Option("--prefill-tp", metavar="N,...", help="Of the prefill side.", show_default="--tp")]
DecodeTp = Annotated[Words, typer.Option("--decode-tp", metavar="N,...", help="Of the decode side.", show_default="--tp")]
Pp = Annotated[Words, typer.Option("--pp", metavar="N,...", help="Pipeline-parallel size.", show_default="1")]
AttentionDp = Annotated[Words, typer.Option("--attention-dp", metavar="N,...", help="Attention data parallelism inside the TP ranks.", show_default="1")]
PrefillGpu = Annotated[Words, typer.Option("--prefill-gpu", metavar="NAME,...", help="Of the prefill pool.", show_default="--gpu")]
DecodeGpu = Annotated[Words, typer.Option("--decode-gpu", metavar="NAME,...", help="Of the decode pool.", show_default="--gpu")]
MonoGpu = Annotated[Words, typer.Option("--mono-gpu", metavar="NAME,...", help="Of the monolithic deployment.", show_default="--gpu")]
MonoTp = Annotated[Words, typer.Option("--mono-tp", metavar="N,...", help="Of the monolithic deployment.", show_default="the larger of both sides")]
PrefillInstances = Annotated[Words, typer.Option("--prefill-instances", metavar="N,...", help="Instances in the prefill pool.", show_default="1")]
DecodeInstances = Annotated[Words, typer.Option("--decode-instances", metavar="N,...", help="Instances in the decode pool.", show_default="1")]
MonoInstances = Annotated[Words, typer.Option("--mono-instances", metavar="N,...", help="Monolithic instances.", show_default="equal GPUs")]
GpusTotal = Annotated[Words, typer.Option("--gpus-total", metavar="N", help="Find the best split of so many GPUs, by goodput.", show_default=False)]
# work
Osl = Annotated[Words, typer.Option("--osl", metavar="TOKENS,...", help="Output tokens of a request.", show_default=False)]
Rate = Annotated[Words, typer.Option("--rate", metavar="N,...", help="Requests/s over the whole deployment.", show_default="0")]
Concurrency = Annotated[Words, typer.Option("--concurrency", metavar="N,...", help="Requests in flight, in place of a rate.", show_default=False)]
IslCv = Annotated[Words, typer.Option("--isl-cv", metavar="N,...", help="Spread of prompt lengths, over their mean.", show_default="0")]
WeightDtype = Annotated[Words, typer.Option("--weight-dtype", metavar="DTYPE,...", help="auto bf16 fp16 fp8 int8 int4 fp4.", show_default="the checkpoint's")]
Phase = Annotated[Words, typer.Option("--phase", metavar="PHASE,...", help="prefill, or decode: one step of the batch.", show_default="prefill")]
Batch = Annotated[Words, typer.Option("--batch", metavar="N,...", help="Requests at once, each of --ctx tokens.", show_default="1")]
Cached = Annotated[Words, typer.Option("--cached", metavar="TOKENS|SHARE", help="Held by the prefill side: 512, 50%, 0.5.", show_default="0")]
# scheduler
Chunk = Annotated[Words, typer.Option("--chunk", metavar="TOKENS,...", help="Token budget of a monolithic step.", show_default="the engine's")]
MaxSeqs = Annotated[
    Words, typer.Option("--max-seqs", metavar="N,...", help="Most requests that an instance decodes at once.", show_default="256 monolithic, 1024 decode")
]
Router = Annotated[Words, typer.Option("--router", metavar="KIND,...", help="random, round-robin or least-loaded.", show_default="round-robin")]
Handover = Annotated[Words, typer.Option("--handover", metavar="TIME,...", help="Proxy and scheduling between the pools.", show_default="the engine's")]
PoolDerate = Annotated[Words, typer.Option("--pool-derate", metavar="SHARE,...", help="Of a rate that balanced pools carry, for goodput.", show_default="0.92")]
# targets
Objective = Annotated[Words, typer.Option("--objective", metavar="NAME,...", help="all ttft tpot itl-p99 e2e goodput: what decides.", show_default="all")]
SloTtft = Annotated[Words, typer.Option("--slo-ttft", metavar="TIME", help="Limit of TTFT, at --attainment.", show_default=False)]
SloTpot = Annotated[Words, typer.Option("--slo-tpot", metavar="TIME", help="Limit of the mean TPOT.", show_default=False)]
SloItlP99 = Annotated[Words, typer.Option("--slo-itl-p99", metavar="TIME", help="Limit of the 99th percentile gap.", show_default=False)]
Attainment = Annotated[Words, typer.Option("--attainment", metavar="SHARE", help="Share of requests within --slo-ttft.", show_default="0.9")]
GpuHourPrice = Annotated[Words, typer.Option("--gpu-hour-price", metavar="N", help="Dollars an hour and GPU.", show_default=False)]
FailIf = Annotated[
    str | None, typer.Option("--fail-if", metavar="VERDICT,...", help="End with 1 at one of these verdicts; never: nothing gains.", show_default=False)
]
# measured instead of modelled
PrefillTime = Annotated[Words, typer.Option("--prefill-time", metavar="TIME", help="Measured: 390ms, or 4k=390ms,8k=845ms.", show_default=False)]
DecodeStepTime = Annotated[Words, typer.Option("--decode-step-time", metavar="TIME", help="Measured decode step time.", show_default=False)]
TransferTime = Annotated[Words, typer.Option("--transfer-time", metavar="TIME,...", help="Measured transfer time.", show_default=False)]
Saved = Annotated[Words, typer.Option("--saved", metavar="TIME", help="The article's formula: net gain = this - exposed.", show_default=False)]
SavedFrac = Annotated[Words, typer.Option("--saved-frac", metavar="SHARE", help="The same as a share of --prefill-time.", show_default=False)]
# all
View = Annotated[str, typer.Option("--view", metavar="VIEW", help="A config.json as serving or hf counts it.")]
Download = Annotated[bool, typer.Option("--download", help="Fetch the config.json of a hub id (extra hf).")]
Input = Annotated[str | None, typer.Option("--input", metavar="FILE", help="Cases, one a row (CSV or JSON lines); - = stdin.", show_default=False)]
Explain = Annotated[bool, typer.Option("--explain", help="Take each figure apart, term by term.")]
Format = Annotated[str | None, typer.Option("--format", metavar="FORMAT", help="table json jsonl csv tsv markdown.", show_default="table")]
Json = Annotated[bool, typer.Option("--json", help="Short for --format json.")]
Output = Annotated[str | None, typer.Option("--output", "-o", metavar="FILE", help="Write there, whole or not at all.", show_default=False)]
Save = Annotated[str | None, typer.Option("--save", metavar="FILE", help="A picture of the table too: FILE.svg or FILE.html.", show_default=False)]
Columns = Annotated[Words, typer.Option("--columns", metavar="FIELD,...", help="Only these fields.", show_default=False)]
CatalogPath = Annotated[Words, typer.Option("--catalog", metavar="PATH", help="Your own models, links, engines (also KVCOST_CATALOG).", show_default=False)]
Color = Annotated[str, typer.Option("--color", metavar="WHEN", help="auto, always or never.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No warnings.")]
Debug = Annotated[bool, typer.Option("--debug", help="Show tracebacks.")]
