"""What a model computes and reads, counted: parameters used, attention's areas, cache rows read.

Counts only, no time: `compute` divides them by what a GPU does a second.
"""

from __future__ import annotations

from typing import Literal, NamedTuple, assert_never

from ..errors import KvcostError
from .dtypes import Encoding
from .kv import kv_layout
from .layers import Chunked, CrossAttention, FullAttention, Indexer, MlaLatent, Recurrent, SharedKv, SlidingWindow
from .model import Model

__all__ = ["Attention", "Params", "attended", "attended_tokens", "attentions", "layer_count", "params_of", "weight_bytes"]

# DeepSeek-V3.2 and GLM-5: the indexer has 64 heads and lets 2048 tokens through.
_INDEXER_HEADS = 64
_INDEXER_TOKENS = 2048
# Decay, outer product and read-out of a recurrent state: 2 FLOPs each per element and token.
_STATE_FLOPS = 6


class Params(NamedTuple):
    """Parameters by what is done with them.

    body            run for every token: attention, dense and shared feed-forward, router
    expert_active   routed experts that one token runs; expert_total all of them
    head            the output head: once per sequence in prefill, kept at 16 bit
    idle            held but not run: the input embedding, vision and audio towers
    """

    body: int
    expert_active: float
    expert_total: int
    head: int
    idle: int


class Attention(NamedTuple):
    """Layers with the same reach, and what one query costs in them.

    flops_per_pair   all layers together, per query and attended token, in prefill
    decode_flops     the same in a decode step (an MLA latent is read absorbed)
    row_bytes        all layers together, per cached token read
    kv_heads         heads that tensor parallelism shards; 0 = every rank reads all, -1 = nothing is copied
    """

    reach: Literal["full", "window", "chunk", "constant"]
    limit_tokens: int
    flops_per_pair: float
    decode_flops: float
    row_bytes: float
    kv_heads: int


def params_of(model: Model) -> Params:
    """Parameters of a model by use.

    body = active - embeddings - towers - active experts; the input embedding is a look-up.

    Raises KvcostError when the model's parameter counts are not known.
    """
    if model.params_total is None or model.params_active is None:
        raise KvcostError(f"the parameters of {model.name} are not known, so nor is its compute time", hint="add params_total and params_active to its entry")
    head = model.vocab_size * model.hidden_size or model.params_input_embedding
    embedding = 0 if model.tied_embeddings else model.params_input_embedding
    experts = model.experts
    expert_total = experts.params if experts else 0
    expert_active = experts.params * experts.per_token / experts.experts if experts else 0.0
    body = model.params_total - embedding - model.params_towers - head - expert_total
    return Params(max(0, body), expert_active, expert_total, min(head, model.params_total), embedding + model.params_towers)


def weight_bytes(params: Params, bytes_per_param: float) -> float:
    """Bytes of all weights: body and experts in the weight dtype, embeddings, head and towers at 16 bit."""
    return (params.body + params.expert_total) * bytes_per_param + 2.0 * (params.head + params.idle)


def layer_count(model: Model) -> int:
    """Layers that run, those that share another layer's cache included."""
    return sum(group.layers for group in model.groups if not isinstance(group.layer, Indexer))


def _mla(model: Model, layer: MlaLatent, sparse: bool, count: int, row_bytes: int) -> Attention:
    """Prefill expands the latent to heads of head_dim (the value part without rope); decode works on the latent."""
    v_dim = max(1, model.head_dim - layer.rope_dim)
    prefill = 2 * model.query_heads * (model.head_dim + v_dim)
    decode = 2 * model.query_heads * (2 * layer.latent_dim + layer.rope_dim)
    limit = _INDEXER_TOKENS if sparse else 0
    return Attention("window" if sparse else "full", limit, count * prefill, count * decode, count * row_bytes, 0)


