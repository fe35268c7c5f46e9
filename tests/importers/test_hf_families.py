"""Each family's rule on a small look-alike: the layer groups, and the numbers that go with them."""

import pytest
from looks import LOOKS, look

from kvcost.cost.dtypes import parse_kv_dtype
from kvcost.cost.kv import held_bytes, kv_layout, marginal_bytes, state_bytes
from kvcost.cost.layers import (
    Chunked,
    CrossAttention,
    FullAttention,
    Indexer,
    LayerGroup,
    MlaLatent,
    Recurrent,
    SharedKv,
    SlidingWindow,
    with_encoder_tokens,
)
from kvcost.errors import KvcostError
from kvcost.importers.hf_config import KNOWN_TYPES, Conventions, read_hf_config

GROUPS = {
    "llama": [(12, FullAttention(4, 64, 64))],
    "qwen2-window-off": [(12, FullAttention(4, 64, 64))],
    "qwen2-window-on": [(6, FullAttention(4, 64, 64)), (6, SlidingWindow(4, 64, 64, 1024))],
    "qwen3-moe": [(12, FullAttention(4, 128, 128))],
    "mistral": [(12, SlidingWindow(4, 64, 64, 1024))],
    "mistral-null": [(12, FullAttention(4, 96, 96))],
    "gpt2": [(6, FullAttention(8, 64, 64))],
    "bloom": [(6, FullAttention(8, 64, 64))],
    "falcon-mqa": [(4, FullAttention(1, 64, 64))],
    "falcon-new": [(4, FullAttention(2, 64, 64))],
    "refinedweb": [(4, FullAttention(2, 64, 64))],
    "bigcode": [(4, FullAttention(1, 64, 64))],
    "chatglm": [(4, FullAttention(2, 64, 64))],
    "mpt": [(4, FullAttention(8, 64, 64))],
    "dbrx": [(4, FullAttention(2, 64, 64))],
    "deepseek": [(12, MlaLatent(128, 32))],
    "deepseek-dsa": [(12, MlaLatent(128, 32)), (12, Indexer(132))],
    "glm-dsa-shared": [(12, MlaLatent(128, 32)), (5, Indexer(132))],
    "deepseek-vl-tiny": [(12, FullAttention(12, 64, 64))],
    "longcat": [(12, MlaLatent(128, 32))],
    "gemma2": [(6, FullAttention(4, 128, 128)), (6, SlidingWindow(4, 128, 128, 1024))],
    "gemma3": [(2, FullAttention(4, 128, 128)), (10, SlidingWindow(4, 128, 128, 512))],
    "gemma3n": [(1, FullAttention(4, 64, 64)), (4, SlidingWindow(4, 64, 64, 512)), (5, SharedKv())],
    "gemma4": [(2, FullAttention(2, 128, 128)), (10, SlidingWindow(4, 64, 64, 512))],
    "gpt-oss": [(6, FullAttention(4, 64, 64)), (6, SlidingWindow(4, 64, 64, 128))],
    "cohere2": [(3, FullAttention(4, 64, 64)), (9, SlidingWindow(4, 64, 64, 1024))],
    "exaone4": [(3, FullAttention(4, 64, 64)), (9, SlidingWindow(4, 64, 64, 1024))],
    "olmo3": [(3, FullAttention(4, 64, 64)), (9, SlidingWindow(4, 64, 64, 1024))],
    "llama4": [(3, FullAttention(4, 64, 64)), (9, Chunked(4, 64, 64, 1024))],
    "mimo": [(2, FullAttention(4, 96, 64)), (10, SlidingWindow(6, 96, 64, 128))],
    "step": [(3, FullAttention(4, 64, 64)), (9, SlidingWindow(4, 64, 64, 512))],
    "hunyuan-cla": [(6, FullAttention(4, 64, 64)), (6, SharedKv())],
    "jamba": [(3, FullAttention(4, 64, 64)), (9, Recurrent(3 * 1536, 1536 * 16))],
    "bamba": [(2, FullAttention(4, 64, 64)), (10, Recurrent(3 * (1536 + 64), 24 * 64 * 32))],
    "granite-h": [(1, FullAttention(4, 64, 64)), (11, Recurrent(3 * (1536 + 64), 24 * 64 * 32))],
    "falcon-h1": [(12, FullAttention(4, 64, 64)), (12, Recurrent(3 * (1536 + 64), 24 * 64 * 32))],
    "zamba2": [(2, FullAttention(12, 128, 128)), (12, Recurrent(3 * (1536 + 64), 24 * 64 * 32))],
    "nemotron-h": [(2, FullAttention(4, 64, 64)), (5, Recurrent(3 * (1024 + 256), 16 * 64 * 32, 16, 32))],
    "qwen3-next": [(3, FullAttention(4, 64, 64)), (9, Recurrent(3 * 1024, 8 * 64 * 64))],
    "qwen3.5": [(3, FullAttention(4, 64, 64)), (9, Recurrent(3 * 1024, 8 * 64 * 64, 16, 32))],
    "minimax": [(3, FullAttention(4, 64, 64)), (9, Recurrent(0, 12 * 64 * 64, 16, 16, 1))],
    "minimax-m3": [(12, FullAttention(4, 64, 64)), (9, Indexer(128))],
    "kimi-linear": [(3, MlaLatent(128, 32)), (9, Recurrent(3 * 3 * 768, 12 * 64 * 64, 16, 32))],
    "lfm2": [(4, FullAttention(4, 64, 64)), (8, Recurrent(2 * 768, 0, 16, 16, 1))],
    "recurrent-gemma": [(4, SlidingWindow(4, 64, 64, 1024)), (8, Recurrent(3 * 768, 768, 16, 32))],
    "mamba": [(8, Recurrent(3 * 1024, 1024 * 16))],
    "mamba2": [(8, Recurrent(3 * (1024 + 128), 16 * 64 * 64))],
    "rwkv": [(8, Recurrent(2 * 512, 3 * 512, 16, 32))],
    "nemotron-nas": [(1, FullAttention(4, 64, 64))],
    "openelm": [(2, FullAttention(2, 64, 64)), (1, FullAttention(4, 64, 64))],
    "whisper": [(4, FullAttention(6, 64, 64)), (4, CrossAttention(6, 64, 64, 1500))],
    "t5": [(4, FullAttention(8, 64, 64)), (4, CrossAttention(8, 64, 64, 512))],
    "bart": [(3, FullAttention(8, 64, 64)), (3, CrossAttention(8, 64, 64, 1024))],
    "llava": [(32, FullAttention(32, 128, 128))],
    "mllama": [(10, FullAttention(4, 64, 64)), (2, CrossAttention(4, 64, 64, 0))],
}


