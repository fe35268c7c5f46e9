"""An option that changes nothing is said to, and changes nothing."""

import json

import pytest

SIZE = ("size", "--model", "llama2-70b", "--ctx", "4k")
COMPUTE = ("compute", "--model", "llama2-70b", "--gpu", "h100", "--tp", "8", "--ctx", "4k")
NO_ENCODER = "llama2-70b: it has no attention to an encoder's output, so --encoder-tokens changes nothing"


@pytest.mark.parametrize(
    ("words", "option", "message"),
    [
        (SIZE, ("--encoder-tokens", "100"), NO_ENCODER),
        (SIZE, ("--state-dtype", "fp32"), "llama2-70b: it has no recurrent state, so --state-dtype changes nothing"),
        (("transfer", *SIZE[1:], "--link", "100gbe"), ("--encoder-tokens", "100"), NO_ENCODER),
        ((*COMPUTE, "--prefill-time", "300ms"), ("--cached", "2k"), "--cached changes no time: --prefill-time is the time as it was measured"),
        ((*COMPUTE, "--phase", "decode"), ("--cached", "2k"), "--cached changes no time: a decode step has none to compute"),
    ],
    ids=str,
)
def test_an_option_without_effect_is_said(kvcost, words, option, message):
    with_it, without = (json.loads(kvcost(*line, "--json").out) for line in ((*words, *option), words))
    assert [notice["message"] for notice in with_it["warnings"] if notice["code"] == "without-effect"] == [message]
    assert not [notice for notice in without["warnings"] if notice["code"] == "without-effect"]
    work = ("cached_tokens", "flops", "bytes_read")
    ours, theirs = ([{key: value for key, value in row.items() if key not in work} for row in found["rows"]] for found in (with_it, without))
    assert ours == theirs


@pytest.mark.parametrize(
    "words",
    [
        ("size", "--model", "whisper-large-v3", "--ctx", "400", "--encoder-tokens", "100"),
        (*COMPUTE, "--cached", "2k"),
        (*COMPUTE, "--cached", "2k", "--phase", "prefill,decode"),
    ],
    ids=str,
)
def test_an_option_with_an_effect_is_not(kvcost, words):
    ran = kvcost(*words)
    assert ran.code == 0
    assert "without-effect" not in ran.err
