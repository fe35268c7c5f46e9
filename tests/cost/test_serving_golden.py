"""The closed forms against simulated deployments: eleven published ones, and twenty drawn here."""

from __future__ import annotations

import random

import pytest

from kvcost.catalog.store import Catalog
from kvcost.cost.case import Case, compare, fixed_transfer
from kvcost.cost.disagg import disagg
from kvcost.cost.dtypes import parse_kv_dtype
from kvcost.cost.flags import flags
from kvcost.cost.goodput import disagg_saturation, mono_saturation
from kvcost.cost.mono import mono
from kvcost.cost.prepare import prepare
from kvcost.cost.serving import Colocated, Split, Work, model_capacity
from kvcost.cost.steps import model_steps
from kvcost.cost.tails import disagg_gap_s, disagg_ttft_s, mono_gap_s, mono_ttft_s

from .simulator import Hardware, arrivals, colocated, split

CATALOG = Catalog()
NAMES = ("mono TTFT", "mono p90 TTFT", "mono TPOT", "mono p99 gap", "disagg TTFT", "disagg p90 TTFT", "disagg TPOT", "disagg p99 gap")
BANDS = (0.10, 0.20, 0.08, 0.15) * 2

RND, TURN = "random", "round-robin"
# id, model, GPU, TP, weights, ISL, OSL, chunk, rate, prefill and decode instances, router, transfer, prefill, decode step at 1 and 32,
# then the eight answers of NAMES; all times in ms. Simulated with constants of their own, so times of steps are given.
GOLDEN = [
    ("G01", "llama-3.1-70b", "h100", 4, "fp8", 4000, 500, 8192, 3, 1, 1, RND, 140.8, 210.9, 10.29, 14.34, (278, 433, 17.53, 213.6, 546, 856, 12.77, 14.1)),
    ("G03", "llama-3.1-70b", "h100", 4, "fp8", 4000, 500, 512, 3, 1, 1, RND, 36, 210.9, 10.29, 14.34, (397, 621, 16.84, 36.5, 441, 751, 12.77, 14.1)),
    ("G05", "llama-3.1-70b", "h100", 4, "fp8", 1000, 1000, 2048, 4, 1, 1, RND, 36.0, 56.2, 10.22, 11.95, (68, 78, 12.87, 58.5, 120, 149, 13.26, 14.4)),
    ("G07", "qwen3-32b", "h200", 2, "bf16", 4000, 500, 8192, 6, 2, 1, RND, 29.0, 212.4, 11.35, 15.65, (323, 559, 25.68, 220.1, 450, 769, 19.84, 23.2)),
    ("G09", "llama-3.1-8b", "h100", 1, "bf16", 2048, 256, 8192, 10, 1, 1, RND, 29.6, 44.6, 6.71, 9.69, (58, 87, 9.88, 46.8, 105, 144, 8.88, 10.1)),
    ("G11", "llama-3.1-8b", "h100", 1, "bf16", 2048, 256, 2048, 24, 2, 2, TURN, 29.6, 44.6, 6.71, 9.69, (62, 64, 10.74, 46.5, 98, 122, 9.45, 10.5)),
    ("G13", "llama-3.1-8b", "l40s", 1, "fp8", 1024, 256, 2048, 4, 1, 1, RND, 15.3, 56.4, 12.40, 19.30, (71, 81, 15.61, 59.1, 104, 133, 16.03, 18.4)),
    ("G15", "qwen3-32b", "h100", 2, "fp8", 16000, 300, 2048, 0.8, 1, 1, RND, 448.4, 809.0, 9.53, 31.49, (1096, 1673, 18.23, 128.0, 1989, 3237, 11.13, 12.4)),
    ("G17", "llama-3.1-70b", "a100", 8, "bf16", 2000, 200, 2048, 2, 1, 1, RND, 36.0, 222.5, 16.88, 19.66, (263, 377, 22.06, 223.6, 373, 561, 17.45, 18.0)),
    ("G19", "qwen3-32b", "b200", 2, "fp8", 8000, 1000, 8192, 4, 2, 1, RND, 56.9, 179.7, 6.73, 12.04, (217, 318, 12.67, 182.9, 329, 444, 21.52, 27.5)),
    ("G21", "llama-3.1-70b", "h100", 4, "fp8", 4000, 500, 8192, 0.3, 1, 1, RND, 140.8, 210.9, 10.29, 14.34, (218, 220, 10.73, 10.8, 374, 372, 10.49, 10.9)),
]  # fmt: skip
LOOSE = {("G15", "disagg p99 gap"): 0.25}
OURS_SLOWER = {"G05", "G13", "G19"}


