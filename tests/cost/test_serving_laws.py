"""Laws that hold for every deployment: limits, monotony, roots, and one way of pricing for hot and cold paths."""

from __future__ import annotations

import math

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from kvcost.catalog.store import Catalog
from kvcost.cost.breakeven import axis_case, axis_gain, breakeven
from kvcost.cost.case import Case, compare, fixed_transfer, gain_of, link_transfer, ttft_parts
from kvcost.cost.compute import decode_step_s, mixed_step_s, prefill_s
from kvcost.cost.disagg import disagg, pools, with_transfer
from kvcost.cost.kv import kv_layout
from kvcost.cost.mono import mono
from kvcost.cost.prepare import prepare
from kvcost.cost.serving import Colocated, Split, Work, length_moments, model_capacity
from kvcost.cost.steps import measured_steps, model_steps
from kvcost.cost.sweep import costs_of, load
from kvcost.cost.tails import disagg_gap_s, disagg_ttft_s, mono_gap_s, mono_ttft_s
from kvcost.cost.transfer import Engine
from kvcost.cost.verdict import decide

CATALOG = Catalog()
SETUPS = [("llama2-70b", "h100", 8, None, 1), ("llama3.1-8b", "a100", 1, None, 1), ("qwen3-32b", "h200", 2, "fp8", 1), ("gemma-3-27b", "h100", 2, None, 1),
          ("deepseek-v3", "h200", 8, "fp8", 8), ("qwen3-235b-a22b", "h200", 8, "fp8", 1)]  # fmt: skip
RATES = st.floats(0.01, 20)
_CACHE: dict[object, tuple[object, ...]] = {}


def parts(setup):
    if setup not in _CACHE:
        model, gpu, tp, dtype, dp = setup
        p = prepare(CATALOG.model(model), CATALOG.gpu(gpu), tp=tp, weight_dtype=dtype, attention_dp=dp)
        transfer = link_transfer(kv_layout(p.model.groups, p.encoding), CATALOG.link("100gbe"), Engine("line"), prefill_tp=tp, decode_tp=tp)
        _CACHE[setup] = p, model_steps(p), model_capacity(p, 256), model_capacity(p, 1024), transfer
    return _CACHE[setup]


@st.composite
def cases(draw, *, rates=RATES, overlaps=("serial", "push", "decode-start")):
    _, steps, cap, decode_cap, transfer = parts(draw(st.sampled_from(SETUPS)))
    prefills, decodes, router = draw(st.integers(1, 3)), draw(st.integers(1, 3)), draw(st.sampled_from(["random", "round-robin", "least-loaded"]))
    work = Work(draw(st.integers(64, 30000)), draw(st.integers(1, 2000)), draw(rates))
    ours = Colocated(steps, cap, prefills + decodes, draw(st.sampled_from([512, 2048, 8192])), router)
    theirs = Split(steps, steps, decode_cap, prefills, decodes, router, draw(st.sampled_from(["decode", "prefill"])), 0.01,
                   draw(st.sampled_from(overlaps)), 80, 0.005, 512)  # fmt: skip
    return Case(work, ours, theirs, transfer)


DENSE = parts(SETUPS[0])[1]
SETTINGS = settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.filter_too_much])


@SETTINGS
@given(st.sampled_from(SETUPS), st.integers(1, 40000), st.integers(0, 3000), st.integers(1, 300), st.integers(1, 50000))
def test_curves_are_the_compute_model(setup, n, start, groups, ctx):
    """One decode step, one chunk beside a batch, one prompt alone: the same seconds, at whole numbers of requests a group."""
    p, steps, *_ = parts(setup)
    batch = groups * p.attention_dp
    curves = steps(start + n, start, ctx)
    assert curves.decode(batch) == pytest.approx(decode_step_s(p, batch, ctx), rel=1e-12)
    assert curves.chunks(n, batch)[0] == pytest.approx(mixed_step_s(p, n, start, batch, ctx), rel=1e-12)
    assert curves.longest(n, batch) == pytest.approx(curves.chunks(n, batch)[0], rel=1e-12)
    assert curves.prefill_s == pytest.approx(prefill_s(p, start + n, start, p.attention_dp), rel=1e-12)


