"""What a technique's entry may say: what it changes, what has been published of its effect, and where it is known to fail."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from ..cost.technique import Kind
from .fields import Count, Entry, KvDtype, Strict

__all__ = ["TechniqueEntry"]

Share = Annotated[float, Field(gt=0, le=1)]
_NEEDS = {"format": "kv_dtype", "share": "share", "blocks": "block_tokens"}


class ChangeSpec(Strict):
    """What is changed in a question: a storage format, a share of the 16-bit bytes on the wire, or how they are sent.

    pages  whether a share leaves pages out (dropped tokens or layers), so that descriptors fall with the bytes
    """

    kind: Kind
    kv_dtype: KvDtype | None = None
    share: Share | None = None
    first_tokens: Annotated[int, Field(ge=0)] = 0
    pages: bool = False
    block_tokens: Count | None = None

    @model_validator(mode="after")
    def _complete(self) -> ChangeSpec:
        for kind, field in _NEEDS.items():
            if (self.kind == kind) != (getattr(self, field) is not None):
                raise ValueError(f"{field} belongs to kind {kind}, and to it alone")
        return self


class Published(Strict):
    """A published effect on quality. `models` are catalog ids or the beginnings of ids, none = of any or unnamed models."""

    models: list[str] = Field(default_factory=list)
    length: Count | None = None
    effect: str
    source: str


class Caution(Strict):
    """Where it is known to fail. Every condition given must hold; a caution without one would say nothing of a model.

    layers      what the model has; dense-mla: latents without the indexer of sparse attention
    below_bits  some token is kept in fewer bits than these, as budget and mix are asked for
    """

    models: list[str] = Field(default_factory=list)
    min_tokens: Count | None = None
    min_head_dim: Count | None = None
    layers: Literal["heads", "window", "mla", "dense-mla", "recurrent"] | None = None
    overlap: Literal["push", "decode-start"] | None = None
    below_bits: Count | None = None
    text: str
    source: str

    @model_validator(mode="after")
    def _of_something(self) -> Caution:
        if not any((self.models, self.min_tokens, self.min_head_dim, self.layers, self.overlap, self.below_bits)):
            raise ValueError("a caution needs a condition: models, min_tokens, min_head_dim, layers, overlap or below_bits")
        return self


class TechniqueEntry(Entry):
    """A technique that cuts or hides the transfer.

    group     store (the engine keeps the cache so), codec (on the wire alone), hide, avoid, send
    excludes  what it takes hold of; two techniques that share one cannot be combined
    risk      0 exact, 1 small published loss, 2 known to fail on some models, 3 research
    needs     heads: attention with heads; latent: latent attention; any
    codec     none; fused (the engine stores it so); pass (at least one pass over memory at either end); unknown
    measured  published times that stand beside ours
    """

    group: Literal["store", "codec", "hide", "avoid", "send"]
    change: ChangeSpec
    excludes: Annotated[
        list[Literal["bits", "tokens", "layers", "overlap", "prefix", "route", "store", "blocks", "regions", "rails", "link"]], Field(min_length=1)
    ]
    risk: Annotated[int, Field(ge=0, le=3)]
    research: bool = False
    needs: Literal["any", "heads", "latent"] = "any"
    codec: Literal["none", "fused", "pass", "unknown"] = "none"
    quality: str
    measured: str = ""
    published: list[Published] = Field(default_factory=list)
    cautions: list[Caution] = Field(default_factory=list)
