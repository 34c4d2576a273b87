"""The proofs of `make prove`, whole: what is run, and what it must give."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from tests.resilience import (
    contention,
    crashes,
    ending,
    failover,
    killed,
    limited,
    pages,
    reading,
    rebinding,
    rolling,
)
from tests.resilience.figures import Target, Tell
from tests.resilience.nodes import Installation

Run = Callable[[Installation, Tell], dict[str, Any]]


class Proof(NamedTuple):
    """A claim in words, how it is put to the test, and what must come out."""

    name: str
    claim: str
    run: Run
    targets: Sequence[Target]


PROOFS = (
    Proof(
        "revoke",
        "a revoked key is refused by all nodes",
        lambda installation, tell: ending.run(installation, "revoke", tell=tell),
        ending.TARGETS,
    ),
    Proof(
        "rotate",
        "a rotated secret is refused by all nodes",
        lambda installation, tell: ending.run(installation, "rotate", tell=tell),
        ending.TARGETS,
    ),
    Proof(
        "read",
        "what one node acknowledged, the others show",
        lambda installation, tell: reading.run(installation, tell=tell),
        reading.TARGETS,
    ),
    Proof(
        "crash",
        "PostgreSQL killed under load",
        lambda installation, tell: crashes.run(installation, tell=tell),
        crashes.TARGETS,
    ),
    Proof(
        "failover",
        "primary killed, synchronous standby promoted",
        lambda installation, tell: failover.run(installation, tell=tell),
        failover.TARGETS,
    ),
    Proof(
        "lagging",
        "the same with a standby that lags: this must be seen",
        lambda installation, tell: failover.run(
            installation, times=1, is_synchronous=False, tell=tell
        ),
        (Target("lost", "≥", 1),),
    ),
    Proof(
        "crowd",
        "200 clients at 10 connections that are held up",
        lambda installation, tell: contention.run(installation, tell=tell),
        contention.TARGETS,
    ),
    Proof(
        "later",
        "the same, held up where a request comes later",
        lambda installation, tell: contention.run(installation, table="tickets", tell=tell),
        contention.TARGETS,
    ),
    Proof(
        "rolling",
        "rolling restarts of 2 nodes behind HAProxy",
        lambda installation, tell: rolling.run(installation, tell=tell),
        rolling.TARGETS,
    ),
    Proof(
        "limit",
        "one key's limit over 3 nodes, Redis killed midway",
        lambda installation, tell: limited.run(installation, tell=tell),
        limited.TARGETS,
    ),
    Proof(
        "rebinding",
        "no webhook goes to a forbidden address, whatever a name server says",
        lambda _, tell: rebinding.run(tell=tell),
        rebinding.TARGETS,
    ),
    Proof(
        "worker",
        "every event arrives: the worker is killed, the receiver refuses",
        lambda installation, tell: killed.run(installation, tell=tell),
        killed.TARGETS,
    ),
    Proof(
        "server",
        "the same on SQLite, where the server itself is killed",
        lambda _, tell: killed.run(None, tell=tell),
        killed.TARGETS,
    ),
    Proof(
        "texts",
        "no page takes a hostile text for anything but text",
        lambda _, tell: pages.hostile(tell=tell),
        pages.HOSTILE,
    ),
    Proof(
        "barriers",
        "no page hinders anybody, in either theme and width",
        lambda _, tell: pages.barriers(tell=tell),
        pages.BARRIERS,
    ),
)
