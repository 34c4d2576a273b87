"""What the client refuses before it sends anything: values that would become something else."""

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import httpx
import pytest

from sealdesk.client import AsyncDesk, Desk, InvalidConfiguration, RetryPolicy
from tests import vectors
from tests.support.for_each import for_each

MAKE: Any = Desk
URL = "http://desk.example.test"
REFUSED: dict[str, Callable[[Any], object]] = {
    "subject must be a str, not bytes": lambda d: d.tickets.update("1", subject=b"S"),
    "custom_fields.weight cannot be nan": lambda d: d.tickets.update(
        "1", custom_fields={"weight": float("nan")}
    ),
    "custom_fields.weights cannot be inf": lambda d: d.tickets.update(
        "1", custom_fields={"weights": [1, float("inf")]}
    ),
    "snoozed_until needs the time zone": lambda d: d.tickets.update(
        "1",
        snoozed_until=datetime(2030, 1, 1),  # noqa: DTZ001 # what is refused
    ),
    "cannot be sent as JSON": lambda d: d.tickets.update("1", subject="\ud800"),
    "object is unsupported": lambda d: d.tickets.update("1", custom_fields={"a": object()}),
    "if_match must be an ETag, not ''": lambda d: d.tickets.update("1", if_match=""),
    "if_match must be an ETag, not 7": lambda d: d.customers.delete("1", if_match=7),
    "idempotency_key must be a text, not ''": lambda d: d.replies.create(
        "1", body="B", idempotency_key=""
    ),
    "idempotency_key must be a text, not 7": lambda d: d.attachments.upload(
        "a.txt", b"", idempotency_key=7
    ),
    "created_after needs the time zone": lambda d: d.tickets.list(
        created_after=datetime(2030, 1, 1)  # noqa: DTZ001 # what is refused
    ).first(),
    "status cannot be b'open'": lambda d: d.tickets.list(status=b"open").first(),
    "customer_id cannot be <object": lambda d: d.tickets.list(customer_id=object()).first(),
    "q must be a text, not None": lambda d: d.tickets.search(None).first(),
    "the query cannot be sent": lambda d: d.tickets.list(tag="\ud800").first(),
    "the request cannot be sent": lambda d: d.request("GET", "/caf\xe9"),
    "timeout_s must be a number above 0, not None": lambda d: d.with_options(timeout_s=None),
    "timeout_s must be a number above 0, not inf": lambda d: d.with_options(timeout_s=float("inf")),
    "deadline_s must be a number above 0 or None, not '5'": lambda d: d.with_options(
        deadline_s="5"
    ),
    "deadline_s must be a number above 0 or None, not 0": lambda d: d.with_options(deadline_s=0),
    "deadline_s must be a number above 0 or None, not True": lambda d: d.with_options(
        deadline_s=True
    ),
    "timeout_s must be a number above 0, not True": lambda d: d.with_options(timeout_s=True),
    "retry.retries must be a number from 0, not True": lambda d: d.with_options(
        retry=RetryPolicy(retries=True)
    ),
    "now must be a function, not 5": lambda _: MAKE(
        vectors.API_KEY, vectors.API_SECRET, URL, now=5
    ),
    "sleep must be a function, not 5": lambda _: MAKE(
        vectors.API_KEY, vectors.API_SECRET, URL, sleep=5
    ),
    "shows_signed_message must be True or False, not 'no'": lambda _: MAKE(
        vectors.API_KEY, vectors.API_SECRET, URL, shows_signed_message="no"
    ),
    "retry must be a RetryPolicy, not 3": lambda d: d.with_options(retry=3),
    "retry must be a RetryPolicy, not None": lambda _: MAKE(
        vectors.API_KEY, vectors.API_SECRET, URL, retry=None
    ),
    "retry.retries must be a number from 0, not '3'": lambda d: d.with_options(
        retry=RetryPolicy(retries="3")  # type: ignore[arg-type]
    ),
    "on_retry must be a function, not 'print'": lambda d: d.with_options(on_retry="print"),
    "http must be an httpx.Client, not <httpx.AsyncClient": lambda _: MAKE(
        vectors.API_KEY, vectors.API_SECRET, URL, http=httpx.AsyncClient()
    ),
    "timeout_s must be a number above 0, not -1": lambda _: Desk(
        vectors.API_KEY, vectors.API_SECRET, URL, timeout_s=-1
    ),
    "api_secret must be a str, not bytes": lambda _: MAKE(
        vectors.API_KEY, vectors.API_SECRET.encode(), URL
    ),
    "base_url must be a str, not NoneType": lambda _: MAKE(
        vectors.API_KEY, vectors.API_SECRET, None
    ),
}  # fmt: skip


def _desk(sent: list[httpx.Request]) -> Desk:
    def respond(request: httpx.Request) -> httpx.Response:
        sent.append(request)
        return httpx.Response(200, json={"data": [], "meta": {}})

    http = httpx.Client(transport=httpx.MockTransport(respond))
    return Desk(vectors.API_KEY, vectors.API_SECRET, URL, http=http)


@for_each("text", REFUSED)
def test_what_would_be_sent_as_something_else_is_refused(text: str) -> None:
    sent: list[httpx.Request] = []
    with pytest.raises(InvalidConfiguration) as refused:
        REFUSED[text](_desk(sent))
    assert text in str(refused.value)
    assert vectors.API_SECRET not in str(refused.value)
    assert sent == []


def test_a_time_with_its_zone_is_a_filter() -> None:
    sent: list[httpx.Request] = []
    at = datetime(2030, 1, 1, 12, tzinfo=UTC)
    _desk(sent).tickets.list(created_after=at).first()
    assert sent[0].url.params["created_after"] == "2030-01-01T12:00:00+00:00"


def test_calls_of_a_closed_desk_are_refused() -> None:
    async def call_closed() -> None:
        async with AsyncDesk(vectors.API_KEY, vectors.API_SECRET, URL) as desk:
            pass
        await desk.whoami()

    sent: list[httpx.Request] = []
    desk = _desk(sent)
    with desk:
        rows = iter(desk.tickets.list())
    for call in (desk.whoami, desk.with_options(timeout_s=1).whoami, lambda: next(rows)):
        with pytest.raises(InvalidConfiguration, match="closed"):
            call()
    with pytest.raises(InvalidConfiguration, match="closed"):
        asyncio.run(call_closed())
    assert sent == []
