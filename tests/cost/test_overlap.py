"""What of a transfer is exposed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kvcost.cost.overlap import OVERLAPS, exposed_time
from kvcost.errors import KvcostError

seconds = st.floats(0, 100)
layer_counts = st.integers(1, 130)


@given(seconds, layer_counts)
def test_serial_exposes_everything(transfer, layers):
    assert exposed_time("serial", transfer, layers) == transfer
    assert exposed_time("serial", transfer, layers, prefill_s=5.0, decode_step_s=1.0, floor_s=9.0) == transfer


@given(st.sampled_from(OVERLAPS), seconds, seconds, seconds, layer_counts, st.floats(0, 1))
def test_never_more_than_serial_never_below_nothing(overlap, transfer, prefill, step, layers, floor):
    exposed = exposed_time(overlap, transfer, layers, prefill_s=prefill, decode_step_s=step, floor_s=floor)
    assert 0 <= exposed <= transfer


@given(seconds, seconds, layer_counts)
def test_the_last_layer_is_always_exposed(transfer, compute, layers):
    assert exposed_time("push", transfer, layers, prefill_s=compute) >= transfer / layers * (1 - 1e-12)
    assert exposed_time("decode-start", transfer, layers, decode_step_s=compute) >= transfer / layers * (1 - 1e-12)


@given(seconds, seconds, seconds, layer_counts)
def test_more_compute_hides_more(transfer, a, b, layers):
    short, long = sorted((a, b))
    assert exposed_time("push", transfer, layers, prefill_s=long) <= exposed_time("push", transfer, layers, prefill_s=short) + 1e-12


@given(seconds, seconds, layer_counts)
def test_push_and_decode_start_are_one_form(transfer, compute, layers):
    assert exposed_time("push", transfer, layers, prefill_s=compute) == exposed_time("decode-start", transfer, layers, decode_step_s=compute)


@given(seconds, layer_counts)
def test_nothing_to_hide_behind_is_serial(transfer, layers):
    assert exposed_time("push", transfer, layers, prefill_s=0.0) == transfer


@given(seconds, seconds)
def test_one_layer_hides_nothing(transfer, compute):
    assert exposed_time("push", transfer, 1, prefill_s=compute) == pytest.approx(transfer)
    assert exposed_time("push", transfer, 0, prefill_s=compute) == pytest.approx(transfer)


@given(st.floats(0.01, 1), layer_counts)
def test_a_push_has_a_floor_and_decode_start_has_none(transfer, layers):
    assert exposed_time("push", transfer, layers, prefill_s=1e3, floor_s=0.008) == pytest.approx(max(0.008, transfer / layers))
    assert exposed_time("push", 0.001, layers, prefill_s=1e3, floor_s=0.008) == 0.001
    assert exposed_time("decode-start", transfer, layers, decode_step_s=1e3, floor_s=0.008) == pytest.approx(transfer / layers)


def test_what_hides_it_may_be_unknown():
    assert exposed_time("push", 0.1, 80) is None
    assert exposed_time("push", 0.1, 80, decode_step_s=1.0) is None
    assert exposed_time("decode-start", 0.1, 80, prefill_s=1.0) is None


def test_the_three_regimes():
    assert exposed_time("push", 0.08, 80, prefill_s=0.4) == pytest.approx(0.001)
    assert exposed_time("push", 0.8, 80, prefill_s=0.4) == pytest.approx(0.8 - 0.4 + 0.005)
    assert exposed_time("decode-start", 0.08, 80, decode_step_s=0.04) == pytest.approx(0.08 - 0.04 + 0.0005)


def test_unknown_overlap():
    with pytest.raises(KvcostError, match="unknown overlap 'pull'") as caught:
        exposed_time("pull", 1.0, 1)
    assert "push" in caught.value.hint
