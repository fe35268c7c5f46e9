"""The same break-even question with one thing changed at a time."""

from typing import NamedTuple

from ..errors import KvcostError
from .article import needed_over, prefill_elsewhere
from .breakeven import BreakevenQuestion
from .gains import GainRow
from .plan import Options
from .reading import Reader
from .transfer import TransferRow

__all__ = ["Change", "commented", "what_if"]


class Change(NamedTuple):
    """One thing changed, and what becomes of the answer."""

    change: str
    net_gain_s: float | None
    verdict: str
    breakeven_saved_s: float | None


def what_if(reader: Reader, options: Options, row: TransferRow, gain: GainRow) -> tuple[Change, ...]:
    """The same question with one thing changed at a time: fewer bytes, hidden bytes, a faster link."""
    changes: list[tuple[str, dict[str, list[str]]]] = []
    if row.kv_dtype in ("bf16", "fp16"):
        changes.append(("FP8 KV", {"kv_dtype": ["fp8"]}))
    if row.overlap == "serial" and row.transfer_s and (gain.prefill_s is not None or "prefill_time" in options):
        changes.append(("layer push", {"overlap": ["push"]}))
    if row.bandwidth_bytes_per_s is not None:
        changes.append(("4x the line rate", {"bandwidth": [f"{4 * row.bandwidth_bytes_per_s!r}B/s"]}))
        changes.append(("an unlimited link", {"bandwidth": ["inf"]}))
    pool = {"prefill": "prefill_instances", "decode-compute": "decode_instances", "decode-memory": "decode_instances"}.get(gain.limit or "", "")
    instances = getattr(gain, pool, None) if pool else None
    if instances and gain.ttft_disagg_s is None and "mono_instances" not in options:
        name = f"{instances + 1} {pool.removesuffix('_instances')} instances, as many GPUs on both sides"
        changes.insert(0, (name, {pool: [str(instances + 1)]}))
    found = []
    before = reader.wanted, reader.for_people
    reader.wanted, reader.for_people = frozenset(("net_gain_s", "verdict", "breakeven_saved_s")), False
    try:
        for name, change in changes:
            try:
                question = BreakevenQuestion(reader, {**options, **change})
                values = dict(zip(question.columns, next(question.rows([row.ctx_tokens])), strict=True))
            except KvcostError:
                continue
            found.append(Change(name, values["net_gain_s"], values["verdict"], values["breakeven_saved_s"]))
    finally:
        reader.wanted, reader.for_people = before
    return tuple(found)


def commented(reader: Reader, options: Options, row: TransferRow, gain: GainRow) -> GainRow:
    """An answer with what would change it and, where there is no verdict, what the saving may be held against."""
    gain = gain._replace(what_if=what_if(reader, options, row, gain))
    if gain.verdict != "unknown":
        return gain
    return gain._replace(prefill_elsewhere=prefill_elsewhere(reader, row), saved_needed=needed_over(reader, options, row.link))
