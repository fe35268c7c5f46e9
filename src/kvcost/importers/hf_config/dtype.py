"""The dtype of the checkpoint and of its KV cache; the weights' quantisation says nothing about the cache."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...errors import KvcostError
from .fields import Fields, shown

__all__ = ["checkpoint_dtype", "kv_dtype", "weight_dtype"]

_DTYPES = {"bfloat16": "bf16", "float16": "fp16", "bf16": "bf16", "fp16": "fp16", "half": "fp16"}
_QUANT_ALGOS = {"FP8": "fp8", "NVFP4": "nvfp4", "INT8": "int8", "FP8_E4M3": "fp8", "FP8_E5M2": "fp8"}
_NO_SCHEME = (None, "", "NONE", "AUTO")


def checkpoint_dtype(text: Fields, top: Fields) -> str:
    """bf16 or fp16: dtype or torch_dtype of the text config, then of the whole; anything else is served at 16 bit and said so."""
    for fields in (text, top):
        for name in ("dtype", "torch_dtype"):
            value = fields.raw(name)
            if value is None or value == "auto":
                continue
            if not isinstance(value, str):
                raise fields.fail(name, f"is not a string: {shown(value)}", "write bfloat16 or float16")
            short = _DTYPES.get(value.removeprefix("torch."))
            if short is not None:
                return short
            if value.removeprefix("torch.") not in ("float32", "float", "float64", "fp32"):
                raise fields.fail(name, f"names a dtype that is not known here: '{value[:40]}'", "write bfloat16, float16 or float32")
            text.note("dtype-16-bit", "the checkpoint is in fp32: engines serve it at 16 bit, so its cache is counted in bf16", "give the KV dtype for another")
            return "bf16"
    text.note("dtype-missing", "the file names no dtype: the cache is counted in bf16", "add torch_dtype, or give the KV dtype")
    return "bf16"


def _scheme(scheme: object) -> str:
    """The KV format of a kv_cache_scheme such as {num_bits: 8, type: float}."""
    hint = "a scheme of 8-bit float, 8-bit int or 4-bit float is known"
    where = "quantization_config.kv_cache_scheme"
    if not isinstance(scheme, Mapping):
        raise KvcostError(f"{where} is not an object: {shown(scheme)}", hint=hint)
    bits, kind = scheme.get("num_bits"), scheme.get("type", "float")
    known = {(8, "float"): "fp8", (8, "int"): "int8", (4, "float"): "nvfp4", (16, "float"): "auto"}
    if isinstance(bits, bool) or not isinstance(bits, int) or not isinstance(kind, str) or (bits, kind) not in known:
        raise KvcostError(f"{where} names a format that is not known here: {shown(dict(scheme))}", hint=hint)
    return known[bits, kind]


def _algo(value: object, where: str) -> str | None:
    if value is None or (isinstance(value, str) and value.upper() in _NO_SCHEME):
        return None
    if not isinstance(value, str) or value.upper() not in _QUANT_ALGOS:
        raise KvcostError(f"{where} names a format that is not known here: {shown(value)}", hint="known are " + ", ".join(_QUANT_ALGOS))
    return _QUANT_ALGOS[value.upper()]


def kv_dtype(configs: tuple[Mapping[str, Any], ...], hf_quant: Mapping[str, Any] | None) -> str:
    """The KV format that the checkpoint asks for, "auto" (as the model's dtype) where it asks for none.

    kv_cache_scheme of the quantization_config first, then kv_cache_quant_algo of hf_quant_config.json.

    >>> kv_dtype(({"quantization_config": {"quant_method": "fp8"}},), {"quantization": {"kv_cache_quant_algo": "FP8"}})
    'fp8'
    """
    sources: list[tuple[str, object]] = [("quantization_config", config.get("quantization_config")) for config in configs]
    for where, quantization in sources:
        if quantization is None:
            continue
        if not isinstance(quantization, Mapping):
            raise KvcostError(f"{where} is not an object: {shown(quantization)}", hint="write an object in braces, or take it out")
        if quantization.get("kv_cache_scheme") is not None:
            return _scheme(quantization["kv_cache_scheme"])
        if (found := _algo(quantization.get("kv_cache_quant_algo"), f"{where}.kv_cache_quant_algo")) is not None:
            return found
    if hf_quant is None:
        return "auto"
    inner = hf_quant.get("quantization", hf_quant) if isinstance(hf_quant, Mapping) else hf_quant
    if not isinstance(inner, Mapping):
        raise KvcostError(f"hf_quant_config.json holds no object of quantization: {shown(inner)}", hint='it should hold {"quantization": {...}}')
    return _algo(inner.get("kv_cache_quant_algo"), "hf_quant_config.json: kv_cache_quant_algo") or "auto"


_WEIGHT_METHODS = {"fp8": "fp8", "fbgemm_fp8": "fp8", "fp8_e4m3": "fp8", "mxfp4": "fp4", "nvfp4": "fp4"}
_WEIGHT_BITS = {(8, "float"): "fp8", (8, "int"): "int8", (4, "int"): "int4", (4, "float"): "fp4"}


def _weight_format(quantization: Mapping[str, Any]) -> str:
    """The weight dtype of one quantization object, "auto" where it says nothing that is known here."""
    method = str(quantization.get("quant_method", "")).lower()
    algo = str(quantization.get("quant_algo", "")).upper()
    bits = quantization.get("bits", quantization.get("w_bit"))
    if method in _WEIGHT_METHODS:
        return _WEIGHT_METHODS[method]
    if algo.startswith(("FP8", "W4A8")):
        return "fp8" if algo.startswith("FP8") else "int4"
    if algo.startswith(("NVFP4", "W4A4_MXFP4", "MXFP4")):
        return "fp4"
    if algo.startswith(("W4A16", "INT4")) or quantization.get("load_in_4bit") is True or (method in ("gptq", "awq") and bits == 4):
        return "int4"
    if algo.startswith(("W8A", "INT8")) or quantization.get("load_in_8bit") is True or bits == 8:
        return "int8"
    groups = quantization.get("config_groups")
    for group in groups.values() if isinstance(groups, Mapping) else ():
        weights = group.get("weights") if isinstance(group, Mapping) else None
        if isinstance(weights, Mapping):
            return _WEIGHT_BITS.get((weights.get("num_bits"), weights.get("type")), "auto")  # type: ignore[arg-type]
    return "auto"


def weight_dtype(configs: tuple[Mapping[str, Any], ...], hf_quant: Mapping[str, Any] | None) -> str:
    """The dtype of a quantised checkpoint's weights, "auto" (the model's dtype) where they are not quantised.

    It is what compute reads and multiplies; the cache does not follow it.

    >>> weight_dtype(({"quantization_config": {"quant_method": "mxfp4"}},), None)
    'fp4'
    """
    inner = hf_quant.get("quantization", hf_quant) if isinstance(hf_quant, Mapping) else None
    for quantization in (*(config.get("quantization_config") for config in configs), inner):
        if isinstance(quantization, Mapping) and (found := _weight_format(quantization)) != "auto":
            return found
    return "auto"
