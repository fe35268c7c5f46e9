"""Techniques side by side: published figures, what applies, what is said, laws over combinations."""

import itertools
import json
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kvcost.cases.breakeven import BreakevenQuestion
from kvcost.cases.gains import GainRow
from kvcost.cases.question import ask
from kvcost.cases.reading import Reader
from kvcost.cases.reduce import ReduceQuestion
from kvcost.catalog.store import Catalog
from kvcost.cli.app import run
from kvcost.errors import KvcostError

CATALOG = Catalog()
ALL = tuple(CATALOG.entries("techniques"))
PLAIN = {"model": ["llama2-70b"], "ctx": ["4096"], "link": ["100gbe"], "basis": ["line-rate"]}
FULL = {"model": ["llama2-70b"], "ctx": ["4096"], "osl": ["256"], "gpu": ["h100"], "tp": ["8"], "link": ["100gbe"], "rate": ["2"]}
ANSWER = BreakevenQuestion.answer
LEAN = frozenset(("technique", "net_gain_s", "verdict"))


def answered(options, wanted=LEAN):
    reader = Reader(CATALOG)
    reader.wanted = wanted
    document = ask(ReduceQuestion, reader, options)
    rows = [dict(zip(document.columns, row, strict=True)) for row in document.rows]
    return rows, document


def rows_of(options=PLAIN, wanted=LEAN, **more):
    return {row["technique"]: row for row in answered({**options, **more}, wanted)[0]}


def notes_of(options=PLAIN, **more):
    return {notice.code: notice.message for notice in answered({**options, **more})[1].notices}


@pytest.fixture(scope="module")
def full():
    return answered(FULL)[0]


def test_every_technique_that_other_programs_name_is_in_the_catalog():
    named = {
        *("fp8", "fp8-ds-mla", "int8", "int4-g64", "nvfp4", "kivi-2bit", "kvquant-3bit", "spectrumkv", "sinks-int4", "keep-tokens", "pdtrim"),
        *("select-layers", "cachegen", "prefix-hit", "conditional", "kv-store", "layer-push", "decode-start", "block-128", "cross-layer-blocks"),
        *("more-rails", "rdma", "gpudirect"),
    }
    assert named <= set(ALL)


def test_the_article():
    rows = rows_of()
    assert rows["none"]["transfer_s"] == 0.1073741824
    assert rows["fp8"]["transfer_s"] == 0.0536870912
    assert rows["fp8"]["kv_fraction"] == 0.5
    assert rows["fp8"]["codec_s"] == 0
    assert rows["fp8"]["codec_budget_s"] == pytest.approx(0.0537, rel=1e-3)
    assert rows["int8"]["kv_fraction"] == 0.5078125
    assert rows["spectrumkv"]["kv_fraction"] == 0.5
    assert rows["prefix-hit"]["kv_fraction"] == 0.5


def test_a_pushed_transfer_exposes_one_layer():
    rows = rows_of(prefill_time=["390.3ms"])
    assert rows["layer-push"]["exposed_s"] == pytest.approx(0.001342, rel=1e-3)
    assert rows["layer-push"]["kv_fraction"] == 1
    assert "8 ms" in rows["layer-push"]["measured"]
    assert "512" in rows["layer-push"]["measured"]


def test_over_nvlink_the_prize_of_a_codec_is_small():
    row = rows_of(link=["nvlink4"])["fp8"]
    assert row["codec_budget_s"] == pytest.approx(1.49e-3, rel=2e-3)
    assert row["codec_worth"] is True
    slow = rows_of(link=["nvlink4"], codec_time=["2ms"])
    assert slow["fp8"]["codec_worth"] is False
    assert slow["fp8"]["codec_s"] == 2e-3
    assert slow["fp8"]["transfer_s"] == pytest.approx(slow["fp8"]["line_rate_s"] + 2e-3)
    assert slow["block-128"]["codec_s"] == 0
    assert rows_of(codec_time=["2ms"])["fp8"]["codec_worth"] is True


@pytest.mark.parametrize(("technique", "low", "high"), [
    ("fp8", 0.5, 0.5), ("int8", 0.5, 0.516), ("int4-g64", 0.258, 0.3125), ("nvfp4", 0.28, 0.282), ("kivi-2bit", 0.1875, 0.22),
    ("kvquant-3bit", 0.2, 0.22), ("sinks-int4", 0.258, 0.3125), ("cachegen", 0.12, 0.29), ("pdtrim", 0.2, 0.204), ("select-layers", 0.5, 0.5),
])  # fmt: skip
def test_each_share_lies_within_what_is_published(technique, low, high):
    row = rows_of()[technique]
    assert low <= row["kv_fraction"] <= high
    assert 0 <= row["wire_bytes"] - row["kv_fraction"] * 1342177280 < 1


