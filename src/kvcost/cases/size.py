"""`size`: how many KV bytes a request holds."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from ..cost.kv import KvLayout, held_bytes, marginal_bytes, rank_bytes, reserved_bytes, state_bytes
from ..errors import Notice
from .document import Source, keyed
from .plan import Options, Work, engines_of, model_notices, works
from .reading import Reader

__all__ = ["SIZE_OPTIONS", "SizeQuestion", "SizeRow", "model_sources"]

SIZE_OPTIONS = ("model", "ctx", "kv_dtype", "state_dtype", "encoder_tokens", "block_size", "hybrid_cache", "tp", "engine")


class SizeRow(NamedTuple):
    """One request's cache.

    kv_bytes what it holds (exact), reserved_bytes what pages of block_size_tokens set aside,
    rank_bytes what one of tp ranks holds of kv_bytes.
    """

    model: str
    ctx_tokens: int
    kv_dtype: str
    kv_bytes: int
    kv_bytes_per_token: int
    state_bytes: int
    reserved_bytes: int
    block_size_tokens: int
    params_total: int | None
    params_active: int | None
    tp: int
    rank_bytes: int


def model_sources(planned: Sequence[Work], ctx_tokens: int) -> dict[str, Source]:
    """Where the bytes per token of each model come from (their value at the first length)."""
    models = {work.model.name: work for work in planned}
    if len({work.encoding for work in planned}) > 1:
        models = {f"{work.model.name} {work.encoding.name}": work for work in planned}
    return {
        keyed("kv_bytes_per_token", name, len(models)): Source(marginal_bytes(work.layout, ctx_tokens), work.model.provenance, work.model.source, name)
        for name, work in models.items()
    }


class SizeQuestion:
    """Models, storage formats and page sizes; rows in the order model, KV dtype, TP, context, page size."""

    command = "size"

    def __init__(self, reader: Reader, options: Options, explain: bool = False) -> None:
        self.explain = explain
        self.columns = (*SizeRow._fields, "terms") if explain else SizeRow._fields
        self.works = works(reader, options, both_sides=False)
        self.pages = list(dict.fromkeys((engine.block_tokens, engine.hybrid_cache) for engine in engines_of(reader, options)))

    def count(self, lengths: Sequence[int]) -> int:
        """Rows at these lengths."""
        return len(self.works) * len(lengths) * len(self.pages)

    def rows(self, lengths: Sequence[int]) -> Iterator[tuple[Any, ...]]:
        """The rows, a SizeRow each."""
        for work in self.works:
            for ctx in lengths:
                for block, hybrid in self.pages:
                    row = _row(work, ctx, block, work.layout if hybrid else work.flat_layout)
                    yield (*row, self._terms(work, ctx, row, hybrid)) if self.explain else row

    def _terms(self, work: Work, ctx: int, row: SizeRow, hybrid: bool) -> list[Any]:
        from .terms import size_terms

        return size_terms(work.layout if hybrid else work.flat_layout, work.encoding, ctx, row.kv_bytes, work.model.provenance)

    def notices(self, lengths: Sequence[int]) -> list[Notice]:
        """Assumptions, and lengths beyond a model's limit."""
        return model_notices([work.model for work in self.works], max(lengths))

    def sources(self, lengths: Sequence[int]) -> dict[str, Source]:
        """The models."""
        return model_sources(self.works, lengths[0])


def _row(work: Work, ctx: int, block: int, layout: KvLayout) -> SizeRow:
    model = work.model
    return SizeRow(
        model.name,
        ctx,
        work.encoding.name,
        held_bytes(layout, ctx),
        marginal_bytes(layout, ctx),
        state_bytes(layout),
        reserved_bytes(layout, ctx, block),
        block,
        model.params_total,
        model.params_active,
        work.decode_tp,
        rank_bytes(layout, ctx, work.decode_tp),
    )
