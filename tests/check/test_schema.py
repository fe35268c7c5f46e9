"""The JSON Schema that editors use: it takes what check takes and refuses what check refuses."""

import json
from pathlib import Path

import jsonschema
import pytest
import yaml

from kvcost.check.schema import preset_schema
from kvcost.presets.keys import SECTIONS

from .conftest import SPLIT

VALIDATOR = jsonschema.Draft202012Validator(preset_schema())
SHIPPED = sorted((Path(__file__).parents[2] / "presets").glob("**/*.yaml"))
FULL = SPLIT + (
    "engine: vllm-nixl\noverlap: push\nbasis: engine\nobjective: all\nhybrid_cache: on\npp: 1\nnote: x\nextends: [b.yaml]\n"
    "slo: {ttft: 1s, tpot: 50ms, attainment: 0.9}\nscheduler: {chunk: 8k, router: random, handover: 0, pool_derate: 92%}\n"
    "measured: {prefill_time: {4k: 390ms}, saved_frac: 0.3}\ngpu_hour_price: 2.5\n"
)


def test_the_schema_is_one():
    jsonschema.Draft202012Validator.check_schema(preset_schema())


def test_the_command_prints_it(kvcost):
    assert json.loads(kvcost("schema", "preset").out) == preset_schema()


@pytest.mark.parametrize("text", [SPLIT, FULL, "link: 100gbe", "link: {path: [a, b]}", "limits: {verdict: '!= infeasible'}", "slo: null", "kv_dtype: int4:g64"])
def test_good_presets(text):
    VALIDATOR.validate(yaml.safe_load(text))


@pytest.mark.parametrize("file", SHIPPED, ids=lambda file: file.name)
def test_shipped_presets(file):
    VALIDATOR.validate(yaml.safe_load(file.read_text(encoding="utf-8")))


def test_every_key_has_a_description_and_closed_choices_are_listed():
    schema = preset_schema()["properties"]
    for section, keys in SECTIONS.items():
        holder = schema if not section else next(part for part in schema[section]["anyOf"] if part.get("type") == "object")["properties"]
        for key in keys:
            assert len(holder[key]["description"]) > 10, key
    for key in ("weight_dtype", "overlap", "basis", "objective", "kv_dtype"):
        assert any("enum" in part for part in schema[key]["anyOf"])


MUTATIONS = [
    ("model: llama2-70b", "modle: llama2-70b"),
    ("model: llama2-70b", "model: [llama2-70b]"),
    ("model: llama2-70b", "model: 70"),
    ("model: llama2-70b", "model: no"),
    ("kv_dtype: fp8", "kv_dtype: fp9"),
    ("kv_dtype: fp8", "kv_dtype: 8"),
    ("weight_dtype: fp16", "weight_dtype: float"),
    ("{name: ib-ndr, rails: 8}", "{nam: ib-ndr, rails: 8}"),
    ("{name: ib-ndr, rails: 8}", "{name: ib-ndr, rails: 0}"),
    ("{name: ib-ndr, rails: 8}", "{name: ib-ndr, rails: eight}"),
    ("{name: ib-ndr, rails: 8}", "{rate: 100}"),
    ("{name: ib-ndr, rails: 8}", "{name: ib-ndr, efficiency: 1.5}"),
    ("prefill: {gpu: h100, tp: 8, instances: 1}", "prefill: h100"),
    ("prefill: {gpu: h100, tp: 8, instances: 1}", "prefill: {gpus: h100}"),
    ("tp: 8", "tp: 8.5"),
    ("tp: 8", "tp: -8"),
    ("isl: 4k", "isl: 4GB"),
    ("isl: 4k", "isl: 0"),
    ("isl: 4k", "isl: [4k]"),
    ("rate: 3", "rate: fast"),
    ("rate: 3", "qps: 3"),
    ("limits:", "slo: {ttft: 1}\nlimits:"),
    ("limits:", "slo: {ttft: 1GB}\nlimits:"),
    ("limits:", "slo: {latency: 1s}\nlimits:"),
    ("limits:", "overlap: async\nlimits:"),
    ("limits:", "objective: speed\nlimits:"),
    ("limits:", "scheduler: {router: best}\nlimits:"),
    ("limits:", "extends: {a: b}\nlimits:"),
    ("net_gain_s:", "netgain_s:"),
    ('"> 0"', "0"),
    ('"> 0"', "about 0"),
    ('"> 0"', '"> 5GB"'),
    ("[mixed, disaggregate]", "dissagregate"),
    ("[mixed, disaggregate]", '"> mixed"'),
]


@pytest.mark.parametrize(("old", "new"), MUTATIONS)
def test_what_check_refuses_the_schema_refuses(kvcost, preset, old, new):
    assert old in SPLIT
    text = SPLIT.replace(old, new, 1)
    assert not VALIDATOR.is_valid(yaml.safe_load(text))
    assert kvcost("check", preset(text)).code == 2
