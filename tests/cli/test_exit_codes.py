"""Exit codes, and what a bug looks like."""

import json

import pytest

from kvcost.cli import app
from kvcost.cli.app import run
from kvcost.cli.commands import COMMANDS
from kvcost.errors import KvcostError

OK = ("transfer", "--model", "llama2-70b", "--ctx", "4096", "--link", "100gbe")


@pytest.mark.parametrize(
    "words", [OK, ("size", "--model", "llama2-70b", "--ctx", "4k"), ("models",), ("links", "100gbe"), ("engines",), ("--version",), ("-h",)]
)
def test_0_answered(kvcost, words):
    ran = kvcost(*words)
    assert (ran.code, ran.err) == (0, "")
    assert ran.out


def test_0_with_a_warning(kvcost):
    ran = kvcost(*OK, "--ctx", "8k")
    assert ran.code == 0
    assert ran.err.startswith("warning: ctx-beyond-limit: ")


def test_1_some_rows_could_not_be_answered(kvcost, tmp_path):
    file = tmp_path / "cases.csv"
    file.write_text("model,ctx\nllama2-70b,1k\nnothing,1k\n")
    assert kvcost("size", "--input", file).code == 1


def test_2_bad_input(kvcost):
    assert kvcost(*OK, "--tp", 3).code == 2


def test_no_words_at_all_print_the_help(kvcost):
    ran = kvcost()
    assert ran == kvcost("--help")
    assert ran.code == 0


def test_70_a_bug(kvcost, monkeypatch):
    def broken(*args, **kwargs):
        raise ZeroDivisionError("division by zero")

    monkeypatch.setattr("kvcost.cases.size.held_bytes", broken)
    ran = kvcost("size", "--model", "llama2-70b", "--ctx", "4k")
    assert (ran.code, ran.out) == (70, "")
    assert ran.err == "error: a bug in kvcost: ZeroDivisionError: division by zero\nhint: run again with --debug and report the traceback\n"
    debugged = kvcost("size", "--model", "llama2-70b", "--ctx", "4k", "--debug")
    assert debugged.code == 70
    assert "Traceback" in debugged.err


def test_debug_shows_where_and_keeps_the_code(kvcost):
    plain, debugged = kvcost(*OK, "--ctx", "4.5"), kvcost(*OK, "--ctx", "4.5", "--debug")
    assert "Traceback" not in plain.err
    assert "Traceback" in debugged.err
    assert debugged.err.endswith(plain.err)
    assert (debugged.code, debugged.out) == (2, "")


def test_130_interrupted_in_silence(kvcost, monkeypatch):
    def interrupted(*args, **kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr("kvcost.cases.size.held_bytes", interrupted)
    assert kvcost("size", "--model", "llama2-70b", "--ctx", "4k") == (130, "", "")


def test_words_come_from_the_command_line(monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["kvcost", "--version"])
    assert run() == 0
    assert capsys.readouterr().out.startswith("kvcost 0.")


def test_an_error_can_be_given_a_place_once():
    error = KvcostError("wrong", hint="mend it").at("--ctx")
    assert str(error) == "--ctx: wrong"
    assert error.at("elsewhere") is error
    assert error.hint == "mend it"


def test_3_nothing_found(kvcost):
    ran = kvcost("models", "--like", "lama2-71b")
    assert (ran.code, ran.out) == (3, "")
    assert ran.err.startswith("warning: nothing-found: no name among the models holds 'lama2-71b' (nearest: llama2-7")
    ran = kvcost("links", "--like", "qqq", "--json")
    assert ran.code == 3
    assert json.loads(ran.out)["rows"] == []


# --- help ---


@pytest.mark.parametrize("words", [(), *((command,) for command in COMMANDS)], ids=lambda words: words[0] if words else "kvcost")
def test_help_fits_and_shows_its_examples(kvcost, words, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    ran = kvcost(*words, "--help")
    assert (ran.code, ran.err) == (0, "")
    assert kvcost(*words, "-h").out == ran.out
    lines = ran.out.splitlines()
    examples = [line for line in lines if line.startswith("  kvcost ")]
    assert len(examples) >= 2, "the help of a command shows how it is typed"
    assert all(len(line) <= 80 for line in lines if line not in examples)
    assert "\\b" not in ran.out
    assert "\x1b" not in ran.out


def test_help_names_every_command(kvcost):
    for command, (_, text) in COMMANDS.items():
        assert command in kvcost("--help").out
        assert text


def test_commands_are_modules_of_their_own():
    assert {module for module, _ in COMMANDS.values()} >= {"size", "transfer", "catalogs", "schema"}
    assert app.EXIT_BUG == 70


def test_schemas_are_json(kvcost):
    for what in ("result", "model", "link", "engine"):
        document = json.loads(kvcost("schema", what).out)
        assert document["$schema"].startswith("https://json-schema.org/")


# --- @file and - ---


def test_a_file_of_values(kvcost, tmp_path):
    file = tmp_path / "lengths"
    file.write_text("1k\n2k 4k\n\n8k..32k\n")
    ran = kvcost("size", "--model", "llama2-70b", "--ctx", f"@{file}", "--format", "csv", "--columns", "ctx_tokens", "-q")
    assert ran.out.split() == ["ctx_tokens", "1024", "2048", "4096", "8192", "16384", "32768"]
    file.write_text("\n")
    ran = kvcost("size", "--model", "llama2-70b", "--ctx", f"@{file}")
    assert ran.code == 2
    assert "names no value" in ran.err
    file.write_bytes(b"\xff\n")
    assert "not UTF-8" in kvcost("size", "--model", "llama2-70b", "--ctx", f"@{file}").err


def test_values_from_stdin(spawn):
    ran = spawn("size", "--model", "-", "--ctx", "4k", "--format", "csv", "--columns", "model", "-q", input=b"llama2-70b\nopt-66b\n")
    assert ran == (0, "model\nllama2-70b\nopt-66b\n", "")


def test_the_entries_of_a_catalog(kvcost):
    assert kvcost("links", "IB NDR", "--format", "csv").out.splitlines()[1].startswith("ib_ndr,")
    like = kvcost("links", "--like", "gaudi", "--format", "csv", "--columns", "link").out.split()
    assert like[0] == "link"
    assert {"gaudi2_roce", "gaudi3_roce"} <= set(like[1:])
    assert all("gaudi" in name for name in like[1:])
    assert "llama2-70b" in kvcost("models", "--like", "LAMA 2", "--format", "csv", "--columns", "model").out.split()
    card = kvcost("engines", "vllm-nixl").out
    assert "vllm-project/vllm#34054" in card
    assert "measured" in card