def test_a_latent_has_a_format_of_its_own():
    rows = rows_of(model=["deepseek-v3"])
    assert rows["fp8-ds-mla"]["kv_fraction"] == pytest.approx(656 / 1152)
    assert "kivi-2bit" not in rows
    assert "latent is 0.0176" in rows["none"]["quality"]
    assert "fp8-ds-mla" not in rows_of()
    assert "fp8-ds-mla (llama2-70b has attention layers with heads" in notes_of()["not-applicable"]


def test_grouped_heads_are_told_against_one_a_query_head():
    assert "0.125" in rows_of()["none"]["quality"]


def test_int4_is_cautioned_where_it_fails():
    assert "INT4" in rows_of(model=["qwen2.5-7b"])["int4-g64"]["caution"]
    assert "catastrophic" in rows_of(model=["qwen2.5-7b"])["int4-g64"]["quality"]
    mistral = rows_of(model=["mistral-7b-v0.3"])["int4-g64"]
    assert mistral["caution"] is None
    assert "+6.63 %" in mistral["quality"]
    assert "2,048 tokens" in mistral["quality"]
    assert "SpectrumKV" in mistral["quality"]


def test_what_is_like_int4_is_cautioned_where_int4_fails():
    rows = rows_of(model=["qwen2.5-7b"])
    for name in ("nvfp4", "kivi-2bit", "kvquant-3bit", "sinks-int4"):
        assert "INT4 per token and head fails on this model; untested" in rows[name]["caution"]
        assert "derived" in rows[name]["caution"]
        assert rows_of()[name]["caution"] is None
    assert rows["int8"]["caution"] is rows["spectrumkv"]["caution"] is None
    lean = rows_of(model=["qwen2.5-7b"], budget=["49%"], mix=["fp16:4,int8:rest"])
    assert "INT4 fails on this model" in lean["spectrumkv"]["caution"]
    assert lean["sinks-int4"]["caution"] is None


def test_the_rows_of_sparse_attention_are_cautioned_where_it_is_dense():
    assert "is not sparse" in rows_of(model=["deepseek-v3"])["fp8-ds-mla"]["caution"]
    sparse = rows_of(model=["deepseek-v3.2"])["fp8-ds-mla"]
    assert sparse["caution"] is None
    assert "V3.2" in sparse["quality"]


def test_nvfp4_says_what_it_needs():
    quality = rows_of()["nvfp4"]["quality"]
    assert "FP4 units (Blackwell)" in quality
    assert "less than 1 %" in quality


def test_fp8_is_cautioned_at_long_contexts():
    caution = rows_of(ctx=["128k"], model=["llama3.1-8b"])["fp8"]["caution"]
    assert "91 to 13 %" in caution
    assert "89 %" in caution
    assert rows_of(ctx=["32k"], model=["llama3.1-8b"])["fp8"]["caution"] is None
    assert "256" in rows_of(model=["gemma-2-9b"])["fp8"]["caution"]


def test_spectrumkv_says_what_a_half_is():
    row = rows_of()["spectrumkv"]
    assert "100% INT8" in row["quality"]
    assert "not sinks at FP16" in row["quality"]
    assert "-50 to -62 %" in row["measured"]
    assert rows_of(budget=["30%"])["spectrumkv"]["kv_fraction"] == pytest.approx(0.3)


def test_what_the_user_says_of_a_technique():
    rows = rows_of(layers=["20/80"], keep=["29%"], mix=["fp16:4,int8:100,int4:g32:zero:rest"])
    assert rows["select-layers"]["kv_fraction"] == 0.25
    assert rows["keep-tokens"]["kv_fraction"] == 0.29
    assert rows["sinks-int4"]["kv_fraction"] == pytest.approx((4 + 100 * 0.5078125 + 3992 * 0.3125) / 4096)
    assert not any("what-if" in rows[name]["quality"] for name in ("select-layers", "keep-tokens"))
    assert "20 of 80 layers" in rows["select-layers"]["quality"]


