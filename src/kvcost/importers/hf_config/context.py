"""The longest prompt: the position limit of the file, and what rope scaling makes of it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from .fields import Fields, shown

__all__ = ["context_limit", "context_tokens"]

_NAMES = (
    "max_position_embeddings",
    "n_positions",
    "max_seq_len",
    "seq_length",
    "max_position_embedding",
    "max_sequence_length",
    "max_seq_length",
    "seq_len",
    "max_target_positions",
    "max_context_length",
    "model_max_length",
    "n_ctx",
)
# Types whose files already carry the extended limit, or whose factor does not lengthen it.
_EXTENDED = frozenset(("su", "longrope", "llama3", "yarn", "deepseek_yarn", "deepseek_llama_scaling", "default", "mrope", "gptj", "proportional"))


def context_tokens(fields: Fields) -> int | None:
    """The position limit as the file or its class gives it, without rope scaling."""
    name = fields.first(*_NAMES)
    if name is not None:
        return fields.number(name, fields.values[name], 1, 2**40)
    limit = fields.defaults.get("max_position_embeddings")
    if limit is not None:
        fields.assumed["max_position_embeddings"] = str(limit)
    return limit


def _scaling(fields: Fields) -> Mapping[str, Any] | None:
    for name in ("rope_scaling", "rope_parameters"):
        value = fields.raw(name)
        if value is None:
            continue
        if not isinstance(value, Mapping):
            raise fields.fail(name, f"is not an object: {shown(value)}", 'write an object such as {"rope_type": "yarn", "factor": 4.0}')
        return value
    return None


def context_limit(fields: Fields) -> int | None:
    """Tokens that the model is served at, None where nothing says.

    limit x factor for rope types that lengthen it (linear, dynamic, ntk); the limit itself for llama3, yarn,
    longrope and their kin, whose files carry the extended length, and for Gemma 3.

    Source: vLLM's derivation of the maximum model length.
    """
    limit = context_tokens(fields)
    scaling = _scaling(fields)
    if limit is None or scaling is None or fields.kind.startswith("gemma3"):
        return limit
    kind = scaling.get("rope_type", scaling.get("type", "default"))
    if not isinstance(kind, str):
        raise fields.fail("rope_scaling", f"has a type that is not a string: {shown(kind)}", "write a type such as yarn")
    if kind in ("longrope", "su"):
        original = fields.given("original_max_position_embeddings", least=1) or scaling.get("original_max_position_embeddings")
        fields.note(
            "longrope",
            f"the context limit {limit} needs the long rotary factors; engines serve {original or 'the original length'} tokens unless told otherwise",
            "raise the engine's maximum length explicitly for longer prompts",
        )
    factor = scaling.get("factor")
    if kind in _EXTENDED or factor is None:
        return limit
    if isinstance(factor, bool) or not isinstance(factor, int | float) or not math.isfinite(factor) or not 0 < factor <= 10**6:
        raise fields.fail("rope_scaling.factor", f"is not a positive number: {shown(factor)}", "write a number such as 4.0")
    return int(limit * factor)
