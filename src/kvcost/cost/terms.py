"""The terms of a prefill or a decode step, one by one, each with its share, formula and constants."""

from __future__ import annotations

from typing import Literal, NamedTuple

from .compute import Groups
from .gpu import Constant
from .prepare import Prepared

__all__ = ["Term", "terms_of"]


class Term(NamedTuple):
    """One part of the time: what bounds it, its seconds and share, its formula, and the constants in it with their ranges."""

    name: str
    kind: str
    seconds: float
    share: float
    formula: str
    constants: tuple[tuple[str, Constant], ...]


# name, kind, formula and the constants of each field of Groups, prefill first.
_PREFILL = (
    ("matrix products", "compute", "2*params*rows/(t*F*eta), soft maximum with weights read", ("eta_bf16", "eta_fp8")),
    ("weights read", "memory", "weight_bytes/(t*W*eta_weights), soft maximum with products", ("eta_weights",)),
    ("experts' products", "compute", "2*expert_params*rows, whole tiles of 64/(t*F*eta_experts)", ("eta_experts_bf16", "eta_experts_fp8")),
    ("experts read", "memory", "expert_bytes*(1-(1-k/E)^rows)/(t*W*eta_weights)", ("eta_weights",)),
    ("attention", "compute", "2*Hq*(d_k+d_v)*sum of attended tokens/(t*F16*eta_attention*eta_bf16)", ("eta_attention", "eta_bf16")),
    ("cache read", "memory", "kv_bytes*copies/(t*W*eta_bw), where longer than attention", ("eta_bw",)),
    ("layers", "overhead", "L*t_layer", ("prefill_layer_s", "moe_prefill_layer_s", "mla_prefill_layer_s")),
    ("all-reduces", "communication", "c*2*L*2(t-1)/t*rows*h*2/scale-up rate", ("comm_factor", "moe_comm_factor", "comm_crowding")),
)
_DECODE = (
    ("matrix products", "compute", "2*params*batch/(t*F*eta_decode), soft maximum with weights read", ("eta_decode",)),
    ("weights read", "memory", "weight_bytes/(t*W*eta_bw), soft maximum with products", ("eta_bw", "eta_bw_fp8")),
    ("experts' products", "compute", "2*expert_params*batch/(t*F*eta_decode)", ("eta_decode",)),
    ("experts read", "memory", "expert_bytes*(1-(1-k/E)^batch)/(t*W*eta_bw)", ("eta_bw",)),
    ("attention", "compute", "2*Hq*(d_k+d_v)*batch*ctx/(t*F16*eta_attention*eta_bf16), where longer than the cache read", ("eta_attention", "eta_bf16")),
    ("cache read", "memory", "batch*kv_bytes*copies/(t*W*eta_bw)", ("eta_bw",)),
    ("layers", "overhead", "L*t_layer_d + 2*L*t_ar (t > 1)", ("decode_layer_s", "allreduce_s", "moe_decode_layer_s", "mla_decode_layer_s")),
    ("all-reduces", "communication", "c_d*2*L*2(t-1)/t*batch*h*2/scale-up rate", ("decode_comm_factor", "comm_crowding")),
)


def terms_of(prepared: Prepared, phase: Literal["prefill", "decode"], groups: Groups) -> tuple[Term, ...]:
    """The terms that take any time, largest first; their shares add up to 1.

    >>> from ..catalog.store import Catalog
    >>> from .compute import prefill_groups
    >>> from .prepare import prepare
    >>> p = prepare(Catalog().model("llama2-70b"), Catalog().gpu("h100"), tp=8)
    >>> [(term.name, round(term.share, 2)) for term in terms_of(p, "prefill", prefill_groups(p, 4096))][:2]
    [('matrix products', 0.51), ('all-reduces', 0.42)]
    """
    total = sum(groups)
    constants = prepared.gpu.constants._asdict()
    rows = zip(groups, _PREFILL if phase == "prefill" else _DECODE, strict=True)
    terms = [
        Term(name, kind, seconds, seconds / total, formula, tuple((key, constants[key]) for key in keys))
        for seconds, (name, kind, formula, keys) in rows
        if seconds > 0
    ]
    return tuple(sorted(terms, key=lambda term: -term.seconds))
