"""Every model of the catalog: consistent by itself, and its bytes against a table of exact values."""

import datetime as dt

import pytest

from kvcost.catalog.names import normalise
from kvcost.catalog.store import Catalog
from kvcost.cost.dtypes import parse_kv_dtype
from kvcost.cost.kv import held_bytes, kv_layout, marginal_bytes
from kvcost.cost.layers import Indexer
from kvcost.cost.model import check_model_tp, kv_layers

CATALOG = Catalog()
MODELS = CATALOG.entries("models")
each_model = pytest.mark.parametrize("name", MODELS)

# 16-bit bytes at 512, 4,096 and 32,768 tokens, and of one more token at 32,768.
BYTES = {
    "llama2-7b": (268_435_456, 2_147_483_648, 17_179_869_184, 524_288),
    "llama2-13b": (419_430_400, 3_355_443_200, 26_843_545_600, 819_200),
    "llama2-70b": (167_772_160, 1_342_177_280, 10_737_418_240, 327_680),
    "llama3.1-8b": (67_108_864, 536_870_912, 4_294_967_296, 131_072),
    "llama3.1-70b": (167_772_160, 1_342_177_280, 10_737_418_240, 327_680),
    "llama3.1-405b": (264_241_152, 2_113_929_216, 16_911_433_728, 516_096),
    "opt-13b": (419_430_400, 3_355_443_200, 26_843_545_600, 819_200),
    "opt-66b": (1_207_959_552, 9_663_676_416, 77_309_411_328, 2_359_296),
    "mixtral-8x7b": (67_108_864, 536_870_912, 4_294_967_296, 131_072),
    "qwen3-32b": (134_217_728, 1_073_741_824, 8_589_934_592, 262_144),
    "qwen3-235b-a22b": (98_566_144, 788_529_152, 6_308_233_216, 192_512),
    "deepseek-v3": (35_979_264, 287_834_112, 2_302_672_896, 70_272),
    "gemma-3-27b": (260_046_848, 771_751_936, 3_120_562_176, 81_920),
    "gpt-oss-120b": (23_592_960, 155_713_536, 1_212_678_144, 36_864),
}


def layout_of(name, dtype="bf16"):
    return kv_layout(CATALOG.model(name).groups, parse_kv_dtype(dtype))


@pytest.mark.parametrize("name", BYTES)
def test_bytes(name):
    layout = layout_of(name)
    assert (*(held_bytes(layout, ctx) for ctx in (512, 4096, 32_768)), marginal_bytes(layout, 32_768)) == BYTES[name]


@each_model
def test_fp8_is_half(name):
    fixed = any(constant.layer_bytes for constant in layout_of(name).constants) or any(isinstance(group.layer, Indexer) for group in CATALOG.model(name).groups)
    if not fixed:
        assert 2 * held_bytes(layout_of(name, "fp8"), 1000) == held_bytes(layout_of(name), 1000)


@each_model
def test_parameters_are_parts_of_the_whole(name):
    model = CATALOG.model(name)
    assert model.params_total is not None
    assert 0 < model.params_active <= model.params_total
    assert model.params_input_embedding + model.params_towers < model.params_active
    if model.vocab_size and model.params_input_embedding:
        assert model.params_input_embedding >= model.vocab_size * model.hidden_size
    if model.experts is None:
        assert model.params_active == model.params_total
    else:
        touched = model.experts.params * model.experts.per_token // model.experts.experts
        assert model.experts.params < model.params_total
        assert model.params_active == pytest.approx(model.params_total - model.experts.params + touched, rel=0.02)


@each_model
def test_shape(name):
    model = CATALOG.model(name)
    assert kv_layers(model) > 0
    assert model.dtype in ("bf16", "fp16")
    assert model.context_limit_tokens is None or model.context_limit_tokens >= 448
    check_model_tp(model, 1)


@each_model
def test_provenance(name):
    entry = MODELS[name]
    assert entry["title"]
    assert entry["source"]
    assert entry["confidence"] in ("spec", "measured", "estimate")
    assert dt.date.fromisoformat(entry["checked"])
    assert entry["confidence"] != "estimate" or entry["note"], "an estimate says in its note why it is one"


@each_model
def test_names_find_the_entry(name):
    words = [name, *MODELS[name]["aliases"], name.upper(), name.replace("-", " "), name.replace("-", "_")]
    assert {CATALOG.find("models", word) for word in words} == {name}
    keys = [normalise(word) for word in (name, *MODELS[name]["aliases"])]
    assert len(set(keys)) == len(keys), "an alias differs from another only in case, spaces, hyphens or underscores"


# Parameters counted weight by weight, tied weights once.
PARAMETERS = {
    "llama2-7b": 6_738_415_616,
    "llama2-13b": 13_015_864_320,
    "llama2-70b": 68_976_648_192,
    "llama3.1-8b": 8_030_261_248,
    "llama3.1-70b": 70_553_706_496,
    "llama3.1-405b": 405_853_388_800,
    "opt-13b": 12_853_473_280,
    "opt-66b": 65_719_701_504,
    "mixtral-8x7b": 46_702_792_704,
    "qwen3-32b": 32_762_123_264,
    "qwen3-235b-a22b": 235_093_634_560,
    "deepseek-v3": 671_026_404_352,
    "gemma-3-27b": 27_432_406_640,
    "gpt-oss-120b": 116_829_156_672,
}


@pytest.mark.parametrize("name", PARAMETERS)
def test_parameters_are_those_of_the_weights(name):
    # Norms of queries and keys, biases and sinks may be left out: less than 0.005 % of a model.
    assert CATALOG.model(name).params_total == pytest.approx(PARAMETERS[name], rel=5e-5)
