"""Serving predicted against served: `python -m tests.validation.serving`.

Three sets: TPOT of aggregated servers at a given concurrency, TPOT of split ones, and verdicts.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from statistics import mean, median
from typing import NamedTuple

from kvcost.cost.disagg import disagg
from kvcost.cost.dtypes import parse_kv_dtype
from kvcost.cost.mono import mono
from kvcost.cost.prepare import Prepared, prepare
from kvcost.cost.serving import Colocated, Split, Work, model_capacity
from kvcost.cost.steps import model_steps
from kvcost.errors import KvcostError

from .models import CATALOG, model_named
from .report import rows_of

_GPUS = {"h100_sxm": "h100", "h200_sxm": "h200", "b200_sxm": "b200", "b300_sxm": "b300", "gb200": "gb200", "gb300": "gb300"}
_ALIASES = {
    "nvidia/Llama-3.1-8B-Instruct-FP8": "llama-3.1-8b",
    "Qwen/Qwen3-235B-A22B-FP8": "qwen3-235b-a22b",
    "nvidia/Qwen3-32B-NVFP4": "qwen3-32b",
}
_MOE = ("DeepSeek", "235B", "gpt-oss", "Kimi", "GLM")
_CACHE: dict[tuple[object, ...], Prepared] = {}


class Served(NamedTuple):
    group: tuple[str, ...]
    tpot_s: float
    plain_s: float
    measured_s: float
    ttft_s: float
    measured_ttft_s: float


def prepared_for(row: dict[str, str], tp: int, dp: int) -> Prepared:
    key = row["model_path"], row["system"], row["precision"], tp, dp
    if key not in _CACHE:
        model = model_named(_ALIASES.get(row["model_path"], row["model_path"]))
        dtype = row["precision"] or "bf16"
        _CACHE[key] = prepare(model, CATALOG.gpu(_GPUS[row["system"]]), tp=tp, attention_dp=dp, weight_dtype=dtype, encoding=parse_kv_dtype("bf16"))
    return _CACHE[key]


def _number(row: dict[str, str], field: str) -> int:
    return int(float(row[field] or 0))


def aggregated() -> Iterator[Served]:
    """TPOT in a closed loop, and the decode step alone (no interference), for every row that the catalog can price."""
    for row in rows_of("silicon_serving_agg"):
        tp, pp = _number(row, "tp_size"), _number(row, "pp_size")
        dp = max(1, _number(row, "attention_dp_size"))
        if pp > 1 or not row["tpot_ms"]:
            continue
        try:
            prepared = prepared_for(row, tp * dp if dp > 1 else tp, dp)
        except (KvcostError, KeyError):
            continue
        steps, n, m, concurrency = model_steps(prepared), _number(row, "isl"), _number(row, "osl"), float(row["concurrency"])
        answer = mono(Work(n, m, concurrency=concurrency), Colocated(steps, model_capacity(prepared)))
        if answer.tpot_s is None or answer.ttft_s is None:
            continue
        family = "MoE" if any(name in row["model_path"] for name in _MOE) else "dense"
        group = family, row["precision"] or "unstated", row["model_path"].rsplit("/", 1)[-1], row["system"], row["backend"]
        yield Served(group, answer.tpot_s, answer.steps.step_s, float(row["tpot_ms"]) / 1e3, answer.ttft_s, float(row["ttft_ms"] or "nan") / 1e3)


def split() -> Iterator[Served]:
    """TPOT of the rows that say how many workers there are; an unlimited link, as the rows name none."""
    for row in rows_of("silicon_serving_disagg"):
        if not row["prefill_num_workers"] or not row["tpot_ms"]:
            continue
        sides, streams = [], max(1, _number(row, "prefill_attention_dp_size"))
        try:
            for side in ("prefill", "decode"):
                tp, dp = _number(row, f"{side}_tp_size"), max(1, _number(row, f"{side}_attention_dp_size"))
                sides.append(model_steps(prepared_for(row, tp * dp if dp > 1 else tp, dp)))
        except (KvcostError, KeyError):
            continue
        workers = _number(row, "prefill_num_workers"), _number(row, "decode_num_workers")
        work = Work(_number(row, "isl"), _number(row, "osl"), concurrency=float(row["concurrency"]))
        answer = disagg(
            work, Split(sides[0], sides[1], prefill_instances=workers[0], decode_instances=workers[1], router="least-loaded", prefill_streams=streams), 0.0
        )
        if answer.tpot_s is None or answer.ttft_s is None:
            continue
        family = "MoE" if any(name in row["model_path"] for name in _MOE) else "dense"
        group = family, row["precision"] or "unstated", row["model_path"].rsplit("/", 1)[-1], row["system"], row["backend"]
        full_s = sides[1](work.prompt_tokens, 0, work.ctx_tokens).decode(float(row["concurrency"]) / workers[1])
        yield Served(group, answer.tpot_s, full_s, float(row["tpot_ms"]) / 1e3, answer.ttft_s, float(row["ttft_ms"] or "nan") / 1e3)


class Errors(NamedTuple):
    rows: int
    mape: float
    median: float
    bias: float
    plain_mape: float
    ttft_median: float


def errors(rows: Iterable[Served]) -> Errors:
    found = list(rows)
    off = [row.tpot_s / row.measured_s - 1 for row in found]
    plain = [abs(row.plain_s / row.measured_s - 1) for row in found]
    first = [abs(math.log(row.ttft_s / row.measured_ttft_s)) for row in found if row.measured_ttft_s > 0]
    sizes = [abs(x) for x in off]
    return Errors(len(found), mean(sizes), median(sizes), mean(off), mean(plain), math.exp(median(first)) if first else math.nan)


def table(rows: Iterable[Served], depth: int = 5) -> str:
    groups: dict[tuple[str, ...], list[Served]] = {}
    for row in rows:
        groups.setdefault(row.group[:depth], []).append(row)
    lines = ["| group | rows | TPOT MAPE % | median % | bias % | decode step alone, MAPE % | TTFT off by a factor (median) |", "|---|---|---|---|---|---|---|"]
    for group, members in sorted(groups.items()):
        e = errors(members)
        shares = f"{100 * e.mape:.1f} | {100 * e.median:.1f} | {100 * e.bias:+.1f} | {100 * e.plain_mape:.1f}"
        lines.append(f"| {' '.join(group)} | {e.rows} | {shares} | {e.ttft_median:.2f} |")
    return "\n".join(lines)


if __name__ == "__main__":
    for found in (list(aggregated()), list(split())):
        for depth in (2, 5):
            print(table(found, depth))
            print()
