"""A load of writers that retry until acknowledged, and a check of what is stored afterwards."""

import asyncio
import time
import uuid
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from tests.resilience.connections import Connection, Key, Response
from tests.resilience.nodes import Node
from tests.resilience.read_after_write import TICKETS, new_ticket

_PAUSE_S = 0.1  # after a refusal; real clients wait for the Retry-After
_LOOK_S = 0.02
_WHOAMI = "/api/v1/external/whoami"


class Load:
    """Writers on all nodes, and one reader per node.

    acknowledged: when, by external id of the ticket. looks: the responses to readers, by node.
    """

    def __init__(self, nodes: list[Node], key: Key) -> None:
        self.nodes = nodes
        self.key = key
        self.acknowledged: dict[str, float] = {}
        self.looks: list[list[Response]] = [[] for _ in nodes]
        self.retries = self.replayed = 0
        self.statuses: Counter[str] = Counter()
        self.unexpected: list[str] = []
        self.refused: list[Response] = []
        self.longest_s = 0.0
        self._is_finished = False
        self._pids = [node.process.pid for node in nodes]

    @asynccontextmanager
    async def running(self, writers: int) -> AsyncIterator[None]:
        """Run so many writers; at the end each waits for its last acknowledgement."""
        tasks = [asyncio.create_task(self._write(number)) for number in range(writers)]
        tasks += [asyncio.create_task(self._look(number)) for number in range(len(self.nodes))]
        try:
            yield
        finally:
            self._is_finished = True
            await asyncio.gather(*tasks)

    async def _write(self, number: int) -> None:
        connections = [node.connection() for node in self.nodes]
        while not self._is_finished:
            external_id = str(uuid.uuid4())
            number = await self._until_acknowledged(connections, number, external_id)
        for connection in connections:
            connection.close()

    async def _until_acknowledged(
        self, connections: list[Connection], number: int, external_id: str
    ) -> int:
        """Retry on the next node each time, with the same Idempotency-Key."""
        body = new_ticket(external_id)
        until = time.monotonic() + 120
        while True:
            number += 1
            request = self.key.request("POST", TICKETS, body, idempotency_key=external_id)
            response = self._record(await connections[number % len(connections)].send(request))
            if response.status == 201:
                self.acknowledged[external_id] = response.ended_at
                self.replayed += b"\r\nidempotent-replayed: true" in response.head.lower()
                return number
            if time.monotonic() > until:
                self.unexpected.append("a write was never acknowledged")
                return number
            self.retries += 1
            await asyncio.sleep(_PAUSE_S)

    async def _look(self, number: int) -> None:
        connection = self.nodes[number].connection()
        while not self._is_finished:
            response = self._record(await connection.send(self.key.request("GET", _WHOAMI)))
            self.looks[number].append(response)
            await asyncio.sleep(_LOOK_S)
        connection.close()

    def _record(self, response: Response) -> Response:
        self.longest_s = max(self.longest_s, response.took_s)
        self.statuses[str(response.status)] += 1
        if not response.is_good:
            self.refused.append(response)
            is_in_flight = response.status == 409 and b"idempotency_in_flight" in response.body
            has_advice = b"\r\nretry-after: " in response.head.lower()
            if not (has_advice and (response.status == 503 or is_in_flight)):
                self.unexpected.append(f"{response.status} {response.body[:200]!r}")
        return response

    def recovered_s(self, stopped_at: float, ready_at: float, until: float) -> float:
        """Seconds from ready_at until every node succeeds and none fails.

        until: when the next interruption began.
        """
        firsts = [
            next((a.ended_at for a in looks if a.is_good and a.began_at > stopped_at), float("inf"))
            for looks in self.looks
        ]
        late = [a.ended_at for a in self.refused if stopped_at < a.began_at and a.ended_at < until]
        return max(0.0, max([*firsts, *late]) - ready_at)

    def gap_s(self, killed_at: float) -> float:
        """Seconds between the last acknowledgement before `killed_at` and the first one after."""
        before = max(at for at in self.acknowledged.values() if at <= killed_at)
        after = min((at for at in self.acknowledged.values() if at > killed_at), default=None)
        return float("inf") if after is None else after - before

    async def figures(self) -> dict[str, Any]:
        """Compare the acknowledged writes with the tickets that the API lists; the figures."""
        there = Counter(await self._listed())
        lost = [external_id for external_id in self.acknowledged if external_id not in there]
        restarted = [
            pid
            for pid, node in zip(self._pids, self.nodes, strict=True)
            if node.process.pid != pid or not node.process.is_running()
        ]
        return {
            "acknowledged": len(self.acknowledged),
            "lost": len(lost),
            "duplicated": sum(there[external_id] > 1 for external_id in self.acknowledged),
            "retries": self.retries,
            "replayed": self.replayed,
            "longest_request_s": round(self.longest_s, 3),
            "processes_restarted": len(restarted),
            "answers": dict(sorted(self.statuses.items())),
            "unexpected": len(self.unexpected),
            "first_unexpected": self.unexpected[:3],
        }

    async def _listed(self) -> list[str]:
        connection = self.nodes[0].connection()
        found: list[str] = []
        cursor = ""
        while True:
            response = await connection.send(
                self.key.request("GET", f"{TICKETS}?per_page=100{cursor}")
            )
            if response.status == 503:
                continue
            assert response.status == 200, response
            page = response.json()
            found += [row["external_id"] for row in page["data"]]
            if not page["meta"]["has_more"]:
                connection.close()
                return found
            cursor = f"&cursor={page['meta']['next_cursor']}"
