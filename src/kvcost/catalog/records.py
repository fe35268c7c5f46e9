"""Checked entries → the frozen records of `cost`."""

from __future__ import annotations

from typing import Any

from ..cost.gpu import Constant, Constants, EngineOverhead, Gpu
from ..cost.layers import Chunked, CrossAttention, FullAttention, Indexer, Layer, LayerGroup, MlaLatent, Recurrent, SharedKv, SlidingWindow
from ..cost.model import Experts, Model
from ..cost.technique import Caution, Change, Published, Technique
from ..cost.transfer import Engine, Link

__all__ = ["engine_record", "gpu_record", "link_record", "model_record", "overhead_record", "technique_record"]

Values = dict[str, Any]


def _layer(values: Values) -> Layer:
    kind = values["kind"]
    if kind == "mla":
        return MlaLatent(values["latent_dim"], values["rope_dim"])
    if kind == "indexer":
        return Indexer(values["row_bytes"])
    if kind == "shared":
        return SharedKv()
    if kind == "recurrent":
        return Recurrent(values["conv_elements"], values["ssm_elements"], values["conv_bits"], values["ssm_bits"], values["pieces"])
    dims = values["kv_heads"], values["k_dim"] or values["head_dim"], values["v_dim"] or values["head_dim"]
    if kind == "window":
        return SlidingWindow(*dims, values["window_tokens"])
    if kind == "chunk":
        return Chunked(*dims, values["chunk_tokens"])
    if kind == "cross":
        return CrossAttention(*dims, values["encoder_tokens"])
    return FullAttention(*dims)


def model_record(name: str, values: Values) -> Model:
    """The model of a checked entry."""
    experts = values["experts"]
    return Model(
        name=name,
        title=values["title"],
        groups=tuple(LayerGroup(layer["count"], _layer(layer)) for layer in values["layers"]),
        query_heads=values["query_heads"],
        head_dim=values["head_dim"],
        hidden_size=values["hidden_size"],
        dtype=values["dtype"],
        kv_dtype=values["kv_dtype"],
        context_limit_tokens=values["context_limit_tokens"],
        params_total=values["params_total"],
        params_active=values["params_active"],
        params_input_embedding=values["params_input_embedding"],
        tied_embeddings=values["tied_embeddings"],
        params_towers=values["params_towers"],
        vocab_size=values["vocab_size"],
        experts=Experts(experts["count"], experts["per_token"], experts["params"]) if experts else None,
        provenance=values["confidence"],
        source=values["source"],
        weight_dtype=values["weight_dtype"],
    )


def link_record(name: str, values: Values) -> Link:
    """One rail of a checked entry: a node row's figures are divided by its rails."""
    rails = values["rails"] or 1
    line_rate = values["line_rate"]
    return Link(
        name=name,
        bandwidth_bytes_per_s=None if line_rate is None else line_rate / rails,
        achieved_bytes_per_s=values["achieved"] / rails,
        achieved_low_bytes_per_s=values["achieved_low"] / rails,
        achieved_high_bytes_per_s=values["achieved_high"] / rails,
        scope=values["scope"],
        rails=values["rails"] or 0,
        message_s=values["per_message"],
        provenance=values["confidence"],
        source=values["source"],
        low_name=values["low_is"],
        high_name=values["high_is"],
        rate_provenance="spec",
    )


def engine_record(name: str, values: Values) -> Engine:
    """The engine of a checked entry; a range that is not given is the expected value."""

    def end(key: str, base: str) -> float:
        value = values[key]
        return float(values[base] if value is None else value)

    return Engine(
        name=name,
        t0_s=values["t0"],
        t0_low_s=end("t0_low", "t0"),
        t0_high_s=end("t0_high", "t0"),
        descriptor_s=values["descriptor"],
        descriptor_low_s=end("descriptor_low", "descriptor"),
        descriptor_high_s=end("descriptor_high", "descriptor"),
        posting=values["posting"],
        block_tokens=values["block_tokens"],
        regions=values["regions"],
        layers_share_blocks=values["layers_share_blocks"],
        hybrid_cache=values["hybrid_cache"],
        efficiency=values["efficiency"],
        overlap=values["overlap"],
        push_floor_s=values["push_floor"],
        push_from_tokens=values["push_from_tokens"],
        first_token=values["first_token"],
        provenance=values["confidence"],
        source=values["source"],
        handover_s=values["handover"],
        handover_low_s=end("handover_low", "handover"),
        handover_high_s=end("handover_high", "handover"),
        chunk_tokens=values["chunk_tokens"],
    )


_TIMES = ("prefill_layer", "decode_layer", "allreduce", "moe_prefill_layer", "moe_decode_layer", "mla_prefill_layer", "mla_decode_layer")


def gpu_record(name: str, values: Values) -> Gpu:
    """The GPU of a checked entry; without a scale-up fabric ranks meet over PCIe."""
    spec = values["constants"]
    ranges = {key + "_s" * (key in _TIMES): Constant(value[1], value[0], value[2]) for key, value in spec.items() if isinstance(value, list)}
    scaleup = values["scaleup"] or values["pcie"]
    return Gpu(
        name=name,
        title=values["title"],
        bf16_flops_per_s=values["bf16"],
        fp8_flops_per_s=values["fp8"],
        int8_flops_per_s=values["int8"],
        fp4_flops_per_s=values["fp4"],
        hbm_bytes=values["hbm"],
        hbm_bytes_per_s=values["hbm_bandwidth"],
        scaleup_bytes_per_s=scaleup,
        peer_bytes_per_s=values["peer"] or scaleup,
        has_bf16=values["has_bf16"],
        constants=Constants(basis=spec["basis"], evidence=spec["evidence"], **ranges),
        provenance=values["confidence"],
        source=values["source"],
        note=values["note"],
        scaleup_gpus=values["scaleup_gpus"],
    )


def overhead_record(name: str, values: Values) -> EngineOverhead:
    """What the engine of a checked entry adds to compute time."""
    return EngineOverhead(
        name,
        prefill_layer_s=values["prefill_layer"],
        decode_layer_s=values["decode_layer"],
        comm_factor=values["comm_factor"],
        prefill_sequence_s=values["prefill_sequence"],
        decode_sequence_s=values["decode_sequence"],
    )


def technique_record(name: str, values: Values, place: int) -> Technique:
    """The technique of a checked entry."""
    return Technique(
        name=name,
        place=place,
        group=values["group"],
        change=Change(**values["change"]),
        excludes=frozenset(values["excludes"]),
        risk=values["risk"],
        research=values["research"],
        needs=values["needs"],
        codec=values["codec"],
        quality=values["quality"],
        measured=values["measured"],
        published=tuple(Published(tuple(item["models"]), item["length"], item["effect"], item["source"]) for item in values["published"]),
        cautions=tuple(Caution(**{**item, "models": tuple(item["models"])}) for item in values["cautions"]),
        source=values["source"],
        provenance=values["confidence"],
    )
