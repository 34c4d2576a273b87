"""The steps of a move of one tenant; each command goes on where the last one stopped.

| source  | target    | what follows                                                   |
|---------|-----------|----------------------------------------------------------------|
| -       | -         | both get the marks of the move                                 |
| copying | receiving | copy, compare, wait for the worker, refuse writes at the source |
| fenced  | receiving | copy the last changes, open the tenant at the target            |
| fenced  | ready     | switch requests over, close the tenant at the source            |
| closed  | -         | nothing; the rows at the source can be deleted                  |
| any     | abandoned | delete the rows at the target; then the source has no marks     |
"""

import time
from collections.abc import Collection, Sequence
from typing import NamedTuple
from uuid import uuid4

from asyncpg import Connection

from sealdesk.db.migrations.schema_version import Unusable
from sealdesk_move.copy import Progress, Summary
from sealdesk_move.tenant import checks, copying, ending, fence, marks, rows
from sealdesk_move.tenant.copying import Pair
from sealdesk_move.tenant.marks import Marks, State

# Changes are copied again and again until so few are left, or as many come as are copied.
_FEW_CHANGES = 100
_MAX_ROUNDS = 30
_OF_TARGET = (marks.RECEIVING.name, marks.READY.name, marks.ABANDONED.name)


class Sides(NamedTuple):
    """The two installations, and the marks of the move in them."""

    source: Marks
    target: Marks


class Plan(NamedTuple):
    """What a move needs to know of the installations.

    fingerprints: of the master keys. consumers: of the event log, which handle all events at the
    source first.
    """

    fingerprints: Collection[str]
    consumers: Sequence[str]


class Moved(NamedTuple):
    """A tenant that the target serves. summaries: of what was compared by this call, by table.

    refused_since: when the source began to refuse writes, of the clock time.monotonic; 0.0 if it
    was before this call. is_closed: whether the source has closed it already.
    """

    summaries: dict[str, Summary]
    refused_since: float
    is_closed: bool = False


def sides_of(source: Connection, target: Connection, tenant_id: str) -> Sides:
    """Raises Unusable unless it is the id of a tenant."""
    return Sides(Marks(source, tenant_id), Marks(target, tenant_id))


async def move(sides: Sides, tenant_id: str, plan: Plan, progress: Progress) -> Moved:
    """Copy a tenant and open it at the target, or go on with that; the source refuses its writes.

    `close` follows, when requests reach the target. Raises Unusable, and the errors of both
    databases.
    """
    _check_sides(*await _read(sides))
    if await _is_closed(sides):
        return Moved({}, 0.0, is_closed=True)
    pair = await _begin(sides, tenant_id, plan)
    moved = Moved({}, 0.0)
    if await _phase_of(sides.target) != marks.READY.name:
        if await _phase_of(sides.source) != "fenced":
            summaries = await _copy(sides, pair, plan, progress)
            moved = Moved(summaries, time.monotonic())
            await fence.fence(sides.source, pair.tenant_ids, plan.consumers)
        await _open(sides, pair)
    return moved


async def close(sides: Sides) -> None:
    """Close the tenant at the source, after `move`; its rows stay there, hidden."""
    state = await sides.source.read()
    if state is not None and state.phase != marks.CLOSED.name:
        await sides.source.use()
        await ending.close_source(sides.source, state.tenant_ids)
    if await _phase_of(sides.target) == marks.READY.name:
        await sides.target.take_off()


async def abandon(sides: Sides, tenant_id: str, progress: Progress) -> None:
    """Undo a move that has not opened the target. Raises Unusable."""
    ours, theirs = await _read(sides)
    if ours is None and theirs is None:
        raise Unusable(f"no move of {tenant_id} has begun")
    _check_sides(ours, theirs)
    if theirs is not None and theirs.phase == marks.READY.name:
        raise Unusable("the target serves the tenant already; to finish, leave --abandon out")
    if theirs is not None:
        # From here on this move cannot open the target any more.
        await sides.target.set_phase(marks.ABANDONED)
    is_of_both = ours is not None and (theirs is None or theirs.move_id == ours.move_id)
    if ours is not None and is_of_both:
        if theirs is None:
            _check_free(ours)
        await sides.source.use()
        await fence.reopen(sides.source, ours.tenant_ids)
    if theirs is not None:
        tables = await rows.read(sides.target.connection)
        await ending.delete_rows(sides.target.connection, tables, theirs.tenant_ids, progress)
        await sides.target.take_off()
    if is_of_both:
        await sides.source.take_off()


