"""What every test gets: a compiled catalog, no network, and two ways to run a command."""

import os
import socket
import subprocess
import sys
from typing import NamedTuple

import pytest
from hypothesis import settings

from kvcost.catalog.store import KINDS, compile_builtin
from kvcost.cli.app import run

# The same examples every time: a red test is then a change in the code.
settings.register_profile("suite", max_examples=60, deadline=None, derandomize=True)
settings.load_profile("suite")


class Ran(NamedTuple):
    """How a command ended and what it printed."""

    code: int
    out: str
    err: str


@pytest.fixture(scope="session", autouse=True)
def compiled_catalog():
    """A source checkout compiles its catalog on the first run; do it once, so that no test pays or measures it."""
    for kind in KINDS:
        compile_builtin(kind)


def _is_here(address):
    """Whether an address is this machine's own: a test may serve itself."""
    host = address[0] if isinstance(address, tuple) else address
    return host in ("127.0.0.1", "::1", "localhost")


@pytest.fixture(scope="session", autouse=True)
def no_network():
    """Nothing that is tested here may leave the machine."""

    def guarded(original, place):
        def call(*args, **kwargs):
            assert _is_here(args[place]), f"a test tried to reach the network: {args[place]}"
            return original(*args, **kwargs)

        return call

    with pytest.MonkeyPatch.context() as patch:
        for name in ("connect", "connect_ex", "bind"):
            patch.setattr(socket.socket, name, guarded(getattr(socket.socket, name), 1))
        for name in ("getaddrinfo", "gethostbyname"):
            patch.setattr(socket, name, guarded(getattr(socket, name), 0))
        yield


@pytest.fixture(autouse=True)
def plain_environment(monkeypatch):
    """The terminal and the catalog of whoever runs the tests stay out of them."""
    for name in ("KVCOST_CATALOG", "NO_COLOR", "FORCE_COLOR", "COLUMNS", "LINES", "PYTHONIOENCODING", "GITHUB_ACTIONS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")


@pytest.fixture
def kvcost(capsys):
    """Run a command line in this process."""

    def call(*words):
        code = run([str(word) for word in words])
        captured = capsys.readouterr()
        return Ran(code, captured.out, captured.err)

    return call


@pytest.fixture(scope="session")
def spawn():
    """Run a command line in a process of its own."""

    def call(*words, env=None, **more):
        command = [sys.executable, "-m", "kvcost", *map(str, words)]
        given = {"stdin": subprocess.DEVNULL} if "input" not in more else {}
        done = subprocess.run(command, env={**os.environ, **(env or {})}, capture_output=True, timeout=60, check=False, **{**given, **more})
        return Ran(done.returncode, done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace"))

    return call
