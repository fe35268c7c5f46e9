"""Break-even questions from options to rows: verdicts, missing inputs, laws, sweeps, layouts."""

import json

import pytest

import kvcost
from kvcost.cases.breakeven import BreakevenQuestion
from kvcost.cases.gain import ask_breakeven
from kvcost.cases.gains import GainRow
from kvcost.cases.question import ask
from kvcost.cases.reading import Reader
from kvcost.cases.sweep import SweepQuestion
from kvcost.catalog.store import Catalog
from kvcost.errors import KvcostError

CASE = {"model": ["llama2-70b"], "ctx": ["4096"], "osl": ["256"], "gpu": ["h100"], "tp": ["8"], "link": ["100gbe"], "rate": ["2"]}
WORDS = ("breakeven", *(word for option, words in CASE.items() for word in (f"--{option}", *words)))


def row_of(wanted=None, **options):
    reader = Reader(Catalog())
    reader.wanted = None if wanted is None else frozenset(wanted)
    document = ask(BreakevenQuestion, reader, {**CASE, **options})
    (row,) = document.rows
    return dict(zip(document.columns, row, strict=True))


def test_the_question_that_the_tool_exists_for():
    row = row_of()
    assert row["verdict"] == "mixed"
    assert "TTFT" in row["reason"]
    assert "pays from" in row["reason"]
    assert row["ttft_gain_s"] < 0 < row["tpot_gain_s"]
    assert row["net_gain_low_s"] <= row["net_gain_s"] <= row["net_gain_high_s"]
    assert row["net_gain_s"] == row["e2e_gain_s"] == pytest.approx(row["e2e_mono_s"] - row["e2e_disagg_s"])
    assert row["rate_per_s"] == 2
    assert row["mono_instances"] == 2
    assert row["limit"] == "prefill"
    assert 0 < row["link_utilisation"] < 1


@pytest.mark.parametrize(
    ("field", "option", "form"),
    [
        ("breakeven_bandwidth_bytes_per_s", "bandwidth", "{!r}B/s"),
        ("breakeven_rate_per_s", "rate", "{!r}"),
    ],
)
def test_a_root_is_where_nothing_is_gained(field, option, form):
    root = row_of()[field]
    assert root is not None
    assert abs(row_of(["net_gain_s"], **{option: [form.format(root)]})["net_gain_s"]) < 1e-6


def test_without_load_there_is_nothing_to_save():
    row = row_of(rate=["0"])
    assert row["verdict"] == "colocate"
    assert "no load" in row["reason"]
    assert row["ttft_gain_s"] < 0


def test_no_transfer_no_handover_no_load_leaves_the_decode_step():
    row = row_of(rate=["0"], handover=["0s"], transfer_time=["0s"])
    assert row["ttft_gain_s"] == pytest.approx(-row["decode_step_s"], rel=1e-6)
    assert row["tpot_gain_s"] == pytest.approx(0, abs=1e-9)


def test_an_unlimited_link_is_no_transfer_at_all():
    unlimited, none = row_of(bandwidth=["inf"]), row_of(transfer_time=["0s"])
    same = [field for field in GainRow._fields if field.endswith("_gain_s") or field == "verdict"]
    assert {field: unlimited[field] for field in same} == {field: none[field] for field in same}


def test_a_slower_link_never_gains_more():
    gains = [row_of(["net_gain_s"], bandwidth=[rate])["net_gain_s"] for rate in ("400Gbps", "200Gbps", "100Gbps", "50Gbps")]
    assert gains == sorted(gains, reverse=True)