def test_a_formats_name_is_a_techniques_too():
    assert rows_of(technique=["int4:g64,kivi2,nvfp4"]).keys() == {"none", "int4-g64", "kivi-2bit", "nvfp4"}
    assert rows_of(model=["deepseek-v3"], technique=["fp8_ds_mla"]).keys() == {"none", "fp8-ds-mla"}
    plain, hyphened = (rows_of(mix=[f"fp16:4,{name}:rest"])["sinks-int4"] for name in ("int4:g64", "int4-g64"))
    assert plain["kv_fraction"] == hyphened["kv_fraction"]


def test_a_prefix_that_is_held_is_in_every_row_and_told_in_its_own():
    rows = rows_of(prefix_hit=["1024"], **{"with": ["prefix-hit,fp8"]})
    assert rows["none"]["wire_bytes"] == rows["prefix-hit"]["wire_bytes"] == 1342177280 * 3 // 4
    assert rows["prefix-hit"]["kv_fraction"] == 0.75
    assert "as asked: 1,024 of 4,096" in rows["prefix-hit"]["quality"]
    assert (rows["fp8"]["kv_fraction"], rows["fp8+prefix-hit"]["kv_fraction"]) == (0.5, 0.375)
    assert rows["fp8"]["wire_bytes"] == rows["fp8+prefix-hit"]["wire_bytes"] == 1342177280 * 3 // 8


def test_what_nobody_said_is_called_a_what_if():
    rows = rows_of()
    assert all("what-if" in rows[name]["quality"] for name in ("select-layers", "keep-tokens", "prefix-hit", "spectrumkv"))
    assert rows["select-layers"]["research"]


def test_layers_of_another_model_do_not_apply():
    both = {"model": ["llama2-70b,llama3.1-8b"], "technique": ["select-layers"]}
    assert "llama3.1-8b has 32 layers, not 80" in notes_of(**both, layers=["40/80"])["not-applicable"]
    with pytest.raises(KvcostError, match=r"llama2-70b has 80 layers, not 81$"):
        answered({**PLAIN, **both, "layers": ["81"]})


def test_what_no_technique_shown_heeds_is_said():
    given = {"mix": ["fp16:rest"], "budget": ["30%"], "keep": ["30%"], "layers": ["40"]}
    document = answered({**PLAIN, **given, "technique": ["fp8,keep-tokens"], "with": ["fp8,layers"]})[1]
    said = [notice.message for notice in document.notices if notice.code == "without-effect"]
    assert [message.split()[0] for message in said] == ["--mix", "--budget"]
    assert "sinks-int4 is not among" in said[0]
    assert "without-effect" not in notes_of(**given)


def test_formats_are_stored_and_codecs_are_not():
    rows = rows_of()
    assert rows["fp8"]["kv_bytes"] == rows["fp8"]["wire_bytes"] == 671088640
    assert rows["spectrumkv"]["kv_bytes"] == 1342177280
    assert rows["spectrumkv"]["wire_bytes"] == 671088640
    assert rows["spectrumkv"]["descriptors"] == rows["none"]["descriptors"] == 20480
    assert rows["select-layers"]["descriptors"] == 10240


def test_the_fixed_time_does_not_shrink_with_the_dtype():
    rows = rows_of(basis=["engine"])
    fixed = rows["none"]["engine_s"] - rows["none"]["achievable_s"]
    assert rows["fp8"]["engine_s"] - rows["fp8"]["achievable_s"] == pytest.approx(fixed)
    assert rows["block-128"]["engine_s"] < rows["none"]["engine_s"]
    assert rows["cross-layer-blocks"]["descriptors"] == 256
    # The budget is what the link really takes less, not a share of all.
    assert rows["fp8"]["codec_budget_s"] == pytest.approx(rows["none"]["achievable_s"] / 2)


def test_a_cache_in_fewer_bits_takes_no_16_bit_codec():
    rows, notes = rows_of(kv_dtype=["fp8"]), notes_of(kv_dtype=["fp8"])["not-applicable"]
    assert not rows.keys() & {"fp8", "int8", "spectrumkv", "cachegen"}
    assert rows["int4-g64"]["kv_fraction"] == pytest.approx(4.25 / 8)
    assert rows["keep-tokens"]["kv_fraction"] == 0.5
    assert "fp8 (the cache is stored as fp8 already)" in notes
    assert "int8 (it takes no fewer bytes than fp8)" in notes


