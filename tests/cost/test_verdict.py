"""Classes, verdicts and their sentences; goodput, layouts, thresholds and flags."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kvcost.catalog.store import Catalog
from kvcost.cost.breakeven import AXES, axis_case, axis_gain, breakeven, simple_breakeven_osl
from kvcost.cost.case import DRAWS, Case, compare, draw_gpu, fixed_transfer, gain_of, link_transfer
from kvcost.cost.dtypes import parse_kv_dtype
from kvcost.cost.flags import flags
from kvcost.cost.goodput import (
    Layout,
    Limits,
    balanced_rate,
    best_layouts,
    cost_per_mtok,
    disagg_goodput,
    disagg_saturation,
    highest_rate,
    mono_goodput,
    mono_saturation,
    split_layouts,
)
from kvcost.cost.kv import kv_layout
from kvcost.cost.mono import mono
from kvcost.cost.prepare import prepare
from kvcost.cost.serving import Colocated, Split, Work, capped, model_capacity
from kvcost.cost.steps import measured_steps, model_steps
from kvcost.cost.threshold import router_threshold
from kvcost.cost.transfer import Engine, Link
from kvcost.cost.verdict import classify, decide, sign_turned_by
from kvcost.errors import KvcostError

CATALOG = Catalog()


FIRST = Work(4096, 256, 2.0)


def llama(work=FIRST, *, kv="bf16", constants="expected", router="round-robin", prefills=1, decodes=1, chunk=8192, tp=8):
    """Llama 2 70B on H100, TP 8, 1P1D against two servers, 100GbE."""
    p = prepare(CATALOG.model("llama2-70b"), draw_gpu(CATALOG.gpu("h100"), constants), tp=tp, encoding=parse_kv_dtype(kv))
    steps = model_steps(p)
    transfer = link_transfer(kv_layout(p.model.groups, p.encoding), CATALOG.link("100gbe"), Engine("line"), prefill_tp=tp, decode_tp=tp)
    split = Split(steps, steps, model_capacity(p, 1024), prefills, decodes, router, handover_s=0.010)
    return Case(work, Colocated(steps, model_capacity(p, 256), prefills + decodes, chunk, router), split, transfer)


def test_the_issues_first_question():
    """--ctx 4096 --osl 256 --gpu h100 --tp 8 --link 100gbe --rate 2: TTFT worse, TPOT better, both said, and from where it pays."""
    case = llama()
    solved = breakeven(case, "osl")
    found = decide([compare(case)], breakeven_osl=solved.value)
    assert found.verdict == "mixed"
    assert found.reason.startswith("TTFT 175 ms worse, TPOT 2.08 ms better: pays from 70 output tokens on")
    assert found.net_gain_s == pytest.approx(compare(case).gains.e2e_s)
    assert "pays from 70 to 1,854 output tokens" in decide([compare(case)], breakeven_osl=solved).reason
    assert "pays from 86 output tokens on" in decide([compare(case)]).reason
    for intervals, words in [((), "at no number of output tokens"), (((None, None),), "at any number"), (((None, 9.5),), "up to 9 output tokens")]:
        assert words in decide([compare(case)], breakeven_osl=solved._replace(intervals=intervals)).reason
    assert decide([compare(case)], "tpot").verdict == "disaggregate"
    assert decide([compare(case)], "ttft").verdict == "colocate"


def test_no_load_nothing_to_save():
    found = decide([compare(llama(Work(4096, 256, 0.0)))])
    assert found.verdict == "colocate"
    assert found.reason.startswith("with no load there is nothing to save: TTFT 137 ms worse")


def test_a_pool_that_carries_the_whole_batch():
    """Qwen3-32B on B200, 8000/1000, 2P1D: TPOT is worse, more output makes it worse, more decode instances help."""
    p = prepare(CATALOG.model("qwen3-32b"), CATALOG.gpu("b200"), tp=2, weight_dtype="fp8")
    steps = model_steps(p)
    base = Case(Work(8000, 1000, 4.0), Colocated(steps, model_capacity(p, 256), 3), Split(steps, steps, model_capacity(p, 1024), 2, 1), fixed_transfer(0.0569))
    found = decide([compare(base)])
    assert "decode pool carries the whole batch: TPOT" in found.reason
    assert "add a decode instance" in found.reason
    more = base._replace(split=base.split._replace(decode_instances=2), mono=base.mono._replace(instances=4))
    assert compare(more).gains.tpot_s > compare(base).gains.tpot_s


def test_saturation_decides_and_is_named():
    slow = llama(Work(4096, 256, 6.0))
    found = decide([compare(slow)])
    assert found.verdict == "colocate"
    assert found.reason == "disaggregated saturates (prefill): prompts arrive faster than they are computed at this load"
    assert found.net_gain_s is None
    both = decide([compare(llama(Work(4096, 256, 60.0)))])
    assert both.verdict == "infeasible"
    assert "monolithic saturates" in both.reason
    narrow = llama()
    link = decide([compare(narrow._replace(transfer=fixed_transfer(0.6)))])
    assert link.verdict == "colocate"
    assert "the link never catches up" in link.reason
    tiny = llama(tp=1)
    assert decide([compare(tiny)]).verdict == "infeasible"
    assert "do not fit" in decide([compare(tiny)]).reason
    full = narrow._replace(mono=narrow.mono._replace(capacity=capped(2)))
    assert decide([compare(full)]).verdict == "disaggregate"
    assert "the batch is at max-seqs" in decide([compare(full)]).reason


@settings(max_examples=300)
@given(st.lists(st.floats(0.2, 5), min_size=1, max_size=3), st.sampled_from(["ttft", "tpot", "itl-p99", "goodput"]))
def test_classes_mirror(ratios, metric):
    mirror = {"better": "worse", "worse": "better", "tie": "tie"}
    assert classify(metric, [1 / ratio for ratio in ratios]) == mirror[classify(metric, ratios)]


def test_joint_runs_widen_and_may_turn_the_class():
    cases = [llama(constants=draw.constants, router=draw.router or "round-robin") for draw in DRAWS]
    found = decide([compare(case) for case in cases])
    assert found.net_gain_low_s < found.net_gain_s <= found.net_gain_high_s
    close = [llama(Work(4096, 60, 2.0), constants=draw.constants, router=draw.router or "round-robin") for draw in DRAWS]
    assert decide([compare(case) for case in close]).classes["e2e"] == "tie"


def test_what_alone_turns_the_sign_is_said():
    base = llama(Work(4096, 100, 2.0), prefills=2, decodes=1)
    variants = {"the router": llama(Work(4096, 100, 2.0), prefills=2, decodes=1, router="random"), "nothing": base}
    turned = sign_turned_by(base, variants)
    gains = gain_of(base), gain_of(variants["the router"])
    assert turned == (("the router",) if (gains[0] > 0) != (gains[1] > 0) else ())
    assert decide([compare(base)], turned_by=("the router",)).reason.endswith("; the router alone turns the sign")


def test_goodput_decides_by_its_band():
    outcome = compare(llama())
    assert decide([outcome], "goodput", goodput_ratios=[1.2, 1.05, 1.3]).verdict == "disaggregate"
    assert decide([outcome], "goodput", goodput_ratios=[1.05]).reason == "no difference in goodput beyond the error: 1.05x per GPU"
    with pytest.raises(KvcostError, match="goodput needs limits"):
        decide([outcome], "goodput")
    with pytest.raises(KvcostError, match="unknown objective"):
        decide([outcome], "speed")


def test_break_evens_of_the_first_question():
    case = llama()
    osl, bandwidth, ctx, rate = (breakeven(case, axis) for axis in ("osl", "bandwidth", "ctx", "rate"))
    assert osl.value == pytest.approx(69.4, abs=0.1)
    assert bandwidth.value == pytest.approx(4.9e9, rel=0.02)
    assert len(ctx.intervals) == len(rate.intervals) == 1
    assert ctx.intervals[0][0] < 4096 < ctx.intervals[0][1]
    assert rate.intervals[0][0] < 2 < rate.intervals[0][1]
    hit = breakeven(case, "prefix-hit")
    assert hit.value is None
    assert hit.reason == "no root: disaggregation gains from 0 to 4,096 tokens"
    never = breakeven(llama(Work(4096, 8, 2.0)), "bandwidth")
    assert (never.value, never.reason) == (None, "no root: even an unlimited link does not gain")


def test_break_even_of_kv_bits():
    """With the link made slow, fewer bits turn the sign; every point prepares the model anew."""
    slow = Link("slow", 4e9, 4e9, 4e9, 4e9)

    def at_bits(bits):
        encoding = parse_kv_dtype("bf16")._replace(element_bits=bits)
        p = prepare(CATALOG.model("llama2-70b"), CATALOG.gpu("h100"), tp=8)._replace(encoding=encoding)
        transfer = link_transfer(kv_layout(p.model.groups, parse_kv_dtype("bf16")), slow, Engine("line"), prefill_tp=8, decode_tp=8)
        return llama()._replace(transfer=lambda ctx, hit, rate: transfer(ctx, hit, rate) * bits / 16)

    found = breakeven(at_bits(16), "kv-bits", kv_case=at_bits)
    assert found.value is not None
    assert abs(gain_of(at_bits(found.value))) < 1e-9
    with pytest.raises(KvcostError, match="KV bits"):
        axis_gain(llama(), "kv-bits")(8)
    with pytest.raises(KvcostError, match="unknown axis"):
        breakeven(llama(), "colour")


def test_a_jump_is_no_root():
    case = llama(Work(4096, 256, 2.0))
    found = breakeven(case._replace(work=case.work._replace(output_tokens=20)), "rate", "itl-p99")
    assert found.value is None
    assert "the sign turns at a jump" in found.reason


def test_axes_replace_one_input():
    case = llama(Work(4096, 256, 2.0, prefix_hit_tokens=1024, cached_tokens=512))
    assert axis_case(case, "ctx", 256).work[:6] == (256, 256, 2.0, None, 256, 256)
    assert axis_case(case, "bandwidth", math.inf).transfer_s == 0
    assert axis_case(case, "prefix-hit", 4096).transfer_s == 0
    assert {"osl", "bandwidth", "ctx", "rate", "prefix-hit", "kv-bits"} == set(AXES)
    assert simple_breakeven_osl(0.1, 0.01) is None


def test_highest_rate_and_saturation():
    assert highest_rate(lambda _: False) == 0
    assert highest_rate(lambda rate: rate < 3e-5) == pytest.approx(3e-5, rel=1e-5)
    case = llama()
    limit, most = disagg_saturation(case.work, case.split, case.transfer_s)
    assert limit == "prefill"
    assert most == pytest.approx(1 / case.split.prefill(4096, 0, 1).prefill_s, rel=1e-4)
    assert disagg_saturation(case.work, case.split, 1.0) == ("link", pytest.approx(1.0, rel=1e-4))
    limit, most = mono_saturation(case.work, case.mono)
    assert mono(case.work._replace(rate_per_s=most * 1.001), case.mono).limit == limit
    assert not mono(case.work._replace(rate_per_s=most * 0.999), case.mono).limit


def test_goodput_meets_its_limits_and_not_more():
    case, limits = llama(), Limits(1.0, 0.020, None, 0.9)
    ours = mono_goodput(case.work, case.mono, limits)
    theirs = disagg_goodput(case.work, case.split, limits, case.transfer_s)
    assert 0 < theirs < ours
    assert disagg_goodput(case.work, case.split, limits, case.transfer_s, 1.0) == pytest.approx(theirs / 0.92, rel=1e-4)
    tight = mono_goodput(case.work, case.mono, Limits(None, 0.020, 0.030))
    assert tight < ours / 3  # the gap forbids steps with a prompt in a hundred
    assert mono_goodput(case.work, case.mono, Limits(0.001)) == 0


def test_best_layouts():
    layouts = list(split_layouts(16, [1, 2, 4, 8]))
    assert all(layout.gpus == 16 for layout in layouts)
    found = best_layouts(layouts, lambda layout: layout.decode_tp + layout.prefill_instances / 100, lambda _: 1.0)
    assert found.layout == Layout(8, 1, 1, 8)
    assert found.runner_up == Layout(4, 2, 1, 8)
    assert found.remark.startswith("limited by the granularity of N = 16")
    assert best_layouts([Layout(1, 8)], lambda _: 0.0).remark == "no layout meets the limits"
    with pytest.raises(KvcostError, match="no layout"):
        best_layouts([], lambda _: 1.0)
    assert balanced_rate(1.0, 3.0) == 0.75
    assert cost_per_mtok(16, 2.0, 0.0, 500) is None


def test_router_threshold_falls_with_load_and_rises_with_the_transfer():
    case = llama(Work(4096, 256, 2.0))
    found = router_threshold(case)
    assert found.tokens < found.at_half_rate_tokens
    assert router_threshold(case._replace(split=case.split._replace(handover_s=0.1))).tokens > found.tokens
    assert router_threshold(llama(Work(4096, 256, 9.0))).reason == "the pools saturate at this load (prefill)"
    assert router_threshold(case._replace(transfer=lambda ctx, *_: 1.0 + ctx)).tokens is None


def test_flags_are_never_silent():
    case = llama(Work(4096, 256, 3.5))
    assert flags(compare(case)) == ()
    assert "gap-edge" in {flag[0] for flag in flags(compare(llama()))}
    codes = {flag[0] for flag in flags(compare(llama(Work(9000, 8, 0.5))))}
    assert {"chunk-edge", "short-output"} <= codes
    tight = case._replace(mono=case.mono._replace(capacity=capped(8)), split=case.split._replace(capacity=capped(12)))
    assert [flag[0] for flag in flags(compare(tight))].count("kv_tight") == 2
    assert "prefill-busy" in {flag[0] for flag in flags(compare(llama(Work(4096, 256, 5.2))))}
    assert "fractional-instances" in {flag[0] for flag in flags(compare(case._replace(mono=case.mono._replace(instances=1.5))))}
    assert "mixed-lengths" in {flag[0] for flag in flags(compare(case._replace(work=case.work._replace(length_cv=0.5))))}
    assert "short-prompt" in {flag[0] for flag in flags(compare(llama(Work(500, 256, 2.0))))}
    assert "bursts" in {flag[0] for flag in flags(compare(llama(Work(20000, 200, 0.2))))}
    shared = llama(Work(4096, 256, 8.0), prefills=2)
    assert "incast" in {flag[0] for flag in flags(compare(shared))}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"work": Work(0, 10)}, "at least one prompt token"),
        ({"work": Work(10, 10, cached_tokens=20)}, "cached tokens do not fit"),
        ({"work": Work(10, 10, rate_per_s=-1)}, "rate must be"),
        ({"work": Work(10, 10, rate_per_s=math.inf)}, "rate must be"),
        ({"work": Work(10, 10, rate_per_s=1, concurrency=1)}, "cannot both be given"),
        ({"work": Work(10, 10, concurrency=0)}, "concurrency must be"),
        ({"mono": Colocated(measured_steps({1: 1}, {1: 1}), instances=0)}, "at least one instance"),
        ({"mono": Colocated(measured_steps({1: 1}, {1: 1}), router="x")}, "unknown router"),
    ],
)
def test_refusals(change, message):
    with pytest.raises(KvcostError, match=message):
        compare(llama()._replace(**change))


def test_refusals_of_measured_times():
    with pytest.raises(KvcostError, match="the decode step is neither measured nor modelled"):
        measured_steps({1: 1.0}, None)
    with pytest.raises(KvcostError, match="above zero"):
        measured_steps({1: 1.0}, {1: 0.0})
    with pytest.raises(KvcostError, match="no measured decode step"):
        measured_steps({1: 1.0}, {})
    with pytest.raises(KvcostError, match="unknown objective"):
        gain_of(llama(), "speed")


def test_what_saturates_at_an_end_makes_a_tie_and_is_said():
    case = llama()
    slow = case._replace(transfer=fixed_transfer(0.9))
    found = decide([compare(case), compare(slow), compare(case)])
    assert (found.verdict, found.net_gain_low_s) == ("colocate", None)
    assert found.reason.endswith("not sure: at one end of the constants' and the link's range the disaggregated side saturates (link)")


def test_one_output_token_has_no_gap():
    answer = decide([compare(llama(FIRST._replace(output_tokens=1)))])
    assert {answer.classes["tpot"], answer.classes["itl-p99"]} == {"tie"}
    assert "TPOT" not in answer.reason


def test_a_goodput_that_the_ends_turn_is_called_not_sure():
    outcome = compare(llama())
    assert "not sure: goodput per GPU within the limits is 1.42x, 0.93x to 1.80x" in decide([outcome], "goodput", goodput_ratios=[1.42, 0.93, 1.8]).reason
    assert "no difference" in decide([outcome], "goodput", goodput_ratios=[1.04, 0.93, 1.8]).reason
