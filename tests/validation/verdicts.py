"""Verdicts predicted against measured ones: `python -m tests.validation.verdicts`.

Rows with enough input to be priced: both rates or concurrencies and, for the split side, how many workers of what size.
A search for the best layout under the limit, which three more groups would allow, is not this: it was tried first and had
7 of 13 votes right and 4 opposite, as the measured sweeps of the two sides differ. The measured ratio is oriented so that above 1 is better for the
split side, and is
classed with the bands of the verdict; rows of one group of served configurations are one vote.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from kvcost.cost.case import DRAWS, Case, compare, draw_gpu, fixed_transfer
from kvcost.cost.disagg import disagg
from kvcost.cost.dtypes import parse_kv_dtype
from kvcost.cost.goodput import Limits, disagg_goodput, mono_goodput
from kvcost.cost.kv import kv_layout
from kvcost.cost.layers import FullAttention, LayerGroup
from kvcost.cost.model import Model
from kvcost.cost.mono import mono
from kvcost.cost.prepare import Prepared, prepare
from kvcost.cost.serving import Colocated, Split, Work, model_capacity
from kvcost.cost.steps import model_steps
from kvcost.cost.verdict import classes_of, classify
from kvcost.cost.wire import wire_bytes

from .models import CATALOG, model_named
from .report import rows_of

_QWEN = Model("qwen2.5-7b", "Qwen2.5 7B", (LayerGroup(28, FullAttention(4, 128, 128)),), 28, 128, 3584, "bf16",
              params_total=7615616512, params_active=7615616512, params_input_embedding=544997376, vocab_size=152064)  # fmt: skip
_METRICS = {"mean_itl_ms": "tpot", "mean_ttft_ms": "ttft", "mean_e2e_ms": "e2e", "output_tok_per_s": "goodput", "tok_per_s_per_gpu": "goodput"}
_ORDER = {"worse": -1, "tie": 0, "better": 1}
# RDMA of unstated rate: one 100G port. From 1.2 to 49 GB/s no class changes.
_LINK_BYTES_PER_S = 11.5e9


class Vote(NamedTuple):
    name: str
    metric: str
    measured: str
    predicted: str
    ratio: float
    predicted_ratio: float
    rows: int


def _measured(row: dict[str, str], metric: str) -> tuple[str, float]:
    ratio = float(row["disagg_over_agg"])
    ratio = 1 / ratio if row["better"] == "lower" else ratio
    return classify(metric, [ratio]), ratio


def _prepared(model: str, gpu: str, tp: int, dtype: str, constants: str, kv: str = "bf16", dp: int = 1) -> Prepared:
    device = draw_gpu(CATALOG.gpu(gpu), constants)  # type: ignore[arg-type]
    return prepare(_QWEN if model == _QWEN.name else model_named(model), device, tp=tp, attention_dp=dp, weight_dtype=dtype, encoding=parse_kv_dtype(kv))


def _transfer_s(prepared: Prepared, tokens: float) -> float:
    return wire_bytes(kv_layout(prepared.model.groups, prepared.encoding), int(tokens), decode_tp=prepared.tp).wire_bytes / _LINK_BYTES_PER_S


def mooncake() -> Iterator[Vote]:
    """Qwen2.5-7B, 4-bit weights, on A10: two aggregated servers against 1P1D of the same TP, at a given rate."""
    for row in rows_of("pd_verdicts"):
        if not row["source"].startswith("kvcache-ai/Mooncake"):
            continue
        tp, metric = int(row["agg_config"].rsplit("TP", 1)[1]), _METRICS[row["metric"]]
        work = Work(int(row["isl_tokens"]), int(row["osl_tokens"]), float(row["load"].split()[0]))
        outcomes = []
        for draw in DRAWS:
            prepared = _prepared("qwen2.5-7b", "a10", tp, "int4", draw.constants)
            steps, router = model_steps(prepared), draw.router or "round-robin"
            mono, split = Colocated(steps, model_capacity(prepared, 256), 2, router=router), Split(steps, steps, model_capacity(prepared, 1024), router=router)
            outcomes.append(compare(Case(work, mono, split._replace(handover_s=0.01), fixed_transfer(_transfer_s(prepared, work.prompt_tokens)))))
        measured, ratio = _measured(row, metric)
        first = outcomes[0]
        if metric == "goodput":  # the same rate is served by both unless one saturates
            ratios = [(0.0 if o.disagg.limit else 1.0) / (1e-9 if o.mono.limit else 1.0) for o in outcomes]
            predicted, shown = classify("goodput", ratios), ratios[0]
        else:
            predicted = classes_of(outcomes).get(metric, "both saturate")
            pairs = {
                "tpot": (first.mono.tpot_s, first.disagg.tpot_s),
                "ttft": (first.mono.ttft_s, first.disagg.ttft_s),
                "e2e": (first.mono.e2e_s, first.disagg.e2e_s),
            }
            shown = (pairs[metric][0] or 0.0) / (pairs[metric][1] or 1e9)
        yield Vote(
            f"Mooncake A10 {row['agg_config']} {row['isl_tokens']}/{row['osl_tokens']} {row['load']}", row["metric"], measured, predicted, ratio, shown, 1
        )


def mori() -> Iterator[Vote]:
    """Qwen3-235B FP8 on MI300X: share of requests within 1 s and 50 ms, as goodput under TTFT and p99 gap."""
    for row in rows_of("pd_verdicts"):
        if "MORI-IO" not in row["source"]:
            continue
        work, limits, ratios = Work(2000, 1000), Limits(1.0, None, 0.050), []
        for draw in DRAWS:
            large, small = (_prepared("qwen3-235b-a22b", "mi300x", tp, "fp8", draw.constants) for tp in (8, 4))
            big, half, router = model_steps(large), model_steps(small), draw.router or "round-robin"
            split = Split(half, half, model_capacity(small, 1024), router=router, overlap="push", layers=94, handover_s=0.01)
            ours = mono_goodput(work, Colocated(big, model_capacity(large, 256), 1, router=router), limits)
            ratios.append(disagg_goodput(work, split, limits, _transfer_s(small, 2000), draw.derate) / max(ours, 1e-9))
        measured, ratio = _measured(row, "goodput")
        yield Vote("MORI-IO MI300X 235B 2000/1000 8 req/s", row["metric"], measured, classify("goodput", ratios), ratio, ratios[0], 1)


def _of(row: dict[str, str], field: str) -> int:
    return int(float(row[field] or 0))


def _configuration(row: dict[str, str], gpus: int, concurrency: int) -> dict[str, str] | None:
    """The served configuration with worker counts that a verdict row speaks of, None where the data name none."""
    for served in rows_of("silicon_serving_disagg"):
        same = served["model_path"] == row["model"].split()[0] and [served["precision"], served["backend"]] == row["model"].split()[1:]
        same = same and served["system"] == row["gpu"] and served["isl"].startswith(row["isl_tokens"]) and served["osl"].startswith(row["osl_tokens"])
        if same and _of(served, "concurrency") == concurrency and served["prefill_num_workers"]:
            sizes = [
                _of(served, f"{side}_num_workers") * _of(served, f"{side}_tp_size") * _of(served, f"{side}_attention_dp_size") for side in ("prefill", "decode")
            ]
            if sum(sizes) == gpus:
                return served
    return None


def _silicon_ratio(row: dict[str, str], constants: str) -> float | None:
    """Tokens/s and GPU, split over aggregated, each at the concurrency and with the workers of its measured best."""
    model, dtype, _ = row["model"].split()
    (gpus, in_flight), (their_gpus, their_flight) = (map(int, re.findall(r"\d+", row[side])) for side in ("agg_config", "disagg_config"))
    served = _configuration(row, their_gpus, their_flight)
    if served is None:
        return None
    gpu, n, m = row["gpu"].removesuffix("_sxm"), int(row["isl_tokens"]), int(row["osl_tokens"])
    own = _prepared(model, gpu, gpus, dtype, constants)
    ours = mono(Work(n, m, concurrency=in_flight), Colocated(model_steps(own), model_capacity(own)))
    sides = []
    for side in ("prefill", "decode"):
        tp, dp = _of(served, f"{side}_tp_size"), _of(served, f"{side}_attention_dp_size")
        sides.append(_prepared(model, gpu, tp * dp, dtype, constants, dp=dp))
    workers = _of(served, "prefill_num_workers"), _of(served, "decode_num_workers")
    split = Split(
        model_steps(sides[0]), model_steps(sides[1]), model_capacity(sides[1]), *workers, router="least-loaded", prefill_streams=sides[0].attention_dp
    )
    theirs = disagg(Work(n, m, concurrency=their_flight), split, 0.0)
    if ours.e2e_s is None or theirs.e2e_s is None:
        return None
    return their_flight / theirs.e2e_s / their_gpus / (in_flight / ours.e2e_s / gpus)


def silicon() -> Iterator[Vote]:
    """Best configurations under a TPOT limit; one vote a group, the class that most of its rows have."""
    groups: dict[tuple[str, ...], list[tuple[str, str, float, float]]] = {}
    for row in rows_of("pd_verdicts"):
        if not row["source"].startswith("AIConfigurator silicon_sample"):
            continue
        ratios = [_silicon_ratio(row, draw.constants) for draw in DRAWS]
        known = [ratio for ratio in ratios if ratio is not None]
        if len(known) < len(ratios):
            continue
        measured, ratio = _measured(row, "goodput")
        group = (*row["model"].split(), row["gpu"], row["isl_tokens"])
        groups.setdefault(group, []).append((measured, classify("goodput", known), ratio, known[0]))
    for group, rows in groups.items():
        most = [Counter(row[side] for row in rows).most_common(1)[0][0] for side in (0, 1)]
        middle = [sorted(row[side] for row in rows)[len(rows) // 2] for side in (2, 3)]
        yield Vote(" ".join(group), "tok_per_s_per_gpu", most[0], most[1], middle[0], middle[1], len(rows))


def all_votes() -> list[Vote]:
    return [*mooncake(), *mori(), *silicon()]


class Score(NamedTuple):
    votes: int
    right: float
    opposite: int
    constant: tuple[str, float]


def score(votes: list[Vote]) -> Score:
    """Share of right classes, opposite ones, and the best constant answer with its share."""
    right = sum(vote.measured == vote.predicted for vote in votes) / len(votes)
    opposite = sum(_ORDER[vote.measured] * _ORDER.get(vote.predicted, 0) < 0 for vote in votes)
    answer, count = Counter(vote.measured for vote in votes).most_common(1)[0]
    return Score(len(votes), right, opposite, (answer, count / len(votes)))


def table(votes: list[Vote]) -> str:
    lines = ["| measured case | metric | measured | predicted | ratio | predicted ratio | rows |", "|---|---|---|---|---|---|---|"]
    lines += [f"| {v.name} | {v.metric} | {v.measured} | {v.predicted} | {v.ratio:.2f} | {v.predicted_ratio:.2f} | {v.rows} |" for v in votes]
    return "\n".join(lines)


if __name__ == "__main__":
    votes = all_votes()
    print(table(votes))
    print(score(votes))