@SETTINGS
@given(st.sampled_from([s for s in SETUPS if s[4] == 1]), st.integers(2, 30000), st.integers(64, 9000), st.integers(0, 200))
def test_chunks_add_up(setup, n, budget, batch):
    """The closed sum over chunks is the loop over them, but for where reading the cache takes over from attention."""
    p, steps, *_ = parts(setup)
    total, count = steps(n, 0, 4000).chunks(budget, batch)
    starts = range(0, n, budget)
    loop = sum(mixed_step_s(p, min(budget, n - start), start, batch, 4000) for start in starts)
    assert count == len(starts)
    assert total == pytest.approx(loop, rel=0.02)
    assert total <= loop * (1 + 1e-9)


@SETTINGS
@given(cases(), st.floats(1.0, 3.0))
def test_more_load_never_helps(case, factor):
    more = case._replace(work=case.work._replace(rate_per_s=case.work.rate_per_s * factor))
    for side in ("mono", "disagg"):
        less_side, more_side = getattr(compare(case), side), getattr(compare(more), side)
        if less_side.limit:
            assert more_side.limit
        elif not more_side.limit:
            for field in ("ttft_s", "tpot_s", "e2e_s"):
                assert getattr(less_side, field) <= getattr(more_side, field) * (1 + 1e-6)


@SETTINGS
@given(cases(), st.floats(8, 12.5), st.floats(0, 2))
def test_gain_does_not_rise_when_bandwidth_falls(case, digits, fall):
    for objective in ("all", "ttft", "tpot", "e2e"):
        gain = axis_gain(case, "bandwidth", objective)
        fast, slow = gain(10**digits), gain(10 ** (digits - fall))
        assert math.isnan(fast) or math.isnan(slow) or slow <= fast + 1e-12


@SETTINGS
@given(cases())
def test_an_unlimited_link_is_no_transfer(case):
    unlimited, none = compare(axis_case(case, "bandwidth", math.inf)), compare(case._replace(transfer=fixed_transfer(0.0)))
    assert unlimited[2:] == none[2:]
    assert unlimited.disagg[1:] == none.disagg[1:]
    assert decide([unlimited]) == decide([none])


@SETTINGS
@given(cases(), st.sampled_from(["decode", "prefill"]))
def test_with_nothing_to_move_and_no_load_only_the_decode_step_is_lost(case, first_token):
    """Rate 0, transfer 0, hand-over 0, a prompt that fits the budget: all gains are 0 but the decode step of the first token."""
    setup_budget = case._replace(mono=case.mono._replace(chunk_tokens=40000), split=case.split._replace(handover_s=0.0, first_token=first_token))
    idle = setup_budget._replace(work=case.work._replace(rate_per_s=0.0), transfer=fixed_transfer(0.0))
    found = compare(idle, p90=True)
    assume(not found.mono.limit)
    assume(idle.split.decode(1, 0, 1) is not None)
    lost = found.disagg.pools.step_s if first_token == "decode" else 0.0
    one_group = idle.split.prefill(idle.work.prompt_tokens, 0, 1).prefill_s == pytest.approx(
        idle.mono.steps(idle.work.prompt_tokens, 0, 1).chunks(1e9, 0)[0], rel=1e-9
    )
    assume(one_group)  # attention data parallelism prices a prompt in every group
    for value, want in zip(found.gains, (-lost, 0.0, -lost, 0.0, -lost), strict=True):
        assert value == pytest.approx(want, abs=1e-12 + 1e-9 * lost)


@SETTINGS
@given(cases(overlaps=("serial",)), st.sampled_from(["osl", "bandwidth", "ctx", "rate", "prefix-hit"]), st.sampled_from(["all", "ttft", "tpot"]))
def test_roots_are_roots(case, axis, objective):
    found = breakeven(case, axis, objective)
    if found.value is None:
        assert found.reason
        return
    assert found.reason == ""
    for item in found.crossings:
        if item.kind == "root":
            assert abs(gain_of(axis_case(case, axis, item.at), objective)) < 1e-9
    for low, high in found.intervals:
        inside = ((low or 1e-3) * (high or 2 * (low or 1.0))) ** 0.5
        if low is not None and high is not None:
            assert gain_of(axis_case(case, axis, inside), objective) > 0


