"""All commands under bad conditions: any words, any bytes, full and closed outputs, odd homes, locales and terminals, signals, crowds."""

import contextlib
import io
import json
import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kvcost
from kvcost.cli.app import run
from kvcost.cli.commands import COMMANDS, command_of

PYTHON = [sys.executable, "-m", "kvcost"]
CONFIG = '{"model_type": "llama", "num_hidden_layers": 2, "hidden_size": 256, "num_attention_heads": 2, "vocab_size": 100, "torch_dtype": "bfloat16"}'
SWEEP = ("transfer", "--model", "llama2-70b", "--ctx", "1..3000000:+1", "--link", "100gbe", "--format", "csv", "-q")
# Options that write files or ask the network, and one that shows tracebacks on purpose.
LEFT_OUT = {"output", "save", "report", "download", "debug"}
PRESETS = Path(__file__).parents[2] / "presets"
PROBLEM = re.compile(r"(error|hint|warning): .+")


def examples(command):
    """The lines that a command's help shows, as words: up to where the shell takes over."""
    text = command_of(command).help
    for line in text.splitlines():
        typed = re.search(r"kvcost (\S.*)", line)
        if typed and re.match(rf"{command}\b", typed[1]):
            yield shlex.split(re.split(r"[|>)]", typed[1])[0])


EXAMPLES = {command: next(examples(command)) for command in COMMANDS}


def stocked(parent):
    """A folder with the files that examples name; they are called after it."""
    here = parent / "here"
    here.mkdir()
    (here / "config.json").write_text(CONFIG)
    if PRESETS.is_dir():
        shutil.copytree(PRESETS, here / "presets", ignore=shutil.ignore_patterns("*.md"))
    return here


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """A folder of one's own to be in; nothing waits on standard input."""
    here = stocked(tmp_path)
    monkeypatch.chdir(here)
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    return here


def ran(words):
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = run([str(word) for word in words])
    return code, out.getvalue(), err.getvalue()


def check(words):
    """Answered or refused in words: never a traceback or a bug, never half an answer."""
    code, out, err = ran(words)
    assert code in (0, 1, 2, 3), (words, err)
    assert not err or all(PROBLEM.fullmatch(line) for line in err.removesuffix("\n").split("\n")), (words, err)
    if code == 2:
        assert out == "" or words[0] == "check"  # one bad preset does not hide the others
        assert err.count("error: ") >= 1
    return code


def at_once(lines, **more):
    """Run command lines in processes of their own, all at the same time: code, stdout and stderr of each."""
    given_in = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **more}
    running = [subprocess.Popen([*PYTHON, *words] if isinstance(words, list) else ["/bin/sh", "-c", words], **given_in) for words in lines]
    found = []
    for process in running:
        with process:
            out, err = process.communicate(timeout=120)
        found.append((process.returncode, out, err))
    return found


def environment(**changes):
    """The environment with changes; None takes a variable away."""
    return {key: value for key, value in {**os.environ, **changes}.items() if value is not None}


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    """What every command's first example prints where nothing is odd."""
    return dict(zip(EXAMPLES, at_once(EXAMPLES.values(), cwd=stocked(tmp_path_factory.mktemp("plain"))), strict=True))


def test_every_command_shows_an_example_that_runs(plain):
    for command, (code, out, err) in plain.items():
        assert code in (0, 1, 3), (command, err)
        assert out, command


# --- any words ---

junk = st.one_of(
    st.text(alphabet=st.characters(exclude_categories=["Cs"], exclude_characters="/\0"), max_size=10),
    st.from_regex(r"[0-9]{1,4}(\.[0-9])?(k|Ki|%|ms|Gbps|GB/s)?(\.\.|,|:|:x|:\+|:n=)?[0-9]{0,2}", fullmatch=True),
    st.sampled_from(["llama2-70b", "100gbe,ib-ndr", "4k", "h100", "8", "fp8", "inf", "nan", "-", "@nothing", "1e400", "0", "decode", "csv", "\x1b[31m", "٣"]),
)


@st.composite
def lines(draw, command):
    """A command line of a command's own options and arguments, with words that nobody means."""
    words = [command]
    if draw(st.booleans()):
        words = list(EXAMPLES[command])
    options = [param for param in command_of(command).params if param.param_type_name == "option" and param.name not in LEFT_OUT]
    for option in draw(st.lists(st.sampled_from(options), max_size=4)) if options else []:
        words += [draw(st.sampled_from(option.opts))] if option.is_flag else [draw(st.sampled_from(option.opts)), draw(junk)]
    return words + draw(st.lists(junk.filter(lambda word: not word.startswith("-")), max_size=1))


