"""Every option, spelled once, in the order in which every command's help lists them.

A command says which it takes; typer reads them from the signature that `taking` gives its function. A value is one
or more words; lists and ranges are read in `cases`.
"""

import inspect
from collections.abc import Callable, Iterable
from keyword import iskeyword
from typing import Annotated, Any, NamedTuple

import typer
from typer.core import TyperCommand

__all__ = ["OUTPUT", "PRICING", "Grouped", "taking"]


class _Spelled(NamedTuple):
    """How an option is written: its type, metavar, help, the flags where they are not its name, and its value where it is not given."""

    kind: Any
    metavar: str | None
    text: str
    flags: tuple[str, ...]
    value: Any

    @property
    def annotation(self) -> Any:
        """What typer is told."""
        return Annotated[self.kind, typer.Option(*self.flags, metavar=self.metavar, help=self.text, show_default=False)]


def _words(metavar: str, text: str, default: str = "", *flags: str) -> _Spelled:
    """An option of one or more words; `default` says in words what holds without it."""
    return _Spelled(list[str] | None, metavar, f"{text} [{default}]" if default else text, flags, None)


def _one(metavar: str, text: str, default: str = "", *flags: str, value: str | None = None) -> _Spelled:
    """An option of one word."""
    told = value or default
    return _Spelled(str | None, metavar, f"{text} [{told}]" if told else text, flags, value)


def _switch(text: str, *flags: str) -> _Spelled:
    """An option without a value."""
    return _Spelled(bool, None, text, flags, False)


GROUPS: dict[str, dict[str, _Spelled]] = {
    "Model and KV": {
        "preset": _one("FILE", "A preset's words; what is typed goes before them."),
        "model": _words("NAME|PATH,...", "Catalog name, config.json or folder, hub id."),
        "ctx": _words("TOKENS,...", "Prompt tokens: 4096, 4k, 1k,8k, 1k..128k."),
        "kv_dtype": _words("DTYPE,...", "auto bf16 fp16 fp8 fp8_ds_mla int8 int4:gN[:zero] nvfp4 kivi2.", "auto"),
        "state_dtype": _words("DTYPE,...", "Of state: bf16 fp16 fp32 fp8.", "the model's"),
        "encoder_tokens": _words("TOKENS,...", "Output of the encoder.", "the model's"),
        "block_size": _words("TOKENS,...", "Tokens a page.", "the engine's"),
        "hybrid_cache": _words("on|off", "off: windows keep every token.", "the engine's"),
        "prefix_hit": _words("TOKENS|SHARE", "Held by the decode side: 512, 50%, 0.5.", "0"),
    },
    "Link": {
        "link": _words("NAME|RATE,...", "Link by name, or a rate: 100Gbps, 12.5GB/s."),
        "path": _words("HOP,...", "Hops in a row: pcie5,ib-ndr,pcie5."),
        "staging": _words("KIND", "host: no GPUDirect, a copy at either end.", "none"),
        "forwarding": _words("KIND", "Of hops: pipelined or store-and-forward.", "pipelined"),
        "rails": _words("N,...", "Rails that a request may use.", "1 a port; every rank its own GPU link"),
        "bandwidth": _words("RATE,...", "Line rate of a rail, one way, or inf.", "the link's"),
        "efficiency": _words("SHARE,...", "Achieved share of line rate.", "the link's"),
        "latency": _words("TIME,...", "Fixed time in basis engine.", "the engine's"),
        "engine": _words("NAME,...", "Serving engine; line: the bare link.", "vllm-nixl"),
        "overlap": _words("KIND,...", "serial, push or decode-start.", "the engine's"),
        "basis": _words("BASIS,...", "Headline: line-rate, achievable, engine.", "achievable"),
    },
    "Layout": {
        "gpu": _words("NAME,...", "GPU by name, such as h100."),
        "prefill_gpu": _words("NAME,...", "Of the prefill pool.", "--gpu"),
        "decode_gpu": _words("NAME,...", "Of the decode pool.", "--gpu"),
        "mono_gpu": _words("NAME,...", "Of the monolithic deployment.", "--gpu"),
        "tp": _words("N,...", "Tensor-parallel size of both sides.", "1"),
        "prefill_tp": _words("N,...", "Of the prefill side.", "--tp"),
        "decode_tp": _words("N,...", "Of the decode side.", "--tp"),
        "mono_tp": _words("N,...", "Of the monolithic deployment.", "the larger of both sides"),
        "pp": _words("N,...", "Pipeline-parallel size.", "1"),
        "attention_dp": _words("N,...", "Attention data parallelism inside the TP ranks.", "1"),
        "prefill_instances": _words("N,...", "Instances in the prefill pool.", "1"),
        "decode_instances": _words("N,...", "Instances in the decode pool.", "1"),
        "mono_instances": _words("N,...", "Monolithic instances.", "equal GPUs"),
        "gpus_total": _words("N", "Find the best split of so many GPUs, by goodput."),
    },
    "Work": {
        "osl": _words("TOKENS,...", "Output tokens of a request."),
        "rate": _words("N,...", "Requests/s over the whole deployment.", "0"),
        "concurrency": _words("N,...", "Requests in flight, in place of a rate."),
        "isl_cv": _words("N,...", "Spread of prompt lengths, over their mean.", "0"),
        "weight_dtype": _words("DTYPE,...", "auto bf16 fp16 fp8 int8 int4 fp4.", "the checkpoint's"),
        "phase": _words("PHASE,...", "prefill, or decode: one step of the batch.", "prefill"),
        "batch": _words("N,...", "Requests at once, each of --ctx tokens.", "1"),
        "cached": _words("TOKENS|SHARE", "Held by the prefill side: 512, 50%, 0.5.", "0"),
    },
    "Scheduler": {
        "chunk": _words("TOKENS,...", "Token budget of a monolithic step.", "the engine's"),
        "max_seqs": _words("N,...", "Most requests that an instance decodes at once.", "256 monolithic, 1024 decode"),
        "router": _words("KIND,...", "random, round-robin or least-loaded.", "round-robin"),
        "handover": _words("TIME,...", "Proxy and scheduling between the pools.", "the engine's"),
        "pool_derate": _words("SHARE,...", "Of a rate that balanced pools carry, for goodput.", "0.92"),
    },
    "Targets": {
        "objective": _words("NAME,...", "all ttft tpot itl-p99 e2e goodput: what decides.", "all"),
        "slo_ttft": _words("TIME", "Limit of TTFT, at --attainment."),
        "slo_tpot": _words("TIME", "Limit of the mean TPOT."),
        "slo_itl_p99": _words("TIME", "Limit of the 99th percentile gap."),
        "attainment": _words("SHARE", "Share of requests within --slo-ttft.", "0.9"),
        "gpu_hour_price": _words("N", "Dollars an hour and GPU."),
        "fail_if": _one("VERDICT,...", "End with 1 at one of these verdicts; never: nothing gains."),
    },
    "Measured instead of modelled": {
        "prefill_time": _words("TIME", "Measured: 390ms, or 4k=390ms,8k=845ms."),
        "decode_step_time": _words("TIME", "Measured decode step time."),
        "transfer_time": _words("TIME,...", "Measured transfer time."),
        "saved": _words("TIME", "The article's formula: net gain = this - exposed."),
        "saved_frac": _words("SHARE", "The same as a share of --prefill-time."),
    },
    "Techniques": {
        "technique": _words("ID,...", "Only these; `kvcost techniques` lists all.", "all"),
        "with": _words("ID,ID,...", "A combination, as a row more; may be repeated.", "", "--with"),
        "mix": _words("FORMAT:TOKENS,...", "Formats along the prompt, for sinks-int4.", "fp16:4,int4:rest"),
        "layers": _words("N/L|SHARE", "Layers to send, for select-layers: 40/80, 40, 50%.", "50%"),
        "budget": _words("SHARE", "Share of the bytes, for spectrumkv.", "50%"),
        "keep": _words("SHARE", "Share of the tokens, for keep-tokens.", "50%"),
        "codec_time": _words("TIME", "Encoding and decoding together.", "estimated where it can be"),
    },
    "Input and output": {
        "view": _one("VIEW", "A config.json as serving or hf counts it.", value="serving"),
        "download": _switch("Fetch the config.json of a hub id (extra hf).", "--download"),
        "input": _one("FILE", "Cases, one a row (CSV or JSON lines); - = stdin."),
        "explain": _switch("Take each figure apart, term by term.", "--explain"),
        "format": _one("FORMAT", "table json jsonl csv tsv markdown.", "table"),
        "json": _switch("Short for --format json.", "--json"),
        "output": _one("FILE", "Write there, whole or not at all.", "", "--output", "-o"),
        "save": _one("FILE", "A picture of the table too: FILE.svg or FILE.html."),
        "columns": _words("FIELD,...", "Only these fields."),
        "catalog": _words("PATH", "Your own models, links, engines (also KVCOST_CATALOG)."),
        "color": _one("WHEN", "auto, always or never.", value="auto"),
        "quiet": _switch("No warnings.", "--quiet", "-q"),
        "debug": _switch("Show tracebacks.", "--debug"),
    },
}
# What `compute` calls an engine: its overheads alone.
OVERHEAD = _words("NAME,...", "Serving engine; line: the bare link.", "nothing")
OUTPUT = ("format", "json", "output", "save", "columns", "color", "quiet", "debug")
PRICING = ("preset", "view", "download", "input", "explain", "catalog", *OUTPUT)


