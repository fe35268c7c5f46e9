"""The formats for programs: they parse back, agree with each other, and keep every digit."""

import csv
import io
import json
import math
import os
import pty
import re
import subprocess
import sys

import pytest

CASE = (
    "transfer",
    "--model",
    "llama2-70b,gemma-3-27b,deepseek-v3",
    "--ctx",
    "1k,33k",
    "--link",
    "nvlink4,100gbe,inf",
    "--tp",
    "1,8",
    "--basis",
    "engine",
    "-q",
)
PLAIN = ("transfer", "--model", "llama2-70b", "--ctx", "4096", "--link", "100gbe")


@pytest.fixture
def parsed(kvcost):
    """The rows of an answer as JSON gives them, and the text of another format."""

    def call(form, *words):
        ran = kvcost(*words, "--format", form)
        assert (ran.code, ran.err) == (0, "")
        return ran.out

    return call


def as_text(value):
    return "" if value is None else str(value)


@pytest.fixture
def rows(parsed):
    return json.loads(parsed("json", *CASE))["rows"]


def test_json_lines_are_the_rows(parsed, rows):
    assert [json.loads(line) for line in parsed("jsonl", *CASE).splitlines()] == rows
    assert len(rows) == 36


@pytest.mark.parametrize(("form", "delimiter"), [("csv", ","), ("tsv", "\t")])
def test_delimited_rows_hold_the_same_values(parsed, rows, form, delimiter):
    text = parsed(form, *CASE)
    found = list(csv.DictReader(io.StringIO(text), delimiter=delimiter))
    assert found == [{key: as_text(value) for key, value in row.items()} for row in rows]
    assert "\r" not in text
    for line, row in zip(found, rows, strict=True):
        for key, value in row.items():
            if isinstance(value, float):
                assert float(line[key]) == value, "a float reads back as itself"


def test_markdown_has_a_cell_for_every_field(parsed, rows):
    head, rule, *lines = parsed("markdown", *CASE).splitlines()
    assert len(lines) == len(rows)
    assert {line.count("|") for line in (head, rule, *lines)} == {len(rows[0]) + 1}
    assert re.fullmatch(r"\|( -{3}:? \|)+", rule)
    place = list(rows[0]).index("wire_bytes") + 1
    unit = {"MB": 1e6, "GB": 1e9, "kB": 1e3, "B": 1, "TB": 1e12}[head.split("|")[place].split()[-1]]
    for line, row in zip(lines, rows, strict=True):
        assert float(line.split("|")[place].replace(",", "")) * unit == pytest.approx(row["wire_bytes"], rel=5e-4)


def test_columns_pick_and_order_in_every_format(kvcost, rows):
    wanted = ("wire_bytes", "model", "line_rate_s")
    picked = [{key: row[key] for key in wanted} for row in rows]
    for form in ("json", "jsonl", "csv"):
        text = kvcost(*CASE, "--format", form, "--columns", "wire_bytes,model", "--columns", "line_rate_s").out
        if form == "json":
            assert json.loads(text)["rows"] == picked
        elif form == "jsonl":
            assert [json.loads(line) for line in text.splitlines()] == picked
        else:
            assert text.splitlines()[0] == ",".join(wanted)
    assert kvcost(*PLAIN, "--columns", "model", "--format", "csv").out == "model\nllama2-70b\n"


@pytest.mark.parametrize(
    "words",
    [
        CASE,
        ("transfer", "--model", "llama2-70b", "--ctx", "4k", "--bandwidth", "inf"),
        ("links",),
        ("models",),
        ("engines",),
        ("size", *PLAIN[1:5], "--explain"),
    ],
)
def test_json_has_no_word_that_json_lacks(kvcost, words):
    def refuse(word):
        raise AssertionError(word)

    text = kvcost(*words, "--json").out
    document = json.loads(text, parse_constant=refuse)
    assert document["schema"] == f"kvcost/{words[0]}/1"
    assert list(document)[:4] == ["schema", "inputs", "rows", "warnings"]
    assert all(math.isfinite(value) for row in document["rows"] for value in row.values() if isinstance(value, float))


def test_an_unlimited_link_is_null_with_its_name(kvcost):
    (row,) = json.loads(kvcost("transfer", "--model", "llama2-70b", "--ctx", "4k", "--bandwidth", "inf", "--json").out)["rows"]
    assert (row["bandwidth_bytes_per_s"], row["link"]) == (None, "unlimited")


def test_the_document_holds_what_was_asked_and_where_it_is_from(kvcost):
    document = json.loads(kvcost(*PLAIN, "--tp", "8", "--json").out)
    assert document["inputs"] == {"model": ["llama2-70b"], "ctx": ["4096"], "link": ["100gbe"], "tp": ["8"]}
    for quantity in ("kv_bytes_per_token", "bandwidth_bytes_per_s", "efficiency", "t0_s", "descriptor_s"):
        source = document["sources"][quantity]
        assert source["provenance"] in ("spec", "measured", "estimate", "user")
        assert source["source"]


