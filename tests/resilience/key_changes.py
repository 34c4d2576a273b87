"""A key that is revoked, or rotated, on one node while others use it on the other nodes."""

import asyncio
import json
import math
import time
from collections.abc import Awaitable, Callable
from typing import Any, Literal

import uvloop

from sealdesk.api_keys.rules import MAX_NEW_KEYS_PER_HOUR
from tests.resilience.connections import Connection, Key, Response
from tests.resilience.figures import Progress, Target, no_progress
from tests.resilience.nodes import (
    Installation,
    Node,
    admin_request,
    create_tenant_with_key,
    log_in,
)

Action = Literal["revoke", "rotate"]
TARGETS = (
    Target("trials", "≥", 2000, within=1),
    Target("accepted_after", "=", 0),
    Target("refused_before", "=", 0),
    Target("unexpected", "=", 0),
)
_KEYS = "/api/v1/api-keys"
_WHOAMI = "/api/v1/external/whoami"
_NEW = json.dumps({"name": "to be ended", "rate_limit": 100_000}).encode()
_KEYS_OF_TENANT = MAX_NEW_KEYS_PER_HOUR // 2
_PER_NODE = 2  # connections that hammer one node
_AFTER = 2  # requests of each connection that must begin after the acknowledgement


class _Trial:
    """The end of one key, as its users see it. acknowledged_at: infinite until it is."""

    def __init__(self, key: Key, hammers: int) -> None:
        self.request = key.request("GET", _WHOAMI)
        self.acknowledged_at = math.inf
        self.is_changing = False
        self.used = [0] * hammers
        self.after = [0] * hammers
        self.changed = asyncio.Event()

    async def until(self, is_so: Callable[[], bool]) -> None:
        while not is_so():
            self.changed.clear()
            await self.changed.wait()


class _Run:
    """The hammering connections, and what they observed over all trials."""

    def __init__(self, nodes: list[Node]) -> None:
        self.connections = [node.connection() for node in nodes for _ in range(_PER_NODE)]
        self.trial: asyncio.Future[_Trial] = asyncio.Future()
        self.requests = self.accepted_after = self.refused_before = self.begun_after = 0
        self.unexpected: list[str] = []
        self.acknowledging_s: list[float] = []

    async def hammer(self, number: int) -> None:
        connection = self.connections[number]
        while True:
            trial = await asyncio.shield(self.trial)
            was_changing = trial.is_changing
            self._record(trial, number, await connection.send(trial.request), was_changing)

    def _record(self, trial: _Trial, number: int, response: Response, was_changing: bool) -> None:
        self.requests += 1
        trial.used[number] += response.is_good
        if response.began_at > trial.acknowledged_at:
            trial.after[number] += 1
            self.begun_after += 1
            self.accepted_after += response.is_good
        # While the change is in flight, either response is right.
        elif not was_changing and not trial.is_changing:
            self.refused_before += not response.is_good
        if response.status not in (200, 401):
            self.unexpected.append(f"{response.status} {response.body[:200]!r}")
        trial.changed.set()

    async def one(self, key: Key, end: Callable[[Key], Awaitable[Response]]) -> Response:
        """Use the key everywhere, end it, use it again."""
        trial = _Trial(key, len(self.connections))
        self.trial.set_result(trial)
        await trial.until(lambda: min(trial.used) > 0 or bool(self.unexpected))
        trial.is_changing = True
        response = await end(key)
        trial.acknowledged_at = response.ended_at
        assert response.is_good, response
        self.acknowledging_s.append(response.took_s)
        await trial.until(lambda: min(trial.after) >= _AFTER or bool(self.unexpected))
        self.trial = asyncio.Future()
        return response


def run(
    installation: Installation,
    action: Action,
    *,
    trials: int = 2000,
    progress: Progress = no_progress,
) -> dict[str, Any]:
    """One client ends keys through node 1, others hammer nodes 2 and 3; the figures."""
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(_measure(installation, action, trials, progress))


async def _measure(
    installation: Installation, action: Action, trials: int, progress: Progress
) -> dict[str, Any]:
    nodes = installation.shared_nodes()
    scenario = _Run(nodes[1:])
    admin = nodes[0].connection()
    hammers = [asyncio.create_task(scenario.hammer(n)) for n in range(len(scenario.connections))]
    began_at = time.monotonic()
    for number in range(trials):
        if scenario.unexpected:
            break
        if number % _KEYS_OF_TENANT == 0:
            email = f"admin{number}@example.test"
            await create_tenant_with_key(installation.env, email)
            token = await log_in(admin, email)
            key = await _new_key(admin, token)
        if action == "revoke":
            request = admin_request(token, "DELETE", f"{_KEYS}/{key.id}")
            await scenario.one(key, lambda key, request=request: admin.send(request))  # type: ignore[misc]
            key = await _new_key(admin, token)
        else:
            request = admin_request(token, "POST", f"{_KEYS}/{key.id}/rotate")
            response = await scenario.one(key, lambda key, request=request: admin.send(request))  # type: ignore[misc]
            key = key._replace(api_secret=response.json()["data"]["api_secret"])
        progress(number + 1, trials)
    for hammer in hammers:
        hammer.cancel()
    await asyncio.gather(*hammers, return_exceptions=True)
    for connection in (admin, *scenario.connections):
        connection.close()
    return _figures(scenario, trials, time.monotonic() - began_at)


def _figures(scenario: _Run, trials: int, took_s: float) -> dict[str, Any]:
    acknowledging = sorted(scenario.acknowledging_s)
    return {
        "trials": trials,
        "requests": scenario.requests,
        "begun_after": scenario.begun_after,
        "accepted_after": scenario.accepted_after,
        "refused_before": scenario.refused_before,
        "unexpected": len(scenario.unexpected),
        "first_unexpected": scenario.unexpected[:1],
        "acknowledged_in_ms": round(1000 * acknowledging[len(acknowledging) // 2], 1),
        "seconds": round(took_s, 1),
    }


async def _new_key(admin: Connection, token: str) -> Key:
    response = await admin.send(admin_request(token, "POST", _KEYS, _NEW))
    assert response.status == 201, response
    data = response.json()["data"]
    return Key(data["id"], data["api_key"], data["api_secret"])
