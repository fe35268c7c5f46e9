"""Every engine of the catalog, by itself, and the published figures that it must reproduce."""

import datetime as dt

import pytest

from kvcost.catalog.compile import compile_file
from kvcost.catalog.names import normalise
from kvcost.catalog.records import engine_record
from kvcost.catalog.store import Catalog
from kvcost.cost.dtypes import parse_kv_dtype
from kvcost.cost.kv import kv_layout
from kvcost.cost.transfer import Engine, link_times
from kvcost.cost.wire import wire_bytes
from kvcost.errors import KvcostError

CATALOG = Catalog()
ENGINES = CATALOG.entries("engines")
each_engine = pytest.mark.parametrize("name", ENGINES)


def sent(model, tokens, engine, prefill_tp=1, decode_tp=1):
    return wire_bytes(
        kv_layout(CATALOG.model(model).groups, parse_kv_dtype("bf16")),
        tokens,
        prefill_tp=prefill_tp,
        decode_tp=decode_tp,
        block_tokens=engine.block_tokens,
        regions=engine.regions,
        layers_share_blocks=engine.layers_share_blocks,
    )


@each_engine
def test_ranges_are_ordered(name):
    engine = CATALOG.engine(name)
    assert 0 <= engine.t0_low_s <= engine.t0_s <= engine.t0_high_s
    assert 0 <= engine.descriptor_low_s <= engine.descriptor_s <= engine.descriptor_high_s
    assert 0 <= engine.handover_low_s <= engine.handover_s <= engine.handover_high_s
    assert engine.efficiency is None or 0 < engine.efficiency <= 1
    assert engine.chunk_tokens >= 512


@each_engine
def test_a_pushing_engine_has_a_floor(name):
    engine = CATALOG.engine(name)
    assert (engine.overlap == "push") == (engine.push_floor_s > 0)


@each_engine
def test_provenance(name):
    entry = ENGINES[name]
    assert entry["source"]
    assert entry["confidence"] in ("spec", "measured", "estimate")
    assert dt.date.fromisoformat(entry["checked"])
    assert entry["confidence"] != "estimate" or entry["note"], "an estimate says in its note why it is one"


@each_engine
def test_names_find_the_entry_and_differ(name):
    words = [name, *ENGINES[name]["aliases"]]
    assert {CATALOG.find("engines", word) for word in words} == {name}
    keys = [normalise(word) for word in words]
    assert len(set(keys)) == len(keys), "an alias differs from another only in case, spaces, hyphens or underscores"


@pytest.mark.parametrize(
    ("word", "name"),
    [
        *(("NixlConnector", "vllm-nixl"), ("MooncakeConnector", "mooncake"), ("LMCacheConnectorV1", "lmcache-page128"), ("TensorRT-LLM", "trtllm")),
        *(("SGLang", "sglang-mooncake"), ("llm-d", "vllm-nixl"), ("Dynamo", "vllm-nixl"), ("TRT-LLM", "trtllm")),
    ],
)
def test_names_that_people_type(word, name):
    assert CATALOG.find("engines", word) == name


@pytest.mark.parametrize(
    ("name", "t0_s", "descriptor_s", "block", "regions", "efficiency", "overlap", "first_token"),
    [
        ("line", 0, 0, 0, 1, None, "serial", "decode"),
        ("vllm-nixl", 0.6e-3, 1e-6, 16, 1, None, "serial", "decode"),
        ("vllm-nixl-split", 0.6e-3, 1e-6, 16, 2, None, "serial", "decode"),
        ("vllm-nixl-crosslayer", 0.6e-3, 1e-6, 16, 1, None, "serial", "decode"),
        ("mooncake", 0.39e-3, 0, 16, 1, 0.74, "serial", "decode"),
        ("sglang-mooncake", 1.83e-3, 0, 64, 1, 0.86, "serial", "prefill"),
        ("lmcache-page16", 3.8e-3, 0.91e-6, 16, 1, None, "serial", "decode"),
        ("lmcache-page128", 3.8e-3, 0.91e-6, 128, 1, None, "serial", "decode"),
        ("trtllm", 18.4e-3, 0, 32, 1, None, "serial", "decode"),
        ("splitwise", 0, 0, 16, 2, None, "push", "prefill"),
    ],
)
def test_the_table(name, t0_s, descriptor_s, block, regions, efficiency, overlap, first_token):
    engine = CATALOG.engine(name)
    assert engine.t0_s == pytest.approx(t0_s)
    assert engine.descriptor_s == pytest.approx(descriptor_s)
    assert (engine.block_tokens, engine.regions, engine.efficiency, engine.overlap, engine.first_token) == (block, regions, efficiency, overlap, first_token)


