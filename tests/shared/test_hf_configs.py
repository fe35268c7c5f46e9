"""Every reference config against the reference bytes and parameter counts."""

import csv
import json
from pathlib import Path

import pytest

from kvcost.cost.dtypes import parse_kv_dtype
from kvcost.cost.kv import held_bytes, kv_layout, marginal_bytes, state_bytes
from kvcost.importers.hf_config import Conventions, read_hf_config

FACTS = Path(__file__).parents[3] / "shared" / "facts"
pytestmark = [pytest.mark.shared, pytest.mark.skipif(not FACTS.is_dir(), reason="the reference data is not here")]
BF16 = parse_kv_dtype("bf16")

# Rows of runs of transformers, and files whose own fields say something else than their row.
EXPLAINED = {
    "flan-t5-xxl": "run with an encoder of 128 tokens; the file says that embeddings are not tied, the class ties them",
    "whisper-large-v3": "run stops at 448 decoder tokens; the bytes here go on",
    "llama-2-7b": "max_position_embeddings is 2048 in the file",
    "llama-2-13b": "max_position_embeddings is 2048 in the file",
    "llama-2-70b": "max_position_embeddings is 2048 in the file",
}


def rows():
    with (FACTS / "models.csv").open(newline="") as stream:
        return [row for row in csv.DictReader(stream) if (FACTS / "hf_configs" / f"{row['slug']}.json").is_file()]


def read(row, **conventions):
    config = json.loads((FACTS / "hf_configs" / f"{row['slug']}.json").read_text("utf-8"))
    return read_hf_config(config, name=row["slug"], conventions=Conventions(**conventions)).model


def figures(model):
    layout = kv_layout(model.groups, BF16)
    return (*(held_bytes(layout, n) for n in (512, 4096, 32768)), marginal_bytes(layout, 32768), state_bytes(layout))


def expected(row):
    return tuple(int(row[name]) for name in ("kv_bytes_512", "kv_bytes_4096", "kv_bytes_32768", "kv_bytes_per_token_bf16", "state_bytes"))


def report(title, right, misses):
    print(f"\n{title}: {right} right, {len(misses)} missed")
    for slug, *values in misses:
        print(f"  {slug}: {values} {EXPLAINED.get(slug, 'NOT EXPLAINED')}")


def test_bytes_at_every_length_are_exact():
    served = [row for row in rows() if row["kv_authority"] == "vllm-spec"]
    misses = [(row["slug"], figures(read(row)), expected(row)) for row in served if figures(read(row)) != expected(row)]
    report("bytes (serving view)", len(served) - len(misses), misses)
    assert misses == []


def test_encoder_decoders_are_answered_at_a_stated_encoder_length():
    by_slug = {row["slug"]: row for row in rows()}
    t5 = figures(read(by_slug["flan-t5-xxl"], encoder_tokens=128))
    assert t5[:3] == tuple(int(by_slug["flan-t5-xxl"][name]) for name in ("kv_bytes_512", "kv_bytes_4096", "kv_bytes_32768"))
    whisper = kv_layout(read(by_slug["whisper-large-v3"]).groups, BF16)
    assert held_bytes(whisper, 448) == int(by_slug["whisper-large-v3"]["kv_bytes_512"])


def test_the_view_of_a_transformers_run():
    misses, right = [], 0
    for row in rows():
        if not row["hf_state_bytes"] or not row["hf_bytes_per_token"] or row["kv_authority"] != "vllm-spec":
            continue
        layout = kv_layout(read(row, hf_run=True).groups, BF16)
        found, wanted = (marginal_bytes(layout, 32768), state_bytes(layout)), (int(row["hf_bytes_per_token"]), int(row["hf_state_bytes"]))
        if found == wanted:
            right += 1
        else:
            misses.append((row["slug"], found, wanted))
    report("bytes a token and state (view of a transformers run)", right, misses)
    assert misses == []


@pytest.mark.parametrize("column", ["params_total", "params_active", "params_input_embedding"])
def test_parameters_are_within_one_percent(column):
    given = [row for row in rows() if row[column]]
    found = {row["slug"]: getattr(read(row), column) for row in given}
    misses = [
        (row["slug"], found[row["slug"]], row[column]) for row in given if not found[row["slug"]] or abs(found[row["slug"]] / int(row[column]) - 1) > 0.01
    ]
    report(column, len(given) - len(misses), misses)
    assert len(misses) <= 0.05 * len(given)
    assert all(slug in EXPLAINED for slug, *_ in misses)


def test_experts_and_context_limits():
    misses = []
    for row in rows():
        model = read(row)
        routed = model.experts.params if model.experts else 0
        if row["params_routed_experts"] and routed != int(row["params_routed_experts"]):
            misses.append((row["slug"], "routed", routed, row["params_routed_experts"]))
        if row["context_limit"] and model.context_limit_tokens != int(row["context_limit"]):
            misses.append((row["slug"], "context", model.context_limit_tokens, row["context_limit"]))
    report("experts and context limits", len(rows()) - len(misses), misses)
    assert all(slug in EXPLAINED for slug, *_ in misses)
