"""The API documentation that the service serves: the OpenAPI document."""

import asyncio
import gzip
import hashlib
from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import Any, NamedTuple

import msgspec

from sealdesk.errors import ProblemType
from sealdesk.web import conditional
from sealdesk.web.assets import accepts_gzip
from sealdesk.web.openapi import by_tag
from sealdesk.web.openapi.tags import TAGS, path_of_tag
from sealdesk.web.openapi.webhooks import DocumentedEvent
from sealdesk.web.operation import Open, Operation, Route, operation
from sealdesk.web.request import Header, Request, Response

_TAG = "Documentation"
_CACHING: list[Header] = [(b"cache-control", b"no-cache"), (b"vary", b"accept-encoding")]
_OPEN = Open()


class _Content(NamedTuple):
    """What is served: as it is and compressed, so that no request waits for the compression."""

    plain: bytes
    compressed: bytes
    version: str


class Reference:
    """The OpenAPI document of these routes, rendered in a thread when it is first requested."""

    def __init__(
        self,
        routes: Sequence[Route],
        problem_types: Sequence[ProblemType],
        events: Sequence[DocumentedEvent],
    ) -> None:
        self._routes = routes
        self._problem_types = problem_types
        self._events = events
        self._document = cache(self._make_document)

    def openapi_routes(self) -> tuple[Route, ...]:
        """The routes of the OpenAPI document and of its parts by tag."""
        whole = Route("GET", "/openapi.json", _OPEN, self._openapi(None))
        return (whole, *(Route("GET", path_of_tag(tag), _OPEN, self._openapi(tag)) for tag in TAGS))

    def _openapi(self, tag: str | None) -> Operation:
        render = partial(self._render_openapi, tag)
        return _served(f"The OpenAPI document: {tag or 'all'}", render)

    def _render_openapi(self, tag: str | None) -> bytes:
        document = self._document()
        return msgspec.json.encode(document if tag is None else by_tag.of_tag(document, tag))

    def _make_document(self) -> dict[str, Any]:
        from sealdesk.web.openapi import document as openapi  # late: 5 ms (2026-11-22)

        return openapi.document(self._routes, self._problem_types, self._events)


def _served(summary: str, render: Callable[[], bytes]) -> Operation:
    """An operation that responds with the rendered bytes, compressed where that is accepted."""

    @cache
    def find_content() -> _Content:
        content = render()
        version = hashlib.sha256(content).hexdigest()[:32]
        return _Content(content, gzip.compress(content, mtime=0), version)

    @operation(summary, tag=_TAG, headers=("if-none-match",))
    async def serve(request: Request) -> Response:
        found = await asyncio.to_thread(find_content)
        content, etag, own = found.plain, found.version, [*_CACHING]
        if accepts_gzip(request):
            content, etag = found.compressed, f"{found.version}-gzip"
            own.append((b"content-encoding", b"gzip"))
        response = Response(200, content, own)
        return conditional.unless_unchanged(request, f'"{etag}"', response)

    return serve