def rescaled(prepared, n, m, prefill_s, decode_s):
    """The model with the row's own times of a prefill (per token) and of decode steps of 1 and 32 (per step and request)."""
    curves = model_steps(prepared)(n, 0, n + m / 2)
    a_token_s = (prefill_s - curves.prefill_s) / n
    off_1, off_32 = decode_s[0] - curves.decode(1), decode_s[1] - curves.decode(32)
    a_request_s = (off_32 - off_1) / 31
    prefill, decode = prepared.prefill, prepared.decode
    slower = decode._replace(layers_s=decode.layers_s + off_1 - a_request_s, sequence_s=decode.sequence_s + a_request_s)
    return prepared._replace(prefill=prefill._replace(row_s=prefill.row_s + a_token_s), decode=slower)


def answers(row):
    """The eight answers in seconds, with the row's own step times."""
    _, model, gpu, tp, dtype, n, m, chunk, rate, prefills, decodes, router, transfer, prefill, decode_1, decode_32, _ = row
    prepared = prepare(CATALOG.model(model), CATALOG.gpu(gpu), tp=tp, weight_dtype=dtype, encoding=parse_kv_dtype("bf16"))
    steps, work = model_steps(rescaled(prepared, n, m, prefill / 1e3, (decode_1 / 1e3, decode_32 / 1e3))), Work(n, m, rate)
    mine = mono(work, Colocated(steps, model_capacity(prepared, 256), prefills + decodes, chunk, router))
    their = disagg(work, Split(steps, steps, model_capacity(prepared, 1024), prefills, decodes, router, ports=prefills), transfer / 1e3)
    ours = mine.ttft_s, mono_ttft_s(mine), mine.tpot_s, mono_gap_s(mine)
    return (*ours, their.ttft_s, disagg_ttft_s(their), their.tpot_s, disagg_gap_s(their))


@pytest.mark.parametrize("row", GOLDEN, ids=lambda row: row[0])
def test_golden(row):
    for name, band, got, want in zip(NAMES, BANDS, answers(row), row[-1], strict=True):
        assert got * 1e3 == pytest.approx(want, rel=LOOSE.get((row[0], name), band)), name


@pytest.mark.parametrize("row", GOLDEN, ids=lambda row: row[0])
def test_product_laws(row):
    """The gap of chunked prefill dwarfs that of decode, TTFT of the split side is longer, TPOT longer where decode carries the batch."""
    mine_ttft, _, mine_tpot, mine_gap, their_ttft, _, their_tpot, their_gap = answers(row)
    assert their_ttft > mine_ttft
    assert (their_tpot > mine_tpot) == (row[0] in OURS_SLOWER)
    assert mine_gap == pytest.approx(their_gap, rel=0.05) if row[0] == "G21" else mine_gap > 2 * their_gap


