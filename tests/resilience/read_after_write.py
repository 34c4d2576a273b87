"""A write that one node acknowledged is visible on the other nodes."""

import asyncio
import time
from typing import Any

import uvloop

from tests.resilience.connections import Connection, Key
from tests.resilience.figures import Progress, Target, no_progress
from tests.resilience.nodes import Installation, Node

TARGETS = (
    Target("trials", "≥", 2000, within=1),
    Target("missing", "=", 0),
    Target("missing_in_list", "=", 0),
    Target("unexpected", "=", 0),
)
TICKETS = "/api/v1/external/tickets"
_AT_ONCE = 4


class _Observed:
    def __init__(self) -> None:
        self.created = self.missing = self.missing_in_list = 0
        self.unexpected: list[str] = []


def run(
    installation: Installation, *, trials: int = 2000, progress: Progress = no_progress
) -> dict[str, Any]:
    """Write on each node in turn, read at once on the two others: by id, and in a list."""
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(_measure(installation.shared_nodes(), installation.key, trials, progress))


async def _measure(nodes: list[Node], key: Key, trials: int, progress: Progress) -> dict[str, Any]:
    observed = _Observed()
    numbers = iter(range(trials))
    began_at = time.monotonic()

    async def run_client() -> None:
        connections = [node.connection() for node in nodes]
        for number in numbers:
            await _one(key, connections[number % 3 :] + connections[: number % 3], number, observed)
            progress(observed.created, trials)
        for connection in connections:
            connection.close()

    await asyncio.gather(*(run_client() for _ in range(_AT_ONCE)))
    return {
        "trials": observed.created,
        "missing": observed.missing,
        "missing_in_list": observed.missing_in_list,
        "unexpected": len(observed.unexpected),
        "first_unexpected": observed.unexpected[:1],
        "seconds": round(time.monotonic() - began_at, 1),
    }


async def _one(key: Key, connections: list[Connection], number: int, observed: _Observed) -> None:
    writing, reading, listing = connections
    ticket = new_ticket(f"trial {number}")
    created = await writing.send(key.request("POST", TICKETS, ticket))
    observed.created += 1
    if created.status != 201:
        observed.unexpected.append(f"{created.status} {created.body[:200]!r}")
        return
    ticket_id = created.json()["data"]["id"]
    found, listed = await asyncio.gather(
        reading.send(key.request("GET", f"{TICKETS}/{ticket_id}")),
        listing.send(key.request("GET", f"{TICKETS}?per_page=25")),
    )
    if found.status not in (200, 404) or listed.status != 200:
        observed.unexpected.append(f"{found.status} {listed.status} {listed.body[:200]!r}")
        return
    observed.missing += found.status == 404
    observed.missing_in_list += ticket_id not in [row["id"] for row in listed.json()["data"]]


def new_ticket(external_id: str) -> dict[str, object]:
    """The body of a ticket that can be told from all others."""
    return {
        "subject": "A subject",
        "description": "A description",
        "customer": {"email": "customer@example.test"},
        "external_id": external_id,
    }