def test_states_travel_whole():
    plain, cut = (rows_of(model=["jamba-v0.1"])[name] for name in ("none", "sinks-int4"))
    assert cut["wire_bytes"] > plain["state_bytes"]
    rest = (cut["wire_bytes"] - plain["state_bytes"]) / (plain["wire_bytes"] - plain["state_bytes"])
    assert rest == pytest.approx((4 + 4092 * 0.265625) / 4096, rel=1e-6)


def test_links_are_made_better_where_they_can_be():
    assert rows_of()["rdma"]["link"] == "roce_100g"
    assert rows_of(bandwidth=["40Gbps"])["rdma"]["bandwidth_bytes_per_s"] == 5e9
    for options in ({"link": ["nvlink4"]}, {"link": ["ib-ndr"]}, {"link": ["100Gbps"]}, {"efficiency": ["0.9"]}):
        assert "rdma" not in rows_of(**options)
    staged = rows_of(link=["ib-ndr"], staging=["host"])
    assert staged["gpudirect"]["link"] == "ib_ndr"
    assert staged["gpudirect"]["transfer_s"] <= staged["none"]["transfer_s"]
    assert "gpudirect" not in rows_of()


def test_rails_double_up_to_the_ranks():
    assert rows_of(tp=["8"])["more-rails"]["rails"] == 2
    assert rows_of(tp=["8"], rails=["6"])["more-rails"]["rails"] == 8
    for options in ({}, {"tp": ["8"], "rails": ["8"]}, {"tp": ["8"], "link": ["nvlink4"]}):
        assert "more-rails" not in rows_of(**options)


def test_short_prompts_are_not_pushed():
    short, long = (rows_of(ctx=[ctx], prefill_time=["50ms"])["layer-push"] for ctx in ("511", "512"))
    assert short["overlap"] == "serial"
    assert short["exposed_s"] == short["transfer_s"]
    assert "hides nothing" in short["quality"]
    assert long["overlap"] == "push"
    assert long["exposed_s"] < long["transfer_s"]
    splitwise = rows_of(engine=["splitwise"], overlap=["serial"], prefill_time=["390ms"])["layer-push"]
    assert splitwise["exposed_s"] == pytest.approx(8e-3)


def test_pages_that_cost_nothing_are_not_made_larger():
    assert not rows_of(engine=["mooncake"]).keys() & {"block-128", "cross-layer-blocks"}
    assert "engine-basis" in notes_of()
    assert "engine-basis" not in notes_of(basis=["engine"])


def test_a_prompt_below_the_threshold_is_not_sent():
    short = rows_of(FULL, ctx=["128"], osl=["100"])["conditional"]
    assert (short["wire_bytes"], short["transfer_s"], short["exposed_s"], short["net_gain_s"], short["verdict"]) == (0, 0, 0, 0, "colocate")
    assert short["ctx_tokens"] == 128
    assert "is not sent" in short["quality"]
    long = rows_of(FULL)
    assert "is sent" in long["conditional"]["quality"]
    assert long["conditional"]["net_gain_s"] == long["none"]["net_gain_s"]
    assert "conditional" not in rows_of()


def test_a_store_is_told_by_the_bandwidth_that_it_needs():
    row = rows_of({**FULL, "model": ["llama3-70b"], "ctx": ["8192"], "gpu": ["a100"], "rate": ["0.5"]})["kv-store"]
    assert row["fetch_bandwidth_bytes_per_s"] == pytest.approx(row["kv_bytes"] / row["prefill_s"])
    assert "5.86 GB/s" in row["quality"]
    assert "59 to 498 %" in row["measured"]


def test_rows_are_ranked_by_net_gain_and_ties_by_risk(full):
    assert full[0]["technique"] == "none"
    order = [(-round(1e9 * row["net_gain_s"]), row["risk"]) for row in full[1:]]
    assert order == sorted(order)
    ties = {row["technique"]: place for place, row in enumerate(full)}
    assert ties["prefix-hit"] < ties["keep-tokens"]
    assert full[1]["technique"] == "layer-push"


