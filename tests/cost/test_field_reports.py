"""Public reports whose question is a verdict or a byte count: the figures, and the sign that a reader was owed.

The hardware that a report leaves out is named here as an assumption; where the answer hangs on it, it is not asked for.
"""

from __future__ import annotations

import pytest

from kvcost.catalog.store import Catalog
from kvcost.cost.breakeven import saved_needed_s
from kvcost.cost.case import Case, compare, link_transfer
from kvcost.cost.dtypes import parse_kv_dtype
from kvcost.cost.goodput import Limits, disagg_goodput, mono_goodput
from kvcost.cost.kv import held_bytes, kv_layout
from kvcost.cost.layers import FullAttention, LayerGroup, SlidingWindow
from kvcost.cost.overlap import exposed_time
from kvcost.cost.prepare import prepare
from kvcost.cost.serving import Colocated, Split, Work, model_capacity
from kvcost.cost.steps import model_steps
from kvcost.cost.transfer import Engine
from kvcost.cost.verdict import decide

CATALOG = Catalog()
BF16 = parse_kv_dtype("bf16")


def layout(layers, heads, k_dim=128):
    return kv_layout([LayerGroup(layers, FullAttention(heads, k_dim, k_dim))], BF16)


# id, layout, tokens, bytes that the report or its right answer states
BYTES = [
    ("O03 Qwen3-8B a token", layout(36, 8), 1, 147456),
    ("O03 Qwen3-8B 1024 tokens", layout(36, 8), 1024, 144 * 2**20),
    ("O10 Qwen3-30B-A3B a token, int4 weights change nothing", layout(48, 4), 1, 98304),
    ("O10 Qwen3-30B-A3B 4096 tokens", layout(48, 4), 4096, 384 * 2**20),
    ("O18 DeepSeek-R1 a token", kv_layout(CATALOG.model("deepseek-v3").groups, BF16), 1, 70272),
    ("O18 DeepSeek-R1 1024 tokens", kv_layout(CATALOG.model("deepseek-v3").groups, BF16), 1024, 71_958_528),
    ("O24 70B, FP8 weights, 3000 tokens", kv_layout(CATALOG.model("llama3.1-70b").groups, BF16), 3000, 983_040_000),
    ("O36 Llama 3.1 8B 8192 tokens", kv_layout(CATALOG.model("llama3.1-8b").groups, BF16), 8192, 2**30),
]


@pytest.mark.parametrize(("name", "kv", "tokens", "expected"), BYTES, ids=lambda value: value if isinstance(value, str) else "")
def test_bytes(name, kv, tokens, expected):
    assert held_bytes(kv, tokens) == expected


def test_o46_a_sliding_window_model_has_no_bytes_a_token():
    """Gemma 4 31B: 81920*n + 819200*min(n, 1024); the estimate of 880 KiB a token holds for the first 1024 only."""
    gemma = kv_layout([LayerGroup(10, FullAttention(4, 512, 512)), LayerGroup(50, SlidingWindow(16, 256, 256, 1024))], BF16)
    for n in (1, 1024, 626_949):
        assert held_bytes(gemma, n) == 81920 * n + 819200 * min(n, 1024)
    assert held_bytes(gemma, 1) == 880 * 1024


def test_o44_kv_heads_not_query_heads():
    model = CATALOG.model("llama2-70b")
    assert model.query_heads / 8 == held_bytes(layout(80, model.query_heads), 1) / held_bytes(kv_layout(model.groups, BF16), 1) == 8


def test_o42_serial_is_the_sum_and_push_hides_all_but_a_layer():
    assert exposed_time("serial", 0.107, 80, prefill_s=0.39) == 0.107
    assert exposed_time("push", 0.107, 80, prefill_s=0.39) == pytest.approx(0.107 / 80)


def case_of(model, gpu, link, work, *, tp=1, mono_tp=None, instances=2, dtype=None):
    kinds = {size: prepare(CATALOG.model(model), CATALOG.gpu(gpu), tp=size, weight_dtype=dtype) for size in {tp, mono_tp or tp}}
    half, whole = kinds[tp], kinds[mono_tp or tp]
    transfer = link_transfer(kv_layout(half.model.groups, half.encoding), CATALOG.link(link), Engine("line"), prefill_tp=tp, decode_tp=tp)
    steps = model_steps(half)
    return Case(
        work, Colocated(model_steps(whole), model_capacity(whole, 256), instances), Split(steps, steps, model_capacity(half, 1024), handover_s=0.01), transfer
    )


