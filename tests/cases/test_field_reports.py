"""Public field reports, asked of the command line: the figures a good answer gives, and what it must say is missing.

The report's own question stands beside each; where it leaves an input open that has to be named, not guessed.
"""

import json

import pytest

from kvcost.importers.hf_config import read_hf_config


def rows(kvcost, *words):
    done = kvcost(*words, "--json")
    assert done.code == 0, done.err
    return json.loads(done.out)["rows"]


# source, question, command, field → expected value and its relative tolerance
FIGURES = [
    (
        "vllm#23144",
        "Qwen3-8B, 1024 in: bytes of a request",
        ("size", "--model", "qwen3-8b", "--ctx", "1024"),
        {"kv_bytes_per_token": (147456, 0), "kv_bytes": (150994944, 0)},
    ),
    (
        "vllm#27081",
        "Qwen3-30B-A3B int4: weights do not shrink KV",
        ("size", "--model", "qwen3-30b-a3b", "--ctx", "4096"),
        {"kv_bytes_per_token": (98304, 0), "kv_bytes": (384 * 2**20, 0)},
    ),
    (
        "sglang#5490",
        "R1, 1K prompts over a 50 GB/s port",
        ("transfer", "--model", "deepseek-r1", "--ctx", "1024", "--link", "ib-ndr"),
        {"kv_bytes": (71958528, 0), "line_rate_s": (0.00144, 0.01)},
    ),
    ("dynamo#402", "70B, 3000 in: KV traffic at 6.82 requests/s", ("size", "--model", "llama3.1-70b", "--ctx", "3000"), {"kv_bytes": (983.04e6, 0)}),
    (
        "dynamo#825",
        "70B FP8 weights: KV stays at 16 bit; NVLink",
        ("transfer", "--model", "llama3.1-70b", "--ctx", "3000", "--link", "nvlink4", "--engine", "line"),
        {"wire_bytes": (983.04e6, 0), "line_rate_s": (0.0022, 0.01)},
    ),
    (
        "LMCache#2606",
        "two PCIe 5.0 cards, 8192 tokens of 8B",
        ("transfer", "--model", "llama3.1-8b", "--ctx", "8192", "--link", "pcie5"),
        {"kv_bytes": (2**30, 0), "achievable_s": (0.020, 0.10)},
    ),
    (
        "LMCache#2285",
        "7500 tokens of a 7B Qwen2.5 class over 100G",
        ("transfer", "--model", "qwen2.5-7b", "--ctx", "7500", "--link", "100gbe", "--engine", "line"),
        {"kv_bytes": (430.1e6, 0.001), "line_rate_s": (0.0344, 0.01)},
    ),
    (
        "sglang#24488",
        "one 400G NIC for eight GPUs",
        ("transfer", "--model", "glm-5", "--ctx", "32768", "--link", "400gbe", "--tp", "8"),
        {"lanes": (1, 0), "bandwidth_bytes_per_s": (50e9, 0)},
    ),
    (
        "vllm#26382",
        "gpt-oss-120b: window layers are a constant",
        ("size", "--model", "gpt-oss-120b", "--ctx", "5000"),
        {"kv_bytes_per_token": (36864, 0), "kv_bytes": (189.0e6, 0.01)},
    ),
    (
        "llm-d#2054",
        "gpt-oss-120b: the bound with every layer full",
        ("size", "--model", "gpt-oss-120b", "--ctx", "5000", "--hybrid-cache", "off"),
        {"kv_bytes": (368.6e6, 0.01)},
    ),
    ("LMCache#1106", "5000 tokens of a 32B Qwen2.5 class", ("size", "--model", "qwen2.5-32b", "--ctx", "5000"), {"kv_bytes": (1.311e9, 0.001)}),
    (
        "vllm#18801",
        "72B, 6400 tokens: NVLink against 100GbE",
        ("transfer", "--model", "qwen2.5-72b", "--ctx", "6400", "--link", "100gbe"),
        {"kv_bytes": (2000 * 2**20, 0), "line_rate_s": (0.168, 0.01)},
    ),
    (
        "sglang#23318",
        "two PCIe 4.0 hops through host memory, 1 GiB",
        ("transfer", "--model", "llama3.1-8b", "--ctx", "8192", "--path", "host_dram_pcie4,host_dram_pcie4", "--forwarding", "store-and-forward"),
        {"achievable_s": (0.086, 0.05)},
    ),
    (
        "vllm#41834",
        "100K to 500K prompts, 91 % cached: what is computed",
        ("compute", "--model", "qwen3-32b", "--gpu", "h100", "--tp", "4", "--ctx", "100000", "--cached", "91%"),
        {"cached_tokens": (91000, 0)},
    ),
    (
        "TensorRT-LLM#9212",
        "serial or layer by layer",
        ("transfer", "--model", "llama2-70b", "--ctx", "4096", "--link", "100gbe", "--overlap", "push", "--prefill-time", "390.3ms", "--basis", "line-rate"),
        {"exposed_s": (0.001342, 0.01)},
    ),
]