async def delete_source(source: Marks, progress: Progress) -> None:
    """Delete the rows of a tenant that was moved. Raises Unusable."""
    state = await source.read()
    if state is None or state.phase != marks.CLOSED.name:
        raise Unusable("the source has no rows of a tenant of this id that was moved elsewhere")
    tables = await rows.read(source.connection)
    # The policies stay until the end, as the worker must not see the rows.
    await source.drop_triggers()
    await ending.delete_rows(source.connection, tables, state.tenant_ids, progress)
    await source.take_off()


async def _read(sides: Sides) -> tuple[State | None, State | None]:
    return await sides.source.read(), await sides.target.read()


def _check_sides(ours: State | None, theirs: State | None) -> None:
    """Raises Unusable if the source is the target of a move, or the target the source of one."""
    if theirs is not None and theirs.phase == marks.CLOSED.name:
        raise Unusable(
            "the target has the rows that the tenant left when it was moved from there; delete them"
            " with --delete-source and --from, which names the target"
        )
    if (ours is not None and ours.phase in _OF_TARGET) or (
        theirs is not None and theirs.phase not in _OF_TARGET
    ):
        raise Unusable(
            "the tenant is being moved in the other direction, or the --from of that move is the"
            " --to of this one; end that move first"
        )


async def _phase_of(side: Marks) -> str:
    """ "" where no move is."""
    state = await side.read()
    return "" if state is None else state.phase


async def _is_closed(sides: Sides) -> bool:
    source = await _phase_of(sides.source)
    if source:
        return source == marks.CLOSED.name
    # The rows at the source were deleted before the marks at the target.
    return await _phase_of(sides.target) == marks.READY.name


def _check_free(ours: State) -> None:
    """Raises Unusable if another database, which has the state, may serve the tenant."""
    if ours.phase not in (marks.COPYING.name, "closing"):
        raise Unusable(
            "the source takes part in a move of the tenant between other databases; end that one"
            " first, with the --from and --to that it began with"
        )


async def _begin(sides: Sides, tenant_id: str, plan: Plan) -> Pair:
    """Check both sides, and let the source record changes and the target hide what comes."""
    source, target = sides.source.connection, sides.target.connection
    tables = await checks.check_tables(source, target)
    ours, theirs = await _read(sides)
    if theirs is not None:
        _check_same_move(ours, theirs)
    tenant_ids = ours.tenant_ids if ours else await checks.find_tenants(source, tenant_id)
    pair = Pair(source, target, tables, tenant_ids, sides.source.schema)
    if theirs is None:
        await checks.check_start(source, target, tenant_ids)
        await checks.check_keys(source, target, tenant_ids, plan.fingerprints)
        await checks.check_names(source, target, tables, tenant_ids)
        await _add_states(sides, ours, pair)
    await sides.source.use()
    if ours is not None and ours.phase == "closing":
        await fence.reopen(sides.source, tenant_ids)
    await sides.source.put_on(tables, tenant_ids, records=True)
    await sides.target.put_on(tables, tenant_ids, records=False)
    return pair


def _check_same_move(ours: State | None, theirs: State) -> None:
    if theirs.phase == marks.ABANDONED.name:
        raise Unusable("the move is being undone; finish that with --abandon")
    if ours is None or ours.move_id != theirs.move_id:
        raise Unusable(
            "the target has rows of an earlier move, which has not ended; delete them with"
            " --abandon"
        )


async def _add_states(sides: Sides, ours: State | None, pair: Pair) -> None:
    """Begin a move, or one to another target."""
    move_id = str(uuid4())
    if ours is None:
        await sides.source.begin(move_id, pair.tenant_ids, marks.COPYING, pair.tables)
    else:
        _check_free(ours)
        await sides.source.set_move_id(move_id)
    async with pair.target.transaction():
        await sides.target.begin(move_id, pair.tenant_ids, marks.RECEIVING, None)
        await ending.copy_tenants(pair)


async def _copy(sides: Sides, pair: Pair, plan: Plan, progress: Progress) -> dict[str, Summary]:
    await copying.copy_all(pair, progress)
    await _catch_up(pair)
    summaries = await copying.compare_all(pair, progress)
    await fence.wait_for_worker(sides.source.connection, pair.tenant_ids, plan.consumers, progress)
    await _catch_up(pair)
    return summaries


async def _catch_up(pair: Pair) -> None:
    for _ in range(_MAX_ROUNDS):
        if await copying.apply_changes(pair) <= _FEW_CHANGES:
            return


async def _open(sides: Sides, pair: Pair) -> None:
    """Copy the last changes and open the target, while nobody writes."""
    try:
        await copying.apply_changes(pair)
        await ending.open_at_target(pair, sides.target)
    except Unusable:
        # The target was not opened. After any other error that is unknown, and nobody writes.
        await fence.reopen(sides.source, pair.tenant_ids)
        raise
