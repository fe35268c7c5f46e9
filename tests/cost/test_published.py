"""Published figures: what was printed, what is exact, and the convention that lies between.

The exact value is the test; the published one is checked to follow from it by the convention named.
"""

import math
from typing import NamedTuple

import pytest

from kvcost.cost.dtypes import parse_kv_dtype
from kvcost.cost.kv import held_bytes, kv_layout, marginal_bytes
from kvcost.cost.layers import FullAttention, LayerGroup, MlaLatent
from kvcost.cost.overlap import exposed_time
from kvcost.cost.transfer import Engine, Link, link_times
from kvcost.cost.wire import wire_bytes

K, M, G = 2**10, 2**20, 2**30


class Figure(NamedTuple):
    """A published number with what leads to it: `published` x `unit` is what its authors meant."""

    id: str
    source: str
    shape: tuple[int, int, int]  # layers, KV heads, head dim
    tokens: int
    exact: int
    published: float
    unit: float
    convention: str
    dtype: str = "bf16"
    within: float = 0.005


BYTES = (
    Figure("R1", "PagedAttention paper", (40, 40, 128), 1, 819_200, 800, K, "KiB printed as KB"),
    Figure("R2", "PagedAttention paper", (40, 40, 128), 2048, 1_677_721_600, 1.6, G, "1.5625 GiB rounded up", within=0.03),
    Figure("R3", "DistServe section 3.3", (64, 72, 128), 512, 1_207_959_552, 1.13, G, "GiB printed as GB"),
    Figure("R4", "seed article", (80, 8, 128), 1, 327_680, 320, K, "KiB printed as KB"),
    Figure("R5", "Mooncake", (80, 8, 128), 131_072, 42_949_672_960, 40, G, "GiB printed as GB"),
    Figure("R6", "DeepSeek-V3 hardware paper", (80, 8, 128), 1, 327_680, 327.680, 1e3, "decimal kB"),
    Figure("R7", "DeepSeek-V3 hardware paper", (126, 8, 128), 1, 516_096, 516.096, 1e3, "decimal kB"),
    Figure("R10", "vLLM KV offloading blog", (32, 8, 128), 16, 2_097_152, 2, M, "MiB"),
    Figure("R12", "vLLM KV offloading blog", (16, 8, 64), 16, 524_288, 0.5, M, "MiB"),
    Figure("R14", "vLLM KV offloading blog", (40, 8, 128), 16, 2_621_440, 2.5, M, "MiB"),
    Figure("R15", "vLLM KV offloading blog", (28, 2, 128), 16, 458_752, 0.44, M, "MiB", within=0.01),
    Figure("R17", "vLLM KV offloading blog", (28, 4, 128), 16, 917_504, 0.87, M, "MiB, truncated", within=0.01),
    Figure("R20", "vLLM KV offloading blog", (36, 8, 128), 16, 2_359_296, 1.97, M, "the published row is wrong: 2.25 MiB", within=0.15),
    Figure("R23", "vLLM quantized KV docs", (36, 8, 128), 83_488, 12_310_806_528, 11.47, G, "GiB"),
    Figure("R24", "vLLM quantized KV docs", (36, 8, 128), 166_992, 12_311_986_176, 11.47, G, "GiB, FP8 exactly half", dtype="fp8"),
)


def layout_of(layers, heads, dim, dtype="bf16"):
    return kv_layout([LayerGroup(layers, FullAttention(heads, dim, dim))], parse_kv_dtype(dtype))


@pytest.mark.parametrize("figure", BYTES, ids=lambda figure: figure.id)
def test_bytes(figure):
    layout = layout_of(*figure.shape, figure.dtype)
    assert held_bytes(layout, figure.tokens) == figure.exact
    assert marginal_bytes(layout, figure.tokens) * figure.tokens == figure.exact
    assert figure.exact == pytest.approx(figure.published * figure.unit, rel=figure.within)


def test_r8_a_latent_has_no_factor_of_two():
    layout = kv_layout([LayerGroup(61, MlaLatent(512, 64))], parse_kv_dtype("bf16"))
    assert marginal_bytes(layout, 1) == 70_272  # DeepSeek-V3 hardware paper: 70.272 KB, decimal


def test_r20_is_not_what_was_printed():
    assert held_bytes(layout_of(36, 8, 128), 16) / M == 2.25


@pytest.mark.parametrize("block", [0, 16])
def test_r27_and_c1_heads_are_copied_when_ranks_outnumber_them(block):
    wire = wire_bytes(layout_of(94, 4, 128), 32_768, prefill_tp=8, decode_tp=8, block_tokens=block)
    assert wire.wire_bytes == 12_616_466_432  # Mooncake docs: 12.62 GB, decimal
    assert wire.replication == 2.0


class Time(NamedTuple):
    """A published transfer time; `as_printed` repeats its arithmetic, `exact` is ours."""

    id: str
    tokens: int
    rate: float
    exact: float
    published_ms: float
    as_printed: float
    convention: str
    dtype: str = "bf16"


