"""Ports of loopback, of which none is given twice while the process runs that has got it.

What one test leaves undelivered is attempted again later. If a server of another test had got the
port meanwhile, it would receive the first test's e-mail and webhooks.
"""

import random
import socket
from pathlib import Path

HOST = "127.0.0.1"
_MOST_TRIES = 1000
# SystemRandom, because pytest-randomly seeds `random` alike in every process.
_random = random.SystemRandom()


def free_port() -> int:
    """A TCP port of loopback that nothing listens on. Raises OSError when there is none.

    Below the ports that the system gives to clients: there, a client that reconnects while the
    server is away may take the server's own port, or even connect to itself.
    """
    lowest = int(Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
    for _ in range(_MOST_TRIES):
        port = _random.randrange(max(1024, lowest - 16_000), max(2048, lowest))
        if _is_unused(port) and claim(port):
            return port
    raise OSError(f"no free port on {HOST}")


def _is_unused(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError:
            return False
    return True


def claim(port: int) -> bool:
    """Whether no other process has the port; this one has it until it ends.

    A claim is the name of a socket that nobody connects to: the system frees it in any case.
    """
    with socket.socket(socket.AF_UNIX) as claim:
        try:
            claim.bind(f"\0sealdesk-tests-port-{port}")
        except OSError:
            return False
        claim.detach()  # it stays open
    return True
