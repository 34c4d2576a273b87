"""The clock of a test tenant, as JSON."""

from typing import Annotated

import msgspec
from msgspec import Meta

from sealdesk import clock
from sealdesk.api_keys.errors import TEST_KEY_REQUIRED
from sealdesk.caller import without_rights
from sealdesk.clock import Iso
from sealdesk.db.engine import Tx
from sealdesk.errors import Fault, Forbidden, gettext_noop, invalid
from sealdesk.records import audit, test_tenants
from sealdesk.records.test_tenants import TestTenant
from sealdesk.resources.representation import Instant
from sealdesk.web import body, envelope
from sealdesk.web.operation import operation
from sealdesk.web.request import Request, Response

_TAG = "Basics"
MAX_AHEAD_S = 10 * 365 * 24 * 3600
_SECOND_US = 1_000_000
_ONE_OF_BOTH = gettext_noop("Send either now or advance_s.")
_BACKWARDS = gettext_noop("The clock does not go back; it shows %(now)s.")
_TOO_FAR = gettext_noop("The clock can be at most 10 years ahead of the real time.")


class ClockChange(msgspec.Struct, frozen=True):
    """What the clock is set to; one of both.

    now: the new time; without an offset it is UTC.
    advance_s: by how many seconds it goes ahead.
    """

    now: Instant | None = None
    advance_s: Annotated[int, Meta(ge=1, le=MAX_AHEAD_S)] | None = None


class TestClock(msgspec.Struct, frozen=True):
    """The clock of a test tenant, which keeps going.

    now: the time that it shows. real_now: the time of the server, which signatures need.
    ahead_s: the difference, in seconds.
    """

    now: Iso
    real_now: Iso
    ahead_s: float


_EXAMPLE = TestClock("2026-03-09T09:15:41.556301Z", "2026-03-02T09:15:41.556301Z", 604800.0)


@operation("Get the test clock", tag=_TAG, gives=_EXAMPLE, fails=(TEST_KEY_REQUIRED,))
async def get_test_clock(request: Request) -> Response:
    """The time of the test tenant of a `tk_test_` key."""
    found = await request.fetch(_get_tenant)
    return envelope.one(_shown(found.clock_offset_us, request.real_now_us))


@operation(
    "Set the test clock",
    tag=_TAG,
    takes=ClockChange,
    gives=_EXAMPLE,
    fails=(TEST_KEY_REQUIRED,),
    example={"advance_s": 604800},
)
async def set_test_clock(request: Request) -> Response:
    """Sets the clock of the test tenant ahead: snoozed tickets wake, and retries of webhooks become
    due, within some seconds. The clock never goes back, and is at most 10 years ahead of the real
    time. Signatures, keys, rate limits and stored responses follow the real time."""
    change = body.read(request, ClockChange)
    real_us = request.real_now_us

    async def work(tx: Tx) -> Response:
        found = await _get_tenant(tx, request.caller.tenant_id)
        offset_us = _new_offset(change, found.clock_offset_us, real_us)
        if not await test_tenants.set_offset(tx, found.tenant_id, offset_us, real_us):
            raise _backwards(real_us + found.clock_offset_us)
        await _record(tx, request, found.tenant_id, offset_us)
        return envelope.one(_shown(offset_us, real_us))

    return await request.write(work)


async def _get_tenant(tx: Tx, tenant_id: str) -> TestTenant:
    found = await test_tenants.find(tx, tenant_id)
    if found is None:
        raise Forbidden(TEST_KEY_REQUIRED)
    return found


def _new_offset(change: ClockChange, current_us: int, real_us: int) -> int:
    """The new offset of a clock. Raises ValidationFailed."""
    if (change.now is None) == (change.advance_s is None):
        raise invalid([Fault("", "one_of_both", _ONE_OF_BOTH)])
    if change.advance_s is not None:
        pointer, offset_us = "/advance_s", current_us + change.advance_s * _SECOND_US
    else:
        pointer, offset_us = "/now", (clock.parse_instant(change.now or "") or 0) - real_us
    if offset_us < current_us:
        raise _backwards(real_us + current_us)
    if offset_us > MAX_AHEAD_S * _SECOND_US:
        raise invalid([Fault(pointer, "too_late", _TOO_FAR)])
    return offset_us


def _backwards(now_us: int) -> Exception:
    return invalid([Fault("/now", "clock_goes_back", _BACKWARDS, {"now": clock.iso(now_us)})])


async def _record(tx: Tx, request: Request, tenant_id: str, offset_us: int) -> None:
    caller = without_rights(tenant_id, request.caller.actor, request.address)
    details = {"ahead_s": offset_us // _SECOND_US}
    await audit.record(tx, caller, "test_clock.set", None, details, request.now_us)


def _shown(offset_us: int, real_us: int) -> TestClock:
    return TestClock(clock.iso(real_us + offset_us), clock.iso(real_us), offset_us / _SECOND_US)
