"""Predicted against measured, group by group: `python -m tests.validation.report`.

MAPE and median of the relative error, its 90th percentile, bias, and the share of rows inside the printed range.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Iterable, Iterator
from pathlib import Path
from statistics import mean, median
from typing import NamedTuple

from kvcost.cost.compute import ComputeTime, decode_time, prefill_time
from kvcost.cost.gpu import NO_OVERHEAD, EngineOverhead, Gpu
from kvcost.cost.prepare import Prepared, prepare

from .models import CATALOG, model_named

SHARED = Path(__file__).parents[3] / "shared"
_GPUS = {"a100_sxm": "a100", "h100_sxm": "h100", "h200_sxm": "h200", "b200_sxm": "b200", "l40s": "l40s", "a100-80gb": "a100", "h100-80gb": "h100"}


class Pair(NamedTuple):
    group: tuple[str, ...]
    predicted_s: float
    measured_s: float
    low_s: float = 0.0
    high_s: float = math.inf


class Score(NamedTuple):
    rows: int
    mape: float
    median: float
    p90: float
    bias: float
    inside: float


def score(pairs: Iterable[Pair]) -> Score:
    rows = list(pairs)
    errors = [p.predicted_s / p.measured_s - 1 for p in rows]
    sizes = sorted(map(abs, errors))
    inside = mean(p.low_s <= p.measured_s <= p.high_s for p in rows)
    return Score(len(rows), mean(sizes), median(sizes), sizes[min(len(sizes) - 1, math.ceil(0.9 * len(sizes)) - 1)], mean(errors), inside)


def rows_of(name: str) -> list[dict[str, str]]:
    with (SHARED / "validation" / f"{name}_open.csv").open() as file:
        return list(csv.DictReader(file))


def _pair(group: tuple[str, ...], time: ComputeTime, measured_ms: str) -> Pair:
    return Pair(group, time.time_s, float(measured_ms) / 1e3, time.time_low_s, time.time_high_s)


def _family(row: dict[str, str]) -> str:
    if "DeepSeek" in row["model"]:
        return "MLA"
    if row["model"].endswith(("A3B", "A22B")):
        return "MoE, Hopper fp8" if row["weight_dtype"] == "fp8" and row["system"].startswith("h") else "MoE"
    return "dense, TP > 2" if row["system"] == "l40s" and int(row["tp"]) > 2 else "dense"


def aic_pairs(gpus: dict[str, Gpu] | None = None) -> Iterator[Pair]:
    """Operator-level times of vLLM kernels; group = (family, gpu, phase)."""
    prepared: dict[tuple[str, ...], Prepared] = {}
    for row in rows_of("aic_oracle"):
        if row["oom"] != "0":
            continue
        key = row["system"], row["model"], row["weight_dtype"], row["tp"]
        if key not in prepared:
            gpu = (gpus or {}).get(row["system"]) or CATALOG.gpu(_GPUS[row["system"]])
            prepared[key] = prepare(model_named(row["model"]), gpu, tp=int(row["tp"]), weight_dtype=row["weight_dtype"].removesuffix("_block"))
        tokens, batch = int(row["tokens_per_seq"]), int(row["batch"])
        time = prefill_time(prepared[key], tokens, 0, batch) if row["phase"] == "prefill" else decode_time(prepared[key], batch, tokens)
        yield _pair((_family(row), _GPUS[row["system"]], row["phase"]), time, row["time_ms"])


def _both_phases(row: dict[str, str], engine: str, ctx_tokens: int, overhead: EngineOverhead, prefill_ms: str, decode_ms: str) -> Iterator[Pair]:
    tokens, batch = int(row["prompt_tokens_per_seq"]), int(row["batch_size"])
    prepared = prepare(model_named(row["model"]), CATALOG.gpu(_GPUS[row["gpu"]]), tp=int(row["tp"]), weight_dtype="fp16", overhead=overhead)
    if prefill_ms:
        yield _pair((engine, row["gpu"], "prefill"), prefill_time(prepared, tokens, 0, batch), prefill_ms)
    if decode_ms:
        yield _pair((engine, row["gpu"], "decode"), decode_time(prepared, batch, ctx_tokens), decode_ms)


def distserve_pairs() -> Iterator[Pair]:
    """DistServe's engine without overhead, and the vLLM of its day with the profile fitted to it."""
    for row in rows_of("distserve_opt"):
        overhead = CATALOG.overhead("distserve" if row["engine"] == "distserve" else "vllm-0.2")
        yield from _both_phases(row, row["engine"], int(row["prompt_tokens_per_seq"]), overhead, row["prefill_time_ms"], row["decode_step_ms"])