@pytest.mark.parametrize(
    ("left_out", "named"),
    [(("gpu",), "--gpu"), (("osl",), "--osl"), (("gpu", "osl", "rate"), "--rate")],
)
def test_what_is_missing_is_named_and_never_guessed(left_out, named):
    options = {option: words for option, words in CASE.items() if option not in left_out}
    document = ask(BreakevenQuestion, Reader(Catalog()), options)
    (values,) = document.rows
    row = dict(zip(document.columns, values, strict=True))
    assert row["verdict"] == "unknown"
    assert named in row["reason"]
    assert row["net_gain_s"] is None
    assert row["breakeven_saved_s"] == pytest.approx(row["exposed_s"] + row["handover_s"])
    assert "verdict-unknown" in [notice.code for notice in document.notices]


def test_the_article_s_formula():
    row = row_of(saved=["40ms"], basis=["line-rate"])
    assert row["net_gain_s"] == pytest.approx(0.040 - 0.1073741824)
    assert row["verdict"] == "colocate"
    share = row_of(saved_frac=["50%"], prefill_time=["390ms"], basis=["line-rate"])
    assert share["net_gain_s"] == pytest.approx(0.195 - 0.1073741824)
    assert share["verdict"] == "disaggregate"
    with pytest.raises(KvcostError, match="needs that time"):
        row_of(saved_frac=["50%"])


def test_measured_times_replace_the_model():
    row = row_of(prefill_time=["390ms"], decode_step_time=["20ms"])
    assert row["prefill_s"] == pytest.approx(0.390)
    assert row["tpot_disagg_s"] == pytest.approx(0.020)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"concurrency": ["8"]}, "contradict"),
        ({"objective": ["goodput"]}, "needs limits"),
        ({"mono_tp": ["3"]}, "does not fit"),
        ({"objective": ["latency"]}, "unknown value"),
        ({"router": ["magic"]}, "unknown value"),
    ],
)
def test_contradictions_are_refused(options, message):
    with pytest.raises(KvcostError, match=message) as caught:
        row_of(**options)
    assert caught.value.hint


def test_what_does_not_fit_is_infeasible_and_not_an_error():
    row = row_of(tp=["1"])
    assert row["verdict"] == "infeasible"
    assert row["ttft_mono_s"] is None
    assert row["link_utilisation"] is not None


def test_beyond_saturation_the_side_is_named():
    row = row_of(rate=["9"])
    assert row["verdict"] in ("colocate", "infeasible")
    assert row["ttft_disagg_s"] is None
    assert "saturate" in row["reason"]


def test_goodput_under_limits():
    row = row_of(objective=["goodput"], slo_ttft=["1s"], slo_tpot=["40ms"], gpu_hour_price=["2.5"])
    assert row["goodput_mono_per_gpu"] > 0
    assert row["goodput_disagg_per_gpu"] > 0
    assert row["cost_mono_per_mtok"] == pytest.approx(16 * 2.5 / 3600 / (2 * 256) * 1e6)


def test_the_best_layout_of_a_number_of_gpus():
    options = {**CASE, "gpus_total": ["16"], "slo_ttft": ["1s"], "slo_tpot": ["40ms"]}
    document = ask(ask_breakeven, Reader(Catalog()), options)
    (values,) = document.rows
    row = dict(zip(document.columns, values, strict=True))
    assert row["prefill_instances"] * row["prefill_tp"] + row["decode_instances"] * row["decode_tp"] == 16
    assert "prefill x TP" in row["layout"]
    with pytest.raises(KvcostError, match="needs limits"):
        ask(ask_breakeven, Reader(Catalog()), {**CASE, "gpus_total": ["16"]})
    with pytest.raises(KvcostError, match="one case at a time"):
        ask(ask_breakeven, Reader(Catalog()), {**options, "rate": ["1,2"]})


