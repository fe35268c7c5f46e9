"""Lists multiply, in one order; equal words are read once; warnings say what to beware of."""

import json

import pytest

from kvcost.cases.reading import Reader, flag, user_link
from kvcost.catalog.store import Catalog
from kvcost.errors import KvcostError


def rows(kvcost, *words, command="transfer"):
    ran = kvcost(command, *words, "--json")
    assert ran.code == 0, ran.err
    return json.loads(ran.out)["rows"]


def test_order_is_model_dtype_tp_context_prefix_engine_link(kvcost):
    found = rows(
        kvcost,
        *("--model", "llama2-70b,llama3.1-8b", "--kv-dtype", "bf16,fp8", "--tp", "1,8", "--ctx", "1k,2k", "--prefix-hit", "0,50%"),
        *("--engine", "line,vllm-nixl", "--link", "nvlink4,100gbe"),
    )
    keys = [(row["model"], row["kv_dtype"], row["decode_tp"], row["ctx_tokens"], row["prefix_hit_tokens"], row["engine"], row["link"]) for row in found]
    assert len(keys) == len(set(keys)) == 2**7
    models = ["llama2-70b", "llama3.1-8b"]
    rank = [models, ["bf16", "fp8"], [1, 8], [1024, 2048], None, ["line", "vllm-nixl"], ["nvlink4", "eth_100g"]]
    placed = [tuple(value if order is None else order.index(value) for value, order in zip(key, rank, strict=True)) for key in keys]
    assert placed == sorted(placed)


def test_repeated_flags_and_lists_are_one(kvcost):
    once = rows(kvcost, "--model", "llama2-70b", "--ctx", "1k,4k", "--link", "100gbe")
    assert rows(kvcost, "--model", "llama2-70b", "--ctx", "1k", "--ctx", "4k", "--link", "100gbe") == once


def test_line_rate_is_bytes_of_a_lane_by_rate_exactly(kvcost):
    found = rows(kvcost, "--model", "llama2-70b", "--ctx", "1k,4k,32k", "--link", "nvlink4,ib-ndr,100gbe,pcie5", "--tp", "1,8")
    assert len(found) == 24
    for row in found:
        assert row["line_rate_s"] == row["wire_bytes"] / row["lanes"] / row["bandwidth_bytes_per_s"]


def test_the_cases_of_the_acceptance(kvcost):
    (row,) = rows(kvcost, "--model", "qwen3-235b-a22b", "--ctx", 32768, "--tp", 8, "--link", "ib-ndr")
    assert (row["wire_bytes"], row["replication"]) == (12_616_466_432, 2.0)
    (row,) = rows(kvcost, "--model", "deepseek-v3", "--ctx", 1000, "--tp", 8, "--link", "ib-ndr", "--engine", "line")
    assert row["wire_bytes"] == 8 * 70_272 * 1000
    (row,) = rows(kvcost, "--model", "llama2-70b", "--ctx", 4096, "--tp", 8, "--link", "nvlink4")
    assert row["lanes"] == 8
    assert row["line_rate_s"] == pytest.approx(0.373e-3, rel=1e-3)


def test_a_byte_rate_is_eight_times_a_bit_rate(kvcost):
    bits, octets = rows(kvcost, "--model", "llama2-70b", "--ctx", "4k", "--link", "100Gbps,100GBps")
    assert bits["line_rate_s"] == 8 * octets["line_rate_s"]
    assert (bits["link"], octets["link"]) == ("100Gbps", "100GBps")
    assert bits["provenance"] == "user"
    assert bits["achievable_s"] == bits["line_rate_s"]


def test_a_rate_replaces_the_line_rate_and_keeps_the_efficiency(kvcost):
    plain, doubled = (rows(kvcost, "--model", "llama2-70b", "--ctx", "4k", "--link", "100gbe", *words)[0] for words in ((), ("--bandwidth", "200Gbps")))
    assert doubled["line_rate_s"] == plain["line_rate_s"] / 2
    assert doubled["efficiency"] == plain["efficiency"]
    assert doubled["provenance"] == "user"
    (alone,) = rows(kvcost, "--model", "llama2-70b", "--ctx", "4k", "--bandwidth", "200Gbps")
    assert alone["line_rate_s"] == doubled["line_rate_s"]


