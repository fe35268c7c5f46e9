"""What a preset may say: its sections, their keys, which option each is, and what it means. The one list of them.

A value is the word that would be typed on the command line, or a plain number where that has no unit. What the
word means is read later, by the same grammar as on the command line.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

__all__ = ["MEANT", "OPTION_OF", "PATH_OF", "READ", "SECTIONS", "TEXTS", "TITLES", "Key", "words_of"]

Path = tuple[str, ...]
_KINDS = {"str": "an empty text", "dict": "a mapping", "list": "a list"}


class Key(NamedTuple):
    """A key of a section: the option that its value is, what it means, and how it may be written beside as a word."""

    option: str
    meaning: str
    kind: str = "word"


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


def _on_off(value: object) -> str:
    """On or off, which YAML reads as booleans."""
    return {True: "on", False: "off"}[value] if isinstance(value, bool) else word_of(value)


def _hops(value: object) -> str:
    """The hops of a path: a list, or one word with commas."""
    return ",".join(map(word_of, value)) if isinstance(value, list) and value else word_of(value)


def _times(value: object) -> str:
    """One time, or times by length: `4k=390ms,8k=845ms`, also as a mapping."""
    return ",".join(f"{word_of(key)}={word_of(item)}" for key, item in value.items()) if isinstance(value, dict) and value else word_of(value)


def _pool(name: str) -> dict[str, Key]:
    return {
        "gpu": Key(f"{name}_gpu", "GPU by name (kvcost gpus)."),
        "tp": Key(f"{name}_tp", "Tensor-parallel size. Default: 1; of mono the larger of both pools."),
        "instances": Key(f"{name}_instances", "How many. Default: 1; of mono as many as take equal GPUs."),
    }


# Kind of a value → what reads it.
READ: dict[str, Callable[[object], str]] = {"word": word_of, "on-off": _on_off, "hops": _hops, "times": _times}
# Section → key → what it is; the values that stand in no section are those of "".
SECTIONS: dict[str, dict[str, Key]] = {
    "": {
        "model": Key("model", "Catalog name, hub id, or path of a config.json relative to this file."),
        "weight_dtype": Key("weight_dtype", "How weights are stored. Default: auto, as the checkpoint says."),
        "kv_dtype": Key("kv_dtype", "How the KV cache is stored. Default: auto, as the checkpoint says."),
        "state_dtype": Key("state_dtype", "Of recurrent state. Default: the model's."),
        "encoder_tokens": Key("encoder_tokens", "Encoder output of an encoder-decoder. Default: the model's."),
        "engine": Key("engine", "Serving engine's connector (kvcost engines). Default: vllm-nixl."),
        "overlap": Key("overlap", "What the transfer overlaps with. Default: the engine's."),
        "basis": Key("basis", "Which figure transfer_s is. Default: achievable."),
        "objective": Key("objective", "What decides the verdict. Default: all."),
        "block_size": Key("block_size", "Tokens a page of the cache. Default: the engine's."),
        "hybrid_cache": Key("hybrid_cache", "off: window layers keep and send every token. Default: the engine's.", "on-off"),
        "pp": Key("pp", "Pipeline-parallel size. Default: 1."),
        "gpu_hour_price": Key("gpu_hour_price", "Dollars an hour and GPU."),
    },
    "link": {
        "name": Key("link", "Link by name (kvcost links), or a rate such as 100Gbps."),
        "rate": Key("bandwidth", "Line rate of a rail, one direction: 100Gbps, 12.5GB/s, or inf. The same as bandwidth."),
        "bandwidth": Key("bandwidth", "Line rate of a rail, one direction, in place of the link's own; or inf."),
        "rails": Key("rails", "Rails that a request may use. Default: 1 a port; every rank its own GPU link."),
        "efficiency": Key("efficiency", "Achieved share of line rate. Default: the link's."),
        "latency": Key("latency", "Fixed time of a transfer, in basis engine. Default: the engine's."),
        "path": Key("path", "Hops in a row, in place of a name: [pcie5, ib-ndr, pcie5].", "hops"),
        "staging": Key("staging", "none, or host: no GPUDirect, a copy at either end."),
        "forwarding": Key("forwarding", "Of hops: pipelined or store-and-forward."),
    },
    "prefill": _pool("prefill"),
    "decode": _pool("decode"),
    "mono": _pool("mono"),
    "workload": {
        "isl": Key("ctx", "Prompt tokens (ISL) of a request; k = Ki = 1024."),
        "osl": Key("osl", "Output tokens (OSL) of a request."),
        "rate": Key("rate", "Requests/s over the whole deployment."),
        "concurrency": Key("concurrency", "Requests in flight over the whole deployment, in place of a rate."),
        "prefix_hit": Key("prefix_hit", "Held by the decode side already: tokens (512), or a share (50%, 0.5)."),
        "cached": Key("cached", "Held by the prefill side already: tokens (512), or a share (50%, 0.5)."),
        "isl_cv": Key("isl_cv", "Spread of prompt lengths over their mean."),
    },
    "scheduler": {
        "chunk": Key("chunk", "Token budget of a monolithic step. Default: the engine's."),
        "max_seqs": Key("max_seqs", "Most requests that an instance decodes at once."),
        "router": Key("router", "How requests find an instance. Default: round-robin."),
        "handover": Key("handover", "Proxy and scheduling between the pools, without the transfer. Default: the engine's."),
        "pool_derate": Key("pool_derate", "Share of a rate that balanced pools carry, for goodput. Default: 0.92."),
    },
    "slo": {
        "ttft": Key("slo_ttft", "Limit of TTFT, at attainment."),
        "tpot": Key("slo_tpot", "Limit of the mean TPOT."),
        "itl_p99": Key("slo_itl_p99", "Limit of the 99th percentile gap between tokens."),
        "attainment": Key("attainment", "Share of requests within ttft. Default: 0.9."),
    },
    "measured": {
        "prefill_time": Key("prefill_time", "390ms, or by length: 4k=390ms,8k=845ms or a mapping.", "times"),
        "decode_step_time": Key("decode_step_time", "Time of a decode step."),
        "transfer_time": Key("transfer_time", "Time of a request's transfer."),
        "saved": Key("saved", "The saving that the transfer is held against: net gain = this - exposed."),
        "saved_frac": Key("saved_frac", "The same as a share of prefill_time."),
    },
}
# What the sections are.
TITLES = {
    "link": "A link's name, a rate, or a mapping.",
    "prefill": "The prefill pool.",
    "decode": "The decode pool.",
    "mono": "The monolithic deployment that is compared with. Default: equal GPUs.",
    "workload": "Lengths and load.",
    "scheduler": "Scheduling. Default: the engine's.",
    "slo": "Promised latencies.",
    "measured": "Measured values in place of modelled ones.",
}
# Keys that are no option.
TEXTS = {
    "extends": "Another preset, or several, that this one changes; relative to this file.",
    "note": "Why this preset exists.",
    "limits": "Output field → bound, such as net_gain_s: '> 0'.",
}
# What people call a key of the workload that has another name here, where no spelling would lead to it.
MEANT = {
    **dict.fromkeys(("ctx", "context", "context_len", "input", "input_len", "input_tokens", "isl", "prompt", "prompt_len", "prompt_tokens"), "isl"),
    **dict.fromkeys(("output", "output_len", "output_tokens"), "osl"),
    **dict.fromkeys(("qps", "rps", "request_rate"), "rate"),
}
# Where a value stands in a preset → the option that it is.
OPTION_OF: dict[Path, str] = {(section, name) if section else (name,): key.option for section, keys in SECTIONS.items() for name, key in keys.items()}
# Option → where it stands in a preset; of two places the one that is named like it.
PATH_OF: dict[str, Path] = {option: path for path, option in reversed(OPTION_OF.items())} | {"bandwidth": ("link", "bandwidth")}


def words_of(values: Mapping[str, Any]) -> dict[Path, str] | None:
    """Place in the preset → its word, of all values that are given; None where something is not as it should be.

    What that is, `form` says: it costs more to load than all presets of a folder to read.
    """
    found: dict[Path, str] = {}
    try:
        for name, value in values.items():
            if name in TEXTS:
                if value is not None and not isinstance(value, dict if name == "limits" else str):
                    return None
            elif name in TITLES:
                inside = {"name": value} if name == "link" and not isinstance(value, dict) else value
                if value is not None:
                    found |= {(name, *path): word for path, word in _words(SECTIONS[name], inside)}
            else:
                found |= dict(_words(SECTIONS[""], {name: value}))
    except (ValueError, KeyError, AttributeError):
        return None
    return found


def _words(keys: Mapping[str, Key], values: Mapping[str, Any]) -> Iterator[tuple[Path, str]]:
    """The words of a section's values. Raises ValueError or KeyError for what is not of the form."""
    for name, value in values.items():
        key = keys[name]
        if value is not None:
            yield (name,), READ[key.kind](value)