def test_o03_six_output_tokens_leave_nothing_to_protect():
    """Qwen3-8B 1024/6 at 2 to 8 a second on two GPUs (taken as H100, with Llama 3.1 8B for Qwen3-8B): TTFT and E2E lose, whatever the link."""
    for rate in (2, 4, 8):
        for link in ("nvlink4", "100gbe"):
            outcome = compare(case_of("llama3.1-8b", "h100", link, Work(1024, 6, rate)))
            assert outcome.gains.ttft_s < 0
            assert outcome.gains.e2e_s < 0
            assert decide([outcome], "e2e").verdict == "colocate"
    assert 8 * held_bytes(layout(36, 8), 1024) == pytest.approx(1.208e9, rel=0.01)


def test_o11_half_the_gpus_prefill_up_to_twice_as_long():
    """Llama 3 8B on A100, P TP2 + D TP2 against TP4: TTFT loses; what is gained is the tail of ITL under load."""
    work = Work(4096, 256, 4.0)
    found = case_of("llama3.1-8b", "a100", "nvlink3", work, tp=2, mono_tp=4, instances=1)
    ratio = found.split.prefill(4096, 0, 1).prefill_s / found.mono.steps(4096, 0, 1).prefill_s
    assert 1.3 < ratio <= 2
    outcome = compare(found)
    assert outcome.gains.ttft_s < 0
    assert outcome.gains.itl_p99_s > 0


def test_o15_prompts_of_61_tokens():
    """61 in, 62 out, 50 a second on two L40-class cards: nothing to gain, with any number of output tokens' worth of link."""
    outcome = compare(case_of("llama3.1-8b", "l40s", "pcie4_x16", Work(61, 62, 10.0)))
    assert outcome.gains.ttft_s < 0
    assert decide([outcome], "e2e").verdict == "colocate"
    assert decide([outcome], "ttft").verdict == "colocate"


def test_o18_the_transfer_is_irrelevant():
    assert pytest.approx(1.44e-3, rel=0.01) == 71_958_528 / 50e9
    assert pytest.approx(0.004, abs=2e-4) == 71_958_528 / 50e9 / 0.36466


def test_o24_the_link_is_not_why():
    """70B, 3000/150 in one node: 2.2 ms over NVLink; an unlimited link changes nothing of the verdict."""
    assert pytest.approx(2.2e-3, rel=0.01) == 983_040_000 / 450e9
    found = case_of("llama3.1-70b", "h100", "nvlink4", Work(3000, 150, 3.0), tp=4, dtype="fp8")
    unlimited = found._replace(transfer=lambda *_: 0.0)
    assert decide([compare(found)]).verdict == decide([compare(unlimited)]).verdict


def test_o30_equal_tp_and_short_prompts_bring_no_throughput():
    found = case_of("llama3.1-8b", "h100", "nvlink4", Work(1024, 1024))
    limits = Limits(1.0, 0.030)
    assert disagg_goodput(found.work, found.split, limits, found.transfer_s) < mono_goodput(found.work, found.mono, limits)


def test_o08_effective_tokens_decide():
    """100k to 500k of context with 91 % held: 9k to 45k are computed; splitting a TP8 into TP4 + TP4 doubles their prefill."""
    for ctx in (100_000, 500_000):
        work = Work(ctx, 512, 0.01, cached_tokens=round(0.91 * ctx))
        assert work.new_tokens == pytest.approx(0.09 * ctx)
        found = case_of("qwen3-32b", "h100", "ib_ndr", work, tp=4, mono_tp=8, instances=1, dtype="fp8")
        assert compare(found).gains.ttft_s < 0


def test_o36_a_gibibyte_over_pcie5():
    for achieved in (50e9, 55e9):
        assert 2**30 / achieved == pytest.approx(0.020, rel=0.10)
    assert saved_needed_s(2**30 / 55e9, 0.010) == pytest.approx(0.0295, rel=0.01)
