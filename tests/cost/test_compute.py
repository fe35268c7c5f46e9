"""Golden numbers and refusals of the compute model."""

from __future__ import annotations

import math

import pytest

from kvcost.catalog.store import Catalog
from kvcost.cost.capacity import check_fits, gpus_needed, memory
from kvcost.cost.compute import chunked_prefill_s, decode_step_s, decode_time, mixed_step_s, prefill_s, prefill_time
from kvcost.cost.measured import interpolate
from kvcost.cost.prepare import prepare
from kvcost.cost.terms import terms_of
from kvcost.cost.work import attended
from kvcost.errors import KvcostError

CATALOG = Catalog()
H100, LLAMA = CATALOG.gpu("h100"), CATALOG.model("llama3.1-70b")


def test_prefill_by_hand():
    """Every term written out: 4096 tokens of Llama 3.1 70B, fp8, TP 4 on H100."""
    n, t, head, body = 4096, 4, 128256 * 8192, 70553706496 - 2 * 1050673152
    products = 2 * body * n / (t * 1979e12 * 0.53) + 2 * head / (t * 989e12 * 0.78)
    weights = (body + 2 * head) / (t * 3.35e12 * 0.8)
    attention = 2 * 80 * 64 * 128 * n * n / (t * 989e12 * 0.78 * 0.75)
    reduce = 1.8 * 2 * 80 * 2 * (t - 1) / t * n * 8192 * 2 / 450e9
    expected = 80 * 77e-6 + math.hypot(products, weights) + attention + reduce
    assert prefill_s(prepare(LLAMA, H100, tp=4, weight_dtype="fp8"), n) == pytest.approx(expected, rel=1e-12)


def test_decode_by_hand():
    """A step of 32 sequences at 4250 tokens, bf16 on H100, TP 16: eight KV heads are copied twice."""
    n, t, batch, head, body = 4250, 16, 32, 128256 * 8192, 70553706496 - 2 * 1050673152
    weights = 2 * (body + head) / (t * 3.35e12 * 0.9)
    products = batch * 2 * (body + head) / (t * 989e12 * 0.65)
    cache = batch * n * 80 * 4096 * 2 / (t * 3.35e12 * 0.9)
    reduce = 1.5 * 2 * 80 * 2 * (t - 1) / t * batch * 8192 * 2 / 450e9
    expected = 80 * 51e-6 + 2 * 80 * 2e-6 + math.hypot(weights, products) + cache + reduce
    assert decode_step_s(prepare(LLAMA, H100, tp=16), batch, n) == pytest.approx(expected, rel=1e-12)


def test_windows_and_chunks_have_their_own_sum():
    for reach in ("window", "chunk"):
        for n in (1, 9, 10, 11, 35):
            exact = sum(min(i, 10) if reach == "window" else (i - 1) % 10 + 1 for i in range(1, n + 1))
            assert attended(reach, 10, n) == pytest.approx(exact, abs=n / 2)


def test_sliding_windows_are_cheaper_than_full_attention():
    gemma = CATALOG.model("gemma-3-27b")
    full = gemma._replace(groups=(gemma.groups[0]._replace(layers=62),))
    assert prefill_s(prepare(gemma, H100), 32768) < prefill_s(prepare(full, H100), 32768)
    assert decode_step_s(prepare(gemma, H100), 8, 32768) < decode_step_s(prepare(full, H100), 8, 32768)


def test_attention_dp_does_not_copy_the_latent():
    model, gpu = CATALOG.model("deepseek-v3"), CATALOG.gpu("h200")
    tensor, data = (prepare(model, gpu, tp=8, weight_dtype="fp8", attention_dp=n) for n in (1, 8))
    assert memory(data, 8192).batch_limit > 4 * memory(tensor, 8192).batch_limit
    assert decode_step_s(data, 256, 32768) < decode_step_s(tensor, 256, 32768)
    assert prefill_s(data, 8192) > prefill_s(tensor, 8192)
    assert any(code == "attention-dp-balanced" for code, _, _ in data.warnings)


def test_pipeline_stages_add_hand_overs_and_room():
    one, two = prepare(LLAMA, H100, tp=4), prepare(LLAMA, H100, tp=4, pp=2)
    assert prefill_s(one, 4096) < prefill_s(two, 4096) < 1.05 * prefill_s(one, 4096)
    assert memory(two, 4096).weight_bytes_per_gpu == memory(one, 4096).weight_bytes_per_gpu / 2


