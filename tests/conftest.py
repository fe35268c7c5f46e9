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


@pytest.fixture(scope="session", autouse=True)
def no_network():
    """Nothing that is tested here may open a connection, but to a server of its own on the loopback address."""

    def guarded(real):
        def call(sock, address, *args):
            if isinstance(address, tuple) and address[0] != "127.0.0.1":
                raise AssertionError("a test tried to reach the network")
            return real(sock, address, *args)

        return call

    def refuse(*args, **kwargs):
        raise AssertionError("a test tried to reach the network")

    with pytest.MonkeyPatch.context() as patch:
        for name in ("connect", "connect_ex", "bind"):
            patch.setattr(socket.socket, name, guarded(getattr(socket.socket, name)))
        for name in ("getaddrinfo", "create_connection", "gethostbyname"):
            patch.setattr(socket, name, refuse)
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