def _one(model: Model, index: int, sparse: bool, shared: float, encoding: Encoding) -> Attention | None:
    count, layer = model.groups[index]
    single = kv_layout(model.groups[index : index + 1], encoding)
    row_bytes = single.spans[0].row_bytes if single.spans else 0
    match layer:
        case FullAttention(heads, k_dim, v_dim) | SlidingWindow(heads, k_dim, v_dim, _) | Chunked(heads, k_dim, v_dim, _):
            span = single.spans[0]
            flops = 2.0 * model.query_heads * (k_dim + v_dim) * count * shared
            return Attention(span.reach, span.limit_tokens, flops, flops, row_bytes * count * shared, heads)
        case MlaLatent():
            return _mla(model, layer, sparse, count, row_bytes)
        case Indexer(row):
            flops = 2.0 * _INDEXER_HEADS * row * count
            return Attention("full", 0, flops, flops, count * row, 0)
        case CrossAttention(heads, k_dim, v_dim, encoder_tokens):
            flops = 2.0 * model.query_heads * (k_dim + v_dim) * count * encoder_tokens
            return Attention("constant", 0, flops, flops, count * single.constants[0].layer_bytes, heads)
        case Recurrent(_, ssm_elements):
            flops = float(_STATE_FLOPS * ssm_elements * count)
            # The state is read and written once a step.
            return Attention("constant", 0, flops, flops, 2.0 * count * single.constants[0].layer_bytes, -1)
        case SharedKv():
            return None
        case _ as unreachable:
            assert_never(unreachable)


def attentions(model: Model, encoding: Encoding) -> tuple[Attention, ...]:
    """What a query attends to and reads, layers of the same reach together.

    Layers that share another layer's cache attend like the mean of those that own one. With an indexer
    the latent layers attend to 2048 tokens, and the indexer itself to all.

    Raises KvcostError for a format that cannot store one of the layers.
    """
    sparse = any(isinstance(group.layer, Indexer) for group in model.groups)
    owning = sum(group.layers for group in model.groups if isinstance(group.layer, FullAttention | SlidingWindow | Chunked))
    sharing = sum(group.layers for group in model.groups if isinstance(group.layer, SharedKv))
    shared = 1.0 + sharing / owning if owning else 1.0
    merged: dict[tuple[str, int, int], Attention] = {}
    for index in range(len(model.groups)):
        item = _one(model, index, sparse, shared, encoding)
        if item is None:
            continue
        key = item.reach, item.limit_tokens, item.kv_heads
        old = merged.get(key)
        merged[key] = (
            item
            if old is None
            else item._replace(
                flops_per_pair=old.flops_per_pair + item.flops_per_pair,
                decode_flops=old.decode_flops + item.decode_flops,
                row_bytes=old.row_bytes + item.row_bytes,
            )
        )
    return tuple(merged.values())


def attended(reach: str, limit_tokens: int, tokens: int) -> float:
    """Query-key pairs of a causal prefill of `tokens` in one layer: n^2/2, with windows and chunks their own sum.

    full n^2/2; window w: w*n - w^2/2 beyond w; chunk c: floor(n/c)*c^2/2 + (n mod c)^2/2; constant: n.

    >>> attended("full", 0, 4096), attended("window", 1024, 4096), attended("chunk", 1024, 4096)
    (8388608.0, 3670016.0, 2097152.0)
    """
    if reach == "full":
        return tokens * tokens / 2
    if reach == "constant":
        return float(tokens)
    if tokens <= limit_tokens:
        return tokens * tokens / 2
    if reach == "window":
        return limit_tokens * (tokens - limit_tokens / 2)
    whole, rest = divmod(tokens, limit_tokens)
    return (whole * limit_tokens * limit_tokens + rest * rest) / 2


def attended_tokens(reach: str, limit_tokens: int, tokens: int) -> int:
    """Cached tokens that a decode step at `tokens` reads in one layer; a chunk counts as full once it was.

    >>> attended_tokens("window", 1024, 4096), attended_tokens("constant", 0, 4096)
    (1024, 1)
    """
    if reach == "full":
        return tokens
    return 1 if reach == "constant" else min(tokens, limit_tokens)
