"""Presets to check, as files in a working directory of their own."""

import json

import pytest

# Meets all of its limits with room for the tests to break them one at a time.
SPLIT = """\
model: llama2-70b
weight_dtype: fp16
kv_dtype: fp8
link: {name: ib-ndr, rails: 8}
prefill: {gpu: h100, tp: 8, instances: 1}
decode: {gpu: h100, tp: 8, instances: 1}
mono: {gpu: h100, tp: 8, instances: 2}
workload: {isl: 4k, osl: 512, rate: 3}
limits:
  net_gain_s: "> 0"
  link_utilisation: "< 0.2"
  transfer_s: "< 2.5ms"
  ttft_disagg_s: "< 400ms"
  verdict: [mixed, disaggregate]
"""


@pytest.fixture
def preset(tmp_path, monkeypatch):
    """Write a preset and return its name; the folder is the working directory."""
    monkeypatch.chdir(tmp_path)

    def write(text=SPLIT, name="a.yaml"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(text if isinstance(text, bytes) else text.encode())
        return name

    return write


@pytest.fixture
def checked(kvcost, preset):
    """Check one preset: exit code and rows."""

    def call(text=SPLIT, *more):
        ran = kvcost("check", preset(text), "--json", *more)
        return ran.code, json.loads(ran.out)["rows"] if ran.out else ran.err

    return call