@pytest.mark.parametrize(("name", "published_s"), [("lmcache-page16", 0.020), ("lmcache-page128", 0.008)])
def test_lmcache_pair(name, published_s):
    engine = CATALOG.engine(name)
    wire = sent("llama3.1-8b", 7500, engine)
    times = link_times(CATALOG.link("nvlink4"), engine, wire.wire_bytes, 1, wire.descriptors)
    assert times.engine_s == pytest.approx(published_s, rel=0.01)
    assert times.engine_low_s <= published_s <= times.engine_high_s


@pytest.mark.parametrize(
    ("name", "prefill_tp", "decode_tp", "descriptors"),
    [
        *(("vllm-nixl-split", 8, 8, 40_960), ("vllm-nixl", 8, 8, 20_480), ("vllm-nixl", 1, 1, 20_480), ("vllm-nixl-crosslayer", 8, 8, 256)),
        *(("vllm-nixl", 8, 4, 40_960), ("vllm-nixl", 4, 8, 40_960), ("vllm-nixl", 2, 8, 81_920), ("vllm-nixl-split", 4, 8, 81_920)),
    ],
)
def test_descriptors_of_a_rank(name, prefill_tp, decode_tp, descriptors):
    assert sent("llama2-70b", 4096, CATALOG.engine(name), prefill_tp, decode_tp).descriptors == descriptors


def test_descriptors_and_not_bytes_decide():
    engine, port = CATALOG.engine("vllm-nixl-split"), CATALOG.link("ib_ndr")
    wire = sent("llama2-70b", 4096, engine, 8, 8)
    times = link_times(port, engine, wire.wire_bytes, 8, wire.descriptors)
    assert times.achievable_s == pytest.approx(3.4e-3, rel=0.02)
    assert times.engine_s > 10 * times.achievable_s


def test_an_engines_own_efficiency_replaces_the_links():
    engine, link = CATALOG.engine("mooncake"), CATALOG.link("roce_200g")
    times = link_times(link, engine, 10**9, 8, 0)
    assert times.engine_s == pytest.approx(0.39e-3 + 10**9 / (8 * 0.74 * 25e9))
    assert times.achievable_s == pytest.approx(10**9 / (8 * link.achieved_bytes_per_s))


def _read(tmp_path, lines):
    file = tmp_path / "engines.yaml"
    file.write_text("mine:\n" + "".join(f"  {line}\n" for line in ("title: Mine", "source: me", "confidence: measured", "checked: 2026-01-01", *lines)))
    return engine_record("mine", compile_file("engines", file)["mine"])


def test_a_users_engine_gets_the_usual_hand_over(tmp_path):
    engine, usual = _read(tmp_path, []), Engine("line")
    assert (engine.handover_s, engine.handover_low_s, engine.handover_high_s) == (0.010, 0.003, 0.168)
    assert engine[-4:] == usual[-4:]


def test_a_users_hand_over_has_no_range_of_ours(tmp_path):
    engine = _read(tmp_path, ["handover: 1ms"])
    assert (engine.handover_low_s, engine.handover_s, engine.handover_high_s) == (0.001, 0.001, 0.001)


@pytest.mark.parametrize(
    ("lines", "word"),
    [(["t0: 1ms", "t0_low: 2ms"], "t0"), (["handover_high: 1ms"], "handover"), (["descriptor: 1us", "descriptor_high: 0.5us"], "descriptor")],
)
def test_a_range_that_does_not_hold_its_value_is_refused(tmp_path, lines, word):
    with pytest.raises(KvcostError, match=f"{word} must lie between"):
        _read(tmp_path, lines)
