"""At what rate a GPU multiplies a weight dtype, and what a layout must satisfy."""

from __future__ import annotations

from typing import NamedTuple

from ..errors import KvcostError
from .gpu import WEIGHT_BYTES, WEIGHT_DTYPES, Constant, Gpu
from .layers import CrossAttention
from .model import Model, check_model_tp
from .work import layer_count

__all__ = ["Rates", "check_layout", "rates_of", "warnings_of"]


class Rates(NamedTuple):
    """FLOP/s of the weight dtype: peak, what prefill's products reach, what experts reach, and the constant behind it."""

    peak: float
    reached: float
    experts: float
    eta: Constant
    expert_eta: Constant
    warnings: tuple[tuple[str, str, str], ...]


def check_layout(model: Model, tp: int, pp: int, weight_dtype: str, attention_dp: int) -> None:
    """Raises KvcostError for a weight dtype or for sizes that the model cannot be cut into."""
    if weight_dtype not in WEIGHT_BYTES:
        raise KvcostError(f"unknown weight dtype '{weight_dtype}'", hint="write one of " + " ".join(WEIGHT_DTYPES))
    for name, value in (("TP", tp), ("PP", pp), ("attention DP", attention_dp)):
        if value < 1:
            raise KvcostError(f"{name} must be at least 1, not {value}", hint="write a whole number such as 8")
    if tp % attention_dp:
        raise KvcostError(f"attention DP {attention_dp} does not divide the {tp} GPUs of TP {tp}", hint="choose a divisor of --tp")
    check_model_tp(model, tp // attention_dp)
    layers = layer_count(model)
    if pp > layers:
        raise KvcostError(f"PP {pp} is more than the {layers} layers of {model.name}", hint=f"choose at most {layers}")


def rates_of(gpu: Gpu, weight_dtype: str) -> Rates:
    """Native low-precision products where the GPU has units that are faster, else weight-only: 16-bit products."""
    k = gpu.constants
    peak = gpu.bf16_flops_per_s
    wide = Rates(peak, peak * k.eta_bf16.value, peak * k.eta_experts_bf16.value, k.eta_bf16, k.eta_experts_bf16, ())
    if weight_dtype in ("bf16", "fp16"):
        if weight_dtype == "bf16" and not gpu.has_bf16:
            warning = ("no-bf16-units", f"{gpu.name} has no bf16 units: computed as fp16", "give --weight-dtype fp16")
            return wide._replace(warnings=(warning,))
        return wide
    if weight_dtype == "int4":
        return wide
    native = {"fp8": gpu.fp8_flops_per_s, "int8": gpu.int8_flops_per_s, "fp4": gpu.fp4_flops_per_s}[weight_dtype]
    if native is not None and native * k.eta_fp8.value > wide.reached:
        return Rates(native, native * k.eta_fp8.value, max(native * k.eta_experts_fp8.value, wide.experts), k.eta_fp8, k.eta_experts_fp8, ())
    why = f"has no {weight_dtype} units" if native is None else f"has {weight_dtype} units that are no faster than its 16-bit ones"
    message = f"{gpu.name} {why}: {weight_dtype} weights save memory, products run at the 16-bit rate"
    warning = ("weight-only", message, "use a GPU with such units, or expect no faster prefill")
    return wide._replace(warnings=(warning,))


def warnings_of(model: Model, gpu: Gpu, rates: Rates, tp: int, attention_dp: int) -> tuple[tuple[str, str, str], ...]:
    """What a reader of the time must know: (code, message, hint)."""
    found = list(rates.warnings)
    if any(isinstance(group.layer, CrossAttention) for group in model.groups):
        message = f"{model.name}: the encoder's parameters are counted as if every token ran them"
        found.append(("encoder-counted-as-decoder", message, "read the time as an upper bound"))
    if tp > gpu.scaleup_gpus:
        message = f"TP {tp} reaches beyond the {gpu.scaleup_gpus} GPUs that {gpu.name} joins directly; its all-reduces are priced as if it did not"
        found.append(("tp-beyond-scaleup", message, f"use --tp {gpu.scaleup_gpus} or less, with --pp across nodes"))
    if attention_dp > 1:
        message = "attention data parallelism is modelled with requests spread evenly and experts hit evenly"
        found.append(("attention-dp-balanced", message, "expect skewed loads to be slower"))
    return tuple(found)
