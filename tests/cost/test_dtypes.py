"""Storage formats: bits per element, scales counted."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kvcost.cost.dtypes import DTYPE_NAMES, parse_kv_dtype
from kvcost.cost.kv import held_bytes, kv_layout, marginal_bytes
from kvcost.cost.layers import CrossAttention, FullAttention, Indexer, LayerGroup, MlaLatent, SharedKv
from kvcost.errors import KvcostError


def bits(name, heads=8, dim=128):
    layout = kv_layout([LayerGroup(1, FullAttention(heads, dim, dim))], parse_kv_dtype(name))
    return marginal_bytes(layout, 10**6) * 8 / (2 * heads * dim)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        *(("bf16", 16), ("fp16", 16), ("fp8", 8), ("int8", 8 + 16 / 128), ("nvfp4", 4.5), ("kivi2", 3.0)),
        *(("int4:g64", 4.25), ("int4:g32", 4.5), ("int4:g128", 4.125), ("int4:g64:zero", 4.5), ("int4:g32:zero", 5.0)),
        *(("fp8_e4m3", 8), ("fp8_e5m2", 8), ("bfloat16", 16), ("FLOAT16", 16), (" FP8 ", 8), ("kivi-2bit", 3.0)),
        *(("int4-g64", 4.25), ("INT4-g64-zero", 4.5), ("fp8-e4m3", 8)),
    ],
)
def test_bits_per_element(name, expected):
    assert bits(name) == expected


@pytest.mark.parametrize("dim", [64, 80, 96, 128, 256])
def test_int8_has_one_scale_per_token_and_head(dim):
    assert bits("int8", dim=dim) == 8 + 16 / dim


@given(st.sampled_from([16, 32, 64, 128]), st.booleans())
def test_int4_by_group(group, zero):
    assert bits(f"int4:g{group}" + ":zero" * zero) == 4 + 16 / group * (1 + zero)


@pytest.mark.parametrize("name", ["fp8_ds_mla", "nvfp4_ds_mla", "int4:g64", "int4:g32:zero"])
def test_hyphens_stand_for_underscores_and_colons(name):
    assert parse_kv_dtype(name.replace("_", "-").replace(":", "-")) == parse_kv_dtype(name)
    assert parse_kv_dtype(name).name == name


def test_four_bit_is_never_a_quarter():
    assert bits("int4:g64") / bits("bf16") > 0.26
    assert bits("nvfp4") / bits("bf16") > 0.28


def test_a_group_that_does_not_divide_a_row_still_has_its_scale():
    layout = kv_layout([LayerGroup(1, FullAttention(1, 80, 80))], parse_kv_dtype("int4:g64"))
    assert marginal_bytes(layout, 0) == 2 * (80 * 4 + 2 * 16) // 8


@pytest.mark.parametrize(("name", "row"), [("bf16", 1152), ("fp8", 576), ("fp8_ds_mla", 656), ("nvfp4_ds_mla", 352), ("int8", 578), ("nvfp4", 324)])
def test_rows_of_a_latent(name, row):
    layout = kv_layout([LayerGroup(1, MlaLatent(512, 64))], parse_kv_dtype(name))
    assert held_bytes(layout, 1) == row


def test_an_indexer_keeps_its_own_format():
    for name in ("bf16", "fp8", "fp8_ds_mla"):
        assert held_bytes(kv_layout([LayerGroup(61, Indexer(132))], parse_kv_dtype(name)), 100) == 61 * 132 * 100


@pytest.mark.parametrize("name", ["fp8_ds_mla", "nvfp4_ds_mla"])
@pytest.mark.parametrize("layer", [FullAttention(8, 128, 128)])
def test_a_latent_format_refuses_heads(name, layer):
    with pytest.raises(KvcostError, match="MLA latents only") as caught:
        kv_layout([LayerGroup(1, MlaLatent(512, 64)), LayerGroup(1, layer)], parse_kv_dtype(name))
    assert caught.value.hint


def test_kivi_keeps_the_newest_tokens_at_16_bit():
    layout = kv_layout([LayerGroup(1, FullAttention(8, 128, 128))], parse_kv_dtype("kivi2"))
    whole = kv_layout([LayerGroup(1, FullAttention(8, 128, 128))], parse_kv_dtype("bf16"))
    assert held_bytes(layout, 128) == held_bytes(whole, 128)
    assert held_bytes(layout, 1128) == held_bytes(whole, 128) + 1000 * 2 * 8 * 128 * 3 // 8
    latent = kv_layout([LayerGroup(1, MlaLatent(512, 64))], parse_kv_dtype("kivi2"))
    assert held_bytes(latent, 128) == 128 * 1152


def test_encoder_rows_are_quantised_and_shared_layers_hold_nothing():
    groups = [LayerGroup(4, CrossAttention(20, 64, 64, 1500)), LayerGroup(9, SharedKv())]
    assert held_bytes(kv_layout(groups, parse_kv_dtype("bf16")), 1) == 4 * 1500 * 2 * 20 * 64 * 2
    assert held_bytes(kv_layout(groups, parse_kv_dtype("fp8")), 1) == 4 * 1500 * 2 * 20 * 64


@pytest.mark.parametrize(
    "name",
    [
        "fp7",
        "",
        "auto",
        "int4",
        "int4:64",
        "int4:g",
        "int4:g1",
        "int4:g5000",
        "int4:g-8",
        "int4:g64:one",
        "int4:g64:zero:zero",
        "int4:gx",
        "int4:g²",
        "bf16 fp8",
    ],
)
def test_unknown_formats(name):
    with pytest.raises(KvcostError, match="unknown KV dtype") as caught:
        parse_kv_dtype(name)
    for known in DTYPE_NAMES:
        assert known in caught.value.hint
