"""The guard against the network is itself awake."""

import socket
import urllib.request

import pytest


def test_nothing_leaves_the_machine():
    with pytest.raises(AssertionError, match="tried to reach the network"):
        socket.create_connection(("192.0.2.1", 80), timeout=1)
    with pytest.raises(AssertionError, match="tried to reach the network"):
        urllib.request.urlopen("http://example.invalid/", timeout=1)


def test_a_test_may_serve_itself():
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname(), timeout=5) as client:
        assert client.getpeername() == server.getsockname()
