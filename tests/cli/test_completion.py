"""Shell completion: the scripts in real shells, and every kind of candidate."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from kvcost.cli.app import run
from kvcost.cli.commands import COMMANDS
from kvcost.cli.shells import ASKING, SCRIPTS

PATH = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"


@pytest.fixture
def candidates(kvcost, monkeypatch):
    """The candidates for the last of these words."""

    def call(*words, shell="fish"):
        monkeypatch.setenv(ASKING, shell)
        ran = kvcost(*words)
        assert (ran.code, ran.err) == (0, "")
        return [line.partition("\t")[0] for line in ran.out.splitlines()]

    return call


@pytest.mark.parametrize("shell", SCRIPTS)
def test_a_script_is_printed(kvcost, shell):
    ran = kvcost("completion", shell)
    assert (ran.code, ran.err) == (0, "")
    assert ASKING in ran.out


@pytest.mark.parametrize(
    ("words", "expected"),
    [(("tcsh",), ("SHELL: no completion for 'tcsh'", "bash, zsh, fish, powershell")), ((), ("missing argument 'SHELL'", "kvcost completion --help"))],
)
def test_another_shell_is_refused(kvcost, words, expected):
    ran = kvcost("completion", *words)
    assert (ran.code, ran.out) == (2, "")
    for part in expected:
        assert part in ran.err


def bash(*words):
    """What bash would offer for a line that it has cut into these words."""
    script = 'source <(kvcost completion bash); COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _kvcost kvcost; printf "%s\\n" "${COMPREPLY[@]}"'
    done = subprocess.run(["bash", "-c", script, "bash", *words], capture_output=True, text=True, check=True, env={**os.environ, "PATH": PATH})
    assert done.stderr == ""
    return done.stdout.split()


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["kvcost", "tr"], ["transfer"]),
        (["kvcost", "transfer", "--lin"], ["--link"]),
        (["kvcost", "transfer", "--link", "100gb"], ["100gbe", "100gbit"]),
        (["kvcost", "transfer", "--link", "=", "nvlink4,nvlink"], ["nvlink4,nvlink2", "nvlink4,nvlink3"]),
        (["kvcost", "size", "--kv-dtype", "int4", ":", "g"], ["g64", "g64:zero"]),
        (["kvcost", "transfer", "--ctx", ""], []),
    ],
    ids=" ".join,
)
def test_bash_completes(words, expected):
    found = bash(*words)
    assert found[: len(expected)] == expected
    assert expected or not found


@pytest.mark.skipif(not shutil.which("fish"), reason="no fish here")
def test_fish_completes():
    script = "kvcost completion fish | source; complete -C 'kvcost transfer --link nvlink4,ib-n'; complete -C 'kvcost tr'"
    done = subprocess.run(["fish", "--no-config", "-c", script], capture_output=True, text=True, check=True, env={**os.environ, "PATH": PATH})
    assert [line.partition("\t")[0] for line in done.stdout.splitlines()] == ["nvlink4,ib_ndr", "nvlink4,ib_ndr_x4", "nvlink4,ib_ndr_x8", "transfer"]
    assert "\tHow long they take" in done.stdout


@pytest.mark.skipif(not shutil.which("zsh"), reason="no zsh here")
def test_zsh_completes():
    # `_describe` is zsh's own; here it shows what it is given.
    script = (
        "compdef() { :; }; _files() { echo files; }; _describe() { print -rl -- ${(P)3}; }; source <(kvcost completion zsh)\n"
        "words=(kvcost size --kv-dtype int4); CURRENT=4; _kvcost; words=(kvcost size --ctx ''); CURRENT=4; _kvcost"
    )
    done = subprocess.run(["zsh", "-f", "-c", script], capture_output=True, text=True, check=True, env={**os.environ, "PATH": PATH})
    assert (done.stdout.split("\n"), done.stderr) == (["int4\\:g64", "int4\\:g64\\:zero", "files", ""], "")


def test_powershell_says_when_a_new_word_begins(candidates):
    assert candidates("links", shell="powershell-new-word")[0] == "nvlink2"
    assert candidates("lin", shell="powershell") == ["links"]


def test_commands(candidates):
    assert candidates() == list(COMMANDS)
    assert candidates("") == list(COMMANDS)
    assert candidates("--") == ["--help", "--version"]
    assert candidates("help", "si") == ["size"]
    assert candidates("help", "size", "") == []
    assert candidates("nothing", "") == []


@pytest.mark.parametrize("command", COMMANDS)
def test_every_option_of_a_command(kvcost, candidates, monkeypatch, command):
    offered = candidates(command, "--")
    monkeypatch.delenv(ASKING)
    text = kvcost(command, "--help").out
    assert "--help" in offered
    assert all(f"{flag} " in text or f"{flag}\n" in text for flag in offered)
    assert offered == list(dict.fromkeys(offered))


def test_where_a_command_takes_no_word_its_options_are_offered(candidates):
    assert candidates("transfer", "")[:2] == ["--preset", "--model"]
    assert candidates("import", "") == []  # files


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("transfer", "--model", "llama2-7"), ["llama2-70b", "llama2-7b"]),
        (("transfer", "--model", "LLAMA2-70"), ["llama2-70b"]),
        (("transfer", "--model", "meta-llama/Llama-2-70b-h"), ["meta-llama/Llama-2-70b-hf"]),
        (("compute", "--gpu", "h200_s"), ["h200_sxm"]),
        (("breakeven", "--decode-gpu", "h200_s"), ["h200_sxm"]),
        (("transfer", "--path", "pcie5_x16,ib_ndr_x8,pcie5_x1"), []),
        (("transfer", "--engine", "sglang-"), ["sglang-mooncake", "sglang-nixl"]),
        (("transfer", "--overlap", ""), ["serial", "push", "decode-start"]),
        (("transfer", "--overlap=serial,p"), ["--overlap=serial,push"]),
        (("transfer", "--basis", "e"), ["engine"]),
        (("transfer", "--state-dtype", "fp3"), ["fp32"]),
        (("transfer", "--kv-dtype", "fp8,fp8"), ["fp8,fp8_ds_mla"]),
        (("transfer", "--format", "ma"), ["markdown"]),
        (("transfer", "--color", "a"), ["auto", "always"]),
        (("size", "--view", ""), ["serving", "hf"]),
        (("transfer", "--columns", "model,exp"), ["model,exposed_s"]),
        (("breakeven", "--fail-if", "colocate,ne"), ["colocate,never"]),
        (("breakeven", "--weight-dtype", "int"), ["int8", "int4"]),
        (("links", "ib_ndr"), ["ib_ndr", "ib_ndr_x4", "ib_ndr_x8"]),
        (("models", "opt-6"), ["opt-66b"]),
        (("explain", "wire"), ["wire_bytes"]),
        (("schema", "g"), ["gpu"]),
        (("completion", "f"), ["fish"]),
        (("transfer", "--json", "--out"), ["--output"]),
        (("transfer", "-o", ""), []),
        (("transfer", "--nothing=x"), []),
        (("transfer", "--input", "ca"), []),
    ],
    ids=" ".join,
)
def test_values(candidates, words, expected):
    assert sorted(candidates(*words)) == sorted(expected)


def test_names_of_a_users_catalog(candidates, tmp_path, monkeypatch):
    links = tmp_path / "links.yaml"
    links.write_text("our_spine:\n  title: Ours\n  kind: tcp\n  scope: port\n  per: port\n  line_rate: 1GB/s\n  achieved: 1GB/s\n  achieved_low: 1GB/s\n")
    with links.open("a") as file:
        file.write("  achieved_high: 1GB/s\n  basis: b\n  source: us\n  confidence: spec\n  checked: 2026-01-01\n")
    assert candidates("transfer", "--catalog", links, "--link", "our") == ["our_spine"]
    assert candidates("links", "our") == []
    monkeypatch.setenv("KVCOST_CATALOG", str(links))
    assert candidates("links", "our") == ["our_spine"]
    links.write_text("our_spine: [")
    assert candidates("links", "our") == []


def test_without_the_variable_nothing_is_completed(kvcost, monkeypatch):
    monkeypatch.delenv(ASKING, raising=False)
    assert kvcost("links", "ib_nd").code == 2


def test_help_is_what_people_type(kvcost):
    assert kvcost("help") == kvcost("--help")
    assert kvcost("help", "transfer") == kvcost("transfer", "--help")
    assert "unknown command 'nothing'" in kvcost("help", "nothing").err
    assert run(["help", "nothing"]) == 2
