"""What one layer caches: a closed set of eight kinds, and the model that is a list of them."""

from collections.abc import Sequence
from typing import NamedTuple

__all__ = [
    "Chunked",
    "CrossAttention",
    "FullAttention",
    "Indexer",
    "Layer",
    "LayerGroup",
    "MlaLatent",
    "Recurrent",
    "SharedKv",
    "SlidingWindow",
    "with_encoder_tokens",
    "with_state_bits",
]


class FullAttention(NamedTuple):
    """MHA, GQA or MQA: K and V of every token; kv_heads x (k_dim + v_dim) elements a token."""

    kv_heads: int
    k_dim: int
    v_dim: int


class SlidingWindow(NamedTuple):
    """Attention to the last `window_tokens`: min(n, window) tokens are cached."""

    kv_heads: int
    k_dim: int
    v_dim: int
    window_tokens: int


class Chunked(NamedTuple):
    """Attention inside chunks (Llama 4): n mod chunk tokens are cached, none at a full chunk."""

    kv_heads: int
    k_dim: int
    v_dim: int
    chunk_tokens: int


class MlaLatent(NamedTuple):
    """Multi-head latent attention: latent_dim + rope_dim elements a token, once, whole on every rank."""

    latent_dim: int
    rope_dim: int


class Indexer(NamedTuple):
    """The key cache of a sparse-attention indexer beside MLA, in a storage format of its own.

    `row_bytes` per token (vLLM: 128 fp8 + one fp32 scale = 132), whatever the KV dtype.
    """

    row_bytes: int


class SharedKv(NamedTuple):
    """A layer that reads another layer's cache and owns none."""


class Recurrent(NamedTuple):
    """Mamba, linear attention, gated delta: a state of constant size, its dtype its own.

    conv_elements at conv_bits and ssm_elements at ssm_bits; `pieces` is what a connector moves.
    """

    conv_elements: int
    ssm_elements: int
    conv_bits: int = 16
    ssm_bits: int = 16
    pieces: int = 2


class CrossAttention(NamedTuple):
    """K and V of the encoder's output: constant in the decoder's length."""

    kv_heads: int
    k_dim: int
    v_dim: int
    encoder_tokens: int


Layer = FullAttention | SlidingWindow | Chunked | MlaLatent | Indexer | SharedKv | Recurrent | CrossAttention


class LayerGroup(NamedTuple):
    """`layers` layers of one kind."""

    layers: int
    layer: Layer


def with_state_bits(groups: Sequence[LayerGroup], bits: int) -> tuple[LayerGroup, ...]:
    """The same layers with every recurrent (SSM) state stored at `bits` per element; convolution state stays.

    >>> with_state_bits([LayerGroup(2, Recurrent(10, 20))], 32)[0].layer.ssm_bits
    32
    """
    return tuple(group._replace(layer=group.layer._replace(ssm_bits=bits)) if isinstance(group.layer, Recurrent) else group for group in groups)


def with_encoder_tokens(groups: Sequence[LayerGroup], encoder_tokens: int) -> tuple[LayerGroup, ...]:
    """The same layers with cross attention over `encoder_tokens`.

    >>> with_encoder_tokens([LayerGroup(2, CrossAttention(8, 64, 64, 1500))], 100)[0].layer.encoder_tokens
    100
    """
    return tuple(
        group._replace(layer=group.layer._replace(encoder_tokens=encoder_tokens)) if isinstance(group.layer, CrossAttention) else group for group in groups
    )
