"""The table of routes: guards, and operations with their documentation."""

import re
from collections.abc import Awaitable, Callable
from inspect import signature
from typing import Any, Literal, Protocol

import msgspec

from sealdesk.errors import ProblemType
from sealdesk.errors.general import TOO_MANY_BYTES
from sealdesk.errors.requests import BODY_TOO_LARGE, UNSUPPORTED_MEDIA_TYPE
from sealdesk.web.envelope import PageMeta
from sealdesk.web.proof import NOTHING_PROVEN, Proof
from sealdesk.web.query import Param
from sealdesk.web.request import MAX_SHORT_BODY_BYTES, Request, Response

# The documented `meta` of a list without one of its own.
LAST_PAGE = PageMeta(25, has_more=False, next_cursor=None)

# What a stream produces, whose requests are of a script: they get no error pages.
EVENT_STREAM = "text/event-stream"

_PATH_NAME = re.compile(r"{(\w+)}")
# Its arguments after the request are the values of the path, which a Route checks.
Handle = Callable[..., Awaitable[Response]]


class Guard(Protocol):
    """Authenticates and authorises a request before its handler runs.

    scheme: how callers authenticate; "session" is for pages. needs: permissions or roles, of which
    one is enough. fails: the errors it raises. write_fails: further errors of methods other than
    GET.
    """

    @property
    def scheme(self) -> Literal["hmac", "jwt", "none", "session"]: ...

    @property
    def needs(self) -> tuple[str, ...]: ...

    @property
    def fails(self) -> tuple[ProblemType, ...]: ...

    @property
    def write_fails(self) -> tuple[ProblemType, ...]: ...

    async def prove(self, request: Request) -> Proof:
        """Authenticate the caller and read the body. Raises ApiError when authentication fails."""


class Open:
    """The guard of routes without authentication."""

    scheme: Literal["none"] = "none"
    needs: tuple[str, ...] = ()
    fails: tuple[ProblemType, ...] = (BODY_TOO_LARGE, UNSUPPORTED_MEDIA_TYPE, TOO_MANY_BYTES)
    write_fails: tuple[ProblemType, ...] = ()

    async def prove(self, request: Request) -> Proof:
        await request.read_body()
        request.check_content_type()
        return NOTHING_PROVEN


class _Titled(msgspec.Struct, frozen=True):
    summary: str


class Documentation(_Titled, frozen=True, kw_only=True):
    """The documentation of a handler, besides its docstring; calling it with the handler, as a
    decorator, makes the handler an operation.

    takes: the struct of the request body. example: an example of the body. receives: the media type
    of a body that is a file.
    gives: an example of `data`, or of one item when is_list is true; its type is documented.
    meta: an example of the `meta` of a list. may_create: it may also respond with 201.
    fails: problem types besides those of the guard and those that follow from the other fields.
    headers, response_headers: names in `openapi.headers`, besides those that the guard implies.
    some_headers: names of those that only some successful responses have.
    """

    tag: str
    takes: type[msgspec.Struct] | None = None
    gives: msgspec.Struct | None = None
    is_list: bool = False
    meta: msgspec.Struct = LAST_PAGE
    status: int = 200
    may_create: bool = False
    params: tuple[Param, ...] = ()
    fails: tuple[ProblemType, ...] = ()
    headers: tuple[str, ...] = ()
    response_headers: tuple[str, ...] = ()
    some_headers: tuple[str, ...] = ()
    example: Any = None
    produces: str = "application/json"
    receives: str = ""

    def __call__(self, handle: Handle) -> "Operation":
        """The operation of a handler; its docstring becomes the description."""
        return Operation(
            **{name: getattr(self, name) for name in self.__struct_fields__},
            handle=handle,
            name=getattr(handle, "__name__", ""),
            about=" ".join((handle.__doc__ or "").split()),
        )


class Operation(Documentation, frozen=True, kw_only=True):
    """A handler with its documentation."""

    handle: Handle
    name: str
    about: str


operation = Documentation


def page(handle: Handle) -> Operation:
    """The operation of a handler that responds with HTML, which is not in the API reference."""
    return operation("", tag="Pages", produces="text/html; charset=utf-8")(handle)


class Route(msgspec.Struct, frozen=True):
    """A route: method, path template, guard, operation, and the limit of its body.

    takes_numbers: whether a number may stand in the place of an id.
    takes_names: whether its parameters are names instead of ids, which its handler looks up.
    Raises TypeError when the handler does not take the values of the path.
    """

    method: str
    path: str
    guard: Guard
    operation: Operation
    max_body_bytes: int = MAX_SHORT_BODY_BYTES
    takes_numbers: bool = False
    takes_names: bool = False

    @property
    def is_unconditional(self) -> bool:
        """Whether it changes what has no ETag, so that no If-Match can hold."""
        return self.is_api_change and "if-match" not in self.operation.headers

    @property
    def is_without_body(self) -> bool:
        """Whether it is a change for which no body is read, if its operation takes no struct."""
        return self.is_api_change and not self.operation.receives

    @property
    def is_api_change(self) -> bool:
        """Whether a program changes something with it, and says who calls."""
        return self.guard.scheme in ("hmac", "jwt") and self.method != "GET"

    def __post_init__(self) -> None:
        """The argument of `{id}` says whose it is, as `ticket_id` does; others agree by name."""
        names = _PATH_NAME.findall(self.path)
        arguments = signature(self.operation.handle).bind(self, *names).arguments
        for argument, name in list(arguments.items())[1:]:
            agrees = argument.endswith("_id") if name == "id" else argument == name
            if isinstance(name, str) and not agrees:
                raise TypeError(f"{self.method} {self.path}: {{{name}}} is not {argument}")
