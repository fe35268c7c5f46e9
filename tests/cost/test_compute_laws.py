"""Laws that hold for every model and GPU of the catalog."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kvcost.catalog.store import Catalog
from kvcost.cost.compute import chunked_prefill_s, decode_step_s, decode_time, mixed_step_s, prefill_groups, prefill_s, prefill_time
from kvcost.cost.dtypes import parse_kv_dtype
from kvcost.cost.gpu import EngineOverhead, gpu_at
from kvcost.cost.layers import Chunked, CrossAttention, FullAttention, Indexer, LayerGroup, MlaLatent, Recurrent, SharedKv, SlidingWindow
from kvcost.cost.model import Experts, Model, check_model_tp
from kvcost.cost.prepare import Prepared, prepare
from kvcost.errors import KvcostError

CATALOG = Catalog()
# Layer kinds that the built-in catalog may not hold, in made-up models.
MADE_UP = {
    "chunked": Model("chunked", "", (LayerGroup(12, FullAttention(8, 128, 128)), LayerGroup(36, Chunked(8, 128, 128, 8192))), 40, 128, 5120, "bf16",
                     params_total=108 * 10**9, params_active=17 * 10**9, params_input_embedding=10**9, vocab_size=202048, experts=Experts(16, 1, 96 * 10**9)),
    "hybrid": Model("hybrid", "", (LayerGroup(4, FullAttention(8, 128, 128)), LayerGroup(28, Recurrent(12288, 10**6, 16, 32))), 32, 128, 4096, "bf16",
                    params_total=10**10, params_active=10**10, params_input_embedding=5 * 10**8, vocab_size=128000),
    "recurrent": Model("recurrent", "", (LayerGroup(64, Recurrent(15360, 81920)),), 0, 0, 2560, "fp16",
                       params_total=27 * 10**8, params_active=27 * 10**8, params_input_embedding=128 * 10**6, tied_embeddings=True, vocab_size=50280),
    "sparse": Model("sparse", "", (LayerGroup(61, MlaLatent(512, 64)), LayerGroup(61, Indexer(132))), 128, 192, 7168, "bf16",
                    params_total=671877929216, params_active=38403807488, params_input_embedding=926679040, vocab_size=129280,
                    experts=Experts(256, 8, 653908770816)),
    "shared": Model("shared", "",
                    (LayerGroup(4, FullAttention(2, 256, 256)), LayerGroup(16, SlidingWindow(2, 256, 256, 512)), LayerGroup(15, SharedKv())),
                    8, 256, 2048, "bf16", params_total=7 * 10**9, params_active=7 * 10**9, params_input_embedding=5 * 10**8,
                    tied_embeddings=True, vocab_size=262144),
    "cross": Model("cross", "", (LayerGroup(32, FullAttention(20, 64, 64)), LayerGroup(32, CrossAttention(20, 64, 64, 1500))), 20, 64, 1280, "fp16",
                   params_total=1543490560, params_active=1543490560, params_input_embedding=66388480, tied_embeddings=True, vocab_size=51866),
}  # fmt: skip
MODELS = [*MADE_UP, *sorted(name for name, values in CATALOG.entries("models").items() if values["params_total"] and values["params_active"])]
GPUS = sorted(CATALOG.entries("gpus"))
SLACK = 1 + 1e-9
_CACHE: dict[tuple[object, ...], Prepared | None] = {}


def model_of(name: str) -> Model:
    return MADE_UP.get(name) or CATALOG.model(name)


def fits(model: Model, tp: int) -> bool:
    try:
        check_model_tp(model, tp)
    except KvcostError:
        return False
    return True


def cached_prepare(model: str, gpu: str, tp: int = 1, **options: object) -> Prepared | None:
    key = model, gpu, tp, *sorted(options.items())
    if key not in _CACHE:
        record = model_of(model)
        _CACHE[key] = prepare(record, CATALOG.gpu(gpu), tp=tp, **options) if fits(record, tp // int(options.get("attention_dp", 1))) else None  # type: ignore[arg-type, call-overload]
    return _CACHE[key]


models = st.sampled_from(MODELS)
gpus = st.sampled_from(GPUS)
tps = st.sampled_from([1, 2, 4, 8])
tokens = st.integers(1, 300_000)
batches = st.integers(1, 600)


@settings(max_examples=400, deadline=None)
@given(models, gpus, tps, tokens, st.integers(0, 5000), batches, st.integers(0, 40))
def test_more_work_never_takes_less(model, gpu, tp, n, more, batch, sequences):
    p = cached_prepare(model, gpu, tp)
    if p is None:
        return
    assert prefill_s(p, n, 0, batch) <= prefill_s(p, n + more, 0, batch + sequences) * SLACK
    assert decode_step_s(p, batch, n) <= decode_step_s(p, batch + sequences, n + more) * SLACK
    assert mixed_step_s(p, n, 0, batch, n) <= mixed_step_s(p, n + more, 0, batch + sequences, n + more) * SLACK


@settings(max_examples=300, deadline=None)
@given(models, gpus, tokens, st.data())
def test_cached_tokens_only_help(model, gpu, n, data):
    p = cached_prepare(model, gpu)
    assert p is not None
    cached = data.draw(st.integers(0, n))
    less = data.draw(st.integers(0, cached))
    assert prefill_s(p, n, cached) <= prefill_s(p, n, less) * SLACK
    assert prefill_s(p, n, n) == prefill_s(p, n, n - 1) > 0
    assert chunked_prefill_s(p, n, max(1, n // 5), less) >= prefill_s(p, n, less) / SLACK


@settings(max_examples=300, deadline=None)
@given(models, gpus, st.sampled_from([2, 4, 8]), tokens, batches, st.sampled_from(["bf16", "fp8", "int4"]))
def test_tp_never_pays_more_than_its_gpus(model, gpu, tp, n, batch, weight_dtype):
    one, many = cached_prepare(model, gpu, 1, weight_dtype=weight_dtype), cached_prepare(model, gpu, tp, weight_dtype=weight_dtype)
    if one is None or many is None:
        return
    assert prefill_s(many, n, 0, batch) * tp >= prefill_s(one, n, 0, batch) / SLACK
    assert decode_step_s(many, batch, n) * tp >= decode_step_s(one, batch, n) / SLACK


@settings(max_examples=200, deadline=None)
@given(models, gpus, tps, tokens, batches)
def test_more_layers_and_bytes_never_take_less(model, gpu, tp, n, batch):
    record, device = model_of(model), CATALOG.gpu(gpu)
    if not fits(record, tp):
        return
    p = cached_prepare(model, gpu, tp)
    first = record.groups[0]
    deeper = prepare(record._replace(groups=(first._replace(layers=first.layers + 1), *record.groups[1:])), device, tp=tp)
    slower = prepare(record, device, tp=tp, overhead=EngineOverhead("slow", 1e-4, 1e-4, 20.0, 1e-3, 1e-3))
    for other in (deeper, slower):
        assert prefill_s(p, n, 0, batch) <= prefill_s(other, n, 0, batch) * SLACK
        assert decode_step_s(p, batch, n) <= decode_step_s(other, batch, n) * SLACK
    narrow = cached_prepare(model, gpu, tp, encoding=parse_kv_dtype("fp8"))
    assert decode_step_s(narrow, batch, n) <= decode_step_s(p, batch, n) * SLACK
    assert prefill_s(narrow, n, 0, batch) <= prefill_s(p, n, 0, batch) * SLACK


@settings(max_examples=300, deadline=None)
@given(models, gpus, tps, tokens, batches, st.sampled_from(["fp8", "int8", "int4", "fp4"]))
def test_narrower_weights_never_take_longer(model, gpu, tp, n, batch, weight_dtype):
    wide, narrow = cached_prepare(model, gpu, tp, weight_dtype="fp16"), cached_prepare(model, gpu, tp, weight_dtype=weight_dtype)
    if wide is None or narrow is None:
        return
    assert prefill_s(narrow, n, 0, batch) <= prefill_s(wide, n, 0, batch) * SLACK
    assert decode_step_s(narrow, batch, n) <= decode_step_s(wide, batch, n) * SLACK


@settings(max_examples=300, deadline=None)
@given(models, gpus, tps, tokens, batches)
def test_the_answer_is_the_sum_of_its_parts_inside_its_range(model, gpu, tp, n, batch):
    p = cached_prepare(model, gpu, tp)
    if p is None:
        return
    for time in (prefill_time(p, n, n // 3, batch), decode_time(p, batch, n)):
        assert 0 < time.time_low_s <= time.time_s <= time.time_high_s
        assert time.time_s == pytest.approx(sum(time.groups))
        assert min(time.groups) >= 0
        assert time.flops > 0
        assert time.bytes_read > 0
        assert time.bound in ("compute", "memory", "overhead", "communication")
    assert prefill_groups(p, n, n // 3, batch) == prefill_time(p, n, n // 3, batch).groups


@pytest.mark.parametrize("gpu", GPUS)
def test_the_ends_of_the_constants_enclose_the_expected(gpu):
    record, device = CATALOG.model("llama3.1-70b"), CATALOG.gpu(gpu)
    fast, p, slow = (prepare(record, g, tp=8) for g in (gpu_at(device, "fast"), device, gpu_at(device, "slow")))
    assert prefill_s(fast, 4096) <= prefill_time(p, 4096).time_low_s * SLACK
    assert prefill_s(slow, 4096) >= prefill_time(p, 4096).time_high_s / SLACK * 0.999


@settings(max_examples=100, deadline=None)
@given(st.sampled_from([m for m in MODELS if model_of(m).experts]), st.sampled_from([2, 4, 8]), tokens, batches, st.integers(0, 500))
def test_attention_dp_obeys_the_same_laws(model, dp, n, batch, more):
    p = cached_prepare(model, "h200", 8, attention_dp=dp)
    if p is None:
        return
    assert prefill_s(p, n, 0, batch) <= prefill_s(p, n + more, 0, batch + more) * SLACK
    assert decode_step_s(p, batch, n) <= decode_step_s(p, batch + more, n + more) * SLACK


@pytest.mark.parametrize(
    ("model", "gpu", "tp", "ctx", "batch"), [("qwen3-32b-fp8", "b200", 1, 65536, 64), ("kimi-k2", "b200", 8, 65536, 64), ("llama2-70b", "h100", 8, 4096, 32)]
)
def test_the_fast_end_is_not_faster_than_the_memory(model, gpu, tp, ctx, batch):
    gpu = Catalog().gpu(gpu)
    time = decode_time(prepare(Catalog().model(model), gpu, tp=tp), batch, ctx)
    assert time.bytes_read / (gpu.hbm_bytes_per_s * tp) <= time.time_low_s <= time.time_s <= time.time_high_s


def test_a_batch_beyond_memory_is_said(kvcost):
    words = ("compute", "--model", "llama2-70b", "--gpu", "h100", "--tp", 2, "--ctx", 4096, "--phase", "decode", "--batch")
    ran = kvcost(*words, "1,256", "--format", "csv")
    assert ran.code == 0
    assert "batch-beyond-memory: 256 requests of 4,096 tokens do not fit beside the weights of llama2-70b on 2 x h100_sxm: the most is 1" in ran.err
    assert "batch-beyond-memory" not in kvcost(*words, "1", "--format", "csv").err
