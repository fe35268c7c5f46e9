"""A GPU as the compute model sees it: dense peaks, memory, links, the formula's constants; and what an engine adds."""

from __future__ import annotations

from typing import Literal, NamedTuple

__all__ = ["NO_OVERHEAD", "WEIGHT_BYTES", "WEIGHT_DTYPES", "Constant", "Constants", "EngineOverhead", "Gpu", "gpu_at"]

# Bytes a parameter; 4-bit formats carry half a bit of scales.
WEIGHT_BYTES = {"bf16": 2.0, "fp16": 2.0, "fp8": 1.0, "int8": 1.0, "int4": 4.5 / 8, "fp4": 4.5 / 8}
WEIGHT_DTYPES = tuple(WEIGHT_BYTES)


class Constant(NamedTuple):
    """A constant of the time formula: expected, and the range that its evidence leaves."""

    value: float
    low: float
    high: float


class Constants(NamedTuple):
    """What turns times at 100 % efficiency into real ones, for one GPU; a pure number, or seconds (`_s`).

    basis              fitted (to this GPU) or estimate (taken from a relative)
    eta_bf16, eta_fp8  share of the dense peak that matrix products reach at 16 and at 8 bit
    prefill_layer_s    fixed time of a layer in prefill; decode_layer_s in a decode step
    comm_factor        all-reduce time in prefill, over bytes/(scale-up rate)
    eta_bw             share of the memory bandwidth that a decode step reaches (cache, 16- and 4-bit weights)
    eta_bw_fp8         the same for 8-bit weights
    allreduce_s        fixed time of one all-reduce of a decode step
    eta_weights        share of the memory bandwidth with which prefill reads weights
    eta_attention      attention's efficiency in prefill, relative to eta_bf16
    eta_decode         share of the peak that a decode step's arithmetic reaches
    decode_comm_factor as comm_factor, for a decode step
    eta_experts_*      as eta_*, for the grouped products of routed experts
    moe_*_layer_s      added fixed time of a layer with routed experts
    mla_*_layer_s      added fixed time of a layer with latent attention
    moe_comm_factor    comm_factor of models with routed experts (their gather and scatter included)
    comm_crowding      all-reduces of t > 2 ranks take this times t longer where ranks share a host bridge; 0 behind a switch or mesh
    """

    basis: str
    evidence: str
    eta_bf16: Constant
    eta_fp8: Constant
    prefill_layer_s: Constant
    comm_factor: Constant
    eta_bw: Constant
    eta_bw_fp8: Constant
    decode_layer_s: Constant
    allreduce_s: Constant
    eta_weights: Constant
    eta_attention: Constant
    eta_decode: Constant
    decode_comm_factor: Constant
    eta_experts_bf16: Constant
    eta_experts_fp8: Constant
    moe_prefill_layer_s: Constant
    moe_decode_layer_s: Constant
    mla_prefill_layer_s: Constant
    mla_decode_layer_s: Constant
    moe_comm_factor: Constant
    comm_crowding: Constant


class Gpu(NamedTuple):
    """One GPU: DENSE peaks, memory, and what it reaches other GPUs with, one direction.

    scaleup_bytes_per_s  to all peers together (NVLink, xGMI, ICI); PCIe where there is nothing else
    peer_bytes_per_s     to one peer: less than scaleup on a mesh
    scaleup_gpus         GPUs that the fabric joins: a node, or a rack
    """

    name: str
    title: str
    bf16_flops_per_s: float
    fp8_flops_per_s: float | None
    int8_flops_per_s: float | None
    fp4_flops_per_s: float | None
    hbm_bytes: int
    hbm_bytes_per_s: float
    scaleup_bytes_per_s: float
    peer_bytes_per_s: float
    has_bf16: bool
    constants: Constants
    provenance: str = "user"
    source: str = ""
    note: str = ""
    scaleup_gpus: int = 8




class EngineOverhead(NamedTuple):
    """What an engine adds to the hardware's time: seconds per layer and per sequence, and a slower all-reduce.

    comm_factor replaces the GPU's for prefill where it is given; `spread` is the relative uncertainty of all of it.
    Older engines only; the default adds nothing.
    """

    name: str = ""
    prefill_layer_s: float = 0.0
    decode_layer_s: float = 0.0
    comm_factor: float | None = None
    prefill_sequence_s: float = 0.0
    decode_sequence_s: float = 0.0
    spread: float = 0.3


NO_OVERHEAD = EngineOverhead()


def gpu_at(gpu: Gpu, end: Literal["fast", "slow"]) -> Gpu:
    """The same GPU with every constant at its `fast` or `slow` end, for joint ranges.

    Efficiencies move up and times and factors down at the fast end, all together.

    Source: the constants are common to everything that is compared, so they are drawn jointly.
    """
    swapped: dict[str, Constant] = {}
    for name, constant in gpu.constants._asdict().items():
        if isinstance(constant, Constant):
            better, worse = (constant.high, constant.low) if name.startswith("eta_") else (constant.low, constant.high)
            value = better if end == "fast" else worse
            swapped[name] = Constant(value, value, value)
    constants: Constants = gpu.constants._replace(**swapped)  # type: ignore[arg-type]
    return gpu._replace(constants=constants)
