"""A server whose file descriptors are used up, and one that starts with a low limit."""

import resource
import socket
from contextlib import ExitStack
from urllib.parse import urlsplit

import httpx

from tests.cli.terminal import Served, Terminal, serving
from tests.support.service import wait_until

_FREE = 8
_TIMEOUT_S = 60  # for a machine with much else to do
_EXHAUSTED = "sealdesk_descriptors_exhausted_seconds_total"


def _leave(served: Served, free_count: int) -> None:
    """Lower the soft limit of the server, so that it can open this many further files."""
    pid = served.process.pid
    _, hard = resource.prlimit(pid, resource.RLIMIT_NOFILE)
    # Descriptors have the lowest free numbers, and only a few are closed in between.
    used = int(float(_metric(served, "process_open_fds")))
    resource.prlimit(pid, resource.RLIMIT_NOFILE, (used + free_count, hard))


def _metric(served: Served, name: str) -> str:
    lines = httpx.get(f"{served.url}/metrics", timeout=_TIMEOUT_S).text.splitlines()
    return next(line for line in lines if line.startswith(f"{name} ")).split()[1]


def test_exhausted_descriptors_are_logged_once_with_the_limit_and_counted(
    installed: Terminal,
) -> None:
    with serving(installed) as served, ExitStack() as stack:
        address = urlsplit(served.url)
        _leave(served, _FREE)
        for _ in range(3 * _FREE):
            connected = socket.create_connection((address.hostname, address.port))
            stack.enter_context(connected)
        logged = served.next_log("no file descriptor is left: new connections are closed")
        stack.close()
        wait_until(lambda: _serves(served))
        assert float(_metric(served, _EXHAUSTED)) >= 1
    assert (logged["level"], logged["limit"] > _FREE) == ("error", True)
    assert "LimitNOFILE" in logged["advice"]


def _serves(served: Served) -> bool:
    try:
        return httpx.get(f"{served.url}/readyz", timeout=_TIMEOUT_S).status_code == 200
    except httpx.TransportError:
        return False


def test_soft_limit_is_raised_and_a_low_hard_limit_is_logged(installed: Terminal) -> None:
    def lower() -> None:
        resource.setrlimit(resource.RLIMIT_NOFILE, (300, 500))

    with serving(installed, preexec_fn=lower) as served:
        limits = resource.prlimit(served.process.pid, resource.RLIMIT_NOFILE)
        (warned,) = [line for line in served.log if line["event"] == "few file descriptors"]
    assert (limits, warned["limit"]) == ((500, 500), 500)