def read(name, conventions=Conventions(), **changes):  # noqa: B008
    return read_hf_config(look(name, **changes), name=name, conventions=conventions)


def codes(imported):
    return {warning.code for warning in imported.warnings}


def test_every_look_alike_has_expected_groups():
    assert set(GROUPS) == set(LOOKS)


@pytest.mark.parametrize("name", GROUPS)
def test_layer_groups(name):
    assert list(read(name).model.groups) == [LayerGroup(*group) for group in GROUPS[name]]


@pytest.mark.parametrize("name", GROUPS)
def test_parameters_are_given_and_active_ones_are_no_more_than_all(name):
    model = read(name).model
    assert model.params_total is not None
    assert model.params_active is not None
    assert 0 < model.params_input_embedding < model.params_active <= model.params_total
    assert (model.params_active < model.params_total) == (model.experts is not None)


def test_llama_parameters_in_closed_form():
    model = read("llama").model
    attention = 768 * (768 + 2 * 256) + 768 * 768
    assert model.params_total == 2 * 32000 * 768 + 12 * (attention + 3 * 768 * 2048 + 2 * 768) + 768
    assert model.params_input_embedding == 32000 * 768
    assert read("llama", tie_word_embeddings=True).model.params_total == model.params_total - 32000 * 768


def test_experts_in_closed_form():
    model = read("qwen3-moe").model
    assert model.experts == (8, 2, 12 * 8 * 3 * 768 * 512)
    assert model.params_total - model.params_active == 12 * 6 * 3 * 768 * 512


