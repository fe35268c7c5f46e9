"""What the reader of config.json takes and gives back."""

from __future__ import annotations

from typing import Literal, NamedTuple

from ...cost.layers import Layer
from ...cost.model import Model
from ...errors import Notice

__all__ = ["SERVING", "Block", "Conventions", "Decoder", "Feed", "ImportedModel"]


class Conventions(NamedTuple):
    """How an engine counts what a config leaves open; the default is the serving view (vLLM).

    hf_run            count as a run of transformers holds it: windows one token shorter, chunks as windows, Falcon's
                      KV broadcast to all query heads, the indexer key in bf16, conv states one column wider, scan state in fp32
    window_minus_one  sliding layers keep w - 1 tokens instead of w
    state_dtype       dtype of the recurrent (SSM, delta, linear attention) state; "auto": as the config or its family says
    encoder_tokens    length of the encoder's output (or of the image rows of cross-attention); None: the family's default
    """

    hf_run: bool = False
    window_minus_one: bool = False
    state_dtype: Literal["auto", "bf16", "fp16", "fp32"] = "auto"
    encoder_tokens: int | None = None


SERVING = Conventions()


class ImportedModel(NamedTuple):
    """A model read from a config.json, and every assumption made on the way."""

    model: Model
    warnings: tuple[Notice, ...]


class Feed(NamedTuple):
    """Parameters of one layer's feed-forward part.

    always   those that every token uses: dense MLP, shared experts, router
    routed   all routed experts of the layer together
    experts  how many routed experts; per_token of them run
    """

    always: int = 0
    routed: int = 0
    experts: int = 0
    per_token: int = 0


class Block(NamedTuple):
    """One decoder layer: what it caches, and the parameters of its mixer (attention, scan) without the feed-forward part."""

    cache: tuple[Layer, ...]
    params: int


class Decoder(NamedTuple):
    """The decoder as a family's reader saw it.

    feeds   one per layer; None where nothing is known about the feed-forward part (then no parameters are given)
    other   parameters beside layers, embeddings and head: encoders, position tables, per-layer embeddings
    """

    blocks: tuple[Block, ...]
    feeds: tuple[Feed, ...] | None
    query_heads: int
    head_dim: int
    other: int = 0