def test_without_a_gain_what_is_exposed_ranks():
    rows = answered(PLAIN)[0]
    assert all(row["net_gain_s"] is None and row["verdict"] == "unknown" for row in rows)
    exposed = [round(1e9 * row["exposed_s"]) for row in rows[1:-2]]
    assert exposed == sorted(exposed)
    # What nobody can know without compute times comes last, and is said.
    assert [(row["technique"], row["exposed_s"]) for row in rows[-2:]] == [("layer-push", None), ("decode-start", None)]
    assert "not known" in rows[-1]["quality"]
    assert "exposed-unknown" in notes_of()
    assert rows_of(**{"with": ["fp8,layer-push,block-128"]})["fp8+layer-push+block-128"]["kv_fraction"] == 0.5
    assert "exposed-unknown" not in notes_of(prefill_time=["390ms"], decode_step_time=["20ms"])


def test_without_a_gain_what_the_table_shows_ranks(capsys):
    full = {"model": ["qwen3-32b"], "ctx": ["8k"], "osl": ["300"], "gpu": ["h100"], "tp": ["2"], "rate": ["3"], "link": ["roce_200g"]}
    rows = answered(full)[0]
    assert rows[0]["verdict"] == "infeasible"
    assert all(row["net_gain_s"] is None for row in rows)
    needed = [round(1e9 * row["breakeven_saved_s"]) for row in rows[1:]]
    assert needed == sorted(needed)
    words = ["reduce", *(word for option, (value,) in full.items() for word in (f"--{option}", value)), "--technique", "fp8,int8,layer-push", "-q"]
    assert run([*words, "--ctx", "4k"]) == 0
    out = capsys.readouterr().out
    assert "as asked: infeasible; monolithic saturates (decode-memory)" in out  # the longer prompt
    assert out.count("as asked: ") == 2
    assert {"to be saved ms", "net gain ms", "e2e disagg ms", "verdict"} <= set(re.split(r" {2,}|\n", out))


def test_the_verdict_as_asked_and_the_splits_own_time_are_shown(capsys):
    words = ["reduce", *(word for option, (value,) in FULL.items() for word in (f"--{option}", value)), "--technique", "fp8,prefix-hit", "-q"]
    assert run(words) == 0
    out = capsys.readouterr().out
    assert "\nas asked: mixed; TTFT " in out
    assert "pays from" in out.splitlines()[2]
    rows = rows_of(FULL, technique=["fp8,int8"])
    assert all(row["e2e_disagg_s"] < rows["none"]["e2e_disagg_s"] for name, row in rows.items() if name != "none")
    assert run([*words[:5], "--link", "100gbe", "--technique", "fp8", "-q"]) == 0  # no deployment: no verdict, no times of a split
    out = capsys.readouterr().out
    assert "as asked:" not in out
    assert "verdict" not in out
    assert "e2e" not in out


def test_what_fails_is_marked_in_the_table_and_said_once(capsys):
    words = ["reduce", "--model", "qwen2.5-7b", "--ctx", "4k,8k", "--link", "100gbe,ib-ndr", "--technique", "int4-g64,fp8,pdtrim", "-q"]
    assert run(words) == 0
    out = capsys.readouterr().out
    marked = [line.split()[:2] for line in out.splitlines() if " ! " in line]
    assert marked == [["int4-g64", "!"]] * 4
    assert out.count("time unknown and left out") == 1
    assert out.count("CAUTION: ") == 1
    assert "of other models" not in out
    assert "perplexity" in out
    assert "codec worth it" in out
    assert run([*words, "--format", "json"]) == 0
    assert "of other models: qwen3-30b-a3b" in capsys.readouterr().out


def test_markdown_holds_the_tables_columns(capsys):
    words = ["reduce", "--model", "qwen2.5-7b", "--ctx", "4k,8k", "--link", "100gbe", "--technique", "int4-g64,fp8", "-q", "--format", "markdown"]
    assert run(words) == 0
    head, _, first, *_ = capsys.readouterr().out.splitlines()
    assert head.startswith("| ctx tokens | technique | caution | share | on wire MB |")
    assert head.count("|") < 18
    assert first.startswith("| 4,096 | none | - |")


def test_the_articles_formula_ranks_too():
    rows = rows_of(saved=["40ms"], basis=["achievable"])
    assert rows["none"]["verdict"] == "colocate"
    assert rows["int4-g64"]["verdict"] == "disaggregate"
    assert rows["fp8"]["net_gain_s"] == pytest.approx(0.040 - rows["fp8"]["exposed_s"])