def test_reference_numbers_of_published_models():
    falcon_180b = {"model_type": "falcon", "num_hidden_layers": 80, "hidden_size": 14848, "num_attention_heads": 232, "num_kv_heads": 8}
    falcon_180b |= {"new_decoder_architecture": True, "multi_query": True, "vocab_size": 65024}
    assert marginal(falcon_180b) == 163_840
    assert marginal(falcon_180b, Conventions(hf_run=True)) == 4_751_360
    hunyuan = {"model_type": "hunyuan", "num_hidden_layers": 64, "hidden_size": 6400, "num_attention_heads": 80, "num_key_value_heads": 8}
    assert marginal(hunyuan | {"use_cla": True, "cla_share_factor": 2, "attention_head_dim": 128}) == 131_072
    glm = look("glm-dsa-shared", num_hidden_layers=78, kv_lora_rank=512, qk_rope_head_dim=64)
    assert marginal(glm) == 78 * 1152 + 21 * 132 == 92_628
    assert marginal(glm, Conventions(hf_run=True)) == 95_232
    gemma4 = {"model_type": "gemma4", "text_config": {"model_type": "gemma4_text", "num_hidden_layers": 30, "hidden_size": 2816, "num_attention_heads": 16}}
    gemma4["text_config"] |= {"num_key_value_heads": 8, "head_dim": 256, "global_head_dim": 512, "num_global_key_value_heads": 2, "attention_k_eq_v": True}
    gemma4["text_config"] |= {"sliding_window": 1024, "intermediate_size": 2112}
    groups = read_hf_config(gemma4, name="gemma4").model.groups
    assert groups == (LayerGroup(5, FullAttention(2, 512, 512)), LayerGroup(25, SlidingWindow(8, 256, 256, 1024)))


def marginal(config, conventions=Conventions()):  # noqa: B008
    model = read_hf_config(config, name="x", conventions=conventions).model
    return marginal_bytes(kv_layout(model.groups, parse_kv_dtype("bf16")), 100_000)


def test_the_view_of_a_transformers_run():
    run = Conventions(hf_run=True)
    assert read("mistral", run).model.groups[0].layer == SlidingWindow(4, 64, 64, 1023)
    assert read("mistral", Conventions(window_minus_one=True)).model.groups[0].layer == SlidingWindow(4, 64, 64, 1023)
    assert read("llama4", run).model.groups[1].layer == SlidingWindow(4, 64, 64, 1023)
    assert read("falcon-new", run).model.groups[0].layer == FullAttention(8, 64, 64)
    assert read("falcon-mqa", run).model.groups[0].layer == FullAttention(1, 64, 64)
    assert read("deepseek-dsa", run).model.groups[1].layer == Indexer(256)
    assert read("bamba", run).model.groups[1].layer == Recurrent(4 * 1600, 24 * 64 * 32, 16, 32)


def test_the_dtype_of_the_state_is_stated_and_can_be_overridden():
    assert "state-dtype" in codes(read("bamba"))
    asked = read("bamba", Conventions(state_dtype="fp32"))
    assert asked.model.groups[1].layer.ssm_bits == 32
    assert "state-dtype" not in codes(asked)
    written = read("bamba", mamba_ssm_cache_dtype="float32")
    assert written.model.groups[1].layer.ssm_bits == 32
    assert "state-dtype" not in codes(written)
    with pytest.raises(KvcostError, match="mamba_ssm_cache_dtype"):
        read("bamba", mamba_ssm_cache_dtype="float7")