def _named(option: str) -> str:
    """The parameter of an option: its name, with a trailing _ where Python has that name for itself."""
    return f"{option}_" if iskeyword(option) else option


def taking(known: Iterable[str], **others: _Spelled) -> Callable[[Callable[..., int]], Callable[..., int]]:
    """Gives a function of `**values` these options as its signature, behind the parameters that it spells out itself.

    `others` replace what an option is here by something else for one command.
    """
    wanted = {*known, *others}

    def give(function: Callable[..., int]) -> Callable[..., int]:
        own = [parameter for parameter in inspect.signature(function).parameters.values() if parameter.kind is not inspect.Parameter.VAR_KEYWORD]
        spelled = {option: others.get(option, found) for options in GROUPS.values() for option, found in options.items() if option in wanted}
        assert len(spelled) == len(wanted), wanted - {*spelled}  # noqa: S101  # an option that is spelled nowhere
        keyword = inspect.Parameter.KEYWORD_ONLY
        taken = [inspect.Parameter(_named(option), keyword, default=found.value, annotation=found.annotation) for option, found in spelled.items()]
        function.__signature__ = inspect.Signature([*own, *taken], return_annotation=int)  # type: ignore[attr-defined]
        function.__annotations__ = {parameter.name: parameter.annotation for parameter in (*own, *taken)}
        return function

    return give


class Grouped(TyperCommand):
    """A command whose help lists its options by group."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write a section for each group of options that the command takes."""
        group_of = {_named(option): title for title, options in GROUPS.items() for option in options}
        sections: dict[str, list[tuple[str, str]]] = {}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is not None:
                kind = "Arguments" if parameter.param_type_name == "argument" else group_of.get(parameter.name or "", "Options")
                sections.setdefault(kind, []).append(record)
        for title in ("Arguments", *GROUPS, "Options"):
            if title in sections:
                with formatter.section(title):
                    formatter.write_dl(sections[title])
