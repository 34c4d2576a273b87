"""Closing the door and cutting off: what the kernel and the loop do when they are asked to."""

import socket
import sys
from contextlib import closing

import pytest

from sealdesk import draining, server
from tests.support.service import Service
from tests.web.test_http import Connection

HALF = b"POST /api/v1/auth/login HTTP/1.1\r\nhost: t\r\ncontent-length: 10\r\n\r\n"


@pytest.mark.skipif(sys.platform != "linux", reason="other kernels have no such filter")
@pytest.mark.parametrize("host", ["127.0.0.1", "::1"])
def test_who_has_come_in_is_served_and_nobody_new_comes_in(host: str) -> None:
    if host == "::1" and not socket.has_ipv6:
        pytest.skip("this machine has no IPv6")
    with server.bind(host, 0) as sock:
        address = sock.getsockname()[:2]
        with socket.create_connection(address, timeout=5) as early:
            draining.turn_away(sock)
            with pytest.raises(TimeoutError):
                socket.create_connection(address, timeout=0.3)
            early.sendall(b"question")
            accepted, _ = sock.accept()
            with accepted:
                assert accepted.recv(100) == b"question"
                accepted.sendall(b"answer")
                assert early.recv(100) == b"answer"
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(address, timeout=5)


def test_what_does_not_end_is_cut_and_counted(
    own_service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(draining, "CUT_AFTER_S", 0.5)
    with closing(Connection(own_service)) as idle, closing(Connection(own_service)) as half:
        half.send(HALF)
        idle.send(b"GET /healthz HTTP/1.1\r\nhost: t\r\n\r\n")
        assert idle.reply().status == 200
        own_service.stop()
        assert own_service._server.cut_count == 1
        assert (idle.is_closed(), half.is_closed()) == (True, True)