def test_a_sweep_says_what_single_answers_say():
    columns = ("ctx_tokens", "link", "osl_tokens", "rate_per_s", "net_gain_s", "net_gain_low_s", "net_gain_high_s", "verdict")
    grid = {**CASE, "ctx": ["2k,4k"], "link": ["ib-ndr,100gbe"], "rate": ["0.5,2,5"], "osl": ["64,256"]}
    reader = Reader(Catalog())
    reader.wanted_order, reader.wanted = columns, frozenset(columns)
    question = ask_breakeven(reader, grid)
    assert isinstance(question, SweepQuestion)
    swept = sorted(question.rows([2048, 4096]))
    assert len(swept) == question.count([2048, 4096])
    whole = BreakevenQuestion(reader, grid)
    places = [whole.columns.index(column) for column in columns]
    single = sorted(tuple(row[place] for place in places) for row in whole.rows([2048, 4096]))
    for ours, theirs in zip(swept, single, strict=True):
        assert ours[:4] == theirs[:4]
        assert ours[7] == theirs[7]
        assert ours[4:7] == pytest.approx(theirs[4:7], rel=1e-9, nan_ok=True) if None not in ours[4:7] else ours[4] == pytest.approx(theirs[4])


@pytest.mark.parametrize(("fail_if", "code"), [("mixed", 1), ("colocate", 0), ("never", 0), ("colocate,mixed", 1)])
def test_fail_if(kvcost, fail_if, code):
    assert kvcost(*WORDS, "--fail-if", fail_if, "--columns", "verdict", "-q").code == code


def test_fail_if_nothing_gains(kvcost):
    assert kvcost(*WORDS, "--bandwidth", "1Gbps", "--rate", "0.1", "--fail-if", "never", "-q").code == 1


def test_one_screen_with_everything_on_it(kvcost):
    out = kvcost(*WORDS, "-q").out
    parts = ("verdict", "net gain", "TTFT", "TPOT", "p99 gap", "where the first token's time goes", "sign turns at", "what would change it")
    assert [part for part in parts if part not in out] == []
    assert len(out.splitlines()) <= 40


def test_two_axes_are_a_heatmap(kvcost):
    deployment = ("--model", "llama2-70b", "--gpu", "h100", "--tp", "8", "--osl", "256", "--link", "ib-ndr")
    out = kvcost("breakeven", *deployment, "--ctx", "1k,2k,4k", "--rate", "1,2,4", "-q").out
    assert "D disaggregate, m mixed, c colocate" in out
    assert "across: ctx tokens" in out


def test_json_is_whole(kvcost):
    done = kvcost(*WORDS, "--json")
    (row,) = json.loads(done.out)["rows"]
    assert set(GainRow._fields) <= set(row)
    assert isinstance(row["breakeven_ctx_tokens"], list)


def test_a_link_that_saturates_leaves_no_number(kvcost):
    """Its queue grows without end: null, not infinity, and no bar for a time that nobody sees."""
    words = ("breakeven", "--model", "llama2-70b", "--ctx", "4k", "--link", "1gbps", "--osl", 256, "--gpu", "h100", "--tp", 8, "--rate", 2, "-q")
    (row,) = json.loads(kvcost(*words, "--json").out)["rows"]
    assert (row["link_wait_s"], row["ttft_disagg_s"], row["limit"], row["verdict"]) == (None, None, "link", "colocate")
    bar = next(line for line in kvcost(*words).out.splitlines() if line.startswith("disaggregated  "))
    assert bar.split() == ["disaggregated", "saturated"]


def test_prompts_of_one_token_have_a_goodput(kvcost):
    """Hundreds of them share a step, more than the chain of prompts a step counts."""
    words = ("--ctx", 1, "--osl", 2, "--gpu", "l40s", "--rate", 0, "--slo-ttft", "500ms", "--objective", "tpot", "-q", "--json")
    ran = kvcost("breakeven", "--model", "mistral-7b-v0.3", "--link", "nvlink4", *words)
    assert ran.code == 0
    assert json.loads(ran.out)["rows"][0]["goodput_mono_per_gpu"] > 0


LIMITED = ("breakeven", "--model", "llama2-70b", "--ctx", "4k", "--link", "100gbe", "--osl", 256, "--gpu", "h100", "--tp", 8, "--rate", 2)


