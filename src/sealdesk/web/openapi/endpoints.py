"""The API documentation that the service serves: the OpenAPI document and its pages."""

import asyncio
import hashlib
from collections.abc import Callable, Sequence
from functools import cache

import msgspec

from sealdesk.errors import ProblemType
from sealdesk.web import conditional
from sealdesk.web.operation import Operation, Route, operation
from sealdesk.web.request import Header, Request, Response

_TAG = "Documentation"
_PAGE = "text/html; charset=utf-8"
# Only files of this service: no inline style or script, no framing, no form.
_POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:;"
    " base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_PAGE_HEADERS: list[Header] = [
    (b"content-security-policy", _POLICY.encode()),
    (b"referrer-policy", b"no-referrer"),
]


class Reference:
    """The documentation of these routes; each part is rendered when it is first requested.

    Rendering takes tens of milliseconds, so it runs in a thread. The thread also imports
    the renderer, which would add 40 ms to the start (measured 2026-11-22).
    """

    def __init__(self, routes: Sequence[Route], problem_types: Sequence[ProblemType]) -> None:
        self._routes = routes
        self._problem_types = problem_types
        self._openapi = cache(self._render_openapi)
        self._page = cache(self._render_page)
        self._errors = cache(self._render_errors)

    def openapi(self) -> Operation:
        """The operation of `/openapi.json`."""
        return _served("The OpenAPI document", "application/json", self._openapi)

    def page(self) -> Operation:
        """The operation of `/docs`."""
        return _served("The reference", _PAGE, self._page, _PAGE_HEADERS)

    def errors(self) -> Operation:
        """The operation of `/docs/errors`: a section for each code."""
        return _served("The error codes", _PAGE, self._errors, _PAGE_HEADERS)

    def _render_openapi(self) -> bytes:
        from sealdesk.web.openapi import document as openapi  # late: 5 ms (2026-11-22)

        return msgspec.json.encode(openapi.document(self._routes, self._problem_types))

    def _render_page(self) -> bytes:
        from sealdesk.web.openapi import html as reference_page  # late: 27 ms (2026-11-22)

        return reference_page.reference(msgspec.json.decode(self._openapi()))

    def _render_errors(self) -> bytes:
        from sealdesk.web.openapi import html as reference_page  # late: 27 ms (2026-11-22)

        return reference_page.errors(self._problem_types)


def _served(
    summary: str,
    content_type: str,
    render: Callable[[], bytes],
    headers: Sequence[Header] = (),
) -> Operation:
    """An operation that responds with the rendered bytes and their ETag."""

    @operation(summary, tag=_TAG, headers=("if-none-match",), produces=content_type)
    async def serve(request: Request) -> Response:
        content = await asyncio.to_thread(render)
        etag = f'"{hashlib.sha256(content).hexdigest()[:32]}"'
        all_headers = [*headers, (b"cache-control", b"no-cache")]
        response = Response(200, content, all_headers, content_type.encode())
        return conditional.unless_unchanged(request, etag, response)

    return serve
