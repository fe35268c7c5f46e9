"""`size`: how many KV bytes a request holds."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from ..cost.kv import held_bytes, marginal_bytes, rank_bytes, reserved_bytes, state_bytes
from .document import Document, Source, keyed
from .plan import Options, Work, contexts, engines_for_size, length_notices, works
from .reading import Reader

__all__ = ["SIZE_OPTIONS", "SizeRow", "model_sources", "size_document"]

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


def model_sources(planned: list[Work], ctx_tokens: int) -> dict[str, Source]:
    """Where the bytes per token of each model come from (their value at the first length)."""
    models = {work.model.name: work for work in planned}
    return {
        keyed("kv_bytes_per_token", name, len(models)): Source(marginal_bytes(work.layout, ctx_tokens), work.model.provenance, work.model.source, name)
        for name, work in models.items()
    }


def _rows(planned: list[Work], lengths: list[int], pages: list[tuple[int, bool]]) -> Iterator[SizeRow]:
    """Rows in the order of the options: model, KV dtype, TP, context, page size."""
    for work in planned:
        model = work.model
        for ctx in lengths:
            for block, hybrid in pages:
                layout = work.layout if hybrid else work.flat_layout
                yield SizeRow(
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


def _explained(planned: list[Work], rows: Iterator[SizeRow]) -> Iterator[tuple[Any, ...]]:
    from .terms import size_terms

    found = {(work.model.name, work.encoding.name, work.decode_tp): work for work in planned}
    for row in rows:
        work = found[row.model, row.kv_dtype, row.tp]
        yield (*row, size_terms(work.layout, work.encoding, row.ctx_tokens, row.kv_bytes, work.model.provenance))


def size_document(reader: Reader, options: Options, *, explain: bool = False) -> Document:
    """The KV bytes of every combination of the options given.

    Raises KvcostError for words that cannot be read and combinations that cannot be served.
    """
    planned = works(reader, options, both_sides=False)
    lengths = contexts(reader, options)
    pages = list(dict.fromkeys((engine.block_tokens, engine.hybrid_cache) for engine in engines_for_size(reader, options)))
    rows = _rows(planned, lengths, pages)
    return Document(
        command="size",
        inputs=dict(options),
        columns=(*SizeRow._fields, "terms") if explain else SizeRow._fields,
        rows=_explained(planned, rows) if explain else rows,
        total=len(planned) * len(lengths) * len(pages),
        notices=length_notices(planned, lengths),
        sources=lambda: model_sources(planned, lengths[0]),
    )