@pytest.mark.parametrize("command", COMMANDS)
def test_any_words_are_answered_or_refused(command):
    @settings(max_examples=25)
    @given(lines(command))
    def holds(words):
        check(words)

    holds()


@settings(max_examples=60)
@given(st.lists(junk, max_size=4))
def test_any_words_at_all(words):
    check([word for word in words if word != "--debug"] or ["--help"])


# --- any bytes ---


def takes_file(param):
    """Whether an option or an argument may be a file to read."""
    return param.name not in LEFT_OUT and bool(re.search(r"FILE|PATH|PRESET|TRACE|FOLDER", str(param.metavar))) and param.name != "path"


DOORS = [(command, param.name) for command in COMMANDS for param in command_of(command).params if takes_file(param)]
SEEDS = [
    b"",
    b"\xff\xfe",
    b"\0",
    b"[",
    b"{}",
    b"{" * 2000,
    b"a: &a [*a]",
    b"- 1",
    b"model,ctx\nllama2-70b,1",
    CONFIG.encode(),
    b"links: {x: {}}",
    b"ctx: 1\nctx: 2",
    b"\xef\xbb\xbf{}",
]
contents = st.one_of(
    st.sampled_from(SEEDS),
    st.binary(max_size=60),
    st.builds(lambda seed, at, noise: seed[: at % (len(seed) + 1)] + noise, st.sampled_from(SEEDS), st.integers(0, 200), st.binary(max_size=4)),
)


@pytest.mark.parametrize(("command", "name"), DOORS, ids=" ".join)
def test_any_bytes_are_read_or_refused(command, name, folder):
    (param,) = (param for param in command_of(command).params if param.name == name)

    @settings(max_examples=10)
    @given(contents, st.sampled_from(["bytes.json", "bytes.yaml", "links.yaml", "bytes.csv"]))
    def holds(content, file):
        path = folder / file
        path.write_bytes(content)
        argument = param.param_type_name == "argument"
        words = [command] if argument else list(EXAMPLES[command])
        check([*words, str(path)] if argument else [*words, param.opts[0], str(path)])
        path.unlink()

    holds()


def test_there_are_doors():
    assert {("transfer", "input"), ("transfer", "catalog"), ("size", "model"), ("import", "files")} <= set(DOORS)


@pytest.mark.parametrize("option", ["--ctx", "--model"])
def test_a_file_of_words_may_hold_anything(option, folder):
    @settings(max_examples=30)
    @given(contents)
    def holds(content):
        (folder / "words").write_bytes(content)
        check(["size", "--model", "llama2-70b", "--ctx", "1k", option, "@words"])

    holds()


# --- where the answer goes ---


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
def test_a_full_disk_is_said_by_every_command(folder):
    with Path("/dev/full").open("wb") as full:
        for words, (code, _, err) in zip(EXAMPLES.values(), at_once(EXAMPLES.values(), stdout=full), strict=True):
            assert code == 2, words
            assert re.search(rb"^error: cannot write the answer: No space left on device\nhint: ", err, re.M), words
            assert b"Traceback" not in err


def test_a_closed_stdout_is_said_by_every_command():
    found = at_once([f"{shlex.join([*PYTHON, *words])} >&-" for words in EXAMPLES.values()])
    for words, (code, _, err) in zip(EXAMPLES.values(), found, strict=True):
        assert (code, err[:33]) == (2, b"error: standard output is closed\n"), words


def test_nothing_needs_a_home_or_a_folder_to_write_in(plain):
    """From a folder that nobody can write in, without HOME, TERM or PATH: the same answers."""
    odd = {key: value for key, value in os.environ.items() if key not in ("HOME", "TERM", "PATH", "USER", "XDG_CACHE_HOME")}
    same = [command for command in COMMANDS if command != "import" and "/" not in "".join(EXAMPLES[command])]
    found = at_once([EXAMPLES[command] for command in same], cwd="/proc", env=odd)
    assert dict(zip(same, found, strict=True)) == {command: plain[command] for command in same}


def test_a_file_where_nothing_can_be_written_is_refused():
    ((code, out, err),) = at_once([["transfer", "--model", "llama2-70b", "--ctx", "4k", "--link", "100gbe", "-o", "answer.csv"]], cwd="/proc")
    assert (code, out) == (2, b"")
    assert err.startswith(b"error: --output: cannot write answer.csv: ")


# --- locales and terminals ---


@pytest.mark.parametrize(
    "env",
    [
        {"LC_ALL": "C", "NO_COLOR": "1", "TERM": "dumb"},
        {"LC_ALL": "POSIX", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "FORCE_COLOR": None},
        {"LC_ALL": "tr_TR.UTF-8"},
    ],
    ids=lambda env: env["LC_ALL"],
)
def test_an_odd_environment_changes_no_answer(env, plain, folder):
    """But that an encoding without a character has it escaped."""
    for command, (code, out, _) in zip(EXAMPLES, at_once(EXAMPLES.values(), env=environment(**env), cwd=folder), strict=True):
        usual = plain[command]
        assert code == usual[0], command
        assert out in (usual[1], usual[1].decode().encode("ascii", "backslashreplace")), command


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    encoding = "utf-8"

    def isatty(self):
        return True


