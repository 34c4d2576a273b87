"""Signed requests, ready as bytes before the clock runs."""

import time
from collections.abc import Callable, Sequence
from random import Random

import msgspec

from bench import prose
from bench.build import BenchKey
from sealdesk.crypto.signing import Signed, sign
from sealdesk.tickets.types import PRIORITIES

TICKETS = "/api/v1/external/tickets"
# Timestamps go this far to both sides, so that one key has many different requests for the same
# target; the server accepts 300 s.
_SPREAD_S = 240

Make = Callable[[int], list[bytes]]


class Signer:
    """Signs with its keys in turn, at another time whenever all of them have had their turn."""

    def __init__(self, keys: Sequence[BenchKey]) -> None:
        self._keys = keys
        self._place = 0

    def gets(self, *targets: str) -> Make:
        """Makes requests for the targets in turn."""

        def make(count: int) -> list[bytes]:
            self._check(count)
            return [self._next("GET", targets[n % len(targets)]) for n in range(count)]

        return make

    def posts(self, new: "NewTickets") -> Make:
        """Makes requests for new tickets, each with a body of its own."""

        def make(count: int) -> list[bytes]:
            return [
                self._next("POST", TICKETS, new.body(self._key.tenant_id)) for _ in range(count)
            ]

        return make

    def patches(self, targets: Sequence[str], random: Random) -> Make:
        """Makes requests that change the tickets at the targets in turn."""

        def make(count: int) -> list[bytes]:
            bodies = (_change(random) for _ in range(count))
            return [
                self._next("PATCH", targets[n % len(targets)], body)
                for n, body in enumerate(bodies)
            ]

        return make

    @property
    def _key(self) -> BenchKey:
        return self._keys[self._place % len(self._keys)]

    def _next(self, method: str, target: str, body: bytes = b"") -> bytes:
        """The next key's request as it travels."""
        key = self._key
        turn = self._place // len(self._keys)
        self._place += 1
        timestamp = str(int(time.time()) - _SPREAD_S + turn % (2 * _SPREAD_S)).encode()
        signature = sign(key.api_secret, Signed(timestamp, method.encode(), target.encode(), body))
        lines = [
            f"{method} {target} HTTP/1.1",
            "host: 127.0.0.1",
            f"x-api-key: {key.api_key}",
            f"x-api-timestamp: {timestamp.decode()}",
            f"x-api-signature: {signature}",
        ]
        if body:
            lines += ["content-type: application/json", f"content-length: {len(body)}"]
        return "\r\n".join([*lines, "", ""]).encode() + body

    def _check(self, count: int) -> None:
        if count > len(self._keys) * 2 * _SPREAD_S:
            raise ValueError(f"{len(self._keys)} keys cannot sign {count} different requests")


class NewTickets:
    """Bodies of new tickets: half by customers never seen, half by known ones, mostly recent."""

    def __init__(self, random: Random, known: dict[str, list[str]]) -> None:
        """known: tenant id → addresses of its customers, the newest last."""
        self._random = random
        self._known = known
        self._number = int(time.time() * 1000)

    def body(self, tenant_id: str) -> bytes:
        random = self._random
        self._number += 1
        new = {
            "subject": prose.subject(random),
            "description": prose.description(random, self._number),
            "priority": prose.pick(random, PRIORITIES),
            "customer": self._customer(self._known[tenant_id]),
        }
        return msgspec.json.encode(new)

    def _customer(self, known: list[str]) -> dict[str, str]:
        who = prose.person(self._random, self._number)
        if self._random.random() < 0.5:
            known.append(who.email)
            return {"email": who.email, "name": who.name}
        return {"email": known[-1 - prose.recent(self._random, len(known))], "name": who.name}


def _change(random: Random) -> bytes:
    number = random.randrange(1_000_000_000)
    change = {"priority": prose.pick(random, PRIORITIES), "custom_fields": {"batch": number}}
    return msgspec.json.encode(change)
