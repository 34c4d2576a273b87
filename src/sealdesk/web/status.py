"""The time, health, readiness and metrics of the service."""

import hmac
import ipaddress
from typing import Literal

import msgspec

from sealdesk import clock
from sealdesk.clock import Iso
from sealdesk.db.migrations import schema_version
from sealdesk.errors import NotFound, ProblemType, ServiceUnavailable
from sealdesk.errors.general import (
    NO_SUCH_PATH,
    NOT_FOUND,
    NOT_READY,
    SERVER_STOPPING,
    STORAGE_UNAVAILABLE,
)
from sealdesk.rate_limits.limiter import Mode
from sealdesk.telemetry.metrics import CONTENT_TYPE
from sealdesk.web import envelope
from sealdesk.web.client_address import is_within
from sealdesk.web.operation import operation
from sealdesk.web.proof import NOTHING_PROVEN, Proof
from sealdesk.web.request import Request, Response

_TAG = "Basics"
_LOOPBACK = (ipaddress.ip_network("127.0.0.0/8"), ipaddress.ip_network("::1/128"))
_FORWARDING = (
    b"forwarded",
    b"via",
    b"x-forwarded-for",
    b"x-forwarded-host",
    b"x-forwarded-proto",
    b"x-real-ip",
)


class Time(msgspec.Struct, frozen=True):
    """The server's time, in whole Unix seconds as in x-api-timestamp, and in ISO 8601."""

    unix: int
    iso: Iso


class Health(msgspec.Struct, frozen=True):
    """The process responds."""

    status: Literal["ok"]


class Readiness(msgspec.Struct, frozen=True):
    """The process can serve requests.

    reads, writes: whether the storage can be read, and whether it takes changes.
    rate_limit: how the rate limit of a key is counted. `per_process`: by this process alone.
    `shared`: in Redis, for all processes. `local`: Redis cannot be reached, and each process
    applies its share of the limit.
    """

    status: Literal["ok"]
    reads: Literal["ok"]
    writes: Literal["ok"]
    rate_limit: Mode


_OK = Health("ok")


@operation(
    "Get the server's time", tag=_TAG, gives=Time(1_772_442_941, "2026-03-02T09:15:41.556301Z")
)
async def tell_time(request: Request) -> Response:
    """The timestamp of a signed request may differ from this time by at most 300 s."""
    return envelope.one(Time(request.now_us // 1_000_000, clock.iso(request.now_us)))


@operation("Check that the process responds", tag=_TAG, gives=_OK)
async def is_alive(request: Request) -> Response:
    """200 as long as the process responds."""
    return envelope.one(_OK)


@operation(
    "Check that requests can be served",
    tag=_TAG,
    gives=Readiness("ok", "ok", "ok", "shared"),
    fails=(STORAGE_UNAVAILABLE, NOT_READY),
)
async def is_ready(request: Request) -> Response:
    """200 when requests can be served; 503 while it starts, stops, or cannot use its storage.

    Without writes nobody can log in, so they are needed too. `reads` and `writes` tell apart which
    of them fail.
    """
    if request.state.lifetime.is_draining:
        raise ServiceUnavailable(SERVER_STOPPING)
    can_read = await _can_read(request)
    can_write = can_read and await request.state.write_probe.can_write()
    health = request.state.database.health
    if not can_write or health.is_damaged:
        raise ServiceUnavailable(
            NOT_READY,
            reads="ok" if can_read else "failed",
            writes="ok" if can_write else "failed",
            reason=health.reason or "the database cannot be reached",
        )
    return envelope.one(Readiness("ok", "ok", "ok", request.state.limits.limiter.mode))


async def _can_read(request: Request) -> bool:
    try:
        await request.state.database.read(schema_version.read_version)
    except ServiceUnavailable:
        return False
    return True


class MetricsGuard:
    """The metrics token when one is set, otherwise loopback addresses only; others get a 404."""

    scheme: Literal["none"] = "none"
    needs: tuple[str, ...] = ()
    fails: tuple[ProblemType, ...] = (NOT_FOUND,)
    write_fails: tuple[ProblemType, ...] = ()

    async def prove(self, request: Request) -> Proof:
        """Raises NotFound."""
        token = request.state.settings.metrics_token
        if not (_has_token(request, token) if token else _is_local(request)):
            raise NotFound(NO_SUCH_PATH)
        return NOTHING_PROVEN


def _has_token(request: Request, token: str) -> bool:
    sent = request.headers.get(b"authorization", b"").strip()
    return hmac.compare_digest(sent, b"Bearer " + token.encode())


def _is_local(request: Request) -> bool:
    """A loopback peer without forwarding headers, which a local proxy would add."""
    if any(name in request.headers for name in _FORWARDING):
        return False
    return is_within(request.peer, _LOOPBACK)


@operation("Get metrics", tag=_TAG, produces="text/plain")
async def metrics(request: Request) -> Response:
    """Counters of the process for Prometheus. With SEALDESK_METRICS_TOKEN set it must be sent as
    a bearer token; otherwise only requests from the same machine are accepted."""
    exposition = request.state.metrics.exposition()
    return Response(200, exposition, content_type=CONTENT_TYPE.encode())
