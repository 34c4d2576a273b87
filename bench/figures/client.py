"""Measures the Python client: an export of all tickets, its memory, and the cost of signing."""

import json
import subprocess
import sys
import time
from collections.abc import Sequence
from typing import NamedTuple

from bench.databases.sqlite_data import Data
from bench.figures.figure import Figure, Results
from bench.load.clients import WrongResponse
from bench.load.rounds import ShowProgress
from bench.plan import Plan
from bench.servers import processes
from bench.servers.processes import Cores, Server
from sealdesk.client.signing import Signer

_EXPORTED = 100_000
_SIGNATURES = 20_000
_PROGRAM = """
import json, sys, time
from itertools import islice
from sealdesk.client import Desk

def peak_kib():
    return int(open("/proc/self/status").read().partition("VmHWM:")[2].split()[0])

desk, count = Desk(*sys.argv[1:4]), int(sys.argv[4])
first = desk.tickets.list().first()
started_s, started_cpu_s = time.perf_counter(), time.process_time()
tickets = islice(desk.tickets.list(), count)
exported = sum(1 for _ in islice(tickets, count // 10))
early_peak_kib = peak_kib()
exported += sum(1 for _ in tickets)
found = {"seconds": time.perf_counter() - started_s, "cpu_s": time.process_time() - started_cpu_s}
found |= {"count": exported, "early_peak_kib": early_peak_kib, "peak_kib": peak_kib()}
print(json.dumps(found))
"""


class _Export(NamedTuple):
    """One export through the client, in a process of its own.

    growth_mib: of its peak memory, from the first tenth of the tickets to the last ticket.
    """

    tickets_per_s: float
    peak_mib: float
    growth_mib: float
    client_us: float
    server_us: float


def on_sqlite(plan: Plan, data: Data, show_progress: ShowProgress) -> Results:
    """Measure on SQLite. Raises WrongResponse."""
    signing_us = [_measure_signing(data) for _ in range(plan.rounds)]
    # The limits of the benchmark's keys are above what the export needs.
    with Cores() as cores, processes.sealdesk(data.settings, cores) as server:
        exports = []
        for number in range(plan.rounds):
            show_progress(f"export through the client: {number + 1} of {plan.rounds}")
            exports.append(_export(data, server, min(_EXPORTED, plan.big_tickets)))
    return Results(_build_figures(exports, signing_us), {})


def _build_figures(exports: Sequence[_Export], signing_us: list[float]) -> list[Figure]:
    rates, peaks, growths, client_us, server_us = map(list, zip(*exports, strict=True))
    return [
        Figure("export through the client", "tickets/s", True, 8_000, 8_000, rates),
        Figure("memory of an exporting client, peak", "MiB", False, 60, 60, peaks),
        Figure("growth of that after the first tenth", "MiB", False, None, None, growths),
        Figure("CPU of the client for an exported ticket", "µs", False, None, None, client_us),
        Figure("CPU of the server for an exported ticket", "µs", False, None, None, server_us),
        Figure("signing a request in the client", "µs", False, 30, 30, signing_us),
    ]


def _export(data: Data, server: Server, count: int) -> _Export:
    key = data.keys_of(data.big)[0]
    url = f"http://127.0.0.1:{server.port}"
    started_cpu_s = server.precise_cpu_s()
    done = subprocess.run(
        [sys.executable, "-c", _PROGRAM, key.api_key, key.api_secret, url, str(count)],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise WrongResponse(done.stderr[-500:])
    found = json.loads(done.stdout)
    if found["count"] != count:
        raise WrongResponse(f"{found['count']} instead of {count} tickets were exported")
    return _Export(
        count / found["seconds"],
        found["peak_kib"] / 1024,
        (found["peak_kib"] - found["early_peak_kib"]) / 1024,
        found["cpu_s"] / count * 1e6,
        (server.precise_cpu_s() - started_cpu_s) / count * 1e6,
    )


def _measure_signing(data: Data) -> float:
    key = data.keys_of(data.big)[0]
    signer = Signer(key.api_key, key.api_secret)
    targets = [b"/api/v1/external/tickets?per_page=100&cursor=%d" % n for n in range(_SIGNATURES)]
    started_s = time.process_time()
    for target in targets:
        signer.sign("GET", target, b"")
    return (time.process_time() - started_s) / _SIGNATURES * 1e6
