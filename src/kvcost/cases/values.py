"""One option's word → its values, for all options whose values need no catalog."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..cost.dtypes import parse_kv_dtype
from ..cost.gpu import WEIGHT_DTYPES
from ..cost.overlap import OVERLAPS
from ..cost.path import FORWARDINGS
from ..cost.words import OBJECTIVES, ROUTERS
from ..errors import KvcostError
from ..units.lists import expand, split_list
from ..units.parse import parse_count, parse_number, parse_rate, parse_share_or_tokens, parse_time, parse_tokens

__all__ = ["BASES", "CHOICES", "PHASES", "PLAIN", "STAGINGS"]

STAGINGS = ("none", "host")
_STATE_BITS = {"bf16": 16, "fp16": 16, "fp32": 32, "fp8": 8}
PHASES = ("prefill", "decode")
BASES = ("line-rate", "achievable", "engine")
# Options that take one of a few words.
CHOICES: dict[str, Sequence[str]] = {
    "hybrid_cache": ("on", "off"),
    "router": ROUTERS,
    "objective": OBJECTIVES,
    "weight_dtype": ("auto", *WEIGHT_DTYPES),
    "phase": PHASES,
    "staging": STAGINGS,
    "forwarding": FORWARDINGS,
    "overlap": OVERLAPS,
    "basis": BASES,
    "state_dtype": tuple(_STATE_BITS),
}


def _share(text: str) -> float:
    value = parse_number(text, minimum=0.0, maximum=1.0)
    if value <= 0:
        raise KvcostError(f"a share must be above 0 and at most 1: '{text}'", hint="write one such as 0.92 or 92%")
    return value


def _numbers(parse: Callable[[str], Any]) -> Callable[[str], list[Any]]:
    return lambda word: expand(word, parse)


def _choice(known: Sequence[str]) -> Callable[[str], list[Any]]:
    def read(word: str) -> list[Any]:
        words = [item.lower() for item in split_list(word)]
        for item in words:
            if item not in known:
                raise KvcostError(f"unknown value '{item}'", hint="write one of " + ", ".join(known))
        return words

    return read


def _kv_dtypes(word: str) -> list[Any]:
    return [None if item.lower() == "auto" else parse_kv_dtype(item) for item in split_list(word)]


def _state_bits(word: str) -> int:
    if word.lower() not in _STATE_BITS:
        raise KvcostError(f"unknown state dtype '{word}'", hint="write one of " + ", ".join(_STATE_BITS))
    return _STATE_BITS[word.lower()]


def _layers(word: str) -> list[Any]:
    """Layers to send: `40/80`, `40` of the model's own, or a share of them: (layers, of how many) or a share."""
    if "/" not in word:
        return [(parse_count(word), None) if word.strip().isdecimal() else _share(word)]
    sent, _, whole = word.partition("/")
    found = parse_count(sent), parse_count(whole)
    if found[0] > found[1]:
        raise KvcostError(f"{found[0]} of {found[1]} layers cannot be sent", hint="write 40/80, 40 or 50%")
    return [found]


def _mix(word: str) -> list[Any]:
    """A mix of formats along the prompt: `fp16:4,int4:rest` → the first tokens with their formats, and the format of the rest."""
    hint = "write FORMAT:TOKENS,...,FORMAT:rest, such as fp16:4,int4:rest"
    first, rest = [], None
    for item in split_list(word):
        name, separator, tokens = item.rpartition(":")
        if not separator or rest is not None:
            raise KvcostError(f"'{item}' {'follows the rest' if separator else 'names no tokens'} in a mix", hint=hint)
        encoding = parse_kv_dtype("int4:g64" if name.lower() == "int4" else name)
        if encoding.residual_tokens or encoding.latent_only:
            raise KvcostError(f"{encoding.name} cannot take part in a mix", hint="use fp16 fp8 int8 int4:gN nvfp4")
        if tokens.lower() == "rest":
            rest = encoding
        else:
            first.append((parse_tokens(tokens), encoding))
    if rest is None:
        raise KvcostError("the mix says nothing of the rest", hint=hint)
    return [(word, tuple(first), rest)]


