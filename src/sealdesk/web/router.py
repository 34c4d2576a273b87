"""The row types of the table of routes, and finding the row of a request."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Literal, Protocol

import msgspec

from sealdesk.errors import MethodNotAllowed, NotFound
from sealdesk.web.envelope import PageMeta
from sealdesk.web.proof import NOTHING_PROVEN, Proof
from sealdesk.web.query import Param
from sealdesk.web.request import Request, Response

# As lists are documented that say nothing else.
LAST_PAGE = PageMeta(25, has_more=False, next_cursor=None)

Handle = Callable[[Request], Awaitable[Response]]


class Guard(Protocol):
    """Authenticates and authorises a request before its handler runs.

    scheme: how; "session" is for pages. needs: permissions or roles, of which one is enough.
    fails: the error codes that it refuses with.
    """

    @property
    def scheme(self) -> Literal["hmac", "jwt", "none", "session"]: ...

    @property
    def needs(self) -> tuple[str, ...]: ...

    @property
    def fails(self) -> tuple[str, ...]: ...

    async def prove(self, request: Request) -> Proof:
        """Prove who calls, and read the body. Raises ApiError when nothing at all is proven."""


class Open:
    """The guard of routes without authentication."""

    scheme: Literal["none"] = "none"
    needs: tuple[str, ...] = ()
    fails: tuple[str, ...] = ("body_too_large", "unsupported_media_type")

    async def prove(self, request: Request) -> Proof:
        await request.read_body()
        request.check_content_type()
        return NOTHING_PROVEN


class Operation(msgspec.Struct, frozen=True):
    """A handler with what documentation says of it.

    takes: the struct of the body. gives: an example of `data`, or with is_list of its items;
    its struct is what the answer is documented as. meta: an example of `meta` of a list.
    fails: the codes beside those of the guard, with the status where it is not the usual one.
    headers, answer_headers: what it heeds, and what its answer carries.
    example: a body that could be sent.
    """

    handle: Handle
    name: str
    summary: str
    about: str
    tag: str
    takes: type[msgspec.Struct] | None
    gives: msgspec.Struct | None
    is_list: bool
    meta: msgspec.Struct
    status: int
    params: tuple[Param, ...]
    fails: tuple[str | tuple[str, int], ...]
    headers: tuple[str, ...]
    response_headers: tuple[str, ...]
    example: Any
    produces: str


def operation(
    summary: str,
    *,
    tag: str,
    takes: type[msgspec.Struct] | None = None,
    gives: msgspec.Struct | None = None,
    is_list: bool = False,
    meta: msgspec.Struct = LAST_PAGE,
    status: int = 200,
    params: tuple[Param, ...] = (),
    fails: tuple[str | tuple[str, int], ...] = (),
    headers: tuple[str, ...] = (),
    response_headers: tuple[str, ...] = (),
    example: Any = None,
    produces: str = "application/json",
) -> Callable[[Handle], Operation]:
    """Turn a handler into a row's operation; its docstring becomes the description.

    headers, answer_headers: names out of openapi_headers, beside those that follow from the guard.
    """

    def describe(handle: Handle) -> Operation:
        name = getattr(handle, "__name__", "")
        about = " ".join((handle.__doc__ or "").split())
        return Operation(
            handle, name, summary, about, tag, takes, gives, is_list, meta, status, params, fails,
            headers, response_headers, example, produces,
        )  # fmt: skip

    return describe


def page(handle: Handle) -> Operation:
    """Turn a handler that answers with HTML into a row's operation; it is documented nowhere."""
    return operation("", tag="Pages", produces="text/html; charset=utf-8")(handle)


class Route(msgspec.Struct, frozen=True):
    """One row: method, path template, who may, what happens."""

    method: str
    path: str
    guard: Guard
    operation: Operation


class _Node:
    """One segment of the paths: what may follow it, and what it answers itself."""

    __slots__ = ("children", "routes", "wildcard")

    def __init__(self) -> None:
        self.children: dict[str, _Node] = {}
        self.wildcard: _Node | None = None
        self.routes: dict[str, Route] = {}


class Router:
    """Finds a row by the raw path: `%2F` never separates, no slash is added or dropped."""

    def __init__(self, routes: Sequence[Route]) -> None:
        self._root = _Node()
        for route in routes:
            node = self._root
            for segment in route.path.split("/"):
                node = self._step(node, segment)
            if route.method in node.routes:
                raise ValueError(f"two rows for {route.method} {route.path}")
            node.routes[route.method] = route

    @staticmethod
    def _step(node: _Node, segment: str) -> _Node:
        if not segment.startswith("{"):
            return node.children.setdefault(segment, _Node())
        if node.wildcard is None:
            node.wildcard = _Node()
        return node.wildcard

    def find(self, method: str, path: str) -> tuple[Route, tuple[str, ...]]:
        """The row and the ids in the path. Raises Missing, WrongMethod."""
        node: _Node | None = self._root
        params: tuple[str, ...] = ()
        for segment in path.split("/"):
            if node is None:
                break
            following = node.children.get(segment)
            if following is None:
                following = node.wildcard
                params = (*params, segment)
            node = following
        if node is None or not node.routes:
            raise NotFound("There is no such path. See /docs for the ones that exist.")
        route = node.routes.get("GET" if method == "HEAD" else method)
        if route is None:
            raise _wrong_method(method, node.routes)
        return route, params


def _wrong_method(method: str, routes: dict[str, Route]) -> MethodNotAllowed:
    allowed = sorted({*routes, "HEAD"} if "GET" in routes else routes)
    return MethodNotAllowed(
        "method_not_allowed",
        f"{method} is not available here; {', '.join(allowed)} is.",
        headers=(("allow", ", ".join(allowed)),),
    )
