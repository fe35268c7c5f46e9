"""Preset files: their words as options, merged with what they build on, each with its place."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from kvcost.cases.breakeven import BREAKEVEN_OPTIONS
from kvcost.cases.preset import in_yaml_words
from kvcost.errors import KvcostError
from kvcost.presets.form import Preset
from kvcost.presets.keys import OPTION_OF, PATH_OF, SECTIONS, TEXTS, TITLES, words_of
from kvcost.presets.read import PresetReader

WHOLE = """\
model: llama2-70b
weight_dtype: fp16
engine: vllm-nixl
link: {name: 100gbe, rails: 1, efficiency: 0.92}
prefill: {gpu: h100, tp: 8, instances: 1}
decode: {gpu: h100, tp: 8, instances: 1}
mono: {gpu: h100, tp: 8, instances: 2}
workload: {isl: 4096, osl: 256, rate: 2}
slo: {ttft: 1s, tpot: 50ms}
limits: {net_gain_s: "> 0", verdict: disaggregate}
note: why this preset exists
"""


def test_every_key_is_an_option_of_breakeven():
    assert set(OPTION_OF.values()) <= set(BREAKEVEN_OPTIONS)
    assert set(PATH_OF) == set(OPTION_OF.values())


def test_the_options_of_a_whole_preset(read):
    preset = read(WHOLE)
    assert {option: words[0] for option, words in preset.options.items()} == {
        "model": "llama2-70b",
        "weight_dtype": "fp16",
        "engine": "vllm-nixl",
        "link": "100gbe",
        "rails": "1",
        "efficiency": "0.92",
        "prefill_gpu": "h100",
        "prefill_tp": "8",
        "prefill_instances": "1",
        "decode_gpu": "h100",
        "decode_tp": "8",
        "decode_instances": "1",
        "mono_gpu": "h100",
        "mono_tp": "8",
        "mono_instances": "2",
        "ctx": "4096",
        "osl": "256",
        "rate": "2",
        "slo_ttft": "1s",
        "slo_tpot": "50ms",
    }
    assert str(preset.places["prefill_tp"]) == "a.yaml:5:26"
    assert preset.paths["ctx"] == "workload.isl"
    assert [(limit.field, limit.bound, str(limit.place)) for limit in preset.limits] == [
        ("net_gain_s", "> 0", "a.yaml:10:22"),
        ("verdict", "disaggregate", "a.yaml:10:38"),
    ]
    assert preset.note == "why this preset exists"


@pytest.mark.parametrize(
    ("text", "option", "word"),
    [
        ("link: 100gbe", "link", "100gbe"),
        ("link: 100Gbps", "link", "100Gbps"),
        ("link: {rate: 100Gbps}", "bandwidth", "100Gbps"),
        ("link: {path: [pcie5, ib-ndr]}", "path", "pcie5,ib-ndr"),
        ("link: {path: 'pcie5,ib-ndr'}", "path", "pcie5,ib-ndr"),
        ("hybrid_cache: off", "hybrid_cache", "off"),
        ("hybrid_cache: 'on'", "hybrid_cache", "on"),
        ("workload: {prefix_hit: 0.5}", "prefix_hit", "0.5"),
        ("workload: {prefix_hit: 50%}", "prefix_hit", "50%"),
        ("workload: {isl: 4k}", "ctx", "4k"),
        ("measured: {prefill_time: {4k: 390ms, 8k: 845ms}}", "prefill_time", "4k=390ms,8k=845ms"),
        ("workload: {rate: 1.5e2}", "rate", "1.5e2"),
        ("workload: {rate: 1.5}", "rate", "1.5"),
    ],
)
def test_ways_to_write_a_value(read, text, option, word):
    assert read(text).options[option] == [word]


@pytest.mark.parametrize("text", [WHOLE.replace("\n", "\r\n"), "\ufeff" + WHOLE, "\ufeff" + WHOLE.replace("\n", "\r\n")], ids=["CRLF", "BOM", "both"])
def test_line_ends_and_marks_of_other_systems(read, text):
    preset = read(text)
    assert len(preset.options) == 20
    assert str(preset.limits[0].place).startswith("a.yaml:10:")


# --- what a preset builds on ---


def test_a_base_is_changed_key_by_key(read):
    preset = read("extends: b.yaml\nlink: {rails: 4}\nslo: null\nlimits: {verdict: null, transfer_s: < 1s}\n", b=WHOLE)
    assert preset.options["link"] == ["100gbe"]
    assert preset.options["rails"] == ["4"]
    assert "slo_ttft" not in preset.options
    assert [(limit.field, str(limit.place)) for limit in preset.limits] == [("net_gain_s", "b.yaml:10:22"), ("transfer_s", "a.yaml:4:37")]
    assert str(preset.places["ctx"]) == "b.yaml:8:17"


def test_a_plain_link_takes_the_keys_of_a_mapping_and_gives_way_to_another(read):
    assert read("extends: b.yaml\nlink: {rails: 4}", b="link: 100gbe").options == {"link": ["100gbe"], "rails": ["4"]}
    assert read("extends: b.yaml\nlink: ib-ndr", b="link: {name: 100gbe, rails: 4}").options == {"link": ["ib-ndr"]}
    assert read("extends: b.yaml\nworkload: {concurrency: 8}", b="workload: {rate: 2, osl: 8}").options == {"concurrency": ["8"], "osl": ["8"]}


def test_several_bases_and_the_defaults_of_the_folder(read):
    files = {"b": "engine: line\noverlap: push", "c": "overlap: serial", "_defaults": "engine: vllm-nixl\nbasis: engine\nmodel: opt-66b"}
    preset = read("extends: [b.yaml, c.yaml]\nmodel: llama2-70b", **files)
    assert preset.options == {"engine": ["line"], "overlap": ["serial"], "basis": ["engine"], "model": ["llama2-70b"]}
    assert str(preset.places["basis"]) == "_defaults.yaml:2:8"


def test_a_model_is_beside_the_file_that_names_it(read, folder):
    (folder() / "models").mkdir()
    (folder() / "models" / "config.json").write_text("{}")
    assert read("model: models/config.json").options["model"] == ["models/config.json"]
    (folder() / "models" / "base.yaml").write_text("model: ./config.json\n")
    assert read("extends: models/base.yaml").options["model"] == ["models/./config.json"]
    assert read("model: meta-llama/Llama-2-70b-hf").options["model"] == ["meta-llama/Llama-2-70b-hf"]


# --- what is refused ---


@pytest.mark.parametrize(
    ("text", "where", "message", "hint"),
    [
        ("modle: llama2-70b", "a.yaml:1:1", "unknown key 'modle'", "model"),
        ("modle:", "a.yaml:1:1", "unknown key 'modle'", "model"),
        ("model: x\nprefill:\n  gpus: h100", "a.yaml:3:3", "unknown key 'gpus' in prefill", "gpu"),
        ("workload: {ctx: 5}", "a.yaml:1:12", "unknown key 'ctx' in workload", "did you mean isl?"),
        ("tp: 8", "a.yaml:1:1", "unknown key 'tp'", "prefill.tp"),
        ("prefill: h100", "a.yaml:1:10", "prefill is a mapping", "prefill"),
        ("prefill: []", "a.yaml:1:10", "prefill is a mapping", "prefill"),
        ("limits: [a]", "a.yaml:1:9", "limits is a mapping", "net_gain_s"),
        ("note: [a]", "a.yaml:1:7", "note needs a text", "note"),
        ("model: no", "a.yaml:1:8", "as a boolean; quote it", "model"),
        ("model: ''", "a.yaml:1:8", "needs a word or a number, not an empty text", "model"),
        ("workload: {isl: [4k]}", "a.yaml:1:17", "needs a word or a number, not a list", "isl"),
        ("workload: {isl: {a: 1}}", "a.yaml:1:17", "needs a word or a number, not a mapping", "isl"),
        ("model: 2026-01-01", "a.yaml:1:8", "not a date", "model"),
        ("no: 1", "a.yaml:1:1", "the key no as a boolean", "quote"),
        ("prefill: &p {gpu: h100}\ndecode:\n  <<: *p\n  tp: 8", "a.yaml:3:3", "merge keys (<<) are not read", "extends: base.yaml"),
        ("model: a\nmodel: b", "a.yaml:2:1", "'model' stands twice", "keep one"),
        ("prefill:\n\tgpu: h100", "a.yaml:2:1", "not valid YAML", "spaces, not tabs"),
        ("model: [", "a.yaml:2:1", "not valid YAML", "syntax"),
        ("", "a.yaml:1:1", "the file is empty", "model: llama2-70b"),
        ("# nothing", "a.yaml:1:1", "the file is empty", "kvcost schema preset"),
        ("- model", "a.yaml:1:1", "a preset is a mapping", "model: llama2-70b"),
        ("hello", "a.yaml:1:1", "a preset is a mapping", "model: llama2-70b"),
        ("link: {rate: 1Gbps, bandwidth: 2Gbps}", "a.yaml:1:32", "the same value", "one of them"),
        ("link: {name: 100gbe, path: 'a,b'}", "a.yaml:1:28", "contradict", "one of them"),
        ("extends: b.yaml", "a.yaml:1:10", "there is no file b.yaml", "relative to the folder"),
        ("extends: 5", "a.yaml:1:10", "extends names another preset", "base.yaml"),
        ("extends: a.yaml", "a.yaml:1:10", "runs in a circle: a.yaml -> a.yaml", "out of the circle"),
        ('extends: "a\\0b.yaml"', "a.yaml:1:10", "names a file that is no preset", "ends in .yaml"),
        ("extends: /etc/passwd", "a.yaml:1:10", "names a file that is no preset", "ends in .yaml"),
        ("workload: {isl: 1:30}", "a.yaml:1:17", "YAML reads 1:30 as the number 90", "quote it"),
        ("workload: {rate: 010}", "a.yaml:1:18", "YAML reads 010 as the number 8", "write 8"),
        ("extends: .", "a.yaml:1:10", "names a file that is no preset", "ends in .yaml"),
        ("a: &a [1, 1]\nb: *c", "a.yaml:2:4", "undefined alias", "syntax"),
        ("model: " + "[" * 100 + "]" * 100, "a.yaml:1:", "nesting", "anchors"),
    ],
)
def test_bad_presets(refused, text, where, message, hint):
    found = refused(text)
    assert found[0].startswith(where)
    assert message in found[1]
    assert hint in found[2]


def test_a_circle_of_three_and_a_chain_without_end(refused):
    place, message, _ = refused("extends: b.yaml", b="extends: c.yaml", c="extends: a.yaml")
    assert (place, message) == ("c.yaml:1:10", "extends runs in a circle: a.yaml -> b.yaml -> c.yaml -> a.yaml")
    chain = {f"n{number}": f"extends: n{number + 1}.yaml" for number in range(20)}
    assert "extend one another" in refused("extends: n0.yaml", **chain)[1]


def test_a_fault_of_a_base_is_told_where_it_stands(refused):
    assert refused("extends: b.yaml\nmodel: x", b="model: y\nprefil: {tp: 8}")[0] == "b.yaml:2:1"


def test_bombs_of_aliases_and_of_size_are_refused(refused):
    lines = ["a: &a [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"{name}: &{name} [{', '.join([f'*{last}'] * 10)}]" for last, name in zip("abcdefgh", "bcdefghi", strict=True)]
    assert "grows beyond measure" in refused("\n".join(lines))[1]
    assert "more than" in refused("note: " + "x" * 300_000)[1]
    assert "UTF-8" in refused(b"model: \xff")[1]


def test_messages_speak_of_yaml():
    assert in_yaml_words("give --slo-ttft, --slo-tpot or --slo-itl-p99") == "give slo.ttft, slo.tpot or slo.itl_p99"
    assert in_yaml_words("such as --model llama2-70b; --gpus-total 8") == "such as model: llama2-70b; --gpus-total 8"
    assert in_yaml_words("--gpu (or --prefill-time)") == "prefill.gpu and decode.gpu (or measured.prefill_time)"


# --- the quick reading and the form of pydantic accept the same ---

LEAVES = st.sampled_from(["4k", 8, 0.5, True, None, "", " ", [], ["a"], {}, {"a": "b"}, [1], [None], {"4k": "1s"}, {"4k": []}])
NAMES = sorted({*TEXTS, *TITLES, *SECTIONS[""], *(name for keys in SECTIONS.values() for name in keys), "other"})
VALUES = st.dictionaries(st.sampled_from(NAMES), LEAVES | st.dictionaries(st.sampled_from(NAMES), LEAVES, max_size=3), max_size=4)


@given(VALUES)
def test_both_forms_accept_the_same(values):
    values.pop("extends", None)
    try:
        found = Preset.model_validate(values)
    except ValidationError:
        found = None
    words = words_of(values)
    assert (found is None) == (words is None), json.dumps(values)
    if found is not None:
        given_values = {}
        for path in OPTION_OF:
            value = found
            for part in path:
                value = getattr(value, part, None)
            if value is not None:
                given_values[path] = value
        assert words == given_values


def test_a_link_to_a_preset_extends_what_lies_beside_the_link(folder):
    (folder(mid="extends: base.yaml") / "x").mkdir()
    reader = PresetReader()
    for name, link in (("x", "100gbe"), ("y", "25gbe")):
        inside = folder() / name
        inside.mkdir(exist_ok=True)
        (inside / "base.yaml").write_text(f"link: {link}\n")
        (inside / "l.yaml").symlink_to("../mid.yaml")
        (inside / "p.yaml").write_text("extends: l.yaml\n")
        assert reader.read(Path(name, "p.yaml")).options["link"] == [link]


def test_how_many_extend_one_another_does_not_hang_on_what_was_read_before(folder):
    chain = {f"p{number}": f"extends: p{number - 1}.yaml" if number else "model: x" for number in range(14)}
    folder(**chain)
    reader = PresetReader()
    for number in range(10):
        reader.read(Path(f"p{number}.yaml"))
    for again in (reader, PresetReader()):
        with pytest.raises(KvcostError, match="more than 10 presets"):
            again.read(Path("p12.yaml"))


def test_every_option_of_breakeven_has_a_key():
    """A new option needs its place in `presets/keys.py`; those of both pools are a key of each."""
    assert set(BREAKEVEN_OPTIONS) - set(OPTION_OF.values()) == {"gpu", "tp", "gpus_total"}
