"""Tensor parallelism against a model's heads, and the layers that a transfer is spread over."""

import pytest

from kvcost.cost.layers import Chunked, CrossAttention, FullAttention, Indexer, LayerGroup, MlaLatent, Recurrent, SharedKv, SlidingWindow
from kvcost.cost.model import Model, attention_kv_heads, check_model_tp, kv_layers
from kvcost.errors import KvcostError


def model(*layers, query_heads=64):
    groups = tuple(LayerGroup(10, layer) for layer in layers)
    return Model("m", "M", groups, query_heads, 128, 8192, "bf16")


GQA = model(FullAttention(8, 128, 128))
EVERY_KIND = model(
    *(FullAttention(8, 128, 128), SlidingWindow(4, 128, 128, 1024), Chunked(2, 128, 128, 8192), MlaLatent(512, 64), Indexer(132), SharedKv()),
    *(Recurrent(1, 1), CrossAttention(16, 64, 64, 1500)),
)


def test_layers_that_own_a_cache():
    assert kv_layers(EVERY_KIND) == 60
    assert kv_layers(GQA) == 10


def test_heads_that_are_sharded():
    assert attention_kv_heads(EVERY_KIND) == (2, 4, 8, 16)
    assert attention_kv_heads(model(MlaLatent(512, 64), Recurrent(1, 1))) == ()


@pytest.mark.parametrize("tp", [1, 2, 4, 8, 16, 32, 64])
def test_sizes_that_fit(tp):
    check_model_tp(GQA, tp)
    check_model_tp(model(MlaLatent(512, 64)), tp)


@pytest.mark.parametrize("tp", [3, 5, 6, 7, 12, 20])
def test_heads_neither_divide_nor_repeat(tp):
    with pytest.raises(KvcostError, match=f"TP {tp} does not fit m: 8 KV heads") as caught:
        check_model_tp(GQA, tp)
    assert caught.value.hint == "choose one of 1, 2, 4, 8, 16, 32, 64"


def test_query_heads_must_divide():
    with pytest.raises(KvcostError, match="does not divide the 64 query heads") as caught:
        check_model_tp(model(MlaLatent(512, 64)), 3)
    assert "64" in caught.value.hint
    with pytest.raises(KvcostError, match="query heads"):
        check_model_tp(model(FullAttention(8, 128, 128), query_heads=40), 16)