def splitwise_pairs(engine: str = "vllm-2023") -> Iterator[Pair]:
    """Measured with the vLLM of 2023; the decode step is taken half way through the output."""
    overhead = CATALOG.overhead(engine) if engine else NO_OVERHEAD
    for row in rows_of("splitwise_perf"):
        ctx = int(row["prompt_tokens_per_seq"]) + int(float(row["output_tokens_median"])) // 2
        yield from _both_phases(row, f"splitwise, {engine or 'hardware alone'}", ctx, overhead, row["prompt_time_ms"], row["token_time_ms"])


def vidur_pairs() -> Iterator[Pair]:
    """Matrix products of one layer: the soft maximum of arithmetic and weight reading, on one rank."""
    for row in rows_of("vidur_linear"):
        gpu, tp, tokens = CATALOG.gpu(row["gpu"]), int(row["tp"]), int(row["num_tokens"])
        hidden, ffn, kv = int(row["hidden"]), int(row["ffn_hidden"]), int(row["n_kv_heads"]) * int(row["hidden"]) // int(row["n_head"])
        params = hidden * (2 * hidden + 2 * kv) + (3 if row["gated_mlp"] == "True" else 2) * hidden * ffn
        k = gpu.constants
        products = 2 * params * tokens / (tp * gpu.bf16_flops_per_s * k.eta_bf16.value)
        weights = 2 * params / (tp * gpu.hbm_bytes_per_s * k.eta_bw.value)
        yield Pair(("vidur products", row["gpu"], "layer"), math.hypot(products, weights), float(row["gemm_ms_per_layer"]) / 1e3)


def first_request_pairs() -> Iterator[Pair]:
    """The first request of a measured vLLM run: its prefill met an idle server."""
    for file, name in (("llama-3.1-8b", "llama3.1-8b"), ("qwen3-30b-a3b-instruct-2507", "Qwen/Qwen3-30B-A3B")):
        path = SHARED / "samples" / "traces" / f"vllm-measured-rtxpro6000-{file}.csv"
        with path.open() as rows:
            row = next(csv.DictReader(rows))
        prepared = prepare(model_named(name), CATALOG.gpu("rtx pro 6000"))
        time = prefill_time(prepared, int(row["input_toks"]))
        yield Pair(("first request", name, "prefill"), time.time_s, float(row["first_token_after_sched_s"]), time.time_low_s, time.time_high_s)


def all_pairs() -> Iterator[Pair]:
    yield from aic_pairs()
    yield from distserve_pairs()
    yield from splitwise_pairs("")
    yield from splitwise_pairs()
    yield from vidur_pairs()
    yield from first_request_pairs()


def grouped(pairs: Iterable[Pair]) -> dict[tuple[str, ...], list[Pair]]:
    groups: dict[tuple[str, ...], list[Pair]] = {}
    for pair in pairs:
        groups.setdefault(pair.group, []).append(pair)
    return groups


def table(pairs: Iterable[Pair]) -> str:
    lines = ["| data | GPU | phase | rows | MAPE % | median % | p90 % | bias % | inside range % |", "|---|---|---|---|---|---|---|---|---|"]
    for group, members in grouped(pairs).items():
        s = score(members)
        inside = f"{100 * s.inside:.0f}" if math.isfinite(members[0].high_s) else "-"
        cells = [*group, str(s.rows), *(f"{100 * value:.1f}" for value in s[1:4]), f"{100 * s.bias:+.1f}", inside]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


if __name__ == "__main__":
    print(table(all_pairs()))
