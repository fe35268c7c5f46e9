"""A model as the cost functions see it."""

from typing import NamedTuple

from ..errors import KvcostError, Notice
from .layers import Indexer, LayerGroup, MlaLatent, Recurrent, SharedKv

__all__ = ["Experts", "Model", "attention_kv_heads", "check_model_tp", "kv_layers"]


class Experts(NamedTuple):
    """A mixture of experts: `per_token` of `experts` routed experts run, holding `params` in all."""

    experts: int
    per_token: int
    params: int


class Model(NamedTuple):
    """One model: its cache, layer group by layer group, and the sizes that compute needs.

    dtype                  16-bit dtype that the model computes in and, unless kv_dtype says otherwise, of its KV
    weight_dtype           dtype of quantised weights ("auto": the same as dtype); it says nothing about the KV
    kv_dtype               KV format that the checkpoint itself asks for ("auto": the same as dtype)
    params_total/active    parameters in all and used per token, the input embedding included
    params_input_embedding of these, the input embedding (a look-up, no arithmetic)
    params_towers          of these, vision or audio towers
    experts                routed experts, None for a dense model
    notes                  what was assumed where the model's own files leave it open
    """

    name: str
    title: str
    groups: tuple[LayerGroup, ...]
    query_heads: int
    head_dim: int
    hidden_size: int
    dtype: str
    kv_dtype: str = "auto"
    context_limit_tokens: int | None = None
    params_total: int | None = None
    params_active: int | None = None
    params_input_embedding: int = 0
    tied_embeddings: bool = False
    params_towers: int = 0
    vocab_size: int = 0
    experts: Experts | None = None
    provenance: str = "spec"
    source: str = ""
    notes: tuple[Notice, ...] = ()
    weight_dtype: str = "auto"


def kv_layers(model: Model) -> int:
    """Layers that own a cache (or a state), the L over which a layer-wise transfer is spread."""
    return sum(group.layers for group in model.groups if not isinstance(group.layer, SharedKv | Indexer))


def attention_kv_heads(model: Model) -> tuple[int, ...]:
    """The distinct KV head counts of the layers that tensor parallelism shards by head."""
    heads = {group.layer.kv_heads for group in model.groups if not isinstance(group.layer, SharedKv | Indexer | MlaLatent | Recurrent)}
    return tuple(sorted(heads))


def check_model_tp(model: Model, tp: int) -> None:
    """Raises KvcostError unless `tp` ranks can share the model's heads.

    Query heads must divide evenly, and KV heads must divide by tp or be copied a whole number of times.
    """
    for heads in attention_kv_heads(model):
        if heads % tp and tp % heads:
            fitting = [t for t in (1, 2, 4, 8, 16, 32, 64) if not (heads % t and t % heads) and not model.query_heads % t]
            raise KvcostError(
                f"TP {tp} does not fit {model.name}: {heads} KV heads neither divide by {tp} nor into it",
                hint="choose one of " + ", ".join(map(str, fitting)),
            )
    if model.query_heads % tp:
        fitting = [t for t in (1, 2, 4, 8, 16, 32, 64) if not model.query_heads % t]
        raise KvcostError(f"TP {tp} does not divide the {model.query_heads} query heads of {model.name}", hint="choose one of " + ", ".join(map(str, fitting)))
