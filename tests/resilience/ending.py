"""A key that is revoked, or rotated, on one node while others use it on the other nodes."""

import asyncio
import json
import math
import time
from collections.abc import Awaitable, Callable
from typing import Any, Literal

import uvloop

from tests.resilience.figures import Target, Tell, quiet
from tests.resilience.lines import Answer, Key, Line
from tests.resilience.nodes import Installation, Node, by_admin, log_in

AuditEntry = Literal["revoke", "rotate"]
TARGETS = (
    Target("trials", "≥", 2000, within=1),
    Target("accepted_after", "=", 0),
    Target("refused_before", "=", 0),
    Target("unexpected", "=", 0),
)
_KEYS = "/api/v1/api-keys"
_WHOAMI = "/api/v1/external/whoami"
_NEW = json.dumps({"name": "to be ended", "rate_limit": 100_000}).encode()
_ON_EACH = 2  # connections that hammer one node
_AFTER = 2  # requests of each connection that must begin after the acknowledgement


class _Trial:
    """One key's end, as those see it who use it. acknowledged_at: infinite until it is."""

    def __init__(self, key: Key, hammers: int) -> None:
        self.request = key.request("GET", _WHOAMI)
        self.acknowledged_at = math.inf
        self.is_asked = False
        self.used = [0] * hammers
        self.after = [0] * hammers
        self.changed = asyncio.Event()

    async def until(self, is_so: Callable[[], bool]) -> None:
        while not is_so():
            self.changed.clear()
            await self.changed.wait()


class _Proof:
    """The hammers, and what they saw over all trials."""

    def __init__(self, nodes: list[Node]) -> None:
        self.lines = [node.line() for node in nodes for _ in range(_ON_EACH)]
        self.trial: asyncio.Future[_Trial] = asyncio.Future()
        self.requests = self.accepted_after = self.refused_before = self.begun_after = 0
        self.unexpected: list[str] = []
        self.acknowledging_s: list[float] = []

    async def hammer(self, number: int) -> None:
        line = self.lines[number]
        while True:
            trial = await asyncio.shield(self.trial)
            was_asked = trial.is_asked
            self._note(trial, number, await line.ask(trial.request), was_asked)

    def _note(self, trial: _Trial, number: int, answer: Answer, was_asked: bool) -> None:
        self.requests += 1
        trial.used[number] += answer.is_good
        if answer.began_at > trial.acknowledged_at:
            trial.after[number] += 1
            self.begun_after += 1
            self.accepted_after += answer.is_good
        # Between asking and acknowledging, either answer is right.
        elif not was_asked and not trial.is_asked:
            self.refused_before += not answer.is_good
        if answer.status not in (200, 401):
            self.unexpected.append(f"{answer.status} {answer.body[:200]!r}")
        trial.changed.set()

    async def one(self, key: Key, end: Callable[[Key], Awaitable[Answer]]) -> Answer:
        """Use the key everywhere, end it, use it again."""
        trial = _Trial(key, len(self.lines))
        self.trial.set_result(trial)
        await trial.until(lambda: min(trial.used) > 0 or bool(self.unexpected))
        trial.is_asked = True
        answer = await end(key)
        trial.acknowledged_at = answer.ended_at
        assert answer.is_good, answer
        self.acknowledging_s.append(answer.took_s)
        await trial.until(lambda: min(trial.after) >= _AFTER or bool(self.unexpected))
        self.trial = asyncio.Future()
        return answer


def run(
    installation: Installation,
    deed: AuditEntry,
    *,
    trials: int = 2000,
    tell: Tell = quiet,
) -> dict[str, Any]:
    """One client ends keys through node 1, others hammer nodes 2 and 3; the figures."""
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(_proven(installation.three(), deed, trials, tell))


async def _proven(nodes: list[Node], deed: AuditEntry, trials: int, tell: Tell) -> dict[str, Any]:
    proof = _Proof(nodes[1:])
    admin = nodes[0].line()
    token = await log_in(admin)
    hammers = [asyncio.create_task(proof.hammer(n)) for n in range(len(proof.lines))]
    began_at = time.monotonic()
    key = await _new_key(admin, token)
    for number in range(trials):
        if proof.unexpected:
            break
        if deed == "revoke":
            request = by_admin(token, "DELETE", f"{_KEYS}/{key.id}")
            await proof.one(key, lambda key, request=request: admin.ask(request))  # type: ignore[misc]
            key = await _new_key(admin, token)
        else:
            request = by_admin(token, "POST", f"{_KEYS}/{key.id}/rotate")
            answer = await proof.one(key, lambda key, request=request: admin.ask(request))  # type: ignore[misc]
            key = key._replace(api_secret=answer.json()["data"]["api_secret"])
        tell(number + 1, trials)
    for hammer in hammers:
        hammer.cancel()
    await asyncio.gather(*hammers, return_exceptions=True)
    for line in (admin, *proof.lines):
        line.close()
    return _figures(proof, trials, time.monotonic() - began_at)


def _figures(proof: _Proof, trials: int, took_s: float) -> dict[str, Any]:
    acknowledging = sorted(proof.acknowledging_s)
    return {
        "trials": trials,
        "requests": proof.requests,
        "begun_after": proof.begun_after,
        "accepted_after": proof.accepted_after,
        "refused_before": proof.refused_before,
        "unexpected": len(proof.unexpected),
        "first_unexpected": proof.unexpected[:1],
        "acknowledged_in_ms": round(1000 * acknowledging[len(acknowledging) // 2], 1),
        "seconds": round(took_s, 1),
    }


async def _new_key(admin: Line, token: str) -> Key:
    answer = await admin.ask(by_admin(token, "POST", _KEYS, _NEW))
    assert answer.status == 201, answer
    data = answer.json()["data"]
    return Key(data["id"], data["api_key"], data["api_secret"])