def test_load_on_the_link_sees_the_fewer_bytes(full):
    rows = {row["technique"]: row for row in full}
    assert rows["fp8"]["link_utilisation"] == pytest.approx(rows["none"]["link_utilisation"] / 2)
    assert rows["pdtrim"]["link_utilisation"] == pytest.approx(rows["none"]["link_utilisation"] * 20 / 99, rel=1e-6)
    assert rows["layer-push"]["exposed_s"] < rows["none"]["exposed_s"]
    assert 0 < rows["sinks-int4"]["codec_s"] < 1e-3
    assert rows["cachegen"]["codec_s"] is None


def test_roots_see_the_fewer_bytes():
    rows = rows_of(FULL, wanted=None, technique=["pdtrim,fp8"])
    assert rows["pdtrim"]["breakeven_bandwidth_bytes_per_s"] == pytest.approx(rows["none"]["breakeven_bandwidth_bytes_per_s"] * 20 / 99, rel=1e-6)
    assert rows["fp8"]["breakeven_bandwidth_bytes_per_s"] < rows["none"]["breakeven_bandwidth_bytes_per_s"]


def test_what_is_priced_alike_is_priced_once(monkeypatch):
    asked = []
    monkeypatch.setattr(BreakevenQuestion, "answer", lambda *words: asked.append(words) or ANSWER(*words))
    rows = rows_of(FULL, wanted=None, technique=["kv-store,block-128,keep-tokens,select-layers"])
    assert len(asked) == 2
    gains = [tuple(rows[name][field] for field in GainRow._fields) for name in ("none", "kv-store", "block-128", "keep-tokens", "select-layers")]
    assert gains[0] == gains[1] == gains[2] != gains[3] == gains[4]
    # Where pages round up to more bytes, or their number takes time, the answer is another.
    for more in ({"ctx": ["300"], "saved": ["40ms"]}, {"basis": ["engine"]}):
        rows = rows_of(FULL if "basis" in more else PLAIN, wanted=None, technique=["block-128"], **more)
        assert rows["block-128"]["net_gain_s"] != rows["none"]["net_gain_s"]


def test_cases_are_ranked_each_by_itself():
    rows = answered({**PLAIN, "ctx": ["1k,4k"], "link": ["100gbe,ib-ndr"], "technique": ["fp8,int8"]})[0]
    assert [row["technique"] for row in rows] == ["none", "fp8", "int8"] * 4
    assert [(row["ctx_tokens"], row["link"]) for row in rows[::3]] == [(1024, "eth_100g"), (1024, "ib_ndr"), (4096, "eth_100g"), (4096, "ib_ndr")]


FREE = ("fp8", "int4-g64", "spectrumkv", "sinks-int4", "keep-tokens", "select-layers", "prefix-hit", "layer-push", "decode-start", "block-128", "more-rails")
MEASURED = {**PLAIN, "tp": ["8"], "prefill_time": ["390ms"], "decode_step_time": ["20ms"], "basis": ["engine"]}


@settings(max_examples=40, deadline=None)
@given(st.lists(st.sampled_from(FREE), min_size=2, max_size=4, unique=True), st.randoms(use_true_random=False))
def test_combinations_do_not_depend_on_their_order(names, random):
    shuffled = list(names)
    random.shuffle(shuffled)
    taken = [hold for name in names for hold in CATALOG.technique(name).excludes]
    if len(taken) > len(set(taken)):
        for order in (names, shuffled):
            with pytest.raises(KvcostError, match="both decide on"):
                answered({**MEASURED, "technique": ["fp8"], "with": [",".join(order)]})
        return
    first = answered({**MEASURED, "technique": ["fp8"], "with": [",".join(names)]})[0]
    assert answered({**MEASURED, "technique": ["fp8"], "with": [",".join(shuffled)]})[0] == first
    row = next(row for row in first if "+" in row["technique"])
    assert row["technique"].split("+") == sorted(names, key=ALL.index)
    alone = rows_of(MEASURED, technique=[",".join(names)])
    product = 1.0
    for name in names:
        product *= alone[name]["kv_fraction"]
    # The first tokens of a mix may be those that the decode side holds.
    assert row["kv_fraction"] == pytest.approx(product, rel=3e-3)


