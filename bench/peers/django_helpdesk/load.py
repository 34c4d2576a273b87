"""The requests that list and create tickets with a token."""

import time
from collections.abc import Iterator
from random import Random

from bench.load.clients import ExpectedResponse, RequestMaker
from bench.peers.django_helpdesk.installation import Helpdesk, make_ticket

_TICKETS = "/api/tickets/"
TICKET_PAGE = ExpectedResponse(200, b'"submitter_email":', 25)


def make_gets(helpdesk: Helpdesk) -> RequestMaker:
    """Makes requests for the first 25 tickets, in the order of the index on their ids."""
    request = _build(helpdesk, "GET")
    return lambda count: [request] * count


def make_posts(helpdesk: Helpdesk) -> RequestMaker:
    """Makes requests that create tickets, each with another body."""
    bodies = _generate_bodies()
    return lambda count: [_build(helpdesk, "POST", next(bodies)) for _ in range(count)]


def _generate_bodies() -> Iterator[bytes]:
    random, number = Random(5), int(time.time() * 1000)
    while True:
        number += 1
        yield make_ticket(random, number, queue=1)


def _build(helpdesk: Helpdesk, method: str, body: bytes = b"") -> bytes:
    lines = [
        f"{method} {_TICKETS} HTTP/1.1",
        "host: 127.0.0.1",
        f"authorization: Token {helpdesk.token}",
    ]
    if body:
        lines += ["content-type: application/json", f"content-length: {len(body)}"]
    return "\r\n".join([*lines, "", ""]).encode() + body
