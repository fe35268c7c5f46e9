"""`rows` and `answer`: what the commands print, from Python."""

import json

import pytest

import kvcost
from kvcost import Catalog, KvcostError
from kvcost.cases.answers import ASKED
from kvcost.cli.commands import COMMANDS

GPU = {"gpu": "h100", "tp": 8}
QUESTIONS = {
    "size": {"model": "llama2-70b,deepseek-v3", "ctx": "1k..4k", "kv_dtype": ["auto", "fp8"]},
    "transfer": {"model": "llama2-70b", "ctx": "4k", "link": ["100gbe", "inf"], "overlap": "push", "prefill_time": "390ms"},
    "compute": {"model": "llama2-70b", "ctx": 4096, "phase": ["prefill", "decode"], **GPU},
    "breakeven": {"model": "llama2-70b", "ctx": 4096, "osl": 256, "rate": [2, 500.5], "link": "100gbe", **GPU},
    "reduce": {"model": "llama2-70b", "ctx": 4096, "link": "100gbe", "technique": "fp8,layer-push", "with": "fp8,layer-push", "prefill_time": "390ms"},
}
OK = {"model": "llama2-70b", "ctx": 4096, "link": "100gbe"}


def words_of(options):
    for option, value in options.items():
        for word in value if isinstance(value, list) else [value]:
            yield from ("--" + option.replace("_", "-"), str(word))


@pytest.mark.parametrize("command", ASKED)
def test_rows_warnings_and_sources_are_those_of_the_command(kvcost, command):
    printed = json.loads(kvcost(command, *words_of(QUESTIONS[command]), "--json").out)
    found = answered(command, **QUESTIONS[command])
    assert found == {key: printed[key] for key in found}


def answered(command, **options):
    """An answer as JSON has it."""
    found = kvcost.answer(command, **options)
    whole = {
        "rows": found.rows,
        "warnings": [notice._asdict() for notice in found.warnings],
        "sources": {key: source._asdict() for key, source in found.sources.items()},
    }
    return json.loads(json.dumps(whole, allow_nan=False, default=list))


def test_every_command_that_takes_a_file_of_cases_can_be_asked(kvcost):
    asked = {command for command in COMMANDS if "--input " in kvcost(command, "--help").out}
    assert asked == set(ASKED) - {"reduce"}


def test_an_option_that_python_has_a_word_for_itself_ends_in_an_underscore():
    case = QUESTIONS["reduce"]
    assert kvcost.rows("reduce", **case) == kvcost.rows("reduce", **{name: value for name, value in case.items() if name != "with"}, with_=case["with"])


def test_columns_pick_fields_and_terms_can_be_had():
    assert kvcost.rows("transfer", **OK, columns=["link", "wire_bytes"]) == [{"link": "eth_100g", "wire_bytes": 1342177280}]
    (row,) = kvcost.rows("breakeven", **QUESTIONS["breakeven"] | {"rate": 2}, columns=("verdict",))
    assert row == {"verdict": "mixed"}
    (row,) = kvcost.rows("size", model="llama2-70b", ctx=4096, explain=True)
    assert row["terms"][0]["value"] == row["kv_bytes"]


def test_a_catalog_and_a_config_of_ones_own(tmp_path):
    links = tmp_path / "links.yaml"
    links.write_text(
        "ours:\n  title: Ours\n  kind: tcp\n  scope: port\n  per: port\n  line_rate: 1GB/s\n  achieved: 1GB/s\n  achieved_low: 1GB/s\n"
        "  achieved_high: 1GB/s\n  basis: b\n  source: us\n  confidence: spec\n  checked: 2026-01-01\n"
    )
    for paths in (str(links), links, [links]):
        (row,) = kvcost.rows("transfer", **OK | {"link": "ours"}, catalog=Catalog(paths))
        assert row["line_rate_s"] == pytest.approx(1.342177280)
    config = tmp_path / "mine.json"
    config.write_text(
        '{"model_type": "llama", "num_hidden_layers": 2, "hidden_size": 256, "num_attention_heads": 2, "vocab_size": 100, "torch_dtype": "bfloat16"}'
    )
    (row,) = kvcost.rows("size", model=config, ctx=1)
    assert row["kv_bytes"] == 2 * 2 * 256 * 2


@pytest.mark.parametrize(
    ("command", "options", "words"),
    [
        ("transfr", OK, ("unknown command 'transfr'", "size, transfer")),
        ("transfer", OK | {"lnk": "100gbe"}, ("transfer has no option 'lnk'", "nearest: link")),
        ("size", {"qqqqqqq": 1}, ("no option 'qqqqqqq'", "known: model, ctx")),
        ("transfer", OK | {"link": ""}, ("link: an empty value",)),
        ("transfer", OK | {"hybrid_cache": True}, ("hybrid_cache: needs text or a number, not bool",)),
        ("transfer", OK | {"tp": [1, None]}, ("tp: needs text or a number, not NoneType",)),
        ("transfer", OK | {"tp": b"1"}, ("tp: needs text or a number, not ",)),
        ("transfer", OK | {"ctx": 4.5}, ("--ctx: not a whole number of tokens: '4.5'",)),
        ("transfer", OK | {"bandwidth": 100}, ("--bandwidth", "100Gbps")),
        ("transfer", OK | {"efficiency": float("nan")}, ("--efficiency",)),
        ("transfer", OK | {"columns": ["wire_byte"]}, ("unknown column 'wire_byte'", "nearest: wire_bytes")),
        ("transfer", OK | {"view": "odd"}, ("unknown view",)),
        ("transfer", {"model": "llama2-70b"}, ("no link given",)),
    ],
)
def test_what_makes_no_sense_is_refused_in_words(command, options, words):
    with pytest.raises(KvcostError) as caught:
        kvcost.answer(command, **options)
    for word in words:
        assert word in f"{caught.value} {caught.value.hint}"


def test_numbers_of_other_libraries_are_numbers():
    fractions = pytest.importorskip("fractions")
    (row,) = kvcost.rows("transfer", **OK, efficiency=fractions.Fraction(1, 2))
    assert row["efficiency"] == 0.5
    assert kvcost.rows("transfer", **OK, rails=None) == kvcost.rows("transfer", **OK)


def test_a_preset_lies_below_the_options(tmp_path):
    file = tmp_path / "a.yaml"
    file.write_text("model: llama2-70b\nlink: 100gbe\nworkload: {isl: 4k}\n")
    (row,) = kvcost.rows("transfer", preset=file, link="ib-ndr")
    assert (row["link"], row["ctx_tokens"]) == ("ib_ndr", 4096)
    file.write_text("model: nosuch\n")
    with pytest.raises(KvcostError, match=r"a\.yaml:1:8"):
        kvcost.rows("size", preset=file, ctx=1)
