"""Pipes, closed and full outputs, interrupts and odd locales, each in a process of its own."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

COMMAND = [sys.executable, "-m", "kvcost"]
OK = ("transfer", "--model", "llama2-70b", "--ctx", "4096", "--link", "100gbe")
MANY = (*OK[:3], "--ctx", "1..300000:+1", "--link", "100gbe", "--format")
QUIET = b""

needs_dev_full = pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")


def shell(script, **env):
    """A shell line in which K stands for the command."""
    ready = script.replace("K ", f"'{sys.executable}' -m kvcost ")
    return subprocess.run(["/bin/sh", "-c", ready], env={**os.environ, **env}, capture_output=True, timeout=60, check=False, stdin=subprocess.DEVNULL)


@pytest.mark.parametrize("form", ["csv", "jsonl", "json"])
def test_a_reader_that_has_seen_enough_ends_it_quietly(form):
    reader, writer = os.pipe()
    with subprocess.Popen([*COMMAND, *MANY, form, "-q"], stdout=writer, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL) as process:
        os.close(writer)
        assert os.read(reader, 10)
        os.close(reader)
        _, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (0, QUIET)


def test_head_takes_one_line():
    done = shell(f"K {' '.join(MANY)} csv -q | head -1")
    assert done.stdout.startswith(b"model,ctx_tokens,")
    assert done.stdout.count(b"\n") == 1
    assert done.stderr == QUIET


@needs_dev_full
@pytest.mark.parametrize("words", [OK, (*OK, "--json"), ("--help",)], ids=["table", "json", "help"])
def test_a_full_disk_is_said_in_words(words):
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run([*COMMAND, *words], stdout=full, stderr=subprocess.PIPE, timeout=60, check=False, stdin=subprocess.DEVNULL)
    assert done.returncode == 2
    assert done.stderr.startswith(b"error: cannot write the answer: No space left on device\nhint: ")
    assert b"Traceback" not in done.stderr


def test_a_closed_stdout_is_said_in_words():
    done = shell(f"K {' '.join(OK)} >&-")
    assert done.returncode == 2
    assert done.stderr.startswith(b"error: standard output is closed\nhint: ")


def test_a_closed_stdout_does_not_matter_to_a_file(tmp_path):
    done = shell(f"K {' '.join(OK)} -o '{tmp_path}/a.csv' --format csv >&-")
    assert (done.returncode, done.stderr) == (0, QUIET)
    assert (tmp_path / "a.csv").read_text().count("\n") == 2


def test_with_stderr_closed_nothing_lands_in_the_answer():
    done = shell(f"K {' '.join(OK)} --ctx 8k --format csv --columns ctx_tokens 2>&-")
    assert (done.returncode, done.stdout) == (0, b"ctx_tokens\n4096\n8192\n")
    done = shell(f"K {' '.join(OK)} --ctx 4.5 2>&-")
    assert (done.returncode, done.stdout) == (2, QUIET)


def test_ctrl_c_ends_in_silence():
    with subprocess.Popen(
        [*COMMAND, "size", "--input", "-", "--format", "csv"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        process.stdin.write(b"model,ctx\nnothing,1k\n")
        process.stdin.flush()
        assert process.stderr.readline().startswith(b"error: stdin:2: ")  # by now it waits for the next row
        assert process.stderr.readline().startswith(b"hint: ")
        time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (130, QUIET, QUIET)


# --- odd locales ---

TITLED = 'cafe:\n  title: "Café µ 株"\n  kind: tcp\n  scope: port\n  per: "port é"\n  line_rate: 1GB/s\n  achieved: 1GB/s\n  achieved_low: 1GB/s\n'
TITLED += "  achieved_high: 1GB/s\n  basis: b\n  source: é\n  confidence: spec\n  checked: 2026-01-01\n"


@pytest.fixture(scope="module")
def foreign(tmp_path_factory):
    file = tmp_path_factory.mktemp("catalog") / "links.yaml"
    file.write_text(TITLED, encoding="utf-8")
    return file


@pytest.mark.parametrize(
    "env", [{"LC_ALL": "C"}, {"LC_ALL": "C", "PYTHONIOENCODING": "ascii"}, {"PYTHONIOENCODING": "latin-1"}, {"PYTHONUTF8": "0", "LC_ALL": "POSIX"}]
)
def test_json_is_json_whatever_the_locale(spawn, foreign, env):
    ran = spawn("links", "cafe", "--catalog", foreign, "--json", env=env)
    assert (ran.code, ran.err) == (0, "")
    assert json.loads(ran.out)["rows"][0]["title"] == "Café µ 株"


@pytest.mark.parametrize("form", ["table", "csv", "markdown"])
def test_what_an_encoding_cannot_hold_becomes_a_mark(spawn, foreign, form):
    ran = spawn("links", "cafe", "--catalog", foreign, "--format", form, env={"LC_ALL": "C", "PYTHONIOENCODING": "ascii"})
    assert (ran.code, ran.err) == (0, "")
    assert "Caf" in ran.out


def test_messages_survive_an_ascii_stderr(spawn):
    ran = spawn("size", "--model", "日本", "--ctx", "4k", env={"LC_ALL": "C", "PYTHONIOENCODING": "ascii"})
    assert ran.code == 2
    assert ran.err.startswith("error: --model: unknown model '")


# --- -o ---


@pytest.fixture
def there(kvcost, tmp_path):
    """Write an answer to a file of this name."""

    def call(name, *words):
        return kvcost(*OK, "--format", "csv", *words, "-o", tmp_path / name)

    return call


def test_a_file_holds_what_stdout_would(kvcost, there, tmp_path):
    assert there("a.csv") == (0, "", "")
    assert (tmp_path / "a.csv").read_text() == kvcost(*OK, "--format", "csv").out
    assert [path.name for path in tmp_path.iterdir()] == ["a.csv"]


def test_warnings_still_go_to_stderr(there):
    assert there("a.csv", "--ctx", "8k").err.startswith("warning: ")


def test_dash_is_stdout(kvcost):
    assert kvcost(*OK, "-o", "-") == kvcost(*OK)


def test_an_error_leaves_the_old_file(there, tmp_path, kvcost, monkeypatch):
    (tmp_path / "a.csv").write_text("old")
    assert there("a.csv", "--ctx", "4.5").code == 2
    assert there("a.csv", "--columns", "nothing").code == 2

    def broken(*args, **kwargs):
        raise ZeroDivisionError

    with monkeypatch.context() as patch:
        patch.setattr("kvcost.render.delimited.csv.writer", broken)
        assert there("a.csv").code == 70
    assert (tmp_path / "a.csv").read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["a.csv"]


def test_a_stop_in_the_middle_leaves_nothing(there, tmp_path, monkeypatch):
    def stopped(columns, rows, stream, delimiter, *, mixed=False):
        stream.write("half a row")
        raise KeyboardInterrupt

    monkeypatch.setattr("kvcost.render.delimited.write_delimited", stopped)
    assert there("a.csv").code == 130
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("mask", [0o022, 0o077, 0o002])
def test_a_new_file_has_the_permissions_of_the_umask(there, tmp_path, mask):
    before = os.umask(mask)
    try:
        there("a.csv")
    finally:
        os.umask(before)
    assert (tmp_path / "a.csv").stat().st_mode & 0o777 == 0o666 & ~mask


def test_a_file_that_is_there_keeps_its_permissions(there, tmp_path):
    (tmp_path / "a.csv").touch(mode=0o600)
    there("a.csv")
    assert (tmp_path / "a.csv").stat().st_mode & 0o777 == 0o600
    assert (tmp_path / "a.csv").read_text()


def test_a_symbolic_link_stays_one(there, tmp_path):
    (tmp_path / "real.csv").write_text("old")
    (tmp_path / "link.csv").symlink_to("real.csv")
    there("link.csv")
    assert (tmp_path / "link.csv").is_symlink()
    assert (tmp_path / "real.csv").read_text().startswith("model,")


def test_a_pipe_is_written_to_and_not_replaced(tmp_path, spawn):
    fifo = tmp_path / "pipe"
    os.mkfifo(fifo)
    with subprocess.Popen(["cat", str(fifo)], stdout=subprocess.PIPE) as reader:
        assert spawn(*OK, "--format", "csv", "-o", fifo) == (0, "", "")
        assert reader.communicate(timeout=60)[0].startswith(b"model,")
    assert fifo.is_fifo()


def test_a_folder_cannot_be_written_to(there, tmp_path):
    (tmp_path / "folder").mkdir()
    ran = there("folder")
    assert (ran.code, ran.out) == (2, "")
    assert "--output: cannot write" in ran.err
    assert list((tmp_path / "folder").iterdir()) == []


def test_a_lone_surrogate_of_a_case_file_is_escaped(kvcost, tmp_path):
    file = tmp_path / "cases.jsonl"
    file.write_text('{"model": "llama2-70b", "ctx": 1, "link": "100gbe", "id": "\\ud800"}\n')
    assert kvcost("transfer", "--input", file, "--format", "jsonl", "-o", tmp_path / "out").code == 0
    assert json.loads((tmp_path / "out").read_text())["id"] == "\ud800"


@pytest.mark.parametrize("words", ["--input -", "--ctx -"])
def test_a_closed_standard_input_is_named(words):
    done = shell(f"K size --model llama2-70b {words} <&-")
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"standard input is closed" in done.stderr


def test_standard_input_is_utf8_whatever_the_locale():
    case = r'{"model":"llama2-70b","ctx":4096,"tag":"\303\266"}'
    done = shell(f"printf '{case}' | K size --input - --json --columns tag", LC_ALL="C", PYTHONUTF8="0", PYTHONCOERCECLOCALE="0")
    assert json.loads(done.stdout)["rows"] == [{"tag": "\u00f6"}]