def drawn(seed):
    """A random deployment at equal GPUs, away from the edges that the flags name."""
    rng = random.Random(seed)
    while True:
        model, gpu, tp, dtype = rng.choice([("llama-3.1-70b", "h100", 4, "fp8"), ("qwen3-32b", "h200", 2, "bf16"), ("llama-3.1-8b", "h100", 1, "bf16")])
        prepared = prepare(CATALOG.model(model), CATALOG.gpu(gpu), tp=tp, weight_dtype=dtype, encoding=parse_kv_dtype("bf16"))
        n, m, chunk = int(512 * 2 ** rng.uniform(0, 4.5)), int(64 * 2 ** rng.uniform(0, 4)), rng.choice([2048, 8192])
        prefills, decodes, router = rng.randint(1, 3), rng.randint(1, 3), rng.choice([RND, RND, TURN])
        transfer_s = prepared.model.groups[0][0] * 4096 * n / 10 ** rng.uniform(9.5, 11.3)
        steps, load = model_steps(prepared), rng.uniform(0.1, 0.7)
        ours = Colocated(steps, model_capacity(prepared, 256), prefills + decodes, chunk, router)
        theirs = Split(steps, steps, model_capacity(prepared, 1024), prefills, decodes, router, ports=prefills)
        rate = load * min(mono_saturation(Work(n, m), ours)[1], disagg_saturation(Work(n, m), theirs, transfer_s)[1])
        case = Case(Work(n, m, rate), ours, theirs, fixed_transfer(transfer_s))
        known = {flag[0] for flag in flags(compare(case, p90=True))}
        if not known & {"kv_tight", "chunk-edge", "gap-edge", "p90-edge", "batch-feedback", "bursts", "link-busy"}:
            return case, prepared, transfer_s, rng


@pytest.mark.parametrize("seed", range(20))
def test_simulation(seed):
    """Unflagged cases only: 25 of 45 draws are turned away, most by gap-edge.

    Over 40 draws of other seeds, flagged ones included, all eight quantities stay in their bands but for 6 of 320:
    mono p90 TTFT twice, mono TPOT once (16 %, unflagged), mono p99 gap three times (up to 190 %).
    """
    case, prepared, transfer_s, rng = drawn(seed)
    work, ours, theirs = case.work, case.mono, case.split
    n, m, rate = int(work.prompt_tokens), int(work.output_tokens), work.rate_per_s
    deal = ours.instances if ours.router == "round-robin" else 1
    cap = ours.capacity(n + m).requests
    hardware = Hardware(prepared)
    simulated = colocated(hardware, arrivals(rng, rate / ours.instances, 2500, deal), n, m, int(ours.chunk_tokens), cap, 250)
    simulated += split(
        hardware, rng, rate, 2500 * theirs.decode_instances, n, m, theirs.prefill_instances, theirs.decode_instances, theirs.router, transfer_s, 1024
    )
    mine, their = mono(work, ours), disagg(work, theirs, transfer_s)
    forms = (mine.ttft_s, mono_ttft_s(mine), mine.tpot_s, mono_gap_s(mine), their.ttft_s, disagg_ttft_s(their), their.tpot_s, disagg_gap_s(their))
    for name, band, got, want in zip(NAMES, BANDS, forms, simulated, strict=True):
        assert got == pytest.approx(want, rel=band), name


@pytest.mark.parametrize("m", [2, 3, 5, 10, 24])
@pytest.mark.parametrize(
    ("model", "n", "rate", "chunk"), [("llama-3.1-8b", 2048, 8.0, 8192), ("llama-3.1-8b", 2048, 3.0, 8192), ("llama-3.1-8b", 12000, 1.0, 2048)]
)
def test_few_output_tokens(model, n, rate, chunk, m):
    """Prompts that queued meanwhile delay the first gaps, no more than a chunk a gap; in the plain sum they cost up to 8 times as much."""
    prepared = prepare(CATALOG.model(model), CATALOG.gpu("h100"), tp=1)
    side = Colocated(model_steps(prepared), instances=1, chunk_tokens=chunk, router=RND)
    times = arrivals(random.Random(m), rate, 2500)
    simulated = colocated(Hardware(prepared), times, n, m, chunk, 1e9, 250).tpot_s
    assert mono(Work(n, m, rate), side).tpot_s == pytest.approx(simulated, rel=0.2)
