"""The article's question without a deployment: what would have to be saved, and how long a prefill takes that could save it."""

from typing import Any, NamedTuple

from ..cost.breakeven import saved_needed_s
from ..cost.capacity import gpus_needed
from ..cost.compute import prefill_time
from ..cost.prepare import prepare
from ..errors import KvcostError
from .plan import Options
from .reading import Reader
from .transfer import TransferQuestion, TransferRow

__all__ = ["Elsewhere", "Needed", "needed_over", "prefill_elsewhere"]

COMMON_GPUS = ("a100", "h100", "h200", "b200", "l40s")
COMMON_LINKS = ("nvlink4", "ib_ndr", "eth_100g", "eth_25g")
LENGTHS = (1024, 4096, 16384, 65536)


class Elsewhere(NamedTuple):
    """The prefill time of a prompt on `tp` GPUs of a kind, the fewest that hold the model."""

    gpu: str
    tp: int
    prefill_s: float


class Needed(NamedTuple):
    """The saving that a transfer of this length over this link asks for."""

    ctx_tokens: int
    link: str
    saved_s: float | None


def prefill_elsewhere(reader: Reader, row: TransferRow) -> tuple[Elsewhere, ...]:
    """The prefill time of the row's prompt on common GPUs, for comparison with the saving that would have to be there."""
    model = reader.values("model", [row.model])[0] if reader.catalog.has("models", row.model) else None
    if model is None:
        return ()
    found = []
    for name in COMMON_GPUS:
        try:
            tp = gpus_needed(prepare(model, reader.catalog.gpu(name)), row.ctx_tokens)
            if tp is not None:
                found.append(Elsewhere(name, tp, prefill_time(prepare(model, reader.catalog.gpu(name), tp=tp), row.ctx_tokens).time_s))
        except KvcostError:
            continue
    return tuple(found)


def needed_over(reader: Reader, options: Options, link: str) -> tuple[Needed, ...]:
    """The saving needed over common lengths and links, the asked link first."""
    links = [*options.get("link", ()), *(name for name in COMMON_LINKS if name != link)]
    plain: dict[str, Any] = {key: words for key, words in options.items() if key not in ("bandwidth", "ctx")}
    question = TransferQuestion(reader, {**plain, "link": links})
    found = []
    for _, path, values in question.priced(LENGTHS):
        row = TransferRow._make(values)
        saved = None if row.exposed_s is None else saved_needed_s(row.exposed_s, path.engine.handover_s, path.engine.first_token, path.decode_step_s)
        found.append(Needed(row.ctx_tokens, row.link, saved))
    return tuple(found)
