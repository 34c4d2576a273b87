"""A load that keeps count: who writes until it is acknowledged, and what must then be there."""

import asyncio
import time
import uuid
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from tests.resilience.lines import Answer, Key, Line
from tests.resilience.nodes import Node
from tests.resilience.reading import TICKETS, new_ticket

_PAUSE_S = 0.1  # of a writer that was refused; real clients wait for the Retry-After
_LOOK_S = 0.02
_WHOAMI = "/api/v1/external/whoami"


class Load:
    """Writers on all nodes, and one who looks at each node again and again.

    acknowledged: external ids of tickets → when. looks: by node, in order.
    """

    def __init__(self, nodes: list[Node], key: Key) -> None:
        self.nodes = nodes
        self.key = key
        self.acknowledged: dict[str, float] = {}
        self.looks: list[list[Answer]] = [[] for _ in nodes]
        self.retries = self.replayed = 0
        self.statuses: Counter[str] = Counter()
        self.unexpected: list[str] = []
        self.refused: list[Answer] = []
        self.longest_s = 0.0
        self._is_over = False
        self._pids = [node.process.pid for node in nodes]

    @asynccontextmanager
    async def running(self, writers: int) -> AsyncIterator[None]:
        """So many writers at work; in the end each waits for its last acknowledgement."""
        tasks = [asyncio.create_task(self._write(number)) for number in range(writers)]
        tasks += [asyncio.create_task(self._look(number)) for number in range(len(self.nodes))]
        try:
            yield
        finally:
            self._is_over = True
            await asyncio.gather(*tasks)

    async def _write(self, number: int) -> None:
        lines = [node.line() for node in self.nodes]
        while not self._is_over:
            external_id = str(uuid.uuid4())
            number = await self._until_acknowledged(lines, number, external_id)
        for line in lines:
            line.close()

    async def _until_acknowledged(self, lines: list[Line], number: int, external_id: str) -> int:
        """Each time on the next node, with the same Idempotency-Key."""
        body = new_ticket(external_id)
        until = time.monotonic() + 60
        while True:
            number += 1
            request = self.key.request("POST", TICKETS, body, idempotency_key=external_id)
            answer = self._noted(await lines[number % len(lines)].ask(request))
            if answer.status == 201:
                self.acknowledged[external_id] = answer.ended_at
                self.replayed += b"\r\nidempotent-replayed: true" in answer.head.lower()
                return number
            if time.monotonic() > until:
                self.unexpected.append("a write was never acknowledged")
                return number
            self.retries += 1
            await asyncio.sleep(_PAUSE_S)

    async def _look(self, number: int) -> None:
        line = self.nodes[number].line()
        while not self._is_over:
            answer = self._noted(await line.ask(self.key.request("GET", _WHOAMI)))
            self.looks[number].append(answer)
            await asyncio.sleep(_LOOK_S)
        line.close()

    def _noted(self, answer: Answer) -> Answer:
        self.longest_s = max(self.longest_s, answer.took_s)
        self.statuses[str(answer.status)] += 1
        if not answer.is_good:
            self.refused.append(answer)
            is_in_flight = answer.status == 409 and b"idempotency_in_flight" in answer.body
            has_advice = b"\r\nretry-after: " in answer.head.lower()
            if not (has_advice and (answer.status == 503 or is_in_flight)):
                self.unexpected.append(f"{answer.status} {answer.body[:200]!r}")
        return answer

    def healed_s(self, stopped_at: float, ready_at: float, until: float) -> float:
        """Seconds from ready_at until all nodes answered well, and none any more did not.

        until: when the next interruption began.
        """
        firsts = [
            next((a.ended_at for a in looks if a.is_good and a.began_at > stopped_at), float("inf"))
            for looks in self.looks
        ]
        late = [a.ended_at for a in self.refused if stopped_at < a.began_at and a.ended_at < until]
        return max(0.0, max([*firsts, *late]) - ready_at)

    def gap_s(self, killed_at: float) -> float:
        """Seconds from the last acknowledgement before to the first one after."""
        before = max(at for at in self.acknowledged.values() if at <= killed_at)
        after = min((at for at in self.acknowledged.values() if at > killed_at), default=None)
        return float("inf") if after is None else after - before

    async def figures(self) -> dict[str, Any]:
        """What was acknowledged against what is there, by the API's own list."""
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
        line = self.nodes[0].line()
        found: list[str] = []
        cursor = ""
        while True:
            answer = await line.ask(self.key.request("GET", f"{TICKETS}?per_page=100{cursor}"))
            if answer.status == 503:
                continue
            assert answer.status == 200, answer
            page = answer.json()
            found += [row["external_id"] for row in page["data"]]
            if not page["meta"]["has_more"]:
                line.close()
                return found
            cursor = f"&cursor={page['meta']['next_cursor']}"
