"""Moves one tenant between two installations, and prints what follows."""

import asyncio
import sys
import time

from sealdesk.cli.output import print_table
from sealdesk.cli.progress import show_progress
from sealdesk.crypto.sealing import KeyRing
from sealdesk.db.migrations.schema_version import Unusable
from sealdesk.db.postgres import preflight
from sealdesk.errors import ConfigurationError
from sealdesk.mail.sending.queueing import MailQueue
from sealdesk.search.indexing import INDEXES
from sealdesk.settings import Settings
from sealdesk.webhooks.delivery.fan_out import FanOut
from sealdesk_move import sessions
from sealdesk_move.tenant import sequence
from sealdesk_move.tenant.marks import Marks
from sealdesk_move.tenant.sequence import Moved, Plan

# The source may still have requests, whose keys it must know to refuse them for the move.
_IN_FLIGHT_S = 5.0  # as long as a request may wait for storage
_CONSUMERS = (FanOut.name, MailQueue.name, *(index.name for index in INDEXES))


def move(source: str, target: str, tenant_id: str, switch: str, settings: Settings) -> None:
    """Move it, or go on with its move. switch: a shell command; "" asks on the terminal.

    Raises ConfigurationError without a terminal to ask on, and Unusable.
    """
    if not switch and not sys.stdin.isatty():
        raise ConfigurationError(
            "--switch is missing: the command that lets the tenant's requests reach the target."
            " Only on a terminal this command can wait until you have done that"
        )
    plan = Plan(KeyRing(settings.master_keys).fingerprints, _CONSUMERS)
    try:
        moved, switched_at = asyncio.run(_move(source, target, tenant_id, plan, switch))
    except KeyboardInterrupt:
        print(
            "sealdesk: to continue the move, run the same command again. Until then the tenant's"
            " writes may be refused; --abandon undoes the move",
            file=sys.stderr,
        )
        raise
    _print_summaries(moved)
    if moved.refused_since:
        took_s = switched_at - moved.refused_since
        print(f"\nWrites of the tenant were refused for {took_s:.1f} s.")
    print(f"\nTenant {tenant_id} is at {preflight.redacted(target)}, and closed at the source.")
    print("Its rows are still at the source, hidden. To delete them:\n")
    where = preflight.redacted(source)
    print(f"  sealdesk move --tenant {tenant_id} --from {where} --delete-source")


async def _move(
    source: str, target: str, tenant_id: str, plan: Plan, switch: str
) -> tuple[Moved, float]:
    """What was moved, and when requests reached the target, of the clock time.monotonic."""
    async with sessions.open_in_use(source) as ours, sessions.open_in_use(target) as theirs:
        sides = sequence.sides_of(ours, theirs, tenant_id)
        with show_progress() as progress:
            moved = await sequence.move(sides, tenant_id, plan, progress)
        if not moved.is_closed:
            await _switch_requests(switch)
        switched_at = time.monotonic()
        if not moved.is_closed:
            await asyncio.sleep(_IN_FLIGHT_S)
        await sequence.close(sides)
        return moved, switched_at


async def _switch_requests(command: str) -> None:
    """Raises Unusable when the command fails."""
    if not command:
        prompt = "Let the tenant's requests reach the target now, then press Enter: "
        await asyncio.to_thread(input, prompt)
        return
    process = await asyncio.create_subprocess_exec("/bin/sh", "-c", command)
    if code := await process.wait():
        raise Unusable(
            f"the command of --switch ended with {code}. The target serves the tenant, and the"
            " source refuses its writes; run the same command again to go on"
        )


def _print_summaries(moved: Moved) -> None:
    found = moved.summaries
    rows = [(name, f"{found[name].rows:,}", "same") for name in sorted(found) if found[name].rows]
    if rows:
        print_table(("TABLE", "ROWS", "CHECKSUM"), rows)


def abandon(source: str, target: str, tenant_id: str) -> None:
    """Undo a move. Raises Unusable."""

    async def work() -> None:
        async with sessions.open_in_use(source) as ours, sessions.open_in_use(target) as theirs:
            with show_progress() as progress:
                sides = sequence.sides_of(ours, theirs, tenant_id)
                await sequence.abandon(sides, tenant_id, progress)

    asyncio.run(work())
    print(f"The move of {tenant_id} is undone: the source serves it, and the target has no rows.")


def delete_source(source: str, tenant_id: str) -> None:
    """Delete the rows that a moved tenant left. Raises Unusable."""

    async def work() -> None:
        async with sessions.open_in_use(source) as connection:
            with show_progress() as progress:
                await sequence.delete_source(Marks(connection, tenant_id), progress)

    asyncio.run(work())
    print(f"Tenant {tenant_id} has no rows at {preflight.redacted(source)} any more.")
