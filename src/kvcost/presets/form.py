"""What a preset may say, and which option each of its values is. Strict, closed and frozen: a typo is an error, not a default.

A value is the word that would be typed on the command line, or a plain number where that has no unit.
What the word means is read later, by the same grammar as on the command line.
"""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

__all__ = ["OPTION_OF", "PATH_OF", "Preset", "word_of"]

Path = tuple[str, ...]
_KINDS = {"str": "an empty text", "dict": "a mapping", "list": "a list"}


def word_of(value: object) -> str:
    """The word that a YAML value would be on the command line. Raises ValueError for what is none.

    >>> word_of("4k"), word_of(8), word_of(0.5)
    ('4k', '8', '0.5')
    """
    if isinstance(value, bool):
        raise ValueError("YAML reads this value as a boolean; quote it")
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, str) and value.strip():
        return value.strip()
    what = "no value" if value is None else _KINDS.get(type(value).__name__, f"a {type(value).__name__}")
    raise ValueError(f"needs a word or a number, not {what}")


def _on_off(value: object) -> object:
    return {True: "on", False: "off"}[value] if isinstance(value, bool) else value


def _hops(value: object) -> object:
    """The hops of a path: a list, or one word with commas."""
    return ",".join(map(word_of, value)) if isinstance(value, list) and value else value


def _prefill_times(value: object) -> object:
    """One time, or times by length: `4k=390ms,8k=845ms`, also as a mapping."""
    return ",".join(f"{word_of(key)}={word_of(item)}" for key, item in value.items()) if isinstance(value, dict) and value else value


def _link(value: object) -> object:
    """A plain word is the link's name."""
    return value if isinstance(value, dict) else {"name": value}


Word = Annotated[str, BeforeValidator(word_of)]
OnOff = Annotated[Word, BeforeValidator(_on_off)]
Hops = Annotated[Word, BeforeValidator(_hops)]
Times = Annotated[Word, BeforeValidator(_prefill_times)]


class _Closed(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)


class Link(_Closed):
    """The link between the pools: one rail of it, one direction."""

    name: Word | None = Field(None, description="Link by name (kvcost links), or a rate such as 100Gbps.")
    rate: Word | None = Field(None, description="Line rate of a rail, one direction: 100Gbps, 12.5GB/s, or inf. The same as bandwidth.")
    bandwidth: Word | None = Field(None, description="Line rate of a rail, one direction, in place of the link's own; or inf.")
    rails: Word | None = Field(None, description="Rails that a request may use. Default: 1 a port; every rank its own GPU link.")
    efficiency: Word | None = Field(None, description="Achieved share of line rate. Default: the link's.")
    latency: Word | None = Field(None, description="Fixed time of a transfer, in basis engine. Default: the engine's.")
    path: Hops | None = Field(None, description="Hops in a row, in place of a name: [pcie5, ib-ndr, pcie5].")
    staging: Word | None = Field(None, description="none, or host: no GPUDirect, a copy at either end.")
    forwarding: Word | None = Field(None, description="Of hops: pipelined or store-and-forward.")


class Pool(_Closed):
    """One kind of instance."""

    gpu: Word | None = Field(None, description="GPU by name (kvcost gpus).")
    tp: Word | None = Field(None, description="Tensor-parallel size. Default: 1; of mono the larger of both pools.")
    instances: Word | None = Field(None, description="How many. Default: 1; of mono as many as take equal GPUs.")


class Workload(_Closed):
    """What is asked of the deployment."""

    isl: Word | None = Field(None, description="Prompt tokens (ISL) of a request; k = Ki = 1024.")
    osl: Word | None = Field(None, description="Output tokens (OSL) of a request.")
    rate: Word | None = Field(None, description="Requests/s over the whole deployment.")
    concurrency: Word | None = Field(None, description="Requests in flight over the whole deployment, in place of a rate.")
    prefix_hit: Word | None = Field(None, description="Held by the decode side already: tokens (512), or a share (50%, 0.5).")
    cached: Word | None = Field(None, description="Held by the prefill side already: tokens (512), or a share (50%, 0.5).")
    isl_cv: Word | None = Field(None, description="Spread of prompt lengths over their mean.")


class Scheduler(_Closed):
    """How requests are scheduled."""

    chunk: Word | None = Field(None, description="Token budget of a monolithic step. Default: the engine's.")
    max_seqs: Word | None = Field(None, description="Most requests that an instance decodes at once.")
    router: Word | None = Field(None, description="How requests find an instance. Default: round-robin.")
    handover: Word | None = Field(None, description="Proxy and scheduling between the pools, without the transfer. Default: the engine's.")
    pool_derate: Word | None = Field(None, description="Share of a rate that balanced pools carry, for goodput. Default: 0.92.")