def test_a_step_without_one_side_is_the_other():
    p = prepare(LLAMA, H100, tp=4)
    assert mixed_step_s(p, 0, 0, 32, 4096) == decode_step_s(p, 32, 4096)
    assert mixed_step_s(p, 2048, 1024, 0, 0) == prefill_s(p, 3072, 1024)
    assert mixed_step_s(p, 2048, 0, 32, 4096) > max(prefill_s(p, 2048), decode_step_s(p, 32, 4096))
    assert chunked_prefill_s(p, 4096, 8192) == prefill_s(p, 4096)


def test_terms_add_up():
    p = prepare(CATALOG.model("deepseek-v3"), CATALOG.gpu("h200"), tp=8, weight_dtype="fp8")
    for phase, time in (("prefill", prefill_time(p, 4096)), ("decode", decode_time(p, 16, 4096))):
        terms = terms_of(p, phase, time.groups)
        assert sum(term.share for term in terms) == pytest.approx(1)
        assert terms[0].seconds == max(time.groups)


def test_bounds():
    p = prepare(LLAMA, H100, tp=4)
    assert prefill_time(p, 8192).bound == "compute"
    assert decode_time(p, 1, 1024).bound == "memory"
    assert decode_time(prepare(CATALOG.model("llama3.1-8b"), H100, tp=8), 1, 128).bound == "overhead"
    assert prefill_time(prepare(LLAMA, CATALOG.gpu("l40s"), tp=8), 4096).bound == "communication"


@pytest.mark.parametrize(("gpu", "dtype", "code"), [
    ("a100", "fp8", "weight-only"),
    ("h100", "fp4", "weight-only"),
    ("b300", "int8", "weight-only"),
    ("v100", "bf16", "no-bf16-units"),
])  # fmt: skip
def test_missing_units_are_named(gpu, dtype, code):
    p = prepare(CATALOG.model("llama3.1-8b"), CATALOG.gpu(gpu), weight_dtype=dtype)
    assert [warning[0] for warning in p.warnings] == [code]
    assert CATALOG.gpu(gpu).name in p.warnings[0][1]


def test_native_units_need_no_warning():
    for gpu, dtype in (("h100", "fp8"), ("b200", "fp4"), ("a100", "int8"), ("h100", "int4"), ("a100", "bf16")):
        assert not prepare(CATALOG.model("llama3.1-8b"), CATALOG.gpu(gpu), weight_dtype=dtype).warnings


def test_tensor_parallelism_beyond_the_fabric_is_named():
    assert prepare(LLAMA, H100, tp=16).warnings[0][0] == "tp-beyond-scaleup"


@pytest.mark.parametrize(("options", "words"), [
    ({"tp": 0}, "TP must be at least 1"),
    ({"tp": 3}, "TP 3"),
    ({"pp": 0}, "PP must be"),
    ({"pp": 99}, "more than the 80 layers"),
    ({"tp": 8, "attention_dp": 3}, "does not divide"),
    ({"weight_dtype": "fp6"}, "unknown weight dtype"),
])  # fmt: skip
def test_nonsense_is_refused(options, words):
    with pytest.raises(KvcostError, match=words):
        prepare(LLAMA, H100, **options)


def test_what_does_not_fit_says_how_many_gpus_it_takes():
    p = prepare(LLAMA, H100)
    with pytest.raises(KvcostError, match="does not fit") as error:
        check_fits(p, 4096)
    assert "--tp 4" in error.value.hint
    assert gpus_needed(p, 4096) == 4
    assert check_fits(prepare(LLAMA, H100, tp=4), 4096).batch_limit > 0
    assert gpus_needed(prepare(LLAMA, CATALOG.gpu("tpu_v5e")), 10**8) is None


def test_a_model_without_parameters_is_refused():
    with pytest.raises(KvcostError, match="parameters"):
        prepare(LLAMA._replace(params_total=None), H100)


def test_measured_points():
    points = {4096: 0.390, 8192: 0.845}
    assert interpolate(points, 4096) == 0.390
    assert interpolate({4096: 0.39}, 2048) == pytest.approx(0.195)
    assert 0 < interpolate(points, 1) < interpolate(points, 4095) < 0.39
    assert interpolate({1024: 0.2, 2048: 0.1}, 4096) == 0.1
    for bad in ({}, {0: 1.0}, {4: 0.0}, {4: math.nan}, {4: math.inf}):
        with pytest.raises(KvcostError):
            interpolate(bad, 5)
