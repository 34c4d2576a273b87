"""What each client does: the scenarios that the TypeScript client's tests have too."""

import asyncio
import json
import re
from collections.abc import Awaitable, Callable
from typing import Any

import httpx
import pytest

from sealdesk.client import AsyncDesk, Desk, RetryPolicy, SealdeskError
from tests import vectors
from tests.typescript.sources import CLIENT

SCENARIOS = json.loads((CLIENT / "test" / "scenarios.json").read_text())
URL = "http://desk.example.test"
FOUND = {
    "data": {
        "id": "i", "subject": "S", "status": "asleep", "of_tomorrow": [1],
        "created_at": "", "updated_at": "",
    }
}  # fmt: skip
CALLS: dict[str, Callable[[Any], Any]] = {
    "create": lambda desk: desk.tickets.create(
        subject="S", description="D", customer={"email": "a@example.test"}
    ),
    "get": lambda desk: desk.tickets.get("i"),
    "update": lambda desk: desk.tickets.update("i", status="open"),
    "update_if_match": lambda desk: desk.tickets.update("i", if_match='"1.1"', status="open"),
    "merge": lambda desk: desk.tickets.merge("i", into="j"),
    "undo_merge": lambda desk: desk.tickets.undo_merge("i"),
    "list": lambda desk: desk.tickets.list().first(),
}
Play = Callable[[httpx.Request], httpx.Response]


def call_sync(name: str, play: Play, pauses: list[float], policy: RetryPolicy) -> Any:
    http = httpx.Client(transport=httpx.MockTransport(play))
    credentials = vectors.API_KEY, vectors.API_SECRET, URL
    with Desk(*credentials, http=http, retry=policy, sleep=pauses.append) as desk:
        return CALLS[name](desk)


def call_async(name: str, play: Play, pauses: list[float], policy: RetryPolicy) -> Any:
    async def sleep(pause_s: float) -> None:
        pauses.append(pause_s)

    async def work() -> Any:
        http = httpx.AsyncClient(transport=httpx.MockTransport(play))
        credentials = vectors.API_KEY, vectors.API_SECRET, URL
        async with AsyncDesk(*credentials, http=http, retry=policy, sleep=sleep) as desk:
            done: Awaitable[Any] = CALLS[name](desk)
            return await done

    return asyncio.run(work())


def response_of(answer: dict[str, Any]) -> httpx.Response:
    """Raises httpx.ReadError for a lost one."""
    if "lost" in answer:
        raise httpx.ReadError("reset")
    status, headers = answer["status"], answer.get("headers", {})
    if "html" in answer:
        return httpx.Response(status, html=answer["html"])
    if "code" in answer:
        members = {"code": answer["code"], "detail": "D", **answer.get("members", {})}
        return httpx.Response(status, headers=headers, json=members)
    return httpx.Response(status, headers=headers, json=answer.get("body", {}))


@pytest.mark.parametrize("call", [call_sync, call_async])
@pytest.mark.parametrize("scenario", SCENARIOS, ids=[each["name"] for each in SCENARIOS])
def test_scenario(scenario: dict[str, Any], call: Callable[..., Any]) -> None:
    answers = [each for each in scenario["answers"] for _ in range(each.get("times", 1))]
    requests: list[httpx.Request] = []
    pauses: list[float] = []

    def play(request: httpx.Request) -> httpx.Response:
        requests.append(request)
        return response_of(answers.pop(0) if answers else {"status": 200, "body": FOUND})

    policy = RetryPolicy(**scenario.get("retry", {}))
    try:
        assert call(scenario["call"], play, pauses, policy).status == "asleep"
        assert "raises" not in scenario
    except SealdeskError as error:
        assert scenario["raises"] in [each.__name__ for each in type(error).__mro__]
        assert re.search(scenario.get("says", ""), str(error))
    assert len(requests) == scenario["requests"]
    limits = zip(scenario["pauses"], pauses, strict=True)
    assert all(least <= pause_s <= most for (least, most), pause_s in limits)
    for name, count in scenario.get("distinct", {}).items():
        assert len({each.headers[name] for each in requests}) == count
