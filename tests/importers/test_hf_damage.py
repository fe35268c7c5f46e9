"""Damaged configs: one error that names the field, or an assumption that is said; nothing else ever comes out."""

import math

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from looks import LOOKS, look

from kvcost.cost.dtypes import parse_kv_dtype
from kvcost.cost.kv import held_bytes, kv_layout
from kvcost.errors import KvcostError
from kvcost.importers.hf_config import ImportedModel, read_hf_config

BROKEN = ["32", -1, 10**9, [1], {"a": 1}, True, math.nan, math.inf, 1.5, 10**400, [None], [[1]], ["x"], {}, []]

# Values that are another model rather than a damaged one.
OTHER_MODELS = {("attn_layer_indices", "[1]"), ("attn_layer_indices", "[]"), ("cross_attention_layers", "[1]")}
OTHER_MODELS |= {("cross_attention_layers", "[]"), ("full_attn_layers", "[1]"), ("full_attn_layers", "[]")}


def outcome(config) -> ImportedModel | KvcostError:
    """What reading gives; an error without a hint counts as none."""
    try:
        imported = read_hf_config(config, name="x")
    except KvcostError as error:
        found = error
    else:
        return usable(imported)
    assert found.message
    assert found.hint
    return found


def usable(imported: ImportedModel) -> ImportedModel:
    layout = kv_layout(imported.model.groups, parse_kv_dtype("bf16"))
    assert all(held_bytes(layout, n) >= 0 for n in (0, 1, 1000))
    assert all(group.layers > 0 for group in imported.model.groups)
    return imported


def places(config):
    yield from ((config, key) for key in config)
    for value in config.values():
        if isinstance(value, dict):
            yield from ((value, key) for key in value)


def damaged(name):
    """Every field of a look-alike, taken out or replaced in turn."""
    count = len(list(places(look(name))))
    for index in range(count):
        for value in [..., None, *BROKEN]:
            config = look(name)
            holder, key = list(places(config))[index]
            if value is ...:
                del holder[key]
            else:
                holder[key] = value
            yield key, value, config


@pytest.mark.parametrize("name", LOOKS)
def test_no_damage_gives_another_number_in_silence(name):
    whole = read_hf_config(look(name), name="x")
    silent = []
    for key, value, config in damaged(name):
        found = outcome(config)
        if isinstance(found, KvcostError) or found.model.groups == whole.model.groups:
            continue
        if not set(found.warnings) - set(whole.warnings) and (key, repr(value)) not in OTHER_MODELS:
            silent.append((key, repr(value)))
    # Null or missing switches are off in every class, and say so by being a model without them.
    allowed: set[tuple[str, object]] = {
        ("sliding_window", None),
        ("use_sliding_window", True),
        ("use_sliding_window", ...),
        ("use_sliding_window", None),
        ("use_cla", ...),
        ("use_cla", None),
    }
    allowed |= {("attention_k_eq_v", ...), ("attention_k_eq_v", None), ("num_global_key_value_heads", ...), ("num_global_key_value_heads", None)}
    allowed |= {("new_decoder_architecture", True), ("attention_k_eq_v", True), ("max_window_layers", ...), ("max_window_layers", None)}
    assert set(silent) - {(key, repr(value)) for key, value in allowed} == set()


@pytest.mark.parametrize(
    ("name", "field", "value", "word"),
    [
        ("llama", "num_key_value_heads", -8, "num_key_value_heads"),
        ("llama", "num_key_value_heads", 5, "num_key_value_heads"),
        ("llama", "num_attention_heads", "12", "num_attention_heads"),
        ("llama", "num_attention_heads", 7, "num_key_value_heads"),
        ("llama", "num_hidden_layers", 10**9, "num_hidden_layers"),
        ("llama", "num_hidden_layers", True, "num_hidden_layers"),
        ("llama", "hidden_size", [768], "hidden_size"),
        ("llama", "hidden_size", 770, "hidden size"),
        ("llama", "hidden_size", math.nan, "hidden_size"),
        ("mistral", "sliding_window", "4096", "sliding_window"),
        ("deepseek", "kv_lora_rank", 0, "kv_lora_rank"),
        ("olmo3", "layer_types", ["full_attention"], "layer_types"),
        ("olmo3", "layer_types", ["odd_attention"] * 12, "odd_attention"),
        ("olmo3", "sliding_window", None, "sliding_window"),
        ("nemotron-h", "hybrid_override_pattern", "MQ*", "hybrid_override_pattern"),
        ("nemotron-h", "mamba_num_heads", -1, "mamba_num_heads"),
        ("bamba", "mamba_n_heads", 23, "mamba heads"),
        ("openelm", "num_kv_heads", [2, 2], "num_kv_heads"),
        ("glm-dsa-shared", "index_topk_pattern", "FX", "index_topk_pattern"),
        ("kimi-linear", "linear_attn_config", None, "layer_types"),
        ("qwen3-moe", "num_experts_per_tok", 9, "num_experts_per_tok"),
        ("gemma3", "text_config", [], "text_config"),
        ("llama", "rope_scaling", {"type": "linear", "factor": "8"}, "factor"),
        ("llama", "torch_dtype", "float7", "torch_dtype"),
        ("llama", "model_type", 5, "model_type"),
    ],
)
def test_an_error_names_the_field(name, field, value, word):
    with pytest.raises(KvcostError) as caught:
        read_hf_config(look(name, **{field: value}), name="x")
    assert word in caught.value.message
    assert caught.value.hint


@pytest.mark.parametrize("config", [None, [], "x", 5, {}, {"model_type": "llama", "text_config": 5}, {1: 2}])
def test_what_is_no_config_is_refused(config):
    found = outcome(config) if isinstance(config, dict) else None
    if isinstance(found, ImportedModel):
        raise AssertionError(found)
    if found is None:
        with pytest.raises(KvcostError):
            read_hf_config(config, name="x")


SCALARS = st.none() | st.booleans() | st.integers(-(10**12), 10**12) | st.floats() | st.text(max_size=12)
VALUES = st.recursive(SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=3), max_leaves=8)
FIELDS = sorted(
    {key for config in LOOKS.values() for holder, key in places(config)} | {"index_topk_freq", "block_types", "per_layer_config", "mlp_layer_types"}
)


@settings(max_examples=400, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(name=st.sampled_from(sorted(LOOKS)), changes=st.dictionaries(st.sampled_from(FIELDS), VALUES, min_size=1, max_size=4), inner=st.booleans())
def test_any_values_in_any_fields(name, changes, inner):
    config = look(name)
    holder = config.get("text_config", config) if inner else config
    if isinstance(holder, dict):
        holder.update(changes)
    outcome(config)


@settings(max_examples=300, deadline=None)
@given(st.dictionaries(st.sampled_from(FIELDS) | st.text(max_size=10), VALUES | st.integers(1, 64), max_size=12), st.sampled_from(sorted(LOOKS)))
def test_any_object_at_all(config, name):
    config["model_type"] = look(name)["model_type"]
    outcome(config)
