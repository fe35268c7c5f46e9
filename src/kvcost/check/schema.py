"""JSON Schema of a preset, for editors: what each value may be, and the output fields that limits may speak of."""

from __future__ import annotations

from typing import Any

from ..cases.quantities import QUANTITIES
from ..cases.values import BASES, STAGINGS
from ..cost.dtypes import DTYPE_NAMES
from ..cost.gpu import WEIGHT_DTYPES
from ..cost.overlap import OVERLAPS
from ..cost.path import FORWARDINGS
from ..cost.words import OBJECTIVES, ROUTERS
from ..presets.form import Preset
from ..presets.keys import OPTION_OF
from .limits import CHOICES, FIELDS, kind_of

__all__ = ["preset_schema"]

Schema = dict[str, Any]
_NUMBER = r"[+]?(\d[\d_]*(\.\d+)?|\.\d+)([eE][+-]?\d{1,3})?"


def _text(pattern: str, *examples: object) -> Schema:
    return {"type": "string", "pattern": rf"^\s*({pattern})\s*$", **({"examples": list(examples)} if examples else {})}


def _any(*parts: Schema) -> Schema:
    return {"anyOf": list(parts)}


def _choice(*words: str) -> Schema:
    return {"enum": list(words)}


_COUNT = _any({"type": "integer", "minimum": 1}, _text(r"\d+", "8"))
_TOKENS = _any({"type": "integer", "minimum": 1}, _text(rf"{_NUMBER}\s*([kKmM]i?)?\s*(tok|tokens?)?", "4k", "128k"))
_HELD = _any({"type": "number", "minimum": 0}, _text(rf"{_NUMBER}\s*([kKmM]i?|%)?\s*(tok|tokens?)?", "50%", "512"))
_TIME = _any({"const": 0}, _text(rf"{_NUMBER}\s*(ns|us|µs|μs|ms|s|sec|min|h)|0", "50ms", "1s"))
_RATE = _text(rf"{_NUMBER}\s*[kKMmGgTt]?i?(b|bits?|B|bytes?)(/s|ps|/sec)|inf|unlimited", "100Gbps", "12.5GB/s", "inf")
_SHARE = _any({"type": "number", "exclusiveMinimum": 0, "maximum": 1}, _text(rf"{_NUMBER}\s*%?", "92%"))
_LOAD = _any({"type": "number", "minimum": 0}, _text(_NUMBER, "2"))
_NAME: Schema = {"type": "string", "minLength": 1}
_KV_DTYPE = _any(_choice(*(name for name in DTYPE_NAMES if ":" not in name)), _text("int4:g[0-9]+(:zero)?", "int4:g64"))
_TIMES = _any(
    _text(rf"{_NUMBER}\s*(ns|us|µs|μs|ms|s|sec|min|h)|[^=]+=[^=]+(,[^=]+=[^=]+)*", "390ms", "4k=390ms,8k=845ms"), {"type": "object", "minProperties": 1}
)

_OF_OPTION: dict[str, Schema] = {
    **dict.fromkeys(("model", "engine", "link", "prefill_gpu", "decode_gpu", "mono_gpu"), _NAME),
    **dict.fromkeys(
        ("rails", "pp", "concurrency", "max_seqs", *(f"{pool}_{what}" for pool in ("prefill", "decode", "mono") for what in ("tp", "instances"))), _COUNT
    ),
    **dict.fromkeys(("ctx", "osl", "chunk", "block_size", "encoder_tokens"), _TOKENS),
    **dict.fromkeys(("prefix_hit", "cached"), _HELD),
    **dict.fromkeys(("latency", "handover", "slo_ttft", "slo_tpot", "slo_itl_p99", "decode_step_time", "transfer_time", "saved"), _TIME),
    **dict.fromkeys(("efficiency", "pool_derate", "attainment"), _SHARE),
    **dict.fromkeys(("rate", "isl_cv", "gpu_hour_price"), _LOAD),
    "saved_frac": _any({"type": "number", "minimum": 0, "maximum": 1}, _text(rf"{_NUMBER}\s*%?")),
    "bandwidth": _RATE,
    "prefill_time": _TIMES,
    "path": _any(_NAME, {"type": "array", "items": _NAME, "minItems": 1}),
    "kv_dtype": _KV_DTYPE,
    "weight_dtype": _choice("auto", *WEIGHT_DTYPES),
    "state_dtype": _choice("bf16", "fp16", "fp32", "fp8"),
    "overlap": _choice(*OVERLAPS),
    "basis": _choice(*BASES),
    "objective": _choice(*OBJECTIVES),
    "router": _choice(*ROUTERS),
    "staging": _choice(*STAGINGS),
    "forwarding": _choice(*FORWARDINGS),
    "hybrid_cache": {"enum": ["on", "off", True, False]},
}
_UNIT = {
    "rate": rf"{_NUMBER}\s*([kKMmGgTt]?i?(b|bits?|B|bytes?)(/s|ps|/sec))?",
    "bytes": rf"{_NUMBER}\s*([kKMGT]?i?(B|bytes?))?",
    "time": rf"{_NUMBER}\s*(ns|us|µs|μs|ms|s|sec|min|h)?",
    "tokens": rf"{_NUMBER}\s*([kKmM]i?)?\s*(tok|tokens?)?",
    "share": rf"{_NUMBER}\s*%?",
    "number": _NUMBER,
}


