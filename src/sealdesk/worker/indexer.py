"""The indexer: keeps what is searched up to date with what happened, so that writes pay nothing."""

from typing import NamedTuple

from sealdesk.db.engine import Tx
from sealdesk.search.store import queue
from sealdesk.search.store.customers import CUSTOMERS
from sealdesk.search.store.queue import Kind
from sealdesk.search.store.tickets import TICKETS
from sealdesk.state import AppState

_KINDS = (TICKETS, CUSTOMERS)
_STEP_TENANTS = 20
_MERGES = 4
_QUIET_S = 1.0
# Of its time the indexer takes a fifth beside requests, for on SQLite it is their time. Another
# process's requests are not seen from here: there it takes half.
_REST_BESIDE_REQUESTS = 4
_REST_OF_WORKER = 1


class Step(NamedTuple):
    """How much of each kind is done in one transaction, for which on SQLite other writes wait.

    texts: are looked at. signs: of them are written. pages: of the index that are put together.
    """

    texts: int
    signs: int
    pages: int


BESIDE_REQUESTS = Step(20, 10_000, 16)
ALONE = Step(80, 50_000, 64)


class Indexer:
    """Looks at them in large steps while nobody asks for anything, otherwise in small ones."""

    def __init__(self, state: AppState) -> None:
        self._state = state
        self._is_worker = bool(state.settings.database_url)
        self._has_parts = not self._is_worker  # what a former process left
        self._answered = 0
        self._answered_at = 0.0

    async def turn(self, state: AppState) -> int:
        """Do a part of what there is to do; how much."""
        step = ALONE if self._is_alone() else BESIDE_REQUESTS
        done = await index(state, step)
        if done and not self._is_worker:
            self._has_parts = True
        for _ in range(_MERGES):
            if not self._has_parts:
                break
            self._has_parts = await state.database.write_in_background(
                lambda tx: _merge(tx, step.pages)
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
        now_s, answered = self._state.clock.monotonic_s(), self._state.metrics.answered
        if answered != self._answered:
            self._answered, self._answered_at = answered, now_s
        return now_s - self._answered_at > _QUIET_S


async def index(state: AppState, step: Step = BESIDE_REQUESTS) -> int:
    """Look at some tickets and customers of tenants who are behind; how many tenants."""
    if not await state.database.read_unindexed(_is_behind):
        return 0
    is_postgres = bool(state.settings.database_url)
    return await state.database.write_in_background(
        lambda tx: _step(tx, step, is_postgres=is_postgres)
    )


async def _is_behind(tx: Tx) -> bool:
    for kind in _KINDS:
        if await queue.list_behind(tx, kind, 1):
            return True
    return False


async def _step(tx: Tx, step: Step, *, is_postgres: bool) -> int:
    # Of several workers one at a time, so that a newer text is never replaced by an older one.
    if not await tx.try_lock("indexer"):
        return 0
    return sum([await _step_of(tx, kind, step, is_postgres=is_postgres) for kind in _KINDS])


async def _step_of(tx: Tx, kind: Kind, step: Step, *, is_postgres: bool) -> int:
    tenants = 0
    texts, signs = step.texts, step.signs
    for behind in await queue.list_behind(tx, kind, _STEP_TENANTS):
        todo = await queue.list_todo(tx, kind, behind, texts)
        put = await queue.put(tx, kind, behind.tenant_id, todo.ids, signs, is_postgres=is_postgres)
        await queue.note(tx, kind, todo.reached[put.texts])
        tenants, texts, signs = tenants + 1, texts - put.texts, signs - put.signs
        if texts <= 0 or signs <= 0:
            break
    return tenants


async def _merge(tx: Tx, pages: int) -> bool:
    return any([await queue.merge(tx, kind, pages) for kind in _KINDS])
