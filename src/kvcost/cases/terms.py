"""`--explain`: a row's figures taken apart, each term with its formula and its share."""

from typing import TypedDict

from ..cost.compute import ComputeTime
from ..cost.dtypes import Encoding
from ..cost.gpu import Constant
from ..cost.kv import KvLayout, Span
from ..cost.layers import MlaLatent
from ..cost.model import Model
from ..cost.prepare import Prepared
from ..cost.terms import terms_of
from ..cost.transfer import Engine, Link
from ..units.show import show_significant

__all__ = ["Term", "compute_terms", "size_terms", "transfer_terms"]


class Term(TypedDict):
    """One summand: value in `unit`, its share of the whole it belongs to (None: it is no summand)."""

    term: str
    value: float
    unit: str
    share: float | None
    formula: str
    provenance: str


def _reach(span: Span, ctx: int) -> tuple[int, str]:
    if span.reach == "window":
        return min(ctx, span.limit_tokens), f"min({ctx}, window {span.limit_tokens})"
    if span.reach == "chunk":
        return ctx % span.limit_tokens, f"{ctx} mod chunk {span.limit_tokens}"
    return ctx, str(ctx)


def size_terms(layout: KvLayout, encoding: Encoding, ctx: int, held_bytes: int, provenance: str) -> list[Term]:
    """The layer groups whose bytes add up to what a request holds."""
    terms: list[Term] = []
    for span in layout.spans:
        tokens, shown = _reach(span, ctx)
        recent = min(tokens, layout.residual_tokens)
        value = span.layers * ((tokens - recent) * span.row_bytes + recent * span.recent_bytes)
        kind = "latent, whole on every rank" if not span.kv_heads else f"{span.kv_heads} KV heads"
        formula = f"{span.layers} layers x {span.row_bytes:,} B a token ({kind}, {encoding.name}) x {shown} tokens"
        if recent:
            formula += f", the newest {recent} at {span.recent_bytes:,} B"
        terms.append(
            Term(
                term=f"{span.reach} attention", value=value, unit="B", share=value / held_bytes if held_bytes else None, formula=formula, provenance=provenance
            )
        )
    for constant in layout.constants:
        value = constant.layers * constant.layer_bytes
        formula = f"{constant.layers} layers x {constant.layer_bytes:,} B, whatever the context"
        terms.append(
            Term(term="constant state", value=value, unit="B", share=value / held_bytes if held_bytes else None, formula=formula, provenance=provenance)
        )
    return terms


def transfer_terms(link: Link, engine: Engine, wire_bytes: int, lanes: int, descriptors: int, engine_s: float) -> list[Term]:
    """The summands of the time in an engine: t0, posting, bytes."""
    if not engine_s:
        return []
    rate = link.achieved_bytes_per_s
    if engine.efficiency is not None and link.bandwidth_bytes_per_s is not None:
        rate = engine.efficiency * link.bandwidth_bytes_per_s
    post_s, bytes_s = descriptors * engine.descriptor_s, wire_bytes / lanes / rate
    whole = engine_s if engine.posting == "serial" else None
    summands = (
        ("t0", engine.t0_s, f"fixed time of {engine.name}", engine.provenance),
        ("posting", post_s, f"{descriptors:,} descriptors x {show_significant(engine.descriptor_s * 1e6)} us", engine.provenance),
        ("bytes", bytes_s, f"{wire_bytes:,} B / {lanes} lanes / {show_significant(rate / 1e9)} GB/s", link.provenance),
    )
    return [
        Term(term=name, value=value, unit="s", share=value / whole if whole else None, formula=formula, provenance=provenance)
        for name, value, formula, provenance in summands
    ]


def compute_terms(prepared: Prepared, phase: str, time: ComputeTime) -> list[Term]:
    """The parts of a prefill or a decode step, largest first, with the constants in them."""
    found = terms_of(prepared, "prefill" if phase == "prefill" else "decode", time.groups)
    return [
        Term(
            term=part.name,
            value=part.seconds,
            unit="s",
            share=part.share,
            formula=f"{part.formula}; {', '.join(_constant(*item) for item in part.constants if _concerns(prepared.model, *item))}",
            provenance=prepared.gpu.constants.basis,
        )
        for part in found
    ]


def _concerns(model: Model, name: str, constant: Constant) -> bool:
    """Whether a constant takes part in this model's time."""
    if name.startswith("moe_"):
        return model.experts is not None
    if name.startswith("mla_"):
        return any(isinstance(group.layer, MlaLatent) for group in model.groups)
    return name != "comm_crowding" or constant.value > 0


def _constant(name: str, constant: Constant) -> str:
    scale, unit = (1e6, " us") if name.endswith("_s") else (1.0, "")
    value, low, high = (show_significant(end * scale, 2) for end in constant)
    return f"{name.removesuffix('_s')} {value}{unit} ({low} to {high})"