def test_limits_that_neither_side_meets_are_named(kvcost):
    ran = kvcost(*LIMITED, "--slo-ttft", "1ms", "--slo-tpot", "1s", "--objective", "goodput", "--json")
    (row,) = json.loads(ran.out)["rows"]
    assert (row["verdict"], row["reason"]) == ("infeasible", "neither side meets the limits at any rate")
    assert "neither side meets --slo-ttft at any rate" in ran.out
    (row,) = json.loads(kvcost(*LIMITED, "--slo-ttft", "1ms", "--slo-tpot", "1ms", "--json").out)["rows"]
    assert row["verdict"] == "mixed"
    assert "neither side meets the limits at any rate" in row["reason"]
    assert "limits-not-met" not in kvcost(*LIMITED, "--slo-ttft", "5s", "--slo-tpot", "1s", "--json").out


def test_a_reason_asked_alone_is_the_reason_of_the_whole_answer(kvcost):
    words = (*LIMITED, "--slo-ttft", "1s", "--slo-tpot", "50ms", "--objective", "goodput", "-q")
    (row,) = json.loads(kvcost(*words, "--json").out)["rows"]
    (alone,) = json.loads(kvcost(*words, "--json", "--columns", "reason").out)["rows"]
    assert alone["reason"] == row["reason"]


PUSHED = {"model": "llama2-70b", "ctx": "4k", "osl": 256, "gpu": "h100", "tp": 8, "link": "100gbe", "rate": 2, "overlap": "push"}


@pytest.mark.parametrize(
    "more",
    [
        {"prefill_time": "150ms", "cached": "90%"},
        {"cached": "90%"},
        {"engine": "splitwise", "cached": "90%", "overlap": None},
        {"transfer_time": "5ms"},
        {"transfer_time": "5ms", "overlap": "serial"},
        {"overlap": "decode-start"},
        {"overlap": "serial"},
    ],
)
def test_the_exposed_transfer_of_a_row_is_the_one_that_its_gain_is_priced_with(more):
    (row,) = kvcost.rows("breakeven", **PUSHED | more)
    step = row["decode_step_s"] if row["first_token"] == "decode" else 0.0
    assert row["breakeven_saved_s"] - row["handover_s"] - step == pytest.approx(row["exposed_s"], rel=1e-9)
    if "transfer_time" in more:
        assert (row["transfer_s"], row["transfer_low_s"], row["provenance"]) == (0.005, 0.005, "user")
    if row["first_token"] == "decode":
        parts = ("prefill_wait_s", "prefill_s", "handover_s", "link_wait_s", "exposed_s", "admission_s", "decode_step_s")
        assert sum(row[part] for part in parts) == pytest.approx(row["ttft_disagg_s"], rel=1e-9)


def test_the_columns_asked_for_change_neither_values_nor_order():
    question = PUSHED | {
        "rate": [1, 2],
        "link": ["100gbe", "ib-ndr"],
        "engine": ["vllm-nixl", "sglang-mooncake"],
        "osl": [64, 256],
        "objective": ["all", "ttft"],
    }
    few = ["link", "engine", "osl_tokens", "rate_per_s", "objective", "net_gain_s", "verdict", "transfer_s"]
    cheap = kvcost.rows("breakeven", **question, columns=few)
    whole = kvcost.rows("breakeven", **question, columns=[*few, "exposed_s", "ttft_mono_s"])
    assert [tuple(row[field] for field in few[:5]) for row in cheap] == [tuple(row[field] for field in few[:5]) for row in whole]
    for one, other in zip(cheap, whole, strict=True):
        assert one["net_gain_s"] == pytest.approx(other["net_gain_s"], rel=1e-9)
        assert (one["verdict"], one["transfer_s"]) == (other["verdict"], other["transfer_s"])
        assert other["exposed_s"] is not None
