"""A technique that cuts or hides the transfer, as its catalog entry describes it."""

from __future__ import annotations

from typing import Literal, NamedTuple

__all__ = ["Caution", "Change", "Kind", "Published", "Technique"]

Kind = Literal[
    "format",
    "share",
    "tiers",
    "mix",
    "keep",
    "layers",
    "prefix",
    "conditional",
    "store",
    "push",
    "decode-start",
    "blocks",
    "cross-layer",
    "rails",
    "rdma",
    "gpudirect",
]


class Change(NamedTuple):
    """What is changed; `share` and `first_tokens` are of the 16-bit bytes, `pages` says whether pages are left out."""

    kind: Kind
    kv_dtype: str | None = None
    share: float | None = None
    first_tokens: int = 0
    pages: bool = False
    block_tokens: int | None = None


class Published(NamedTuple):
    """A published effect on quality, of models by id or the beginning of it."""

    models: tuple[str, ...]
    length: int | None
    effect: str
    source: str


class Caution(NamedTuple):
    """Where a technique is known to fail: all conditions that are given must hold."""

    models: tuple[str, ...]
    min_tokens: int | None
    min_head_dim: int | None
    layers: str | None
    overlap: str | None
    below_bits: int | None
    text: str
    source: str


class Technique(NamedTuple):
    """One technique; `place` is its place in the catalog, the order in which combinations are named and applied."""

    name: str
    place: int
    group: str
    change: Change
    excludes: frozenset[str]
    risk: int
    research: bool
    needs: str
    codec: str
    quality: str
    measured: str
    published: tuple[Published, ...]
    cautions: tuple[Caution, ...]
    source: str
    provenance: str

    @property
    def is_codec(self) -> bool:
        """Whether it makes the bytes fewer by encoding, dropping or leaving out."""
        return self.group in ("store", "codec")
