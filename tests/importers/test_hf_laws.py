"""Laws that hold for every config of a family, whatever its sizes."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from looks import LOOKS, look

from kvcost.cost.dtypes import parse_kv_dtype
from kvcost.cost.kv import held_bytes, kv_layout, marginal_bytes, state_bytes
from kvcost.cost.layers import FullAttention, Recurrent, SlidingWindow
from kvcost.importers.hf_config import Conventions, read_hf_config

BF16 = parse_kv_dtype("bf16")
WINDOWED = ["mistral", "gemma2", "gemma3", "gemma3n", "gemma4", "gpt-oss", "cohere2", "exaone4", "olmo3", "mimo", "step", "recurrent-gemma", "qwen2-window-on"]
RECURRENT = ["jamba", "bamba", "granite-h", "falcon-h1", "zamba2", "nemotron-h", "qwen3-next", "qwen3.5", "minimax", "kimi-linear", "lfm2", "mamba", "mamba2"]


def layout_of(config, conventions=Conventions(), **switches):  # noqa: B008
    return kv_layout(read_hf_config(config, name="x", conventions=conventions).model.groups, BF16, **switches)


@pytest.mark.parametrize("name", WINDOWED)
def test_beyond_the_window_only_full_layers_grow(name):
    model = read_hf_config(look(name), name=name).model
    full = sum(count * layer.kv_heads * (layer.k_dim + layer.v_dim) * 2 for count, layer in model.groups if isinstance(layer, FullAttention))
    layout = kv_layout(model.groups, BF16)
    assert marginal_bytes(layout, 100_000) == full
    assert held_bytes(layout, 100_001) - held_bytes(layout, 100_000) == full


@pytest.mark.parametrize("name", WINDOWED)
def test_inside_the_window_every_layer_grows(name):
    model = read_hf_config(look(name), name=name).model
    owning = [(count, layer) for count, layer in model.groups if isinstance(layer, FullAttention | SlidingWindow)]
    assert marginal_bytes(kv_layout(model.groups, BF16), 100) == sum(count * layer.kv_heads * (layer.k_dim + layer.v_dim) * 2 for count, layer in owning)


@pytest.mark.parametrize("name", WINDOWED)
def test_without_hybrid_cache_every_layer_keeps_every_token(name):
    layout = layout_of(look(name), hybrid_cache=False)
    assert marginal_bytes(layout, 100_000) == marginal_bytes(layout, 1)


@pytest.mark.parametrize("name", WINDOWED)
def test_a_window_one_token_shorter_saves_one_token_per_sliding_layer(name):
    model = read_hf_config(look(name), name=name).model
    row = sum(count * layer.kv_heads * (layer.k_dim + layer.v_dim) * 2 for count, layer in model.groups if isinstance(layer, SlidingWindow))
    shorter = layout_of(look(name), Conventions(window_minus_one=True))
    assert held_bytes(kv_layout(model.groups, BF16), 50_000) - held_bytes(shorter, 50_000) == row


@pytest.mark.parametrize("name", RECURRENT)
def test_state_does_not_grow_and_fp32_doubles_only_the_scan_state(name):
    wide, narrow = (read_hf_config(look(name), name=name, conventions=Conventions(state_dtype=dtype)).model for dtype in ("fp32", "bf16"))
    scan = sum(count * layer.ssm_elements * 2 for count, layer in narrow.groups if isinstance(layer, Recurrent))
    assert state_bytes(kv_layout(wide.groups, BF16)) - state_bytes(kv_layout(narrow.groups, BF16)) == scan
    layout = kv_layout(narrow.groups, BF16)
    assert held_bytes(layout, 0) == state_bytes(layout) > 0


@pytest.mark.parametrize("name", LOOKS)
def test_layers_with_a_cache_never_outnumber_the_layers_of_the_file(name):
    config = look(name)
    inner = config.get("text_config") or config.get("language_config") or config
    model = read_hf_config(config, name=name).model
    layers = inner.get("num_hidden_layers") or inner.get("n_layer") or inner.get("num_layers") or 64
    assert all(group.layers <= 2 * layers for group in model.groups)


@pytest.mark.parametrize("name", LOOKS)
def test_a_config_read_from_json_and_read_twice_gives_the_same(name):
    config = look(name)
    assert read_hf_config(json.loads(json.dumps(config)), name="x") == read_hf_config(config, name="x")
    assert config == look(name)


@pytest.mark.parametrize("name", LOOKS)
def test_fields_that_say_nothing_about_the_cache_change_nothing(name):
    extra = {"initializer_range": 0.02, "bos_token_id": 1, "use_cache": True, "attention_dropout": 0.0, "rms_norm_eps": 1e-5, "id2label": {"0": "a"}}
    assert read_hf_config(look(name) | extra, name="x").model == read_hf_config(look(name), name="x").model


@given(
    layers=st.integers(1, 128),
    kv=st.integers(1, 16),
    group=st.integers(1, 8),
    width=st.sampled_from([32, 64, 80, 96, 128, 192, 256]),
)
def test_grouped_query_attention_is_heads_times_width(layers, kv, group, width):
    heads = kv * group
    config = look("llama", num_hidden_layers=layers, num_attention_heads=heads, num_key_value_heads=kv, hidden_size=heads * width)
    assert marginal_bytes(layout_of(config), 5) == layers * kv * width * 2 * 2
    explicit = config | {"head_dim": 48}
    assert marginal_bytes(layout_of(explicit), 5) == layers * kv * 48 * 2 * 2


@given(rank=st.integers(16, 1024), rope=st.integers(0, 128), layers=st.integers(1, 80), heads=st.integers(1, 128))
def test_a_latent_does_not_depend_on_the_heads(rank, rope, layers, heads):
    config = look("deepseek", kv_lora_rank=rank, qk_rope_head_dim=rope, num_hidden_layers=layers, num_attention_heads=heads, num_key_value_heads=heads)
    assert marginal_bytes(layout_of(config), 7) == layers * (rank + rope) * 2


@given(layers=st.integers(1, 96), period=st.integers(1, 12), window=st.integers(1, 4096))
def test_a_pattern_makes_one_layer_in_each_period_full(layers, period, window):
    config = look("cohere2", num_hidden_layers=layers, sliding_window_pattern=period, sliding_window=window)
    groups = read_hf_config(config, name="x").model.groups
    assert sum(count for count, layer in groups if isinstance(layer, FullAttention)) == layers // period
    assert sum(count for count, _ in groups) == layers


@given(kinds=st.lists(st.sampled_from("M*-E"), min_size=1, max_size=40).filter(lambda kinds: "M" in kinds or "*" in kinds))
def test_nemotron_counts_the_letters_of_its_pattern(kinds):
    config = look("nemotron-h", hybrid_override_pattern="".join(kinds), num_hidden_layers=len(kinds))
    groups = read_hf_config(config, name="x").model.groups
    assert sum(count for count, layer in groups if isinstance(layer, FullAttention)) == kinds.count("*")
    assert sum(count for count, layer in groups if isinstance(layer, Recurrent)) == kinds.count("M")


@given(flags=st.lists(st.booleans(), min_size=1, max_size=64))
def test_layer_types_are_counted_as_they_stand(flags):
    types = ["sliding_attention" if flag else "full_attention" for flag in flags]
    groups = read_hf_config(look("olmo3", num_hidden_layers=len(flags), layer_types=types), name="x").model.groups
    assert {type(layer): count for count, layer in groups} == {
        kind: count for kind, count in ((FullAttention, flags.count(False)), (SlidingWindow, flags.count(True))) if count
    }
