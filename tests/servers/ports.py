"""Ports of loopback, of which none is given to a second server soon.

What one test leaves undelivered is attempted again later. If a server of another test had got the
port meanwhile, it would receive the first test's e-mail and webhooks.
"""

import fcntl
import os
import random
import socket
import tempfile
from pathlib import Path

HOST = "127.0.0.1"
_COUNT = 16_000  # several runs
_MOST_TRIES = 1000


def free_port() -> int:
    """A TCP port of loopback that nothing listens on. Raises OSError when there is none.

    Below the ports that the system gives to clients: there, a client that reconnects while the
    server is away may take the server's own port, or even connect to itself.
    """
    end = int(Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
    lowest = max(1024, end - _COUNT)
    for _ in range(_MOST_TRIES):
        port = lowest + count_up() % (end - lowest)
        if _is_unused(port):
            return port
    raise OSError(f"no free port on {HOST}")


def count_up() -> int:
    """The next number for all test processes of this user; the first one is random."""
    path = Path(tempfile.gettempdir(), f"sealdesk-tests-port-{os.getuid()}")
    with path.open("a+") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        file.seek(0)
        # SystemRandom, because pytest-randomly seeds `random` alike in every process.
        last = int(file.read() or random.SystemRandom().randrange(_COUNT))
        file.truncate(0)
        file.write(str(last + 1))
    return last + 1


def _is_unused(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError:
            return False
    return True
