"""KV bytes as exact integers: held by a request, reserved by a paged engine; `wire` says what travels.

A model's layers are first folded into a `KvLayout`: stretches of the prompt that are cached at one
size a token (`Span`) and parts that do not grow (`Constant`). Every byte count is then a sum over
a handful of spans, for any context length.
"""

from collections.abc import Sequence
from typing import Literal, NamedTuple, assert_never

from ..errors import KvcostError
from .dtypes import Encoding
from .layers import (
    Chunked,
    CrossAttention,
    FullAttention,
    Indexer,
    LayerGroup,
    MlaLatent,
    Recurrent,
    SharedKv,
    SlidingWindow,
)

__all__ = [
    "Constant",
    "KvLayout",
    "Span",
    "blocks_of",
    "cached_tokens",
    "ceil_div",
    "copies",
    "held_bytes",
    "kv_layout",
    "marginal_bytes",
    "rank_bytes",
    "reserved_bytes",
    "span_bytes_of",
    "state_bytes",
]


class Span(NamedTuple):
    """Layers that cache the same stretch of the prompt.

    reach          full: all n tokens; window: min(n, limit); chunk: n mod limit
    limit_tokens   window or chunk length, 0 for full
    layers         how many
    row_bytes      bytes per token and layer
    recent_bytes   the same for the newest tokens that a format keeps at 16 bit
    kv_heads       heads that tensor parallelism shards; 0 = every rank holds a whole copy
    """

    reach: Literal["full", "window", "chunk"]
    limit_tokens: int
    layers: int
    row_bytes: int
    recent_bytes: int
    kv_heads: int


class Constant(NamedTuple):
    """Layers whose cache does not grow with the prompt: recurrent state, encoder KV.

    kv_heads as in Span, or -1 where the state is sharded over the ranks without copies.
    """

    layers: int
    layer_bytes: int
    kv_heads: int
    pieces: int


class KvLayout(NamedTuple):
    """A model's cache in one storage format."""

    spans: tuple[Span, ...]
    constants: tuple[Constant, ...]
    residual_tokens: int