def test_an_unlimited_bandwidth_takes_no_time(kvcost):
    for words in (("--bandwidth", "inf"), ("--link", "inf"), ("--link", "100gbe", "--bandwidth", "inf")):
        (row,) = rows(kvcost, "--model", "llama2-70b", "--ctx", "4k", *words, "--basis", "engine", "--latency", "5ms")
        assert {row[key] for key in row if key.endswith("_s") and key not in ("bandwidth_bytes_per_s",)} == {0.0}
        assert (row["link"], row["bandwidth_bytes_per_s"], row["efficiency"]) == ("unlimited", None, 1.0)


def test_efficiency_latency_and_rails(kvcost):
    base = ("--model", "llama2-70b", "--ctx", "4k", "--link", "100gbe", "--tp", 8)
    (row,) = rows(kvcost, *base, "--efficiency", "50%", "--latency", "7ms", "--rails", 4, "--engine", "line", "--basis", "engine")
    assert row["achievable_s"] == 2 * row["line_rate_s"]
    assert row["transfer_s"] == row["engine_s"] == pytest.approx(0.007 + row["achievable_s"])
    assert (row["lanes"], row["rails"]) == (4, 4)
    assert row["achievable_low_s"] == row["achievable_high_s"] == row["achievable_s"]


def test_the_basis_chooses_the_headline_and_the_exposure(kvcost):
    found = rows(kvcost, "--model", "llama2-70b", "--ctx", "4k", "--link", "100gbe", "--basis", "line-rate,achievable,engine")
    for row, key in zip(found, ("line_rate_s", "achievable_s", "engine_s"), strict=True):
        assert row["transfer_s"] == row["exposed_s"] == row[key]
        assert row["transfer_low_s"] <= row["transfer_s"] <= row["transfer_high_s"]
    assert [row["provenance"] for row in found] == ["spec", "estimate", "estimate"]


@pytest.mark.parametrize(
    ("hit", "ctx", "tokens"),
    [("512", 4096, 512), ("50%", 4096, 2048), ("0.5", 4095, 2047), ("29%", 100, 29), ("1.0", 4096, 4096), ("9k", 4096, 4096), ("0", 1, 0)],
)
def test_prefix_hits_are_tokens_or_shares(kvcost, hit, ctx, tokens):
    (row,) = rows(kvcost, "--model", "llama2-70b", "--ctx", ctx, "--link", "100gbe", "--prefix-hit", hit, "--engine", "line")
    assert row["prefix_hit_tokens"] == tokens
    assert row["wire_bytes"] == 327_680 * (ctx - tokens)
    assert row["kv_bytes"] == 327_680 * ctx


def test_size_of_a_rank(kvcost):
    found = rows(kvcost, "--model", "llama2-70b", "--ctx", "4k", "--tp", "1,4,8,16", command="size")
    assert [row["rank_bytes"] for row in found] == [1_342_177_280, 335_544_320, 167_772_160, 167_772_160]
    assert [row["reserved_bytes"] for row in rows(kvcost, "--model", "llama2-70b", "--ctx", "100", "--block-size", "16,128", command="size")] == [
        327_680 * 112,
        327_680 * 128,
    ]


def test_terms_add_up(kvcost):
    for row in rows(kvcost, "--model", "gemma-3-27b,deepseek-v3,gpt-oss-120b", "--ctx", "8k", "--link", "ib-ndr", "--explain"):
        held = [term for term in row["terms"] if term["unit"] == "B"]
        seconds = [term for term in row["terms"] if term["unit"] == "s"]
        assert sum(term["value"] for term in held) == row["kv_bytes"]
        assert sum(term["value"] for term in seconds) == pytest.approx(row["engine_s"])
        assert sum(term["share"] for term in held) == pytest.approx(1)
        assert sum(term["share"] for term in seconds) == pytest.approx(1)


