"""Direction of the goodput ratio at an unlimited link, 16 GPUs: `python -m tests.validation.goodput`."""

from __future__ import annotations

from typing import NamedTuple

from kvcost.cost.dtypes import parse_kv_dtype
from kvcost.cost.goodput import Best, Layout, Limits, best_layouts, disagg_goodput, mono_goodput, split_layouts
from kvcost.cost.prepare import prepare
from kvcost.cost.serving import Colocated, Split, Work, model_capacity
from kvcost.cost.steps import model_steps

from .models import CATALOG

# model, GPU, weights, KV, ISL, OSL, reference ratio of NVIDIA AIConfigurator
CASES = [
    ("llama-3.1-70b", "h100", "fp8", "fp8", 4000, 500, 1.27),
    ("llama-3.1-70b", "h100", "fp8", "fp8", 1000, 1000, 0.89),
    ("qwen3-32b", "h200", "bf16", "bf16", 4000, 500, 1.14),
    ("qwen3-32b", "h200", "bf16", "bf16", 1000, 1000, 0.87),
]
GPUS = 16


class Direction(NamedTuple):
    ratio: float
    mono: Best
    split: Best


def direction(model: str, gpu: str, dtype: str, kv: str, n: int, m: int, router: str, attainment: float | None = None) -> Direction:
    """Best colocated against best split layout of 16 GPUs, TTFT 1 s and TPOT 40 ms, derate 0.92."""
    sides = {}
    for tp in (1, 2, 4, 8):
        prepared = prepare(CATALOG.model(model), CATALOG.gpu(gpu), tp=tp, weight_dtype=dtype, encoding=parse_kv_dtype(kv))
        sides[tp] = model_steps(prepared), model_capacity(prepared, 256), model_capacity(prepared, 1024)
    work, limits = Work(n, m), Limits(1.0, 0.040, attainment=attainment)

    def ours(at: Layout) -> float:
        steps, capacity, _ = sides[at.prefill_tp]
        return mono_goodput(work, Colocated(steps, capacity, at.prefill_instances, router=router), limits)

    def theirs(at: Layout) -> float:
        split = Split(sides[at.prefill_tp][0], sides[at.decode_tp][0], sides[at.decode_tp][2], at.prefill_instances, at.decode_instances, router)
        return disagg_goodput(work, split, limits, 0.0)

    mono, split = best_layouts([Layout(GPUS // tp, tp) for tp in sides], ours), best_layouts(list(split_layouts(GPUS, list(sides))), theirs)
    return Direction(split.rate_per_s / mono.rate_per_s, mono, split)


def table() -> str:
    lines = ["| model | GPU | ISL/OSL | router | attainment | ratio | reference | mono | split | runner-up |", "|---|---|---|---|---|---|---|---|---|---|"]
    for model, gpu, dtype, kv, n, m, reference in CASES:
        for router in ("round-robin", "least-loaded", "random"):
            for attainment in (None, 0.9):
                found = direction(model, gpu, dtype, kv, n, m, router, attainment)
                layouts = [f"{at.prefill_instances}x{at.prefill_tp}" + (f"+{at.decode_instances}x{at.decode_tp}" if at.decode_tp else "") if at else "-"
                           for at in (found.mono.layout, found.split.layout, found.split.runner_up)]  # fmt: skip
                shown = "mean" if attainment is None else f"p{attainment * 100:.0f}"
                lines.append(f"| {model} {dtype} | {gpu} | {n}/{m} | {router} | {shown} | {found.ratio:.2f} | {reference} | {' | '.join(layouts)} |")
    return "\n".join(lines)


if __name__ == "__main__":
    print(table())