def ceil_div(a: int, b: int) -> int:
    """A / b, rounded up."""
    return -(-a // b)


def _row_bytes(encoding: Encoding, heads: int, dim: int) -> int:
    """Bytes of one token's K (or V) row of `heads` x `dim` elements, scales included."""
    elements = heads * dim
    groups = ceil_div(elements, encoding.group_elements) if encoding.group_elements else heads
    bits = elements * encoding.element_bits + groups * encoding.scale_bits
    return ceil_div(bits, 8) if encoding.whole_bytes else bits / 8  # type: ignore[return-value]  # a real number, in a search alone


def _latent_bytes(encoding: Encoding, latent_dim: int, rope_dim: int) -> int:
    if not encoding.rope_bits:
        return _row_bytes(encoding, 1, latent_dim + rope_dim)
    return _row_bytes(encoding, 1, latent_dim) + ceil_div(rope_dim * encoding.rope_bits, 8)


def _attention(encoding: Encoding, reach: Literal["full", "window", "chunk"], limit: int, count: int, heads: int, k_dim: int, v_dim: int) -> Span:
    if encoding.latent_only:
        raise KvcostError(
            f"KV dtype {encoding.name} stores MLA latents only, and this model has attention layers with heads", hint="use --kv-dtype fp8 or auto"
        )
    row = _row_bytes(encoding, heads, k_dim) + _row_bytes(encoding, heads, v_dim)
    recent = 2 * heads * (k_dim + v_dim) if encoding.residual_tokens else row
    return Span(reach, limit, count, row, recent, heads)


def kv_layout(groups: Sequence[LayerGroup], encoding: Encoding, *, hybrid_cache: bool = True) -> KvLayout:
    """The spans and constants of a model's cache, one span per distinct kind of layer.

    With `hybrid_cache` off every window and chunk layer stores the whole prompt, as engines do whose
    connector lacks hybrid-cache support.

    >>> from .dtypes import parse_kv_dtype
    >>> kv_layout([LayerGroup(80, FullAttention(8, 128, 128))], parse_kv_dtype("bf16")).spans[0].row_bytes
    4096

    Raises KvcostError for a format that cannot store one of the layers.
    """
    spans: list[Span] = []
    constants: list[Constant] = []
    for count, layer in groups:
        match layer:
            case FullAttention(heads, k_dim, v_dim):
                spans.append(_attention(encoding, "full", 0, count, heads, k_dim, v_dim))
            case SlidingWindow(heads, k_dim, v_dim, window):
                spans.append(_attention(encoding, "window" if hybrid_cache else "full", window if hybrid_cache else 0, count, heads, k_dim, v_dim))
            case Chunked(heads, k_dim, v_dim, chunk):
                spans.append(_attention(encoding, "chunk" if hybrid_cache else "full", chunk if hybrid_cache else 0, count, heads, k_dim, v_dim))
            case MlaLatent(latent_dim, rope_dim):
                row = _latent_bytes(encoding, latent_dim, rope_dim)
                recent = 2 * (latent_dim + rope_dim) if encoding.residual_tokens else row
                spans.append(Span("full", 0, count, row, recent, 0))
            case Indexer(row_bytes):
                spans.append(Span("full", 0, count, row_bytes, row_bytes, 0))
            case Recurrent(conv, ssm, conv_bits, ssm_bits, pieces):
                constants.append(Constant(count, ceil_div(conv * conv_bits, 8) + ceil_div(ssm * ssm_bits, 8), -1, pieces))
            case CrossAttention(heads, k_dim, v_dim, encoder_tokens):
                row = _row_bytes(encoding, heads, k_dim) + _row_bytes(encoding, heads, v_dim)
                constants.append(Constant(count, encoder_tokens * row, heads, 1))
            case SharedKv():
                pass
            case _ as unreachable:
                assert_never(unreachable)
    return KvLayout(tuple(spans), tuple(constants), encoding.residual_tokens)


def cached_tokens(span: Span, n: int) -> int:
    """Tokens of the span that a prompt of n tokens holds: n, min(n, window), or n mod chunk."""
    if span.reach == "full":
        return n
    return min(n, span.limit_tokens) if span.reach == "window" else n % span.limit_tokens


def span_bytes_of(span: Span, tokens: int, residual_tokens: int) -> int:
    """Bytes of so many tokens of the span: layers x tokens x row bytes, the newest at 16 bit where the format keeps them so."""
    recent = min(tokens, residual_tokens)
    return span.layers * ((tokens - recent) * span.row_bytes + recent * span.recent_bytes)


def state_bytes(layout: KvLayout) -> int:
    """Bytes that do not grow with the prompt: recurrent state and encoder KV."""
    return sum(constant.layers * constant.layer_bytes for constant in layout.constants)


def held_bytes(layout: KvLayout, ctx_tokens: int) -> int:
    """Bytes that a request of `ctx_tokens` holds: sum of layers x cached tokens x row bytes, plus state.

    >>> from .dtypes import parse_kv_dtype
    >>> llama2_70b = [LayerGroup(80, FullAttention(8, 128, 128))]
    >>> held_bytes(kv_layout(llama2_70b, parse_kv_dtype("bf16")), 4096)
    1342177280

    Source: PagedAttention (SOSP'23) section 3 for the form; layer kinds as served by vLLM.
    """
    total = state_bytes(layout)
    for span in layout.spans:
        total += span_bytes_of(span, cached_tokens(span, ctx_tokens), layout.residual_tokens)
    return total


def marginal_bytes(layout: KvLayout, ctx_tokens: int) -> int:
    """Bytes that one more token adds at `ctx_tokens`; window and chunk layers add 0 once they are full.

    >>> from .dtypes import parse_kv_dtype
    >>> gemma = [LayerGroup(10, FullAttention(16, 128, 128)), LayerGroup(52, SlidingWindow(16, 128, 128, 1024))]
    >>> layout = kv_layout(gemma, parse_kv_dtype("bf16"))
    >>> marginal_bytes(layout, 512), marginal_bytes(layout, 4096)
    (507904, 81920)
    """
    return sum(
        span.layers * (span.row_bytes if ctx_tokens >= layout.residual_tokens else span.recent_bytes)
        for span in layout.spans
        if span.reach == "full" or ctx_tokens < span.limit_tokens
    )


def rank_bytes(layout: KvLayout, ctx_tokens: int, tp: int) -> int:
    """Bytes that one of `tp` ranks holds: its share of the heads, at least one head, a latent whole.

    >>> from .dtypes import parse_kv_dtype
    >>> rank_bytes(kv_layout([LayerGroup(94, FullAttention(4, 128, 128))], parse_kv_dtype("bf16")), 1, 8)
    48128
    """
    total = 0
    for span in layout.spans:
        span_bytes = span_bytes_of(span, cached_tokens(span, ctx_tokens), layout.residual_tokens)
        total += ceil_div(span_bytes * copies(span.kv_heads, tp), tp)
    for constant in layout.constants:
        total += ceil_div(constant.layers * constant.layer_bytes * copies(constant.kv_heads, tp), tp)
    return total


def blocks_of(span: Span, n: int, block_tokens: int) -> int:
    """Blocks of one layer: a window keeps the blocks that it touches, one more than its length fills."""
    if span.reach == "window":
        return min(ceil_div(n, block_tokens), ceil_div(span.limit_tokens, block_tokens) + 1)
    return ceil_div(cached_tokens(span, n), block_tokens)


def reserved_bytes(layout: KvLayout, ctx_tokens: int, block_tokens: int) -> int:
    """Bytes that an engine with pages of `block_tokens` sets aside for the request.

    Full layers take ceil(n/B) blocks, window layers min(ceil(n/B), ceil(w/B) + 1), chunk layers the
    blocks of the current chunk. With block_tokens 0 (no pages) it is what the request holds.

    Source: vLLM KV cache groups; held against 114 page-size computations.
    """
    if not block_tokens:
        return held_bytes(layout, ctx_tokens)
    total = state_bytes(layout)
    for span in layout.spans:
        total += span_bytes_of(span, blocks_of(span, ctx_tokens, block_tokens) * block_tokens, layout.residual_tokens)
    return total


def copies(kv_heads: int, decode_tp: int) -> int:
    """Copies of a layer's cache over the ranks: max(1, t/heads), t for a latent, 1 for a sharded state."""
    if kv_heads < 0:
        return 1
    return max(1, decode_tp // kv_heads) if kv_heads else decode_tp
