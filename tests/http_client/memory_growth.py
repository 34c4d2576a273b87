"""Memory growth of a client that posts to hostile receivers.

`python -m tests.http_client.memory_growth GOOD_URL HOSTILE_URL…` posts to all and measures itself.
"""

import asyncio
import json
import sys
import time
from pathlib import Path

import uvloop

from sealdesk.http_client import HttpClient, RequestFailed, client
from sealdesk.settings import Network
from tests.http_client.conftest import HEADERS, LOOPBACK

_OF_EACH = 3
_GOOD = 20
_BODY = b"x" * 2000


async def main(good: str, *hostile: str) -> None:
    client.TOTAL_S = 2.0
    allowed: tuple[Network, ...] = (LOOPBACK,)
    runner = HttpClient(allowed, allow_http=True)
    for _ in range(200):
        await runner.post(good, HEADERS, _BODY)
    before = _peak_kib()
    under_way = [asyncio.create_task(_try(runner, url)) for url in hostile * _OF_EACH]
    took_s: list[float] = []
    while len(took_s) < _GOOD or not all(one.done() for one in under_way):
        began = time.perf_counter()
        await runner.post(good, HEADERS, _BODY)
        took_s.append(time.perf_counter() - began)
        await asyncio.sleep(0.01)
    await runner.close()
    result = {"grown_kib": _peak_kib() - before, "slowest_s": max(took_s)}
    print(json.dumps(result))  # noqa: T201


async def _try(runner: HttpClient, url: str) -> None:
    try:
        await runner.post(url, HEADERS, _BODY)
    except RequestFailed:
        return


def _peak_kib() -> int:
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0])


if __name__ == "__main__":
    uvloop.run(main(*sys.argv[1:]))
