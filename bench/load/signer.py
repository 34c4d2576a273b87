"""Signs requests, and makes the bodies of new tickets and replies."""

import time
from collections.abc import Sequence
from random import Random

import msgspec

from bench.databases import rows
from bench.databases.build import BenchKey
from bench.load.clients import RequestMaker
from sealdesk.crypto.signing import Signed, sign
from sealdesk.tickets.ticket.types import PRIORITIES

TICKETS = "/api/v1/external/tickets"
# Timestamps differ by up to this much from now, so that one key signs many different requests for
# the same target; the server accepts 300 s.
_SPREAD_S = 240


class Signer:
    """Signs requests with its keys in turn, with another timestamp each time the keys repeat."""

    def __init__(self, keys: Sequence[BenchKey]) -> None:
        self._keys = keys
        self._signed_count = 0

    def make_gets(self, *targets: str) -> RequestMaker:
        """Makes requests for these targets in turn, at most as many as differ."""
        most = len(self._keys) * 2 * _SPREAD_S

        def make(count: int) -> list[bytes]:
            numbers = range(min(count, most))
            return [self._sign_next("GET", targets[n % len(targets)]) for n in numbers]

        return make

    def make_posts(self, new: "TicketBodies") -> RequestMaker:
        """Makes requests that create tickets, each with another body."""

        def make(count: int) -> list[bytes]:
            return [
                self._sign_next("POST", TICKETS, new.body(self._key.tenant_id))
                for _ in range(count)
            ]

        return make

    def make_patches(self, targets: Sequence[str], random: Random) -> RequestMaker:
        """Makes requests that change the tickets at these targets in turn."""

        def make(count: int) -> list[bytes]:
            bodies = (_encode_change(random) for _ in range(count))
            return [
                self._sign_next("PATCH", targets[n % len(targets)], body)
                for n, body in enumerate(bodies)
            ]

        return make

    def make_replies(self, targets: Sequence[str]) -> RequestMaker:
        """Makes requests that reply to the tickets at these targets in turn, each differently."""

        def make(count: int) -> list[bytes]:
            return [
                self._sign_next(
                    "POST", f"{targets[n % len(targets)]}/replies", _encode_reply(time.time_ns())
                )
                for n in range(count)
            ]

        return make

    @property
    def _key(self) -> BenchKey:
        return self._keys[self._signed_count % len(self._keys)]

    def _sign_next(self, method: str, target: str, body: bytes = b"") -> bytes:
        """The bytes of a request that the next key has signed."""
        key = self._key
        round_number = self._signed_count // len(self._keys)
        self._signed_count += 1
        timestamp = str(int(time.time()) - _SPREAD_S + round_number % (2 * _SPREAD_S)).encode()
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


class TicketBodies:
    """Bodies of new tickets: half from new customers, half from existing ones, mostly recent."""

    def __init__(self, random: Random, emails: dict[str, list[str]]) -> None:
        """emails: tenant id → e-mail addresses of its customers, the newest last."""
        self._random = random
        self._emails = emails
        self._number = int(time.time() * 1000)

    def body(self, tenant_id: str) -> bytes:
        random = self._random
        self._number += 1
        new = {
            "subject": rows.make_subject(random),
            "description": rows.make_description(random, self._number),
            "priority": rows.pick_one(random, PRIORITIES),
            "customer": self._pick_customer(self._emails[tenant_id]),
        }
        return msgspec.json.encode(new)

    def _pick_customer(self, emails: list[str]) -> dict[str, str]:
        person = rows.make_person(self._random, self._number)
        if self._random.random() < 0.5:
            emails.append(person.email)
            return {"email": person.email, "name": person.name}
        return {
            "email": emails[-1 - rows.pick_recent_index(self._random, len(emails))],
            "name": person.name,
        }


def _encode_change(random: Random) -> bytes:
    number = random.randrange(1_000_000_000)
    change = {"priority": rows.pick_one(random, PRIORITIES), "custom_fields": {"batch": number}}
    return msgspec.json.encode(change)


def _encode_reply(number: int) -> bytes:
    return msgspec.json.encode({"body": rows.make_description(Random(number), number)})
