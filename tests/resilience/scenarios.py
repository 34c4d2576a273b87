"""The scenarios that `make prove` runs, and the figures that they must give."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from tests.resilience import (
    amplify,
    contention,
    crashes,
    failover,
    key_changes,
    killed,
    limit_of_nodes,
    neighbour,
    pages,
    read_after_write,
    rebinding,
    rolling,
)
from tests.resilience.figures import Progress, Target
from tests.resilience.nodes import Installation

Run = Callable[[Installation, Progress], dict[str, Any]]


class Scenario(NamedTuple):
    """A claim, the function that tests it, and its targets.

    is_alone: it compares latencies, so nothing else may run.
    """

    name: str
    claim: str
    run: Run
    targets: Sequence[Target]
    is_alone: bool = False


SCENARIOS = (
    Scenario(
        "revoke",
        "a revoked key is refused by all nodes",
        lambda installation, progress: key_changes.run(installation, "revoke", progress=progress),
        key_changes.TARGETS,
    ),
    Scenario(
        "rotate",
        "a rotated secret is refused by all nodes",
        lambda installation, progress: key_changes.run(installation, "rotate", progress=progress),
        key_changes.TARGETS,
    ),
    Scenario(
        "read",
        "a write that one node acknowledged is visible on the others",
        lambda installation, progress: read_after_write.run(installation, progress=progress),
        read_after_write.TARGETS,
    ),
    Scenario(
        "crash",
        "PostgreSQL killed under load",
        lambda installation, progress: crashes.run(installation, progress=progress),
        crashes.TARGETS,
    ),
    Scenario(
        "failover",
        "primary killed, synchronous standby promoted",
        lambda installation, progress: failover.run(installation, progress=progress),
        failover.TARGETS,
    ),
    Scenario(
        "lagging",
        "the same with a standby that lags: lost writes must be found",
        lambda installation, progress: failover.run(
            installation, times=1, is_synchronous=False, progress=progress
        ),
        (Target("lost", "≥", 1),),
    ),
    Scenario(
        "contention",
        "200 clients on 10 connections that wait for a lock",
        lambda installation, progress: contention.run(installation, progress=progress),
        contention.TARGETS,
    ),
    Scenario(
        "later",
        "the same, waiting at a later statement of the request",
        lambda installation, progress: contention.run(
            installation, table="tickets", progress=progress
        ),
        contention.TARGETS,
    ),
    Scenario(
        "rolling",
        "rolling restarts of 2 nodes behind HAProxy",
        lambda installation, progress: rolling.run(installation, progress=progress),
        rolling.TARGETS,
    ),
    Scenario(
        "limit",
        "one key's limit over 3 nodes, Redis killed midway",
        lambda installation, progress: limit_of_nodes.run(installation, progress=progress),
        limit_of_nodes.TARGETS,
    ),
    Scenario(
        "rebinding",
        "no webhook goes to a forbidden address, whatever a name server says",
        lambda _, progress: rebinding.run(progress=progress),
        rebinding.TARGETS,
    ),
    Scenario(
        "worker",
        "every event arrives: the worker is killed, the receiver refuses",
        lambda installation, progress: killed.run(installation, progress=progress),
        killed.TARGETS,
    ),
    Scenario(
        "server",
        "the same on SQLite, where the server itself is killed",
        lambda _, progress: killed.run(None, progress=progress),
        killed.TARGETS,
    ),
    Scenario(
        "xss",
        "no page interprets a hostile text as markup, script or template",
        lambda _, progress: pages.xss(progress=progress),
        pages.XSS_TARGETS,
    ),
    Scenario(
        "accessibility",
        "every page passes the accessibility rules, in both themes and widths",
        lambda _, progress: pages.accessibility(progress=progress),
        pages.ACCESSIBILITY_TARGETS,
    ),
    Scenario(
        "amplify",
        "no request costs much more than it sends, and a quiet tenant is not delayed",
        lambda _, progress: amplify.run(progress=progress),
        amplify.TARGETS,
    ),
    Scenario(
        "neighbour",
        "a quiet tenant is not delayed while another one does its worst",
        lambda installation, progress: neighbour.run(installation, progress=progress),
        neighbour.TARGETS,
        is_alone=True,
    ),
    Scenario(
        "neighbour-sqlite",
        "the same on SQLite",
        lambda _, progress: neighbour.run(None, progress=progress),
        neighbour.TARGETS,
        is_alone=True,
    ),
)