@SETTINGS
@given(cases(), st.sampled_from(["all", "ttft", "tpot", "e2e", "itl-p99"]), st.floats(0.3, 3), st.floats(0.0, 2.0))
def test_the_hot_path_gives_the_cold_answer(case, objective, slower, transfer_s):
    """`sweep` and `compare` + `decide` agree on gain, ends and verdict, over three draws with transfers of their own."""
    draws = [case, case._replace(mono=case.mono._replace(router="random"), split=case.split._replace(router="random")), case]
    transfers = [transfer_s, transfer_s * slower, transfer_s / slower]
    point = load([costs_of(item) for item in draws], case.work.rate_per_s, objective).point(transfers)
    outcomes = [compare(item._replace(transfer=fixed_transfer(seconds))) for item, seconds in zip(draws, transfers, strict=True)]
    verdict = decide(outcomes, objective)
    assert point.verdict == verdict.verdict
    for ours, theirs in zip(point[:3], verdict[3:], strict=True):
        assert (ours is None) == (theirs is None)
        assert ours is None or ours == pytest.approx(theirs, rel=1e-9, abs=1e-12)


@SETTINGS
@given(cases(), st.sampled_from(["all", "ttft", "tpot", "e2e", "itl-p99"]))
def test_every_verdict_has_its_sentence(case, objective):
    found = decide([compare(case, p90=True)], objective)
    deciding = {found.classes.get(metric, "tie") for metric in ("ttft", "tpot", "itl-p99", "e2e")} - {"tie"}
    assert found.reason[0].strip()
    assert "  " not in found.reason
    assert not found.reason.endswith((",", ":", ";", " "))
    if found.verdict == "mixed":
        assert deciding == {"better", "worse"}
        assert " better" in found.reason
        assert " worse" in found.reason
    if found.verdict == "disaggregate" and "saturates" not in found.reason:
        assert " better" in found.reason


@SETTINGS
@given(cases())
def test_tails_lie_above(case):
    ours, theirs = mono(case.work, case.mono), disagg(case.work, case.split, case.transfer_s)
    if not ours.limit:
        quantiles = [mono_ttft_s(ours, q) for q in (0.5, 0.9, 0.99)]
        assert quantiles == sorted(quantiles)
        assert mono_gap_s(ours) >= ours.curves.decode(ours.batch + 1) * (1 - 1e-12)
        assert ours.ttft_s == pytest.approx(ours.wait_s + ours.residual_s + ours.own_s)
    parts_of = ttft_parts(compare(case))
    for whole, several in zip((ours.ttft_s, theirs.ttft_s), parts_of, strict=True):
        assert bool(several) == (whole is not None)
        assert not several or (sum(several.values()) == pytest.approx(whole) and min(several.values()) >= -1e-9)
    if not theirs.limit:
        quantiles = [disagg_ttft_s(theirs, q) for q in (0.5, 0.9, 0.99)]
        assert quantiles == sorted(quantiles)
        assert disagg_gap_s(theirs) >= theirs.pools.step_s * (1 - 1e-12)


@SETTINGS
@given(cases(), st.floats(0.5, 300))
def test_a_closed_loop_obeys_little(case, in_flight):
    """Requests in flight = rate x E2E on the split side; neither side ever saturates on its load."""
    work = case.work._replace(rate_per_s=0.0, concurrency=in_flight)
    theirs = disagg(work, case.split, case.transfer_s)
    ours = mono(work, case.mono)
    if theirs.e2e_s is not None:
        assert theirs.pools.rate_per_s * theirs.e2e_s == pytest.approx(in_flight, rel=1e-6)
    if not ours.limit:
        assert ours.batch <= in_flight / case.mono.instances * (1 + 1e-12)
        assert ours.tpot_s >= ours.steps.step_s


@settings(max_examples=60, deadline=None)
@given(cases(overlaps=("serial",), rates=st.floats(0.05, 6)))
def test_a_longer_context_turns_tpot_only_by_saturating(case):
    last = None
    for n in (256, 1024, 4096, 16384, 65536):
        outcome = compare(case._replace(work=case.work._replace(prompt_tokens=n), split=case.split._replace(first_token="decode")))
        verdict = decide([outcome], "tpot")
        if last == "disaggregate" and verdict.verdict == "colocate":
            assert outcome.disagg.limit
            assert "saturates" in verdict.reason
        last = verdict.verdict