def _limit_forms() -> dict[str, Schema]:
    """The form of a limit on each kind of field, by the name of its definition."""
    found = {f"{kind}_limit": _one_or_more(_text(rf"(<=|>=|==|!=|<|>|=|≤|≥|≠)\s*-?\s*({unit})", "> 0")) for kind, unit in _UNIT.items()}
    for field in (None, *CHOICES):
        words = CHOICES.get(field, ()) if field else ()
        among = "|".join(words) or r"[^<>=!,]+"
        found[f"{field or 'word'}_limit"] = _one_or_more(_text(rf"(==|=|!=|≠)?\s*({among})(\s*,\s*({among}))*", *words))
    return found


def _one_or_more(item: Schema) -> Schema:
    return _any(item, {"type": "array", "items": item, "minItems": 1}, {"type": "null"})


def _limit(field: str) -> Schema:
    """What a limit on a field may be."""
    form = field if field in CHOICES else kind_of(field)
    meaning = QUANTITIES[field].meaning if field in QUANTITIES else field
    return {"description": meaning, "allOf": [{"$ref": f"#/$defs/{form}_limit"}]}


def preset_schema() -> Schema:
    """JSON Schema of a preset file. Every key may also be null, which takes away what a base says."""
    whole = Preset.model_json_schema()
    forms = whole.pop("$defs")
    sections = {name: _section_of(prop, forms) for name, prop in whole["properties"].items()}
    for path, option in OPTION_OF.items():
        holder = whole["properties"] if len(path) == 1 else sections[path[0]]["properties"]
        holder[path[-1]] = _described(holder[path[-1]], _OF_OPTION[option])
    for name, form in sections.items():
        if form is not None:
            whole["properties"][name] = _described(whole["properties"][name], form)
    link = whole["properties"]["link"]
    link["anyOf"].insert(0, _NAME)
    limits = {"type": "object", "properties": {field: _limit(field) for field in FIELDS}, "additionalProperties": False}
    whole["properties"]["limits"] = _described(whole["properties"]["limits"], limits)
    whole["properties"]["extends"] = _described(whole["properties"]["extends"], _any(_NAME, {"type": "array", "items": _NAME, "minItems": 1}))
    whole["properties"]["note"] = _described(whole["properties"]["note"], {"type": "string"})
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **whole, "title": "kvcost preset", "minProperties": 1, "$defs": _limit_forms()}


def _section_of(prop: Schema, forms: dict[str, Schema]) -> Any:
    """The form of a section's keys, a copy of its own; None for a single value."""
    names = [part["$ref"].rpartition("/")[2] for part in prop.get("anyOf", ()) if "$ref" in part]
    if not names:
        return None
    form = forms[names[0]]
    return {"type": "object", "properties": dict(form["properties"]), "additionalProperties": False}


def _described(old: Schema, new: Schema) -> Schema:
    return {"description": old.get("description", ""), **_nullable(new)}


def _nullable(schema: Schema) -> Schema:
    """The same, or null."""
    parts = schema["anyOf"] if "anyOf" in schema else [{key: value for key, value in schema.items() if key != "description"}]
    rest = {"description": schema["description"]} if "description" in schema else {}
    return {**rest, "anyOf": [*parts, {"type": "null"}]}