@pytest.mark.parametrize(
    "setting",
    [{"COLUMNS": "20"}, {"COLUMNS": "500"}, {"COLUMNS": "80", "NO_COLOR": "1"}, {"COLUMNS": "80", "FORCE_COLOR": "1"}, {"COLUMNS": "80", "TERM": "dumb"}],
    ids=str,
)
def test_any_terminal_shows_every_answer(setting, monkeypatch):
    for name, value in setting.items():
        monkeypatch.setenv(name, value)
    for command, words in EXAMPLES.items():
        screen = Terminal()
        with contextlib.redirect_stdout(screen), contextlib.redirect_stderr(io.StringIO()):
            assert run(words) in (0, 1, 3), command
        shown = screen.getvalue()
        assert shown, command
        if "NO_COLOR" in setting or "TERM" in setting:
            assert "\x1b" not in shown, command


# --- signals ---


def _attended():
    """Signals as a person's shell leaves them: a test run in the background may have them ignored."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_signal_leaves_no_file_behind(number, folder):
    given_in = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "preexec_fn": _attended}
    with subprocess.Popen([*PYTHON, *SWEEP, "-o", "answer.csv"], **given_in) as process:
        limit = time.monotonic() + 60
        while not list(folder.glob(".answer.csv.*")) and time.monotonic() < limit:
            time.sleep(0.01)
        assert list(folder.glob(".answer.csv.*"))
        process.send_signal(number)
        out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (128 + number, b"", b"")
    assert {file.name for file in folder.iterdir()} <= {"config.json", "presets"}


def test_ctrl_c_ends_a_running_sweep_in_silence():
    with subprocess.Popen([*PYTHON, *SWEEP], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=_attended) as process:  # noqa: PLW1509
        assert process.stdout.read(100)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (130, b"")


@pytest.mark.parametrize(
    ("module", "raised", "code"),
    [("kvcost.cli.app", "KeyboardInterrupt", 130), ("kvcost.cases.size", "KeyboardInterrupt", 130), ("typer", "SystemExit(143)", 143)],
)
def test_a_signal_while_the_command_is_loaded_ends_in_silence(module, raised, code):
    script = (
        "import sys\n"
        "class Stop:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        f"        if name == '{module}': raise {raised}\n"
        "sys.meta_path.insert(0, Stop())\n"
        "sys.argv = ['kvcost', 'size', '--model', 'llama2-70b', '--ctx', '4k']\n"
        "from kvcost.__main__ import main\n"
        "main()\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, timeout=60, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (code, b"", b"")


def test_nohup_stays_in_force(folder):
    words = shlex.join([*PYTHON, "size", "--model", "llama2-70b", "--ctx", "4k", "--json", "-o", "answer.json"])
    assert at_once([f"trap '' HUP; {words} & wait $!"])[0][0] == 0
    assert json.loads((folder / "answer.json").read_text())["rows"]


# --- crowds ---


def test_fifty_at_once_answer_alike():
    found = at_once([["transfer", "--model", "llama2-70b", "--ctx", "4k,8k", "--link", "100gbe", "--json"]] * 50)
    assert len(set(found)) == 1
    assert found[0][0] == 0


def test_first_runs_of_a_new_checkout_at_once(tmp_path):
    """Nothing is compiled yet: each may compile the catalog, none sees half of it."""
    source = Path(kvcost.__file__).parent
    shutil.copytree(source, tmp_path / "kvcost", ignore=shutil.ignore_patterns("*.compiled.json", "__pycache__", "*.tmp"))
    found = at_once([["links", "100gbe", "--json"]] * 6, cwd=tmp_path, env=environment(PYTHONPATH=str(tmp_path)))
    assert len(set(found)) == 1
    assert found[0][0] == 0
    assert not list((tmp_path / "kvcost").rglob("*.tmp"))


# --- no network ---


def test_no_command_opens_a_socket(monkeypatch):
    def refused(*args, **kwargs):
        raise AssertionError("a socket was opened")

    monkeypatch.setattr(socket, "socket", refused)
    monkeypatch.setattr(socket, "create_connection", refused)
    monkeypatch.setattr(socket, "getaddrinfo", refused)
    for command, words in EXAMPLES.items():
        assert ran(words)[0] in (0, 1, 3), command
    assert ran(["size", "--model", "nobody/nothing", "--ctx", "4k"])[0] == 2