TIMES = (
    Time("R28a", 4096, 12.5e9, 0.1073741824, 102, 320e3 * 4000 / 12.5e9, "320 kB x 4000 tokens"),
    Time("R28b", 1024, 12.5e9, 0.0268435456, 26, 320e3 * 1000 / 12.5e9, "320 kB x 1000 tokens"),
    Time("R28c", 32_768, 12.5e9, 0.8589934592, 819, 320e3 * 32_000 / 12.5e9, "320 kB x 32000 tokens"),
    Time("R29a", 4096, 450e9, 0.00298261618, 1.4, 320e3 * 4000 / 900e9, "two-way 900 GB/s and 320 kB x 4000"),
    Time("R29b", 32_768, 450e9, 0.02386092942, 11, 320e3 * 32_000 / 900e9, "two-way 900 GB/s and 320 kB x 32000"),
    Time("R30", 8192, 50e9, 0.0536870912, 51, 320e3 * 8000 / 50e9, "320 kB x 8000 tokens, one port"),
    Time("R31", 4096, 12.5e9, 0.0536870912, 51, 160e3 * 4000 / 12.5e9, "FP8, 160 kB x 4000 tokens", dtype="fp8"),
)


def line_rate_s(size, rate):
    return link_times(Link("link", rate, rate, rate, rate), Engine("line"), size, 1, 0).line_rate_s


@pytest.mark.parametrize("time", TIMES, ids=lambda time: time.id)
def test_transfer_times_of_the_article(time):
    size = held_bytes(layout_of(80, 8, 128, time.dtype), time.tokens)
    assert line_rate_s(size, time.rate) == pytest.approx(time.exact, rel=1e-8)
    assert time.as_printed * 1e3 == pytest.approx(time.published_ms, rel=0.035), time.convention


def test_r32_the_link_that_keeps_up_with_ten_requests_a_second():
    bits = 8 * 10 * held_bytes(layout_of(64, 72, 128), 512)
    assert bits == 96_636_764_160
    assert bits / 8 / G * 8 == pytest.approx(90, rel=0.001)  # DistServe: 90 Gb/s, GiB then x8


def test_r33_the_time_of_a_published_rate():
    assert line_rate_s(40 * 10**9, 87e9) == pytest.approx(0.45977, rel=1e-5)


def test_r41_the_rate_of_a_published_time():
    size = held_bytes(layout_of(32, 8, 128), 7500)
    assert size / 0.008 == 122_880_000_000.0  # LMCache: 8 ms at page 128
    assert size / 0.008 / 450e9 == pytest.approx(0.27, abs=0.005)


def test_r42_two_published_numbers_that_disagree():
    size = held_bytes(layout_of(32, 8, 128), 8000)
    assert line_rate_s(size, 9.6e9) == pytest.approx(0.10923, rel=1e-4)  # +37 ms published
    assert 2.9 < line_rate_s(size, 9.6e9) / 0.037 < 3


@pytest.mark.parametrize(("regions", "descriptors"), [(1, 20_480), (2, 40_960)])
def test_d1_descriptors_of_a_rank(regions, descriptors):
    for tp in (1, 8):
        assert wire_bytes(layout_of(80, 8, 128), 4096, prefill_tp=tp, decode_tp=tp, block_tokens=16, regions=regions).descriptors == descriptors


def test_p1_layer_push():
    transfer_s = line_rate_s(held_bytes(layout_of(80, 8, 128), 4096), 12.5e9)
    assert exposed_time("push", transfer_s, 80, prefill_s=0.3903) == pytest.approx(0.001342, abs=5e-7)


def test_the_ratios_of_the_article():
    gqa, mha = layout_of(80, 8, 128), layout_of(80, 64, 128)
    assert held_bytes(mha, 4096) == 8 * held_bytes(gqa, 4096)
    size = held_bytes(gqa, 4096)
    assert math.floor(102 / 1.4) == 72  # printed as 73x, which is two-way NVLink against one-way Ethernet
    assert line_rate_s(size, 12.5e9) / line_rate_s(size, 450e9) == pytest.approx(36.0)


def test_deepseek_sends_a_whole_latent_to_each_of_eight_ranks():
    layout = kv_layout([LayerGroup(61, MlaLatent(512, 64))], parse_kv_dtype("bf16"))
    wire = wire_bytes(layout, 1000, prefill_tp=8, decode_tp=8)
    assert wire == (8 * 70_272 * 1000, 8.0, 0)


def test_nvlink_with_a_lane_for_each_of_eight_ranks():
    size = held_bytes(layout_of(80, 8, 128), 4096)
    assert link_times(Link("nvlink4", 450e9, 396e9, 371e9, 397e9, "gpu"), Engine("line"), size, 8, 0).line_rate_s == pytest.approx(0.373e-3, rel=0.001)