@SETTINGS
@given(cases(), st.floats(0.1, 1.5))
def test_mixed_lengths_wait_longer(case, spread):
    case = case._replace(
        mono=case.mono._replace(steps=DENSE), split=case.split._replace(prefill=DENSE, decode=DENSE)
    )  # whole tiles of experts are no convex cost
    mixed = case._replace(work=case.work._replace(length_cv=spread))
    one, many = pools(case.work, case.split), pools(mixed.work, mixed.split)
    if not one.limit and not many.limit:
        assert many.prefill_wait_s >= one.prefill_wait_s * 0.98
        assert many.curves.second_moment >= 1


def test_lognormal_moments():
    first, second = length_moments(lambda n: n, 1000.0, 0.4)
    assert first == pytest.approx(1000, rel=1e-3)
    assert second == pytest.approx(1.16, rel=5e-3)


def test_measured_times_take_the_same_way():
    """Both sides see the given times: T = T_p*q/n + T_d, the prefill pool serves T_p, TPOT of a lone request is T_d."""
    steps = measured_steps({2048: 0.1, 4096: 0.25}, {1: 0.02, 33: 0.036})
    curves = steps(4096, 0, 4200)
    assert curves.prefill_s == 0.25
    assert curves.decode(17) == pytest.approx(0.028)
    assert curves.decode(65) == pytest.approx(0.052)
    assert curves.chunks(1024, 17) == (pytest.approx(0.25 + 4 * 0.028), 4)
    assert curves.longest(1024, 17) == pytest.approx(0.25 / 4 + 0.028)
    idle = Case(Work(4096, 100), Colocated(steps, instances=2), Split(steps, steps), fixed_transfer(0.0))
    assert compare(idle).gains[:3] == pytest.approx((-0.02, 0.0, -0.02))
    half = measured_steps(None, {1: 0.02}, model_steps(prepare(CATALOG.model("llama2-70b"), CATALOG.gpu("h100"), tp=8)))
    assert half(4096, 0, 4200).decode(100) == 0.02
    assert half(4096, 0, 4200).prefill_s == pytest.approx(0.177, rel=0.01)


def test_push_hides_the_transfer_and_incast_waits():
    _, steps, _, cap, transfer = parts(SETUPS[0])
    work, base = Work(4096, 256, 3.0), Split(steps, steps, cap, 3, 1, layers=80)
    serial, pushed = (disagg(work, base._replace(overlap=overlap), transfer(4096, 0, None)) for overlap in ("serial", "push"))
    assert pushed.exposed_s < 0.02 * serial.exposed_s
    assert serial.link_wait_s > 0
    assert serial.link_wait_high_s > serial.link_wait_s
    assert disagg(work, base._replace(ports=3), transfer(4096, 0, None)).link_wait_s == 0
    late = disagg(work, base._replace(overlap="push", push_from_tokens=5000), transfer(4096, 0, None))
    assert late.exposed_s == serial.exposed_s


def test_with_transfer_is_what_disagg_does():
    _, steps, _, cap, _ = parts(SETUPS[1])
    work, side = Work(2048, 256, 4.0), Split(steps, steps, cap)
    assert with_transfer(pools(work, side), 0.05)[1:] == disagg(work, side, 0.05)[1:]


@pytest.mark.parametrize("concurrency", [1, 8, 200, 5000])
@pytest.mark.parametrize("chunk_tokens", [2048, 100_000])
@pytest.mark.parametrize("transfer_s", [0.0, 0.1, 5.0])
def test_a_closed_loop_has_a_finite_p90_not_below_the_mean(concurrency, chunk_tokens, transfer_s):
    steps = measured_steps({1024: 0.05, 131072: 12.0}, {1: 0.010, 256: 0.030})
    work = Work(131072, 2, concurrency=concurrency)
    ours = mono(work, Colocated(steps, instances=2, chunk_tokens=chunk_tokens))
    theirs = disagg(work, Split(steps, steps), transfer_s)
    assert ours.ttft_s <= mono_ttft_s(ours) < math.inf
    assert theirs.ttft_s <= disagg_ttft_s(theirs) <= max(theirs.ttft_s, concurrency * max(12.0, transfer_s) + theirs.ttft_s)
