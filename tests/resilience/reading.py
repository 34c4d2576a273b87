"""What was acknowledged by one node is there on the others."""

import asyncio
import time
from typing import Any

import uvloop

from tests.resilience.figures import Target, Tell, quiet
from tests.resilience.lines import Key, Line
from tests.resilience.nodes import Installation, Node

TARGETS = (
    Target("trials", "≥", 2000, within=1),
    Target("missing", "=", 0),
    Target("missing_in_list", "=", 0),
    Target("unexpected", "=", 0),
)
TICKETS = "/api/v1/external/tickets"
_AT_ONCE = 4


class _Seen:
    def __init__(self) -> None:
        self.written = self.missing = self.missing_in_list = 0
        self.unexpected: list[str] = []


def run(installation: Installation, *, trials: int = 2000, tell: Tell = quiet) -> dict[str, Any]:
    """Write on each node in turn, read at once on the two others: by id, and in a list."""
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(_proven(installation.three(), installation.key, trials, tell))


async def _proven(nodes: list[Node], key: Key, trials: int, tell: Tell) -> dict[str, Any]:
    seen = _Seen()
    numbers = iter(range(trials))
    began_at = time.monotonic()

    async def go_on() -> None:
        lines = [node.line() for node in nodes]
        for number in numbers:
            await _one(key, lines[number % 3 :] + lines[: number % 3], number, seen)
            tell(seen.written, trials)
        for line in lines:
            line.close()

    await asyncio.gather(*(go_on() for _ in range(_AT_ONCE)))
    return {
        "trials": seen.written,
        "missing": seen.missing,
        "missing_in_list": seen.missing_in_list,
        "unexpected": len(seen.unexpected),
        "first_unexpected": seen.unexpected[:1],
        "seconds": round(time.monotonic() - began_at, 1),
    }


async def _one(key: Key, lines: list[Line], number: int, seen: _Seen) -> None:
    writing, reading, listing = lines
    ticket = new_ticket(f"trial {number}")
    written = await writing.ask(key.request("POST", TICKETS, ticket))
    seen.written += 1
    if written.status != 201:
        seen.unexpected.append(f"{written.status} {written.body[:200]!r}")
        return
    ticket_id = written.json()["data"]["id"]
    found, listed = await asyncio.gather(
        reading.ask(key.request("GET", f"{TICKETS}/{ticket_id}")),
        listing.ask(key.request("GET", f"{TICKETS}?per_page=25")),
    )
    if found.status not in (200, 404) or listed.status != 200:
        seen.unexpected.append(f"{found.status} {listed.status} {listed.body[:200]!r}")
        return
    seen.missing += found.status == 404
    seen.missing_in_list += ticket_id not in [row["id"] for row in listed.json()["data"]]


def new_ticket(external_id: str) -> dict[str, object]:
    """The body of a ticket that can be told from all others."""
    return {
        "subject": "A subject",
        "description": "A description",
        "customer": {"email": "customer@example.test"},
        "external_id": external_id,
    }