@pytest.mark.parametrize(("source", "question", "words", "expected"), FIGURES, ids=[figure[0] for figure in FIGURES])
def test_figure(kvcost, source, question, words, expected):
    (row,) = rows(kvcost, *words)
    for field, (value, tolerance) in expected.items():
        assert row[field] == pytest.approx(value, rel=tolerance or 1e-12), f"{source}: {question}: {field}"


# source, question, command, verdicts that agree with what was observed
VERDICTS = [
    (
        "vllm#23144",
        "Qwen3-8B, 1024/6: almost no decode to protect",
        ("--model", "qwen3-8b", "--gpu", "h100", "--ctx", "1024", "--osl", "6", "--link", "nvlink4", "--rate", "4", "--objective", "e2e"),
        {"colocate"},
    ),
    (
        "sglang#7141",
        "about 61/62 tokens: nothing to gain",
        ("--model", "llama3.1-8b", "--gpu", "l40s", "--ctx", "61", "--osl", "62", "--link", "pcie4", "--rate", "10", "--objective", "e2e"),
        {"colocate"},
    ),
    (
        "vllm#6170",
        "P TP2 + D TP2 against TP4: worse TTFT",
        (
            "--model",
            "llama3-8b",
            "--gpu",
            "a100",
            "--ctx",
            "1024",
            "--osl",
            "128",
            "--prefill-tp",
            "2",
            "--decode-tp",
            "2",
            "--mono-tp",
            "4",
            "--link",
            "nvlink3",
            "--rate",
            "1",
            "--objective",
            "ttft",
        ),
        {"colocate"},
    ),
    (
        "llm-d#672",
        "1P1D, 1K/1K: no throughput gain",
        (
            "--model",
            "llama3.1-8b",
            "--gpu",
            "h100",
            "--ctx",
            "1024",
            "--osl",
            "1024",
            "--link",
            "ib-ndr",
            "--rate",
            "1",
            "--slo-ttft",
            "2s",
            "--slo-tpot",
            "50ms",
            "--objective",
            "goodput",
        ),
        {"colocate"},
    ),
    (
        "vllm#27081",
        "two 4090 without peer access",
        (
            "--model",
            "qwen3-30b-a3b",
            "--weight-dtype",
            "int4",
            "--gpu",
            "rtx4090",
            "--ctx",
            "4096",
            "--osl",
            "128",
            "--link",
            "pcie4_p2p_nop2p",
            "--rate",
            "0.2",
            "--objective",
            "ttft",
        ),
        {"colocate"},
    ),
    (
        "dynamo#13783",
        "long agentic sessions: report both signs",
        ("--model", "llama2-70b", "--gpu", "h100", "--tp", "8", "--ctx", "4096", "--osl", "256", "--link", "ib-ndr", "--rate", "2"),
        {"mixed"},
    ),
]


@pytest.mark.parametrize(("source", "question", "words", "verdicts"), VERDICTS, ids=[verdict[0] for verdict in VERDICTS])
def test_verdict(kvcost, source, question, words, verdicts):
    (row,) = rows(kvcost, "breakeven", *words)
    assert row["verdict"] in verdicts, f"{source}: {question}: {row['reason']}"
    assert row["reason"]


