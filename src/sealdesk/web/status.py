"""What the service says of itself: the time, whether it lives, whether it can serve."""

from typing import Literal

import msgspec

from sealdesk import clock
from sealdesk.db.engine import Row, Tx
from sealdesk.errors import Unavailable
from sealdesk.web import envelope
from sealdesk.web.call import Answer, Call
from sealdesk.web.route import operation

_TAG = "Basics"


class Time(msgspec.Struct, frozen=True):
    """The server's time: whole Unix seconds, as x-api-timestamp wants them, and ISO 8601."""

    unix: int
    iso: str


class Health(msgspec.Struct, frozen=True):
    """That it answers."""

    status: Literal["ok"]


@operation("Get the server's time", tag=_TAG, gives=Time)
async def tell_time(call: Call) -> Answer:
    """For clients whose clock may be off: signed requests must be within 300 s of it."""
    return envelope.one(Time(call.now_us // 1_000_000, clock.iso(call.now_us)))


@operation("Is it alive", tag=_TAG, gives=Health)
async def is_alive(call: Call) -> Answer:
    """200 as long as the process answers at all."""
    return envelope.one(Health("ok"))


@operation("Is it ready", tag=_TAG, gives=Health, fails=("storage_unavailable",))
async def is_ready(call: Call) -> Answer:
    """200 when requests can be served; 503 while it starts, stops, or cannot reach its storage."""
    if call.shared.lifetime.is_ending:
        raise Unavailable(detail="The server is stopping. Another one may answer.")
    await call.shared.database.read(_probe)
    return envelope.one(Health("ok"))


async def _probe(tx: Tx) -> Row | None:
    return await tx.first("SELECT version_num FROM alembic_version LIMIT 1", {})