def _budget(text: str) -> float:
    value = parse_number(text, minimum=0.0, maximum=1.0)
    if value < 0.25:
        raise KvcostError(f"three tiers cannot go below a budget of 25 %: '{text}'", hint="write a share from 25% (all INT4) to 100%")
    return value


def _points(word: str) -> list[Any]:
    """Measured times by length: `390ms` (any length), or `4k=390ms,8k=845ms`."""
    if "=" not in word:
        return [((0, parse_time(word)),)]
    points: dict[int, float] = {}
    for item in split_list(word):
        tokens, separator, time = item.partition("=")
        if not separator:
            raise KvcostError(f"a length is missing before '{item}'", hint="write 4k=390ms,8k=845ms")
        length, seconds = parse_tokens(tokens), parse_time(time)
        if length in points:
            raise KvcostError(f"{length:,} tokens are given twice", hint="give each length one time")
        if not seconds:
            raise KvcostError(f"a measured time of zero at {length:,} tokens", hint="write 4k=390ms,8k=845ms")
        points[length] = seconds
    return [tuple(sorted(points.items()))]


def _tp(text: str) -> int:
    return parse_count(text, maximum=1024)


def _instances(text: str) -> int:
    return parse_count(text, maximum=10_000)


# Option → what reads a word of it. Raises KvcostError for a word that cannot be read.
PLAIN: dict[str, Callable[[str], list[Any]]] = {
    **{option: _choice(known) for option, known in CHOICES.items()},
    "state_dtype": lambda word: [_state_bits(item) for item in split_list(word)],
    "ctx": _numbers(parse_tokens),
    "kv_dtype": _kv_dtypes,
    "encoder_tokens": _numbers(parse_tokens),
    "block_size": _numbers(lambda text: parse_tokens(text, maximum=2**20)),
    "prefix_hit": _numbers(parse_share_or_tokens),
    "tp": _numbers(_tp),
    "prefill_tp": _numbers(_tp),
    "decode_tp": _numbers(_tp),
    "pp": _numbers(_tp),
    "attention_dp": _numbers(_tp),
    "mono_tp": _numbers(_tp),
    "prefill_instances": _numbers(_instances),
    "decode_instances": _numbers(_instances),
    "mono_instances": _numbers(_instances),
    "gpus_total": _numbers(lambda text: parse_count(text, minimum=2, maximum=1024)),
    "osl": _numbers(parse_tokens),
    "rate": _numbers(lambda text: parse_number(text, minimum=0.0, maximum=1e6)),
    "concurrency": _numbers(lambda text: parse_count(text, maximum=10**6)),
    "isl_cv": _numbers(lambda text: parse_number(text, minimum=0.0, maximum=10.0)),
    "chunk": _numbers(parse_tokens),
    "max_seqs": _numbers(lambda text: parse_count(text, maximum=10**6)),
    "handover": _numbers(parse_time),
    "pool_derate": _numbers(_share),
    "transfer_time": _numbers(parse_time),
    "saved": _numbers(parse_time),
    "saved_frac": _numbers(lambda text: parse_number(text, minimum=0.0, maximum=1.0)),
    "slo_ttft": _numbers(parse_time),
    "slo_tpot": _numbers(parse_time),
    "slo_itl_p99": _numbers(parse_time),
    "attainment": _numbers(lambda text: parse_number(text, minimum=0.01, maximum=0.999)),
    "gpu_hour_price": _numbers(lambda text: parse_number(text, minimum=0.0, maximum=1e6)),
    "batch": _numbers(parse_count),
    "cached": _numbers(parse_share_or_tokens),
    "rails": _numbers(_tp),
    "bandwidth": _numbers(parse_rate),
    "efficiency": _numbers(_share),
    "latency": _numbers(parse_time),
    "prefill_time": _points,
    "decode_step_time": _numbers(parse_time),
    "mix": _mix,
    "layers": _layers,
    "budget": lambda word: [_budget(word)],
    "keep": lambda word: [_share(word)],
    "codec_time": lambda word: [parse_time(word)],
}
