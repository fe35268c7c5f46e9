"""Whatever is typed is answered or refused in words: never a traceback, never half an answer."""

import contextlib
import io
import json

from hypothesis import given, settings
from hypothesis import strategies as st

from kvcost.cases.transfer import TRANSFER_OPTIONS
from kvcost.cli.app import run

GOOD = {
    "model": ["llama2-70b", "gemma-3-27b", "deepseek-v3", "gpt-oss-120b", "opt-66b,qwen3-235b-a22b"],
    "ctx": ["1", "4096", "1k,4k", "1k..8k", "1000000000"],
    "kv_dtype": ["auto", "fp8", "int8", "int4:g64:zero", "nvfp4", "kivi2", "fp8_ds_mla"],
    "block_size": ["1", "16", "128"],
    "prefix_hit": ["0", "50%", "0.5", "1.0", "512", "1000000000"],
    "link": ["nvlink4", "100gbe", "aws_p5", "inf", "100Gbps", "12.5GB/s", "nvme_gen4", "tcp-100g"],
    "path": ["pcie5,ib-ndr,pcie5", "nvlink4", "pcie4,pcie4"],
    "staging": ["none", "host"],
    "forwarding": ["pipelined", "store-and-forward"],
    "rails": ["1", "8", "1000"],
    "bandwidth": ["inf", "1Gbps", "1e-20B/s", "1e20TB/s"],
    "efficiency": ["1", "92%", "1e-20"],
    "latency": ["0", "1ms", "1h"],
    "engine": ["line", "vllm-nixl", "mooncake", "splitwise", "vllm-nixl-crosslayer", "trtllm"],
    "overlap": ["serial", "push", "decode-start"],
    "basis": ["line-rate", "achievable", "engine"],
    "tp": ["1", "8", "1,2,4", "64", "3"],
    "prefill_tp": ["1", "8", "16"],
    "decode_tp": ["1", "8", "16"],
    "prefill_time": ["0", "390ms", "1h"],
    "decode_step_time": ["0", "20ms"],
}
junk = st.one_of(
    st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=12).filter(lambda text: not text.startswith(("@", "-"))),
    st.from_regex(r"[0-9]{1,4}(\.[0-9])?(k|Ki|%|ms|Gbps|GB/s)?(\.\.|,|:|:x|:\+|:n=)?[0-9]{0,2}", fullmatch=True),
)


@st.composite
def lines(draw, spoilt=0):
    """A command line of known options, some with values that nobody means."""
    chosen = draw(st.lists(st.sampled_from(sorted(set(TRANSFER_OPTIONS) & set(GOOD))), unique=True, max_size=8))
    needed = {"model": "llama2-70b", "ctx": "4k", "link": "100gbe"}
    values = {**needed, **{option: draw(st.sampled_from(GOOD[option])) for option in chosen}}
    for option in draw(st.lists(st.sampled_from(sorted(values)), unique=True, max_size=spoilt)):
        values[option] = draw(junk)
    words = [word for option, value in values.items() for word in ("--" + option.replace("_", "-"), value)]
    return ["transfer", *words, *draw(st.sampled_from([(), ("--explain",)]))]


def ran(words):
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = run(words)
    return code, out.getvalue(), err.getvalue()


def refuse(word):
    raise AssertionError(f"JSON has no {word}")


def check(words):
    code, out, err = ran([*words, "--json"])
    assert code in (0, 2), err
    if code:
        assert out == ""
        assert err.startswith("error: ")
        assert err.count("\nhint: ") == 1
        assert err.count("\n") == 2
        return
    document = json.loads(out, parse_constant=refuse)
    assert document["rows"]
    for row in document["rows"]:
        assert row["wire_bytes"] >= 0
        assert row["transfer_low_s"] <= row["transfer_s"] * (1 + 1e-12)
        assert row["transfer_s"] <= row["transfer_high_s"] * (1 + 1e-12)
        assert row["exposed_s"] is None or 0 <= row["exposed_s"] <= row["transfer_s"]
        assert row["prefix_hit_tokens"] <= row["ctx_tokens"]
        assert row["lanes"] <= min(row["prefill_tp"], row["decode_tp"], row["rails"])
    for form in ("table", "markdown", "csv"):
        if form == "table" or "--explain" not in words:
            code, shown, _ = ran([*words, "--format", form, "-q"])
            assert code == 0
            assert shown


@settings(max_examples=80)
@given(lines())
def test_options_that_people_mean(words):
    check(words)


@settings(max_examples=120)
@given(lines(spoilt=3))
def test_options_that_nobody_means(words):
    check(words)
