"""`transfer`: how long a request's KV takes over a link, and what of it is exposed."""

from collections.abc import Iterator, Sequence
from typing import Any

from ..errors import Notice
from .document import Source, keyed
from .plan import Options, Path, Work, held_tokens, model_notices, paths, works
from .reading import Reader
from .sending import TransferRow, cached, on_lanes, row_of, sends_of
from .size import model_sources

__all__ = ["TRANSFER_OPTIONS", "TransferQuestion", "TransferRow"]

TRANSFER_OPTIONS = (
    *("model", "ctx", "kv_dtype", "state_dtype", "encoder_tokens", "block_size", "hybrid_cache", "prefix_hit"),
    *("link", "path", "staging", "forwarding", "rails", "bandwidth", "efficiency", "latency", "engine", "overlap", "basis"),
    *("tp", "prefill_tp", "decode_tp", "prefill_time", "decode_step_time"),
)


def path_sources(sent: Sequence[Path]) -> dict[str, Source]:
    """Where the rates, efficiencies and engine times come from."""
    links = {path.link.name: path.link for path in sent}
    engines = {path.engine.name: path.engine for path in sent}
    found = {}
    for name, link in links.items():
        rate = None if link.bandwidth_bytes_per_s == float("inf") else link.bandwidth_bytes_per_s
        nominal = link.rate_provenance
        found[keyed("bandwidth_bytes_per_s", name, len(links))] = Source(rate, nominal, link.source, name)
        found[keyed("efficiency", name, len(links))] = Source(link.efficiency, link.provenance, link.source, name)
        for end, value, what in (("low", link.achieved_low_bytes_per_s, link.low_name), ("high", link.achieved_high_bytes_per_s, link.high_name)):
            shown = None if value == float("inf") else value
            found[keyed(f"achieved_{end}_bytes_per_s", name, len(links))] = Source(shown, link.provenance, what, name)
    for name, engine in engines.items():
        found[keyed("t0_s", name, len(engines))] = Source(engine.t0_s, engine.provenance, engine.source, name)
        found[keyed("descriptor_s", name, len(engines))] = Source(engine.descriptor_s, engine.provenance, engine.source, name)
    return found


class TransferQuestion:
    """Works, prefix hits and paths; rows in the order model, KV dtype, TP, context, prefix hit, path."""

    command = "transfer"

    def __init__(self, reader: Reader, options: Options, explain: bool = False) -> None:
        self.explain = explain
        self.columns = (*TransferRow._fields, "terms") if explain else TransferRow._fields
        self.works = works(reader, options)
        self.hits: list[float | None] = reader.values("prefix_hit", options.get("prefix_hit", ()))
        self.paths = paths(reader, options)
        self.sends, self.cuts = sends_of(self.paths)

    def count(self, lengths: Sequence[int]) -> int:
        """Rows at these lengths."""
        return len(self.works) * len(lengths) * len(self.hits) * len(self.paths)

    def rows(self, lengths: Sequence[int]) -> Iterator[tuple[Any, ...]]:
        """The rows: the values of a TransferRow each."""
        return (row for _, _, row in self.priced(lengths))

    def priced(self, lengths: Sequence[int]) -> Iterator[tuple[Work, Path, tuple[Any, ...]]]:
        """The rows with the work and the path that they price."""
        sends, cuts = self.sends, self.cuts
        for work in self.works:
            laned = [on_lanes(send, work) for send in sends]
            for ctx in lengths:
                for hit in self.hits:
                    prefix = held_tokens(hit, ctx)
                    found = [cached(work, ctx, prefix, cut) for cut in cuts]
                    for send in laned:
                        row = row_of(work, ctx, prefix, found[send.cut], cuts[send.cut], send)
                        yield work, send.path, (*row, self._terms(work, TransferRow._make(row), send.path)) if self.explain else row

    def _terms(self, work: Work, row: TransferRow, path: Path) -> list[Any]:
        from .terms import size_terms, transfer_terms

        layout = work.layout if path.engine.hybrid_cache else work.flat_layout
        held = size_terms(layout, work.encoding, row.ctx_tokens, row.kv_bytes, work.model.provenance)
        return held + transfer_terms(path.link, path.engine, row.wire_bytes, row.lanes, row.descriptors, row.engine_s)

    def notices(self, lengths: Sequence[int]) -> list[Notice]:
        """Assumptions, lengths beyond a model's limit, prefix hits beyond a length, overlap that cannot be priced."""
        notices = model_notices([work.model for work in self.works], max(lengths))
        if any(isinstance(hit, int) and hit > min(lengths) for hit in self.hits):
            message = "the prefix hit exceeds a context length; there the whole prompt counts as held"
            notices.append(Notice("prefix-hit-clamped", message, "give a share such as 50%"))
        notices += self._rail_notices()
        for overlap, option, missing in (("push", "--prefill-time", "prefill_times"), ("decode-start", "--decode-step-time", "decode_step_s")):
            if any(path.overlap == overlap and getattr(path, missing) is None for path in self.paths):
                notices.append(Notice("exposed-unknown", f"what {overlap} hides depends on the compute time, which is not known", f"give {option}"))
        return notices

    def _rail_notices(self) -> list[Notice]:
        """Ports that several ranks share unless told otherwise, and rails that no rank can use."""
        ranks = max(min(work.prefill_tp, work.decode_tp) for work in self.works)
        found = []
        for path in self.paths:
            if path.link.scope == "port" and path.rails is None and ranks > 1 and path.link.bandwidth_bytes_per_s != float("inf"):
                found.append(Notice("one-port", f"{ranks} ranks share one port of {path.link.name}", f"give --rails {ranks} if every rank has its own"))
            if path.rails is not None and path.rails > ranks:
                found.append(Notice("rails-unused", f"{path.rails} rails, but {ranks} {'ranks send' if ranks > 1 else 'rank sends'}: one rail each", ""))
        return list(dict.fromkeys(found))

    def sources(self, lengths: Sequence[int]) -> dict[str, Source]:
        """Models, links and engines."""
        return {**model_sources(self.works, lengths[0]), **path_sources(self.paths)}