# source, what the report leaves open, command, what the answer has to name
OPEN = [
    ("vllm#42708", "small boards without RDMA: model and lengths", ("transfer", "--ctx", "4096", "--link", "tcp-10g"), "--model"),
    ("sglang#6459", "has anyone gained: everything", ("breakeven", "--link", "100gbe"), "--model"),
    ("dynamo#413", "which threshold: link and lengths", ("breakeven", "--model", "llama3.1-70b", "--ctx", "4k"), "--link"),
]


@pytest.mark.parametrize(("source", "question", "words", "named"), OPEN, ids=[case[0] for case in OPEN])
def test_what_is_missing_is_asked_for(kvcost, source, question, words, named):
    done = kvcost(*words)
    assert (done.code, done.out) == (2, ""), f"{source}: {question}"
    assert named in done.err


def test_planners_read_machine_readable_fields(kvcost):
    """dynamo#10863 asks for bytes per token and request, link rate, transfer time and utilisation as JSON."""
    (row,) = rows(
        kvcost, "breakeven", "--model", "llama3.1-70b", "--gpu", "h100", "--tp", "8", "--ctx", "4k", "--osl", "256", "--link", "100gbe", "--rate", "1"
    )
    fields = ("kv_bytes_per_token", "wire_bytes", "bandwidth_bytes_per_s", "transfer_s", "link_utilisation")
    assert all(row[field] > 0 for field in fields)


def test_grouped_heads_are_not_query_heads():
    """vllm-fit#2: an estimate from query heads was 8 times too large; the ratio is query heads over KV heads."""
    shape = {"model_type": "llama", "num_hidden_layers": 80, "hidden_size": 8192, "num_attention_heads": 64, "intermediate_size": 28672, "vocab_size": 32000}
    grouped = read_hf_config({**shape, "num_key_value_heads": 8, "max_position_embeddings": 4096, "torch_dtype": "float16"}, name="gqa").model
    assert grouped.query_heads / grouped.groups[0].layer.kv_heads == 8


def test_a_model_that_is_not_modelled_is_refused_by_name(kvcost, tmp_path):
    """vllm#51041: DeepSeek-V4 caches compressed rows; bytes a token cannot be had from a pool size, nor from a wrong formula."""
    config = tmp_path / "config.json"
    config.write_text(json.dumps({"model_type": "deepseek_v4", "num_hidden_layers": 61, "hidden_size": 7168}))
    done = kvcost("size", "--model", config, "--ctx", "4k")
    assert (done.code, done.out) == (2, "")
    assert "deepseek_v4" in done.err


def test_full_and_window_layers_with_their_own_heads(kvcost, tmp_path):
    """configiq#112: a Gemma 4 31B shape, 81,920 n + 819,200 min(n, 1024) bytes, where all layers full gave 880 KiB a token."""
    layers = [
        {"count": 10, "kind": "full", "kv_heads": 4, "head_dim": 512},
        {"count": 50, "kind": "window", "kv_heads": 16, "head_dim": 256, "window_tokens": 1024},
    ]
    entry = {"title": "shape", "layers": layers, "query_heads": 32, "head_dim": 256, "hidden_size": 5376, "dtype": "bf16"}
    catalog = tmp_path / "models.yaml"
    catalog.write_text(json.dumps({"shape": {**entry, "source": "the report", "confidence": "spec", "checked": "2026-11-29"}}))
    (row,) = rows(kvcost, "size", "--catalog", catalog, "--model", "shape", "--ctx", "100000")
    assert row["kv_bytes"] == 81920 * 100000 + 819200 * 1024
    assert row["kv_bytes_per_token"] == 81920
    (flat,) = rows(kvcost, "size", "--catalog", catalog, "--model", "shape", "--ctx", "1000", "--hybrid-cache", "off")
    assert flat["kv_bytes_per_token"] == 880 * 1024
