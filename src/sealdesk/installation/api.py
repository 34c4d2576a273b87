"""The state of the installation, for monitoring."""

import msgspec

from sealdesk import clock
from sealdesk.clock import Iso
from sealdesk.telemetry.issues import Unknown
from sealdesk.web import envelope
from sealdesk.web.operation import operation
from sealdesk.web.request import Request, Response


class IssueResponse(msgspec.Struct, frozen=True):
    """Something that an operator should repair.

    code: names the check, for alerts. since: when it was noticed, or when it began if that is
    known. what: what is wrong. do: what to do about it.
    """

    code: str
    since: Iso
    what: str
    do: str


class RouteTimeResponse(msgspec.Struct, frozen=True):
    """How long the requests of a route held the event loop of this process together."""

    route: str
    loop_seconds: float


class InstallationResponse(msgspec.Struct, frozen=True):
    """The state of the installation.

    healthy: whether there are no issues. checked_at: null until the first look, a second after the
    start. issues: of all processes that report. unknown: what no process could look at, and why;
    these are not known to be well. dearest_routes: the three that this process was busiest with in
    the last hour.
    """

    healthy: bool
    checked_at: Iso | None
    issues: tuple[IssueResponse, ...]
    unknown: tuple[Unknown, ...]
    dearest_routes: tuple[RouteTimeResponse, ...]


_DEAREST = 3
_SINCE = "2026-03-02T09:15:41.556301Z"
_EXAMPLE = InstallationResponse(
    False,
    "2026-03-02T09:16:12.000000Z",
    (
        IssueResponse(
            "worker_missing",
            _SINCE,
            "No `sealdesk worker` runs: webhooks, e-mail and the search wait for it.",
            "Start it: `systemctl start sealdesk-worker`.",
        ),
    ),
    (Unknown("backup_lacks", "`sealdesk backup` was never run on this database"),),
    (RouteTimeResponse("GET /inbox", 12.25),),
)


@operation("Get the state of the installation", tag="Basics", gives=_EXAMPLE)
async def installation(request: Request) -> Response:
    """What is wrong with the installation, as its processes saw it in their last look, every 5 s.

    With SEALDESK_METRICS_TOKEN set it must be sent as a bearer token, as for `/metrics`; otherwise
    only requests from the same machine are accepted. The answer is 200 also when there are issues.
    """
    return envelope.one(describe(request))


def describe(request: Request) -> InstallationResponse:
    """The state of the installation, as this process knows it."""
    issues, metrics = request.state.issues, request.state.metrics
    checked_at = issues.checked_at
    shown = tuple(
        IssueResponse(issue.code, clock.iso(issue.since or request.now_us), issue.what, issue.do)
        for issue in issues.findings.issues
    )
    return InstallationResponse(
        checked_at is not None and not shown,
        None if checked_at is None else clock.iso(checked_at),
        shown,
        issues.findings.unknown,
        tuple(
            RouteTimeResponse(each.route, round(each.seconds, 3))
            for each in metrics.loop_time.dearest(metrics.responses.durations, _DEAREST)
        ),
    )
