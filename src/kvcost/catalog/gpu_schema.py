"""What a GPU's entry may say: dense peaks, memory, links, and the constants of the time formula with their ranges."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field, WithJsonSchema, model_validator

from ..errors import KvcostError
from .fields import Count, Entry, Rate, Size, Strict, Time, quantity

__all__ = ["ConstantsSpec", "GpuEntry"]


def _parse_flops(text: str) -> float:
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([GTP])(?:FLOPS|FLOP/s|OPS|OP/s)\s*", text, re.IGNORECASE)
    if match is None:
        raise KvcostError(f"not a peak of arithmetic: '{text}'", hint="write 989TFLOPS, the dense figure")
    return float(match[1]) * {"G": 1e9, "T": 1e12, "P": 1e15}[match[2].upper()]


Flops = Annotated[float, quantity(_parse_flops, "989TFLOPS"), Field(gt=0), WithJsonSchema({"type": "string", "examples": ["989TFLOPS"]})]


def _ends(value: Any) -> Any:
    """A single value stands for a range of no width."""
    return value if isinstance(value, list) else [value, value, value]


def _ordered(value: list[float]) -> list[float]:
    if not value[0] <= value[1] <= value[2]:
        raise ValueError("write [low, expected, high] in rising order")
    return value


_Three = Field(min_length=3, max_length=3)
Shares = Annotated[list[Annotated[float, Field(gt=0, le=1)]], BeforeValidator(_ends), _Three, AfterValidator(_ordered)]
Factors = Annotated[list[Annotated[float, Field(ge=0, le=1000)]], BeforeValidator(_ends), _Three, AfterValidator(_ordered)]
Times = Annotated[list[Time], BeforeValidator(_ends), _Three, AfterValidator(_ordered)]


def _default(low: float, expected: float, high: float) -> Any:
    return Field(default=[low, expected, high])


class ConstantsSpec(Strict):
    """The time formula's constants, [low, expected, high]; what is not given is the average of the measured GPUs."""

    basis: Literal["fitted", "estimate"] = "estimate"
    evidence: str = "average of A100, H100, H200, B200 and L40S (vLLM operator times, NVIDIA AIConfigurator 0.12)"
    eta_bf16: Shares = _default(0.52, 0.70, 0.85)
    eta_fp8: Shares = _default(0.36, 0.50, 0.64)
    prefill_layer: Times = _default(40e-6, 80e-6, 150e-6)
    comm_factor: Factors = _default(1.3, 2.0, 3.5)
    eta_bw: Shares = _default(0.70, 0.85, 0.94)
    eta_bw_fp8: Shares = _default(0.50, 0.85, 0.94)
    decode_layer: Times = _default(30e-6, 52e-6, 100e-6)
    allreduce: Times = _default(1e-6, 4e-6, 16e-6)
    eta_weights: Shares = _default(0.70, 0.80, 0.90)
    eta_attention: Shares = _default(0.65, 0.75, 0.85)
    eta_decode: Shares = _default(0.50, 0.65, 0.80)
    decode_comm_factor: Factors = _default(1.0, 1.5, 3.0)
    eta_experts_bf16: Shares = _default(0.20, 0.36, 0.50)
    eta_experts_fp8: Shares = _default(0.15, 0.30, 0.50)
    moe_prefill_layer: Times = _default(30e-6, 44e-6, 60e-6)
    moe_decode_layer: Times = _default(0.0, 3.5e-6, 20e-6)
    mla_prefill_layer: Times = _default(60e-6, 250e-6, 350e-6)
    mla_decode_layer: Times = _default(40e-6, 140e-6, 170e-6)
    moe_comm_factor: Factors = _default(2.4, 3.5, 4.5)
    comm_crowding: Factors = _default(0.0, 0.0, 0.0)


class GpuEntry(Entry):
    """A GPU: DENSE peaks, memory, and links one direction; `scaleup` to all peers together, `peer` to one of them."""

    vendor: str
    bf16: Flops
    has_bf16: bool = True
    fp8: Flops | None = None
    int8: Flops | None = None
    fp4: Flops | None = None
    bf16_achieved: Flops | None = None
    hbm: Size
    hbm_bandwidth: Rate
    scaleup_kind: str = "none"
    scaleup: Rate | None = None
    scaleup_gpus: Count = 8
    peer: Rate | None = None
    pcie: Rate | None = None
    tdp_w: Count | None = None
    constants: ConstantsSpec = ConstantsSpec()

    @model_validator(mode="after")
    def _reachable(self) -> GpuEntry:
        if self.scaleup is None and self.pcie is None:
            raise ValueError("give scaleup, or pcie where there is nothing faster")
        if self.peer is not None and self.scaleup is not None and self.peer > self.scaleup:
            raise ValueError("peer exceeds scaleup: scaleup is to all peers together")
        return self
