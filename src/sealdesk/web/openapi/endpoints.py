"""The API documentation that the service serves: the OpenAPI document."""

import asyncio
import gzip
import hashlib
from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import Any

import msgspec

from sealdesk.errors import ProblemType
from sealdesk.web.assets import Content, respond
from sealdesk.web.openapi.tags import TAGS, of_tag, path_of_tag
from sealdesk.web.openapi.webhooks import DocumentedEvent
from sealdesk.web.operation import Open, Operation, Route, operation
from sealdesk.web.request import Request, Response

_TAG = "Documentation"
_CACHING = (b"cache-control", b"no-cache")
_OPEN = Open()


def openapi_routes(
    routes: Sequence[Route],
    problem_types: Sequence[ProblemType],
    events: Sequence[DocumentedEvent],
) -> tuple[Route, ...]:
    """The routes of the OpenAPI document of these routes, and of its parts by tag.

    It is rendered in a thread when it is first requested.
    """

    @cache
    def document() -> dict[str, Any]:
        from sealdesk.web.openapi import document as openapi  # late: 5 ms (2026-11-22)

        return openapi.document(routes, problem_types, events)

    def render(tag: str) -> bytes:
        return msgspec.json.encode(of_tag(document(), tag))

    whole = _served("The OpenAPI document: all", lambda: msgspec.json.encode(document()))
    parts = {tag: _served(f"The OpenAPI document: {tag}", partial(render, tag)) for tag in TAGS}
    return (
        Route("GET", "/openapi.json", _OPEN, whole),
        *(Route("GET", path_of_tag(tag), _OPEN, part) for tag, part in parts.items()),
    )


def _served(summary: str, render: Callable[[], bytes]) -> Operation:
    """An operation that responds with the rendered bytes, compressed where that is accepted."""

    @cache
    def find_content() -> Content:
        content = render()
        version = hashlib.sha256(content).hexdigest()[:32]
        compressed = gzip.compress(content, mtime=0)  # so that no request waits for it
        return Content(version, "application/json", lambda: content, compressed)

    @operation(summary, tag=_TAG, headers=("if-none-match",))
    async def serve(request: Request) -> Response:
        return respond(request, await asyncio.to_thread(find_content), _CACHING)

    return serve
