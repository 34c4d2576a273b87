"""The indexer: keeps what is searched up to date with what happened, so that writes pay nothing."""

from typing import NamedTuple

from sealdesk.db.engine import Tx
from sealdesk.search import queue
from sealdesk.search.queue import Behind, Todo
from sealdesk.shared import Shared

_STEP_TENANTS = 20
_TICKETS_OF_CUSTOMER = 100
_MERGES = 4
_QUIET_S = 1.0
# Of its time the indexer takes a fifth beside requests, for on SQLite it is their time. Another
# process's requests are not seen from here: there it takes half.
_REST_BESIDE_REQUESTS = 4
_REST_OF_WORKER = 1


class Step(NamedTuple):
    """How much is done in one transaction, for which on SQLite other writes wait.

    signs: of the texts that are written. pages: of the index that are put together.
    """

    tickets: int
    signs: int
    pages: int


BESIDE_REQUESTS = Step(20, 10_000, 16)
ALONE = Step(80, 50_000, 64)


class Indexer:
    """Looks at tickets in large steps while nobody asks for anything, otherwise in small ones."""

    def __init__(self, shared: Shared) -> None:
        self._shared = shared
        self._is_worker = bool(shared.settings.database_url)
        self._has_parts = not self._is_worker  # what a former process left
        self._answered = 0
        self._answered_at = 0.0

    async def turn(self, shared: Shared) -> int:
        """Do a part of what there is to do; how much."""
        step = ALONE if self._is_alone() else BESIDE_REQUESTS
        done = await index(shared, step)
        if done and not self._is_worker:
            self._has_parts = True
        for _ in range(_MERGES):
            if not self._has_parts:
                break
            self._has_parts = await shared.database.write_aside(
                lambda tx: queue.merge(tx, step.pages)
            )
            done += self._has_parts
        return done

    def rest_s(self, took_s: float) -> float:
        """How long to leave everything to others after a turn that took so long."""
        if self._is_worker:
            return _REST_OF_WORKER * took_s
        return 0.0 if self._is_alone() else _REST_BESIDE_REQUESTS * took_s

    def _is_alone(self) -> bool:
        """Whether this process has answered no request for a second."""
        now_s, answered = self._shared.clock.monotonic_s(), self._shared.metrics.answered
        if answered != self._answered:
            self._answered, self._answered_at = answered, now_s
        return now_s - self._answered_at > _QUIET_S


async def index(shared: Shared, step: Step = BESIDE_REQUESTS) -> int:
    """Look at some tickets of tenants who are behind; how many tenants."""
    if not await shared.database.read_slowly(lambda tx: queue.list_behind(tx, 1)):
        return 0
    is_postgres = bool(shared.settings.database_url)
    return await shared.database.write_aside(lambda tx: _step(tx, step, is_postgres=is_postgres))


async def _step(tx: Tx, step: Step, *, is_postgres: bool) -> int:
    # Of several workers one at a time, so that a newer text is never replaced by an older one.
    if not await tx.try_lock("indexer"):
        return 0
    tenants = 0
    tickets, signs = step.tickets, step.signs
    for behind in await queue.list_behind(tx, _STEP_TENANTS):
        todo = await _todo(tx, behind, tickets)
        put = await queue.put(tx, behind.tenant_id, todo.ticket_ids, signs, is_postgres=is_postgres)
        await queue.note(tx, todo.reached[put.tickets])
        tenants, tickets, signs = tenants + 1, tickets - put.tickets, signs - put.signs
        if tickets <= 0 or signs <= 0:
            break
    return tenants


async def _todo(tx: Tx, behind: Behind, limit: int) -> Todo:
    if behind.after_id is None:
        return await queue.list_touched(tx, behind, limit, _TICKETS_OF_CUSTOMER)
    return await queue.list_older(tx, behind, limit)
