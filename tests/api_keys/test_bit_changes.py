"""A signed request is refused after a change of any single bit."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from sealdesk.server.app import compose
from sealdesk.web.application import Application
from sealdesk.web.request import Message
from tests.support.application import head_of
from tests.support.client import Key
from tests.support.service import Service, running
from tests.support.wire import Wire

TICKETS = "/api/v1/external/tickets"
BODY = b'{"subject":"S","description":"D","customer":{"email":"ada@example.test"}}'
REQUESTS = [
    ("GET", TICKETS, b""),
    ("GET", f"{TICKETS}?status=open&per_page=25&sort=asc", b""),
    ("HEAD", "/api/v1/external/customers?email=a%40example.test", b""),
    ("POST", TICKETS, BODY),
    ("POST", "/api/v1/external/customers", b'{"email":"ada@example.test","name":"Ada"}'),
    ("GET", "/api/v1/external/agents?per_page=100", b""),
    ("PATCH", f"{TICKETS}/0199c0de-1a2b-7c3d-8e4f-5a6b7c8d9e0f", b'{"status":"pending"}'),
]


class Parts(NamedTuple):
    """The parts of a signed request, as bytes."""

    method: bytes
    target: bytes
    body: bytes
    key: bytes
    timestamp: bytes
    signature: bytes


def parts_of(key: Key, method: str, target: str, body: bytes) -> Parts:
    named = key.signature_headers(method, target, body)
    headers = [named[f"x-api-{name}"].encode() for name in ("key", "timestamp", "signature")]
    return Parts(method.encode(), target.encode(), body, *headers)


def changes(parts: Parts) -> Iterator[Parts]:
    """Every request that differs in one bit of one part."""
    for name, part in zip(Parts._fields, parts, strict=True):
        for bit in range(len(part) * 8):
            changed = bytearray(part)
            changed[bit // 8] ^= 1 << bit % 8
            yield parts._replace(**{name: bytes(changed)})


async def responses(stopped: Service, requests: list[Parts]) -> list[Message]:
    """The heads of the answers to requests handed straight to the application."""
    app, state = compose(stopped.settings, stopped.clock)
    heads = [await head_of_parts(app, parts) for parts in requests]
    await state.database.close()
    return heads


async def head_of_parts(app: Application, parts: Parts) -> Message:
    headers = [
        (b"x-api-key", parts.key),
        (b"x-api-timestamp", parts.timestamp),
        (b"x-api-signature", parts.signature),
        (b"content-type", b"application/json"),
    ]
    return await head_of(app, parts.method.decode("latin-1"), parts.target, headers, parts.body)


def is_proven(head: Message) -> bool:
    """Whether the signature was valid: only then there are rate limit headers."""
    return b"ratelimit" in dict(head["headers"])


def test_no_change_of_one_bit_is_accepted(template: Path, tmp_path: Path) -> None:
    with running(tmp_path, template) as service:
        key = service.tenant().key()
    originals = [parts_of(key, *request) for request in REQUESTS]
    changed = [change for parts in originals for change in changes(parts)]
    assert len(changed) > 10_000
    heads = asyncio.run(responses(service, [*originals, *changed]))
    assert len(heads) == len(originals) + len(changed)
    assert all(is_proven(head) for head in heads[: len(originals)])
    accepted = [
        change for change, head in zip(changed, heads[len(originals) :], strict=True)
        if is_proven(head) or head["status"] not in (401, 404, 405)
    ]  # fmt: skip
    assert accepted == []


def on_the_wire(parts: Parts) -> bytes:
    lines = [
        parts.method + b" " + parts.target + b" HTTP/1.1",
        b"host: sealdesk.test",
        b"content-type: application/json",
        b"content-length: %d" % len(parts.body),
        b"x-api-key: " + parts.key,
        b"x-api-timestamp: " + parts.timestamp,
        b"x-api-signature: " + parts.signature,
    ]
    return b"\r\n".join(lines) + b"\r\n\r\n" + parts.body


def test_no_change_of_one_bit_is_accepted_over_a_socket(own_service: Service) -> None:
    key = own_service.tenant().key()
    original = parts_of(key, "POST", TICKETS, BODY)
    for change in [original, *list(changes(original))[::23]]:
        with Wire(key.service) as wire:
            wire.write(on_the_wire(change))
            response = wire.answer("HEAD" if change.method == b"HEAD" else "GET")
        if change == original:
            assert response.status == 201
        else:
            assert response.status in (400, 401, 404, 405), change
    assert len(key.walk(TICKETS)) == 1
