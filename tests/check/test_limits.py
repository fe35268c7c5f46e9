"""The grammar of limits: fields, comparisons, units, words; and laws of what meets them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kvcost.check.limits import CHOICES, FIELDS, bounds_of, kind_of, met, overrun, shown
from kvcost.errors import KvcostError
from kvcost.presets.read import Limit
from kvcost.presets.trees import Place

from .conftest import SPLIT


def limit(field, bound):
    return Limit(field, bound, Place("p.yaml", 2, 9), Place("p.yaml", 2, 3))


@pytest.mark.parametrize(
    ("field", "text", "sign", "value"),
    [
        ("net_gain_s", "> 0", ">", 0.0),
        ("net_gain_s", ">0", ">", 0.0),
        ("net_gain_s", "  >=   -5ms ", ">=", -0.005),
        ("net_gain_s", "≥ 1s", ">=", 1.0),
        ("transfer_s", "< 50ms", "<", 0.05),
        ("transfer_s", "<= 0.05", "<=", 0.05),
        ("link_utilisation", "< 0.7", "<", 0.7),
        ("link_utilisation", "< 70%", "<", 0.7),
        ("bandwidth_bytes_per_s", ">= 1.2GB/s", ">=", 1.2e9),
        ("bandwidth_bytes_per_s", ">= 100Gbps", ">=", 12.5e9),
        ("bandwidth_bytes_per_s", ">= 12.5e9", ">=", 12.5e9),
        ("wire_bytes", "< 2GB", "<", 2e9),
        ("wire_bytes", "< 1GiB", "<", 2.0**30),
        ("kv_bytes_per_token", "= 163840", "==", 163840.0),
        ("breakeven_osl_tokens", "< 4k", "<", 4096.0),
        ("rate_per_s", "== 2", "==", 2.0),
        ("breakeven_rate_per_s", "> 2.5", ">", 2.5),
        ("rails", "!= 1", "!=", 1.0),
        ("cost_disagg_per_mtok", "< 0.5", "<", 0.5),
        ("verdict", "disaggregate", "==", ("disaggregate",)),
        ("verdict", "!= infeasible", "!=", ("infeasible",)),
        ("verdict", ["mixed", "disaggregate"], "==", ("mixed", "disaggregate")),
        ("verdict", "mixed, disaggregate", "==", ("mixed", "disaggregate")),
        ("limit", "!= link", "!=", ("link",)),
        ("link", "eth_100g", "==", ("eth_100g",)),
    ],
)
def test_bounds(field, text, sign, value):
    (bound,) = bounds_of(limit(field, text))
    assert (bound.sign, bound.value) == (sign, pytest.approx(value) if isinstance(value, float) else value)


def test_two_sides_of_a_limit():
    low, high = bounds_of(limit("link_utilisation", ["> 10%", "< 0.7"]))
    assert (low.sign, high.sign) == (">", "<")


@pytest.mark.parametrize(
    ("field", "text", "place", "message", "hint"),
    [
        ("netgain_s", "> 0", "p.yaml:2:3", "no output field", "net_gain_s"),
        ("breakeven_ctx_tokens", "> 0", "p.yaml:2:3", "no single value", "threshold_tokens, breakeven_osl_tokens or net_gain_s"),
        ("reason", "x", "p.yaml:2:3", "no single value", "verdict or net_gain_s"),
        ("layout", "x", "p.yaml:2:3", "no single value", "verdict, net_gain_s or goodput_disagg_per_gpu"),
        ("transfer_s", "about 5", "p.yaml:2:9", "on which side", "< 50ms"),
        ("transfer_s", "50ms", "p.yaml:2:9", "on which side", '"< 50ms" or "> 50ms"'),
        ("transfer_s", 0.05, "p.yaml:2:9", "on which side", '"< 0.05"'),
        ("transfer_s", "< 50GB", "p.yaml:2:9", "no time", "in seconds"),
        ("transfer_s", "< 50%", "p.yaml:2:9", "no time", "in seconds"),
        ("transfer_s", "<", "p.yaml:2:9", "cannot read the bound", "50ms"),
        ("transfer_s", "< inf", "p.yaml:2:9", "cannot read the bound", "50ms"),
        ("transfer_s", "< nan", "p.yaml:2:9", "cannot read the bound", "50ms"),
        ("transfer_s", "<< 5ms", "p.yaml:2:9", "cannot read the bound", ""),
        ("transfer_s", "< --5ms", "p.yaml:2:9", "cannot read the bound", ""),
        ("transfer_s", "> 1ms < 5ms", "p.yaml:2:9", "2 comparisons", '["> 1ms", "< 5ms"]'),
        ("transfer_s", "> 10ms and <= 60ms", "p.yaml:2:9", "2 comparisons", 'transfer_s: ["> 10ms", "<= 60ms"]'),
        ("transfer_s", ">10ms, <60ms", "p.yaml:2:9", "2 comparisons", '[">10ms", "<60ms"]'),
        ("transfer_s", "10ms..60ms", "p.yaml:2:9", "2 comparisons", 'transfer_s: ["> 10ms", "< 60ms"]'),
        ("rails", "1..4", "p.yaml:2:9", "2 comparisons", 'rails: ["> 1", "< 4"]'),
        ("rails", 2, "p.yaml:2:9", "on which side", '"== 2", "< 2" or "> 2"'),
        ("goodput_disagg_per_gpu", "> 0.2/s", "p.yaml:2:9", "no plain number", "write 0.2"),
        ("bandwidth_bytes_per_s", "> inf", "p.yaml:2:9", "cannot read the bound", "12GB/s"),
        ("bandwidth_bytes_per_s", "> 12GB", "p.yaml:2:9", "no data rate", "bytes/s"),
        ("link_utilisation", "< 5ms", "p.yaml:2:9", "no share", "0.7"),
        ("rails", "> 2ms", "p.yaml:2:9", "no plain number", ""),
        ("transfer_s", None, "p.yaml:2:9", "has no bound", "< 50ms"),
        ("transfer_s", "", "p.yaml:2:9", "has no bound", "< 50ms"),
        ("transfer_s", [], "p.yaml:2:9", "has no bound", "< 50ms"),
        ("transfer_s", {"max": 5}, "p.yaml:2:9", "has no bound", "< 50ms"),
        ("verdict", True, "p.yaml:2:9", "boolean", "quote"),
        ("verdict", "dissagregate", "p.yaml:2:9", "never 'dissagregate'", "disaggregate"),
        ("verdict", "> mixed", "p.yaml:2:9", "does not compare words", "!= unknown"),
        ("verdict", ["mixed", "!= colocate"], "p.yaml:2:9", "does not compare words", ""),
        ("verdict", "mixed,", "p.yaml:2:9", "never ''", "disaggregate"),
        ("link", "", "p.yaml:2:9", "has no bound", ""),
    ],
)
def test_bad_limits(field, text, place, message, hint):
    with pytest.raises(KvcostError) as caught:
        bounds_of(limit(field, text))
    assert caught.value.where == place
    assert message in caught.value.message
    assert hint in caught.value.hint


NUMBERS = sorted(field for field in FIELDS if kind_of(field) != "word")
FLOATS = st.floats(-1e6, 1e6).map(lambda value: round(value, 6))


@given(st.sampled_from(NUMBERS), FLOATS, FLOATS, st.sampled_from(["<", "<=", ">", ">="]))
def test_excess_is_positive_where_a_limit_is_broken(field, value, edge, sign):
    (bound,) = bounds_of(limit(field, f"{sign} {edge:.6f}"))
    excess = overrun(bound, value)
    assert excess == pytest.approx(abs(value - edge), abs=1e-9) or excess == pytest.approx(-abs(value - edge), abs=1e-9)
    if met(bound, value):
        assert excess <= 0
    else:
        assert excess >= 0


@given(st.sampled_from(NUMBERS), FLOATS)
def test_a_value_meets_itself(field, value):
    for sign, holds in ((">=", True), ("<=", True), ("==", True), (">", False), ("<", False), ("!=", False)):
        (bound,) = bounds_of(limit(field, f"{sign} {value!r}"))
        assert met(bound, value) is holds


@given(st.sampled_from(sorted(FIELDS)))
def test_no_value_meets_nothing(field):
    word = CHOICES.get(field, ("word",))[0]
    for text in (word, f"!= {word}") if kind_of(field) == "word" else ("< 1", "> 1", "!= 1"):
        (bound,) = bounds_of(limit(field, text))
        assert not met(bound, None)
        assert overrun(bound, None) is None
    assert shown(field, None) == "no value"


@pytest.mark.parametrize(
    "limits",
    [
        "gpu: h100",
        "gpu: H100",
        "link: ndr",
        "link: [100gbe, ib-ndr]",
        "link: '!= 100gbe'",
        "model: meta-llama/Llama-2-70b-hf",
        "kv_dtype: fp8_e4m3",
        "weight_dtype: float16",
        "engine: vllm",
    ],
)
def test_a_limit_may_use_any_name_of_what_it_asks_for(checked, limits):
    code, rows = checked(SPLIT.partition("limits:")[0] + f"limits: {{{limits}}}\n")
    assert code == 0, rows


@pytest.mark.parametrize(
    ("limits", "message", "hint"),
    [
        ("gpu: h1000", "unknown gpu 'h1000'", "h100"),
        ("link: ib-ndx", "unknown link 'ib-ndx'", "ib_ndr"),
        ("model: llama2-71b", "unknown model", "llama2-70b"),
        ("kv_dtype: fp9", "unknown KV dtype 'fp9'", "fp8"),
        ("weight_dtype: int3", "unknown KV dtype", "bf16"),
        ("engine: vlm-nixl", "unknown engine", "vllm-nixl"),
    ],
)
def test_a_name_of_nothing_is_refused(checked, limits, message, hint):
    code, told = checked(SPLIT.partition("limits:")[0] + f"limits: {{{limits}}}\n")
    assert code == 2
    assert told.startswith("error: a.yaml:9:")
    assert message in told
    assert hint in told


def test_the_hops_of_a_path_and_a_rate_are_names_too(checked):
    head = SPLIT.partition("limits:")[0]
    hops = head.replace("{name: ib-ndr, rails: 8}", "{path: [pcie5, ib-ndr]}")
    assert checked(hops + "limits: {link: pcie5+ndr}\n")[0] == 0
    assert checked(hops + "limits: {link: ib-ndr+ndr}\n")[0] == 1
    assert checked(head.replace("{name: ib-ndr, rails: 8}", "25Gbps") + "limits: {link: 25Gbps}\n")[0] == 0