@settings(max_examples=25, deadline=None)
@given(
    st.sampled_from(["llama2-70b", "gemma-3-27b", "deepseek-v3", "gpt-oss-120b", "jamba-v0.1", "qwen3-235b-a22b"]),
    st.integers(1, 200_000),
    st.sampled_from(["1", "4", "8"]),
    st.sampled_from(["line-rate", "achievable", "engine"]),
)
def test_no_technique_sends_more_and_no_overlap_exposes_more(model, ctx, tp, basis):
    options = {**PLAIN, "model": [model], "ctx": [str(ctx)], "tp": [tp], "basis": [basis], "prefill_time": ["390ms"], "decode_step_time": ["20ms"]}
    rows = rows_of(options)
    for name, row in rows.items():
        assert row["kv_fraction"] <= 1, name
        assert row["wire_bytes"] <= rows["none"]["wire_bytes"] or name == "block-128", name
        assert 0 <= row["exposed_s"] <= row["transfer_s"]
        assert row["codec_budget_s"] is None or row["codec_budget_s"] >= 0
    for name in ("layer-push", "decode-start"):
        assert name not in rows or rows[name]["exposed_s"] <= rows["none"]["exposed_s"]


def test_what_a_push_hides_may_be_unknown_while_bytes_are_not():
    rows = rows_of(overlap=["push"], saved=["50ms"], basis=["achievable"])
    assert rows["none"]["exposed_s"] is rows["fp8"]["exposed_s"] is None
    assert rows["fp8"]["wire_bytes"] == 671088640
    assert "give --prefill-time" in rows["none"]["reason"]
    assert "layer-push" not in rows


def test_a_format_that_needs_whole_groups_cannot_be_pushed():
    pushed = rows_of(overlap=["push"], prefill_time=["390ms"])["kivi-2bit"]
    assert "whole groups" in pushed["caution"]
    assert rows_of()["kivi-2bit"]["caution"] is None


def test_a_codec_of_no_time_that_saves_none_is_neither_worth_it_nor_not():
    rows = rows_of(bandwidth=["inf"])
    assert rows["fp8"]["codec_worth"] is None
    assert rows_of(bandwidth=["inf"], codec_time=["1ms"])["fp8"]["codec_worth"] is False


def test_a_link_that_never_catches_up_does_with_fewer_bytes():
    slow = {**FULL, "link": ["10gbe"], "rate": ["1.2"]}
    rows = rows_of(slow, technique=["fp8,more-rails"])
    assert rows["none"]["net_gain_s"] is None
    assert rows["none"]["link_utilisation"] > 1 > rows["fp8"]["link_utilisation"]
    assert rows["fp8"]["net_gain_s"] is not None


def test_a_technique_of_ones_own(tmp_path):
    file = tmp_path / "techniques.yaml"
    file.write_text(
        """ours:
  title: Ours
  group: codec
  change: {kind: share, share: 0.4, first_tokens: 96}
  excludes: [bits]
  risk: 1
  codec: unknown
  quality: ours alone knows
  source: us
  confidence: estimate
  checked: 2026-01-01
"""
    )
    reader = Reader(Catalog([str(file)]))
    document = ask(ReduceQuestion, reader, {**PLAIN, "technique": ["ours"]})
    row = dict(zip(document.columns, list(document.rows)[1], strict=True))
    assert row["kv_fraction"] == pytest.approx((96 + 4000 * 0.4) / 4096)
    file.write_text(file.read_text().replace("share: 0.4, ", ""))
    with pytest.raises(KvcostError, match="share belongs to kind share"):
        ask(ReduceQuestion, Reader(Catalog([str(file)])), {**PLAIN, "technique": ["ours"]})


junk = st.text(alphabet=st.characters(exclude_categories=["Cs"]), min_size=1, max_size=10).filter(lambda text: not text.startswith(("@", "-")))
some = st.sampled_from(["fp16:4,int4:rest", "50%", "40/80", "2ms", "0", "1e9", "fp8", "fp8,push", "int4:g64:zero:rest", ":", "rest", "/", "1/0", "nan"])


@settings(max_examples=60, deadline=None)
@given(st.dictionaries(st.sampled_from(["mix", "layers", "budget", "keep", "codec_time", "technique", "with", "prefix_hit"]), junk | some, min_size=1))
def test_whatever_is_typed_is_answered_or_refused(words):
    refused, rows = None, {}
    try:
        rows = rows_of(**{option: [word] for option, word in words.items()})
    except KvcostError as error:
        refused = error
    assert rows or refused.hint
    assert all(0 <= row["kv_fraction"] <= 1 for row in rows.values())


