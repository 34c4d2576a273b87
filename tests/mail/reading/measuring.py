"""`python -m tests.mail.reading.measuring`: what reading folders costs, against a Dovecot.

The processor time of 50 idle mailboxes in a minute, how long a message takes to become a ticket,
how many are read in a second, and the memory of a message of 25 MiB.
"""

import os
import statistics
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

from tests.http_client.receivers import Authority
from tests.mail.reading.conftest import LOOPBACK
from tests.mail.reading.support import Desk
from tests.mail.receiving import killing
from tests.mail.receiving.killing import Place
from tests.mail.support import message, with_files
from tests.servers import Dovecot, free_port, server_directory
from tests.support.service import running

_MAILBOXES = 50
_IDLE_S = 60.0
_TICKS = os.sysconf("SC_CLK_TCK")


def main() -> None:
    with ExitStack() as stack:
        directory = stack.enter_context(server_directory())
        certificates = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        authority = Authority(certificates)
        dovecot = Dovecot.start(directory / "dovecot", authority.certificate("localhost"))
        data = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        env = {**LOOPBACK, "SSL_CERT_FILE": str(authority.file)}
        with running(data, None, **env) as service:
            without = Place(data, env, None, "", "", free_port())
        _say("idle without a mailbox", _idle(without))
        with running(data, None, **env) as service:
            desks = [Desk(service, dovecot) for _ in range(_MAILBOXES)]
        place = Place(data, env, None, desks[0].address, desks[0].tenant.id, free_port())
        _say(f"idle with {_MAILBOXES} mailboxes", _idle(place))
        _measure_messages(place, dovecot)


def _idle(place: Place) -> str:
    with killing.received(place) as process:
        time.sleep(15)  # until all are connected
        before = _cpu_s(process.pid)
        time.sleep(_IDLE_S)
        share = (_cpu_s(process.pid) - before) / _IDLE_S
        return f"{share:.2%} of a core, {_rss_mib(process.pid)} MiB"


def _measure_messages(place: Place, dovecot: Dovecot) -> None:
    with killing.received(place) as process:
        time.sleep(10)
        delays = [_delay_s(place, dovecot, number) for number in range(10)]
        _say("message to ticket, median", f"{statistics.median(delays):.2f} s")
        before, begun = _count(place), time.monotonic()
        for number in range(1000):
            sender = f"person{number}@example.test"
            dovecot.put(place.address, message("x" * 20_000, subject="Many", sender=sender))
        while _count(place) < before + 1000:
            time.sleep(0.05)
        _say("1000 messages of 20 KiB", f"{1000 / (time.monotonic() - begun):.0f} a second")
        rss, before = _peak_mib(process.pid), _count(place)
        content = os.urandom(18 * 2**20)
        dovecot.put(place.address, with_files((("large.bin", content),), subject="Large"))
        while _count(place) == before:
            time.sleep(0.05)
        _say("a message of 25 MiB", f"{_peak_mib(process.pid) - rss} MiB more at the peak")


def _delay_s(place: Place, dovecot: Dovecot, number: int) -> float:
    before, begun = _count(place), time.monotonic()
    dovecot.put(place.address, message(sender=f"single{number}@example.test"))
    while _count(place) == before:
        time.sleep(0.01)
    return time.monotonic() - begun


def _count(place: Place) -> int:
    import sqlite3

    with sqlite3.connect(place.data_dir / "sealdesk.db") as connection:
        return int(connection.execute("SELECT count(*) FROM received_messages").fetchone()[0])


def _cpu_s(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS


def _rss_mib(pid: int) -> int:
    return _status(pid, "VmRSS")


def _peak_mib(pid: int) -> int:
    return _status(pid, "VmHWM")


def _status(pid: int, name: str) -> int:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) // 1024 for line in lines if line.startswith(name))


def _say(what: str, value: str) -> None:
    sys.stdout.write(f"{what}: {value}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