def test_the_encoder_length_is_stated_and_can_be_overridden():
    assert "encoder-length" in codes(read("t5"))
    assert read("t5", Conventions(encoder_tokens=128)).model.groups[1].layer == CrossAttention(8, 64, 64, 128)
    assert "image-tokens" in codes(read("mllama"))
    assert read("mllama", Conventions(encoder_tokens=1601)).model.groups[1] == LayerGroup(2, CrossAttention(4, 64, 64, 1601))
    with pytest.raises(KvcostError, match="encoder_tokens"):
        read("t5", Conventions(encoder_tokens=-1))


def test_a_window_longer_than_any_prompt_never_slides():
    assert read("mistral", sliding_window=8193).model.groups == (LayerGroup(12, FullAttention(4, 64, 64)),)
    assert read("mistral", sliding_window=8192).model.groups == (LayerGroup(12, SlidingWindow(4, 64, 64, 8192)),)


def test_class_defaults_fill_in_and_are_named():
    imported = read("llava")
    (warning,) = [warning for warning in imported.warnings if warning.code == "class-default"]
    for field in ("num_hidden_layers = 32", "num_attention_heads = 32", "hidden_size = 4096"):
        assert field in warning.message
    assert imported.model.context_limit_tokens == 4096
    assert imported.model.params_towers > 0


def test_an_unknown_type_with_plain_fields_is_read_with_a_warning():
    imported = read("llama", model_type="brand_new")
    assert imported.model.groups == read("llama").model.groups
    assert codes(imported) == {"unknown-type", "class-default"}
    assert codes(read("llama", model_type="brand_new", head_dim=64)) == {"unknown-type"}
    assert "unknown-type" in codes(read("llama", model_type=...))
    with pytest.raises(KvcostError, match="num_attention_heads"):
        read("llama", model_type="brand_new", num_attention_heads=...)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("sliding_window", 512),
        ("kv_lora_rank", 64),
        ("layer_types", ["full_attention"] * 11 + ["sliding_attention"]),
        ("compress_ratios", [4] * 12),
        ("num_kv_shared_layers", 4),
        ("cla_share_factor", 2),
        ("mamba_d_state", 16),
        ("conv_kernel", 4),
        ("ssm_state_size", 16),
        ("attention_chunk_size", 512),
        ("cross_attention_layers", [1]),
        ("multi_query", True),
        ("is_encoder_decoder", True),
    ],
)
def test_an_unknown_type_with_fields_that_change_the_cache_is_refused_by_name(field, value):
    with pytest.raises(KvcostError) as caught:
        read("llama", model_type="brand_new", **{field: value})
    assert field in caught.value.message or "encoder-decoder" in caught.value.message
    assert caught.value.hint


@pytest.mark.parametrize(("field", "value"), [("kv_lora_rank", 64), ("compress_ratios", [4]), ("mamba_d_state", 16), ("block_configs", [{}])])
def test_a_known_type_refuses_a_concept_that_its_reader_does_not_know(field, value):
    with pytest.raises(KvcostError, match=field):
        read("llama", **{field: value})


def test_a_window_that_the_class_does_not_read_is_said():
    imported = read("llama", sliding_window=512)
    assert imported.model.groups == read("llama").model.groups
    assert codes(imported) == {"window-ignored"}


@pytest.mark.parametrize("kind", ["deepseek_v4", "bert", "glm5_next_text"])
def test_types_that_are_not_modelled_are_refused_by_name(kind):
    with pytest.raises(KvcostError, match=kind):
        read("llama", model_type=kind)


def test_known_types_are_many():
    assert len(KNOWN_TYPES) > 150


def test_kv_sizes_of_a_hybrid():
    model = read("bamba").model
    layout = kv_layout(model.groups, parse_kv_dtype("bf16"))
    state = 10 * (3 * 1600 + 24 * 64 * 32) * 2
    assert state_bytes(layout) == state
    assert held_bytes(layout, 1000) == state + 1000 * 2 * 4 * 128 * 2


def test_image_rows_of_cross_attention_can_be_given_later():
    """Layers that hold nothing without an image still are layers: `--encoder-tokens` finds them."""
    groups = with_encoder_tokens(read("mllama").model.groups, 1601)
    assert groups == read("mllama", Conventions(encoder_tokens=1601)).model.groups
