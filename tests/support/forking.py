"""A small program that serves with several workers: `python -m tests.support.forking COUNT`.

It stands for `sealdesk serve --workers COUNT` where only the processes matter and no database.
"""

import argparse
import asyncio
import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

import structlog

from sealdesk.server import draining, serve
from sealdesk.server.supervisor import Parent
from sealdesk.state import Lifetime
from sealdesk.telemetry import logs
from sealdesk.web.request import Receive, Scope, Send

log = structlog.get_logger("test")


async def app(scope: Scope, receive: Receive, send: Send) -> None:
    """Answers with its process: at once, at /slow?SECONDS, at /held?FILE once that file is there;
    ends at /die, hangs at /hang."""
    if scope["type"] == "lifespan":
        await receive()
        await send({"type": "lifespan.startup.complete"})
        await receive()
        await send({"type": "lifespan.shutdown.complete"})
        return
    match scope["path"]:
        case "/die":
            os._exit(3)
        case "/hang":
            time.sleep(60)  # noqa: ASYNC251 - the whole loop, as a mistake of ours might
        case "/slow":
            await asyncio.sleep(float(scope["query_string"]))
        case "/held":
            file = Path(scope["query_string"].decode())
            while not file.exists():  # noqa: ASYNC110, ASYNC240 - another process makes it
                await asyncio.sleep(0.02)
    body = json.dumps({"pid": os.getpid()}).encode()
    headers = [(b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def main() -> int:
    """--drain-s: instead of 10. --cut-after-s: instead of 9.5. --fails: no worker ever serves."""
    parser = argparse.ArgumentParser()
    parser.add_argument("count", type=int)
    parser.add_argument("--drain-s", type=int, default=draining.DRAIN_S)
    parser.add_argument("--cut-after-s", type=float, default=draining.CUT_AFTER_S)
    parser.add_argument("--fails", action="store_true")
    options = parser.parse_args()
    draining.DRAIN_S, draining.CUT_AFTER_S = options.drain_s, options.cut_after_s
    logs.configure("info")
    sockets = serve.bind_each("127.0.0.1", 0, options.count)
    url = f"http://127.0.0.1:{sockets[0].getsockname()[1]}"

    def work(number: int, on_ready: Callable[[], None]) -> int:
        log.info("begun")
        if options.fails:
            return 7
        sock = sockets[number - 1]
        return 0 if serve.serve(app, Lifetime(), sock, on_ready, _ONE_OF_SEVERAL) else 1

    return Parent(sockets, work, lambda: log.info("serving", url=url)).run(notice_s=0)


_ONE_OF_SEVERAL = serve.Ending(is_alone=False)

if __name__ == "__main__":
    sys.exit(main())
