"""`python -m tests.support.serving_program`: the server with an application for tests.

It stands for `sealdesk serve` where only the process matters and not the database.
"""

import argparse
import asyncio
import json
import logging
import os
import sys
import time
from functools import partial
from pathlib import Path

from sealdesk.rate_limits.byte_budget import ByteBudget
from sealdesk.server import draining, serve
from sealdesk.server.received import ReceivedBytes
from sealdesk.state import Lifetime
from sealdesk.telemetry import logs
from sealdesk.web.request import Receive, Scope, Send

log = logging.getLogger("test")


async def app(scope: Scope, receive: Receive, send: Send) -> None:
    """Responds at once; /slow?SECONDS waits, /held?FILE waits for a file, /hang blocks the loop."""
    if scope["type"] == "lifespan":
        await receive()
        await send({"type": "lifespan.startup.complete"})
        await receive()
        await send({"type": "lifespan.shutdown.complete"})
        return
    match scope["path"]:
        case "/hang":
            time.sleep(60)  # noqa: ASYNC251 - blocks the event loop, as a bug might
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
    """--drain-s: instead of 10. --abort-after-s: instead of 9.5."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--drain-s", type=int, default=draining.DRAIN_S)
    parser.add_argument("--abort-after-s", type=float, default=draining.ABORT_AFTER_S)
    options = parser.parse_args()
    draining.DRAIN_S, draining.ABORT_AFTER_S = options.drain_s, options.abort_after_s
    logs.configure("info")
    sock = serve.bind("127.0.0.1", 0)
    url = f"http://127.0.0.1:{sock.getsockname()[1]}"
    received = ReceivedBytes(ByteBudget(64 * 1024 * 1024), ())
    on_ready = partial(log.info, "serving", extra={"url": url})
    return 0 if serve.serve(app, Lifetime(), received, sock, on_ready) else 1


if __name__ == "__main__":
    sys.exit(main())
