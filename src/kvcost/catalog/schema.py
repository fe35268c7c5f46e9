"""What a catalog entry may say. Strict, closed and frozen: a typo is an error, not a default.

Quantities are text with a unit (`450GB/s`, `0.6ms`); numbers without a unit are counts.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from .fields import Count, Dimension, Entry, KvDtype, Params, Rate, Strict, Time
from .gpu_schema import GpuEntry
from .technique_schema import TechniqueEntry

__all__ = ["SCHEMAS", "EngineEntry", "Entry", "GpuEntry", "LinkEntry", "ModelEntry", "TechniqueEntry", "file_schema"]


class _Layers(Strict):
    count: Count


class _Heads(_Layers):
    kv_heads: Dimension
    head_dim: Dimension | None = None
    k_dim: Dimension | None = None
    v_dim: Dimension | None = None

    @model_validator(mode="after")
    def _one_way(self) -> _Heads:
        if (self.head_dim is None) == (self.k_dim is None or self.v_dim is None):
            raise ValueError("give head_dim, or k_dim and v_dim where they differ")
        return self


class FullLayers(_Heads):
    """MHA, GQA, MQA."""

    kind: Literal["full"]


class WindowLayers(_Heads):
    """Sliding window."""

    kind: Literal["window"]
    window_tokens: Count


class ChunkLayers(_Heads):
    """Chunked attention."""

    kind: Literal["chunk"]
    chunk_tokens: Count


class MlaLayers(_Layers):
    """Multi-head latent attention."""

    kind: Literal["mla"]
    latent_dim: Dimension
    rope_dim: Annotated[int, Field(ge=0, le=10**7)]


class IndexerLayers(_Layers):
    """Key cache of a sparse-attention indexer."""

    kind: Literal["indexer"]
    row_bytes: Dimension


class SharedLayers(_Layers):
    """Layers that read another layer's cache."""

    kind: Literal["shared"]


class RecurrentLayers(_Layers):
    """Constant state."""

    kind: Literal["recurrent"]
    conv_elements: Annotated[int, Field(ge=0)]
    ssm_elements: Annotated[int, Field(ge=0)]
    conv_bits: Dimension = 16
    ssm_bits: Dimension = 16
    pieces: Dimension = 2


class CrossLayers(_Heads):
    """Cross attention to an encoder's output."""

    kind: Literal["cross"]
    encoder_tokens: Annotated[int, Field(ge=0, le=10**9)]


LayerSpec = Annotated[
    FullLayers | WindowLayers | ChunkLayers | MlaLayers | IndexerLayers | SharedLayers | RecurrentLayers | CrossLayers,
    Field(discriminator="kind"),
]


class ExpertsSpec(Strict):
    """Routed experts: `per_token` of `count`, `params` in all of them."""

    count: Count
    per_token: Count
    params: Params


class ModelEntry(Entry):
    """A model: layer groups with what they cache, and the sizes that compute needs."""

    layers: Annotated[list[LayerSpec], Field(min_length=1)]
    query_heads: Annotated[int, Field(ge=0, le=10**7)]
    head_dim: Annotated[int, Field(ge=0, le=10**7)]
    hidden_size: Dimension
    dtype: Literal["bf16", "fp16"]
    kv_dtype: KvDtype = "auto"
    weight_dtype: Literal["auto", "bf16", "fp16", "fp8", "int8", "int4", "fp4"] = "auto"
    context_limit_tokens: Count | None = None
    params_total: Params | None = None
    params_active: Params | None = None
    params_input_embedding: Params = 0
    tied_embeddings: bool = False
    params_towers: Params = 0
    vocab_size: Annotated[int, Field(ge=0)] = 0
    experts: ExpertsSpec | None = None


class LinkEntry(Entry):
    """A link, one direction: `line_rate` of the row (a port, a GPU's share, a node), and what large messages reach."""

    kind: Literal["nvlink", "nvlink-rack", "c2c", "xgmi", "pcie", "cxl", "infiniband", "roce", "ethernet", "tcp", "efa", "gcp", "slingshot", "ici", "tier"]
    scope: Literal["port", "gpu", "node"]
    per: str
    line_rate: Rate | None
    rails: Count | None = None
    achieved: Rate
    achieved_low: Rate
    achieved_high: Rate
    low_is: str = ""
    high_is: str = ""
    basis: str
    per_message: Time = 0.0
    latency: Time = 0.0
    gpudirect: str = ""
    staging: str = ""
    vendor_trap: str = ""

    @model_validator(mode="after")
    def _consistent(self) -> LinkEntry:
        if not self.achieved_low <= self.achieved <= self.achieved_high:
            raise ValueError("achieved must lie between achieved_low and achieved_high")
        if self.line_rate is not None and self.achieved_high > self.line_rate:
            raise ValueError("achieved_high exceeds line_rate: is the line rate one direction?")
        if (self.scope == "node") != (self.rails is not None):
            raise ValueError("rails belongs to rows of scope node, and to these alone")
        return self


class EngineEntry(Entry):
    """A serving engine's connector: fixed time, time per descriptor, how it cuts the cache, what it overlaps."""

    t0: Time = 0.0
    t0_low: Time | None = None
    t0_high: Time | None = None
    descriptor: Time = 0.0
    descriptor_low: Time | None = None
    descriptor_high: Time | None = None
    posting: Literal["serial", "overlapped"] = "serial"
    block_tokens: Annotated[int, Field(ge=0)] = 0
    regions: Literal[1, 2] = 1
    layers_share_blocks: bool = False
    hybrid_cache: bool = True
    efficiency: Annotated[float, Field(gt=0, le=1)] | None = None
    overlap: Literal["serial", "push", "decode-start"] = "serial"
    push_floor: Time = 0.0
    push_from_tokens: Annotated[int, Field(ge=0)] = 0
    first_token: Literal["prefill", "decode"] = "decode"
    handover: Time = 0.010
    handover_low: Time | None = None
    handover_high: Time | None = None
    chunk_tokens: Count = 8192
    prefill_layer: Time = 0.0
    decode_layer: Time = 0.0
    comm_factor: Annotated[float, Field(gt=0)] | None = None
    prefill_sequence: Time = 0.0
    decode_sequence: Time = 0.0

    @model_validator(mode="before")
    @classmethod
    def _usual_handover(cls, values: Any) -> Any:
        """10 ms is an estimate: 3 ms of Python per request (vllm#23780) to 168 ms, the rest of a measured 197 ms (vllm#51919)."""
        if not isinstance(values, dict) or values.keys() & {"handover", "handover_low", "handover_high"}:
            return values
        return {**values, "handover": "10ms", "handover_low": "3ms", "handover_high": "168ms"}

    @model_validator(mode="after")
    def _ordered(self) -> EngineEntry:
        for word in ("t0", "descriptor", "handover"):
            value, low, high = getattr(self, word), getattr(self, f"{word}_low"), getattr(self, f"{word}_high")
            if not (value if low is None else low) <= value <= (value if high is None else high):
                raise ValueError(f"{word} must lie between {word}_low and {word}_high")
        return self


SCHEMAS: dict[str, type[Entry]] = {
    "models": ModelEntry,
    "links": LinkEntry,
    "engines": EngineEntry,
    "gpus": GpuEntry,
    "techniques": TechniqueEntry,
}


def file_schema(kind: str) -> dict[str, Any]:
    """JSON Schema of a catalog file: a mapping of ids to entries."""
    entry = SCHEMAS[kind].model_json_schema()
    definitions = entry.pop("$defs", {})
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"kvcost {kind}",
        "type": "object",
        "additionalProperties": entry,
        "$defs": definitions,
    }