BAD = [
    (("--with", "fp8,int8"), "both decide on how the cache is encoded"),
    (("--with", "fp8,spectrumkv"), "both decide on how the cache is encoded"),
    (("--with", "layer-push,decode-start"), "both decide on what the transfer overlaps with"),
    (("--with", "kivi-2bit,layer-push"), "needs whole groups of tokens"),
    (("--with", "fp8,nonsense"), "unknown technique 'nonsense'"),
    (("--technique", "fp9"), "unknown technique 'fp9'"),
    (("--layers", "90/80"), "90 of 80 layers"),
    (("--layers", "100"), "--layers: llama2-70b has 80 layers, not 100\nhint: write 1 to 80, such as 40/80"),
    (("--layers", "40/60"), "--layers: llama2-70b has 80 layers, not 60"),
    (("--layers", "0"), "--layers"),
    (("--budget", "20%"), "cannot go below a budget of 25 %"),
    (("--budget", "30%", "--budget", "50%"), "several values"),
    (("--keep", "0"), "--keep"),
    (("--mix", "fp16:4"), "says nothing of the rest"),
    (("--mix", "fp16:rest,int4:4"), "follows the rest"),
    (("--mix", "kivi2:rest"), "cannot take part"),
    (("--mix", "fp16"), "names no tokens"),
    (("--codec-time", "5"), "--codec-time"),
    (("--transfer-time", "5ms"), "fixes what techniques would change"),
]


@pytest.mark.parametrize(("words", "message"), BAD, ids=lambda value: " ".join(value) if isinstance(value, tuple) else "")
def test_what_cannot_be_is_refused_in_words(capsys, words, message):
    code = run(["reduce", "--model", "llama2-70b", "--ctx", "4k", "--link", "100gbe", *words])
    out, err = capsys.readouterr()
    assert (code, out) == (2, "")
    assert message in err
    assert "\nhint: " in err


@pytest.mark.parametrize("form", ["json", "jsonl", "csv", "tsv", "markdown", "table"])
def test_every_format(capsys, form):
    words = ["reduce", "--model", "llama2-70b", "--ctx", "4k", "--link", "100gbe", "--technique", "fp8,rdma", "--format", form, "-q"]
    assert run(words) == 0
    out = capsys.readouterr().out
    assert "fp8" in out
    if form == "json":
        document = json.loads(out)
        assert document["schema"] == "kvcost/reduce/1"
        needed = ("technique", "kv_fraction", "wire_bytes", "transfer_s", "exposed_s", "net_gain_s", "verdict", "codec_s", "quality", "caution")
        assert all(field in row for row, field in itertools.product(document["rows"], needed))
        assert document["sources"]["kv_fraction[fp8]"]["provenance"] == "spec"


def test_asked_by_name_and_not_there_is_said():
    rows, document = answered({**PLAIN, "link": ["nvlink4"], "technique": ["rdma"]})
    assert [row["technique"] for row in rows] == ["none"]
    assert [notice.message for notice in document.notices if notice.code == "not-applicable"] == ["does not apply: rdma (nvlink4 does not run over TCP)"]


@pytest.mark.parametrize("form", ["table", "json"])
def test_3_where_nothing_named_applies(capsys, form):
    words = ["reduce", "--model", "llama2-70b", "--ctx", "4k", "--link", "nvlink4", "--format", form, "-q", "--technique"]
    code = run([*words, "rdma,gpudirect"])
    out, err = capsys.readouterr()
    assert code == 3
    assert "none" in out
    assert err.startswith("error: --technique: nothing to do, as none applies: rdma (nvlink4 does not run over TCP); gpudirect (")
    assert run([*words, "rdma,fp8"]) == 0


def test_an_entry_is_shown_whole(capsys):
    assert run(["techniques", "fp8"]) == 0
    lines = {line.partition("  ")[0]: line for line in capsys.readouterr().out.splitlines()}
    assert "qwen3-30b-a3b, 262,144 tokens: MRCR AUC 94 to 98 %" in lines["published"]
    assert "from 128,000 tokens, layers heads: at 128k tokens" in lines["cautions"]
    assert {"quality", "source", "confidence", "aliases"} < lines.keys()
    assert run(["techniques"]) == 0
    assert "published" not in capsys.readouterr().out


def test_a_format_that_sends_more_is_left_out():
    """KIVI keeps the newest tokens at 16 bit, and of a prompt that is mostly held they are all that travels."""
    rows = rows_of(ctx=["512"], prefix_hit=["90%"], kv_dtype=["int8"], technique=["kivi-2bit", "fp8"])
    assert "kivi-2bit" not in rows