class Slo(_Closed):
    """What is promised to users; decides goodput."""

    ttft: Word | None = Field(None, description="Limit of TTFT, at attainment.")
    tpot: Word | None = Field(None, description="Limit of the mean TPOT.")
    itl_p99: Word | None = Field(None, description="Limit of the 99th percentile gap between tokens.")
    attainment: Word | None = Field(None, description="Share of requests within ttft. Default: 0.9.")


class Measured(_Closed):
    """Measured values in place of modelled ones."""

    prefill_time: Times | None = Field(None, description="390ms, or by length: 4k=390ms,8k=845ms or a mapping.")
    decode_step_time: Word | None = Field(None, description="Time of a decode step.")
    transfer_time: Word | None = Field(None, description="Time of a request's transfer.")
    saved: Word | None = Field(None, description="The saving that the transfer is held against: net gain = this - exposed.")
    saved_frac: Word | None = Field(None, description="The same as a share of prefill_time.")


class Preset(_Closed):
    """A deployment, its load, and the limits that `kvcost check` holds it to."""

    extends: str | list[str] | None = Field(None, description="Another preset, or several, that this one changes; relative to this file.")
    note: str | None = Field(None, description="Why this preset exists.")
    model: Word | None = Field(None, description="Catalog name, hub id, or path of a config.json relative to this file.")
    weight_dtype: Word | None = Field(None, description="How weights are stored. Default: auto, as the checkpoint says.")
    kv_dtype: Word | None = Field(None, description="How the KV cache is stored. Default: auto, as the checkpoint says.")
    state_dtype: Word | None = Field(None, description="Of recurrent state. Default: the model's.")
    encoder_tokens: Word | None = Field(None, description="Encoder output of an encoder-decoder. Default: the model's.")
    engine: Word | None = Field(None, description="Serving engine's connector (kvcost engines). Default: vllm-nixl.")
    link: Annotated[Link, BeforeValidator(_link)] | None = Field(None, description="A link's name, a rate, or a mapping.")
    overlap: Word | None = Field(None, description="What the transfer overlaps with. Default: the engine's.")
    basis: Word | None = Field(None, description="Which figure transfer_s is. Default: achievable.")
    objective: Word | None = Field(None, description="What decides the verdict. Default: all.")
    block_size: Word | None = Field(None, description="Tokens a page of the cache. Default: the engine's.")
    hybrid_cache: OnOff | None = Field(None, description="off: window layers keep and send every token. Default: the engine's.")
    prefill: Pool | None = Field(None, description="The prefill pool.")
    decode: Pool | None = Field(None, description="The decode pool.")
    mono: Pool | None = Field(None, description="The monolithic deployment that is compared with. Default: equal GPUs.")
    pp: Word | None = Field(None, description="Pipeline-parallel size. Default: 1.")
    workload: Workload | None = Field(None, description="Lengths and load.")
    scheduler: Scheduler | None = Field(None, description="Scheduling. Default: the engine's.")
    slo: Slo | None = Field(None, description="Promised latencies.")
    measured: Measured | None = Field(None, description="Measured values in place of modelled ones.")
    gpu_hour_price: Word | None = Field(None, description="Dollars an hour and GPU.")
    limits: dict[str, Any] | None = Field(None, description="Output field → bound, such as net_gain_s: '> 0'.")


# Sections and single values → options; a value's option has its own name where nothing else is said.
_SECTIONS: dict[str, tuple[type[BaseModel], dict[str, str]]] = {
    "link": (Link, {"name": "link", "rate": "bandwidth"}),
    "prefill": (Pool, {name: f"prefill_{name}" for name in ("gpu", "tp", "instances")}),
    "decode": (Pool, {name: f"decode_{name}" for name in ("gpu", "tp", "instances")}),
    "mono": (Pool, {name: f"mono_{name}" for name in ("gpu", "tp", "instances")}),
    "workload": (Workload, {"isl": "ctx"}),
    "scheduler": (Scheduler, {}),
    "slo": (Slo, {name: f"slo_{name}" for name in ("ttft", "tpot", "itl_p99")}),
    "measured": (Measured, {}),
}
_TEXTS = ("extends", "note", "limits")
# Where a value stands in a preset → the option that it is.
OPTION_OF: dict[Path, str] = {
    **{(name,): name for name in Preset.model_fields if name not in _SECTIONS and name not in _TEXTS},
    **{(section, name): other.get(name, name) for section, (form, other) in _SECTIONS.items() for name in form.model_fields},
}
# Option → where it stands in a preset; of two places the plainer one.
PATH_OF: dict[str, Path] = {option: path for path, option in reversed(OPTION_OF.items())} | {"bandwidth": ("link", "bandwidth")}