@pytest.mark.parametrize(
    ("words", "codes"),
    [
        ((), []),
        (("--ctx", "5000"), ["ctx-beyond-limit"]),
        (("--prefix-hit", "5000"), ["prefix-hit-clamped"]),
        (("--overlap", "push"), ["exposed-unknown"]),
        (("--overlap", "decode-start"), ["exposed-unknown"]),
        (("--overlap", "push", "--prefill-time", "390ms"), []),
        (("--model", "llama2-7b", "--ctx", "5000,6000"), ["ctx-beyond-limit", "ctx-beyond-limit"]),
    ],
)
def test_warnings(kvcost, words, codes):
    base = ("--model", "llama2-70b", "--link", "100gbe", *(() if "--ctx" in words else ("--ctx", "4k")))
    ran = kvcost("transfer", *base, *words, "--json")
    document = json.loads(ran.out)
    assert (ran.code, ran.err) == (0, ""), "a JSON document carries its warnings itself"
    assert [warning["code"] for warning in document["warnings"]] == codes
    assert all(warning["message"] and warning["hint"] for warning in document["warnings"])
    table = kvcost("transfer", *base, *words)
    assert table.err.count("warning: ") == len(codes)
    assert kvcost("transfer", *base, *words, "-q").err == ""


def test_what_is_exposed_when_compute_is_known(kvcost):
    base = ("--model", "llama2-70b", "--ctx", "4k", "--bandwidth", "12.5GB/s", "--basis", "line-rate")
    (push,) = rows(kvcost, *base, "--overlap", "push", "--prefill-time", "0.3903s")
    assert push["exposed_s"] == pytest.approx(0.001342, abs=5e-7)
    (start,) = rows(kvcost, *base, "--overlap", "decode-start", "--decode-step-time", "20ms")
    assert start["exposed_s"] == pytest.approx(0.1073741824 - 0.02 + 0.02 / 80)
    (unknown,) = rows(kvcost, *base, "--overlap", "push")
    assert unknown["exposed_s"] is None


def test_equal_words_are_read_once():
    reader = Reader(Catalog())
    calls = []
    original = reader._parsers["ctx"]
    reader._parsers["ctx"] = lambda word: calls.append(word) or original(word)
    for _ in range(5):
        assert reader.values("ctx", ["1k,2k", "4k"]) == [1024, 2048, 4096]
    assert calls == ["1k,2k", "4k"]


def test_equal_models_are_one_record():
    reader = Reader(Catalog())
    assert reader.values("model", ["llama2-70b"])[0] is reader.values("model", ["llama2-70b"])[0]
    assert reader.values("model", ["llama2-70b"])[0] is reader.catalog.model("llama2-70b")


def test_an_option_that_is_not_given_has_its_default():
    reader = Reader(Catalog())
    assert reader.values("tp", ()) == [None]
    assert reader.values("tp", (), [1]) == [1]
    assert flag("prefill_tp") == "--prefill-tp"


def test_a_refused_word_names_its_option():
    with pytest.raises(KvcostError, match=r"^--prefill-tp: not a whole number") as caught:
        Reader(Catalog()).values("prefill_tp", ["x"])
    assert caught.value.hint


def test_links_of_a_rate():
    assert user_link(12.5e9).name == "100Gbps"
    assert user_link(12.5e9, " 12.5GB/s ").name == "12.5GB/s"
    assert user_link(float("inf")).name == "unlimited"


def test_paths_and_staging(kvcost):
    base = ("--model", "llama2-70b", "--ctx", "4k", "--engine", "line")
    (direct,) = rows(kvcost, *base, "--link", "ib-ndr")
    (staged,) = rows(kvcost, *base, "--link", "ib-ndr", "--staging", "host")
    (series,) = rows(kvcost, *base, "--link", "ib-ndr", "--staging", "host", "--forwarding", "store-and-forward")
    assert direct["achievable_s"] < staged["achievable_s"] < series["achievable_s"]
    assert staged["achievable_high_s"] >= series["achievable_s"]
    (path,) = rows(kvcost, *base, "--path", "pcie5,ib-ndr,pcie5")
    assert path["line_rate_s"] == direct["line_rate_s"]
    assert path["link"] == "pcie5_x16+ib_ndr+pcie5_x16"
    (slot,) = rows(kvcost, *base, "--link", "pcie4", "--staging", "host")
    assert slot["link"] == "pcie4_x16+pcie4_x16"