def test_json_documents_follow_their_schema(kvcost):
    schemas = {part["properties"]["schema"]["const"]: part for part in json.loads(kvcost("schema", "result").out)["oneOf"]}
    kinds = {"integer": int, "number": (int, float), "string": str, "null": type(None), "boolean": bool, "array": list}
    priced = (
        CASE,
        ("size", "--model", "llama2-70b", "--ctx", "4k"),
        ("transfer", "--model", "llama2-70b", "--ctx", "4k", "--bandwidth", "inf"),
        ("compute", "--model", "llama2-70b", "--ctx", "4k", "--gpu", "h100", "--tp", "8"),
        ("breakeven", *CASE[1:], "--osl", "256", "--gpu", "h100", "--tp", "8", "--rate", "2"),
    )
    for words in (*priced, ("models", "llama2-70b"), ("links",), ("gpus",), ("engines",), ("explain", "kv_bytes"), ("explain",)):
        document = json.loads(kvcost(*words, "--json").out)
        schema = schemas[document["schema"]]
        assert set(schema["required"]) <= set(document)
        fields = schema["properties"]["rows"]["items"]["properties"]
        for row in document["rows"]:
            assert not fields or set(row) <= set(fields), words
            for key in set(row) & set(fields):
                assert isinstance(row[key], tuple(kinds[name] for name in fields[key]["type"])), key


# In this order, whatever follows them.
SIZE_FIELDS = """
    model ctx_tokens kv_dtype kv_bytes kv_bytes_per_token state_bytes reserved_bytes block_size_tokens params_total params_active
"""
TRANSFER_FIELDS = """
    link rails prefill_tp decode_tp prefix_hit_tokens wire_bytes replication descriptors bandwidth_bytes_per_s efficiency line_rate_s achievable_s
    engine_s transfer_s transfer_low_s transfer_high_s basis exposed_s engine overlap lanes provenance
"""


def test_fields_that_other_programs_rely_on(kvcost):
    size, transfer = SIZE_FIELDS.split(), TRANSFER_FIELDS.split()
    for words, fields in ((("size", *PLAIN[1:5]), size), (PLAIN, size + transfer)):
        (row,) = json.loads(kvcost(*words, "--json").out)["rows"]
        assert list(row)[: len(fields)] == fields


def test_terms_in_json_lines(kvcost):
    (line,) = kvcost(*PLAIN, "--explain", "--format", "jsonl").out.splitlines()
    assert {"term", "value", "unit", "share", "formula", "provenance"} == set(json.loads(line)["terms"][0])


# --- users' words, and colour ---

MARKED = """"[red]mine[/red]":
  title: "[bold]Not bold[/bold] :smile: | pipe"
  aliases: [marked]
  kind: tcp
  scope: port
  per: "[link=x]port[/link]"
  line_rate: 1GB/s
  achieved: 1GB/s
  achieved_low: 1GB/s
  achieved_high: 1GB/s
  basis: b
  source: "[blue]lab[/blue], \\"quoted\\""
  confidence: spec
  checked: 2026-01-01
"""


@pytest.fixture
def marked(tmp_path):
    file = tmp_path / "links.yaml"
    file.write_text(MARKED)
    return file


@pytest.mark.parametrize("color", ["always", "never"])
def test_markup_in_names_is_shown_as_it_is(kvcost, marked, color):
    for words in (("links", "marked"), ("transfer", *PLAIN[1:5], "--link", "marked"), ("transfer", *PLAIN[1:5], "--link", "marked,100gbe")):
        ran = kvcost(*words, "--catalog", marked, "--color", color)
        assert ran.code == 0
        assert "[red]mine[/red]" in re.sub(r"\x1b\[[0-9;]*m", "", ran.out)
    assert "[bold]Not bold[/bold] :smile: | pipe" in re.sub(r"\x1b\[[0-9;]*m", "", kvcost("links", "marked", "--catalog", marked, "--color", color).out)


def test_pipes_in_names_do_not_break_markdown(kvcost, marked):
    head, _, line = kvcost("links", "marked", "--catalog", marked, "--format", "markdown").out.splitlines()
    assert "\\| pipe" in line
    assert len(re.findall(r"(?<!\\)\|", line)) == head.count("|")


@pytest.mark.parametrize(
    ("env", "words", "coloured"),
    [
        *(({}, (), False), ({"FORCE_COLOR": "1"}, (), True), ({"FORCE_COLOR": "1", "NO_COLOR": "1"}, (), False), ({"NO_COLOR": ""}, (), False)),
        *(
            ({"NO_COLOR": "1"}, ("--color", "always"), True),
            ({"FORCE_COLOR": "1"}, ("--color", "never"), False),
            ({"TERM": "dumb"}, ("--color", "always"), True),
        ),
    ],
)
def test_colour_when_piped(kvcost, monkeypatch, env, words, coloured):
    for name, value in env.items():
        monkeypatch.setenv(name, value)
    assert ("\x1b[" in kvcost(*PLAIN, *words).out) is coloured


@pytest.mark.parametrize("form", ["csv", "tsv", "json", "jsonl", "markdown"])
def test_programs_never_get_colour(kvcost, form):
    assert "\x1b" not in kvcost(*PLAIN, "--format", form, "--color", "always").out


@pytest.mark.parametrize(("env", "coloured"), [({}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False)])
def test_colour_on_a_terminal(env, coloured):
    """A pseudo-terminal, as a person has it."""
    main, side = pty.openpty()
    command = [sys.executable, "-m", "kvcost", *PLAIN]
    with subprocess.Popen(command, stdout=side, stderr=side, stdin=side, env={**os.environ, "COLUMNS": "100", **env}) as process:
        os.close(side)
        text = b""
        try:
            while chunk := os.read(main, 65536):
                text += chunk
        except OSError:  # the other side is gone
            pass
        assert process.wait(timeout=60) == 0
    os.close(main)
    assert (b"\x1b[" in text) is coloured
    lines = re.sub(r"\x1b\[[0-9;]*m", "", text.decode()).splitlines()
    assert max(map(len, lines)) <= 100
    assert any("107.4 ms" in line for line in lines)
