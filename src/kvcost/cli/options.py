"""Every option, spelled once. A value is one or more words; lists and ranges are read in `cases`."""

from typing import Annotated

import typer

Words = list[str] | None


# model, KV
Model = Annotated[Words, typer.Option("--model", metavar="NAME|PATH,...", help="Catalog name, config.json or its folder, cached hub id.", show_default=False)]
Ctx = Annotated[Words, typer.Option("--ctx", metavar="TOKENS,...", help="Prompt tokens: 4096, 4k, 1k,8k, 1k..128k.", show_default=False)]
KvDtype = Annotated[
    Words, typer.Option("--kv-dtype", metavar="DTYPE,...", help="auto bf16 fp16 fp8 fp8_ds_mla int8 int4:gN[:zero] nvfp4 kivi2.", show_default="auto")
]
StateDtype = Annotated[Words, typer.Option("--state-dtype", metavar="DTYPE,...", help="Of recurrent state: bf16 fp16 fp32 fp8.", show_default="the model's")]
EncoderTokens = Annotated[
    Words, typer.Option("--encoder-tokens", metavar="TOKENS,...", help="Encoder output of an encoder-decoder.", show_default="the model's")
]
BlockSize = Annotated[Words, typer.Option("--block-size", metavar="TOKENS,...", help="Tokens a page.", show_default="the engine's")]
HybridCache = Annotated[
    Words, typer.Option("--hybrid-cache", metavar="on|off", help="off: window layers keep and send every token.", show_default="the engine's")
]
PrefixHit = Annotated[Words, typer.Option("--prefix-hit", metavar="TOKENS|SHARE", help="Held by the decode side already: 512, 50%, 0.5.", show_default="0")]
# link
Link = Annotated[Words, typer.Option("--link", metavar="NAME|RATE,...", help="Link by name, or a rate: 100Gbps, 12.5GB/s.", show_default=False)]
Path = Annotated[Words, typer.Option("--path", metavar="HOP,...", help="Hops in a row: pcie5,ib-ndr,pcie5.", show_default=False)]
Staging = Annotated[Words, typer.Option("--staging", metavar="KIND", help="none, or host: no GPUDirect, a copy at either end.", show_default="none")]
Forwarding = Annotated[Words, typer.Option("--forwarding", metavar="KIND", help="Of hops: pipelined or store-and-forward.", show_default="pipelined")]
Rails = Annotated[Words, typer.Option("--rails", metavar="N,...", help="Rails that a request may use.", show_default="1 a port; every rank its own GPU link")]
Bandwidth = Annotated[Words, typer.Option("--bandwidth", metavar="RATE,...", help="Line rate of a rail, one direction, or inf.", show_default="the link's")]
Efficiency = Annotated[Words, typer.Option("--efficiency", metavar="SHARE,...", help="Achieved share of line rate.", show_default="the link's")]
Latency = Annotated[Words, typer.Option("--latency", metavar="TIME,...", help="Fixed time a transfer, in basis engine.", show_default="the engine's")]
Engine = Annotated[Words, typer.Option("--engine", metavar="NAME,...", help="Serving engine's connector, or line.", show_default="vllm-nixl")]
Overhead = Annotated[Words, typer.Option("--engine", metavar="NAME,...", help="What an engine adds: vllm-2023, vllm-0.2, ...", show_default="nothing")]
Overlap = Annotated[Words, typer.Option("--overlap", metavar="KIND,...", help="serial, push or decode-start.", show_default="the engine's")]
Basis = Annotated[Words, typer.Option("--basis", metavar="BASIS,...", help="Headline figure: line-rate, achievable or engine.", show_default="achievable")]
# layout
Gpu = Annotated[Words, typer.Option("--gpu", metavar="NAME,...", help="GPU by name, such as h100.", show_default=False)]
Tp = Annotated[Words, typer.Option("--tp", metavar="N,...", help="Tensor-parallel size of both sides.", show_default="1")]
PrefillTp = Annotated[Words, typer.Option("--prefill-tp", metavar="N,...", help="Of the prefill side.", show_default="--tp")]
DecodeTp = Annotated[Words, typer.Option("--decode-tp", metavar="N,...", help="Of the decode side.", show_default="--tp")]
Pp = Annotated[Words, typer.Option("--pp", metavar="N,...", help="Pipeline-parallel size.", show_default="1")]
AttentionDp = Annotated[Words, typer.Option("--attention-dp", metavar="N,...", help="Attention data parallelism inside the TP ranks.", show_default="1")]
# work
WeightDtype = Annotated[Words, typer.Option("--weight-dtype", metavar="DTYPE,...", help="auto bf16 fp16 fp8 int8 int4 fp4.", show_default="the checkpoint's")]
Phase = Annotated[Words, typer.Option("--phase", metavar="PHASE,...", help="prefill, or decode: one step of the batch.", show_default="prefill")]
Batch = Annotated[Words, typer.Option("--batch", metavar="N,...", help="Requests at once, each of --ctx tokens.", show_default="1")]
Cached = Annotated[Words, typer.Option("--cached", metavar="TOKENS|SHARE", help="Held by the prefill side already: 512, 50%, 0.5.", show_default="0")]
# measured instead of modelled
PrefillTime = Annotated[Words, typer.Option("--prefill-time", metavar="TIME", help="Measured: 390ms, or 4k=390ms,8k=845ms.", show_default=False)]
DecodeStepTime = Annotated[Words, typer.Option("--decode-step-time", metavar="TIME", help="Measured decode step time.", show_default=False)]
# all
View = Annotated[str, typer.Option("--view", metavar="VIEW", help="How a config.json is counted: serving, or hf (as transformers holds it).")]
Download = Annotated[bool, typer.Option("--download", help="Fetch the config.json of a hub id (extra hf).")]
Input = Annotated[str | None, typer.Option("--input", metavar="FILE", help="Cases, one a row (CSV or JSON lines); - = stdin.", show_default=False)]
Explain = Annotated[bool, typer.Option("--explain", help="Take each figure apart, term by term.")]
Format = Annotated[str | None, typer.Option("--format", metavar="FORMAT", help="table json jsonl csv tsv markdown.", show_default="table")]
Json = Annotated[bool, typer.Option("--json", help="Short for --format json.")]
Output = Annotated[str | None, typer.Option("--output", "-o", metavar="FILE", help="Write there, whole or not at all.", show_default=False)]
Columns = Annotated[Words, typer.Option("--columns", metavar="FIELD,...", help="Only these fields.", show_default=False)]
CatalogPath = Annotated[Words, typer.Option("--catalog", metavar="PATH", help="Your own models, links, engines (also KVCOST_CATALOG).", show_default=False)]
Color = Annotated[str, typer.Option("--color", metavar="WHEN", help="auto, always or never.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No warnings.")]
Debug = Annotated[bool, typer.Option("--debug", help="Show tracebacks.")]
