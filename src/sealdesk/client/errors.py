"""The exceptions of the client: one class for each kind of failure and each HTTP status."""

import json
from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any, ClassVar, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")
_SHOWN_RULES = 5


def printable(text: str) -> str:
    """Return the text with control characters escaped, which terminals would obey."""
    if text.isprintable():
        return text
    return "".join(
        each if each.isprintable() else each.encode("unicode_escape").decode("ascii")
        for each in text
    )


class SealdeskError(Exception):
    """Any failure of the client. Its text says in plain words what to do."""

    def __str__(self) -> str:
        return printable(super().__str__())

    def __reduce__(self) -> tuple[Callable[..., "SealdeskError"], tuple[Any, ...]]:
        """How it is pickled and copied: classes have arguments of their own."""
        return _restore, (type(self), self.args, self.__dict__)


def without_frames(function: Callable[P, T]) -> Callable[P, T]:
    """A function that is given secrets, and whose tracebacks end where it is called.

    Loggers that show the local variables of each frame, such as those of rich and Sentry, would
    show its arguments.
    """

    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return function(*args, **kwargs)
        except Exception as error:
            del args, kwargs  # this frame stays in the traceback
            raise error.with_traceback(None) from None

    return call


def _restore(
    kind: type[SealdeskError], args: tuple[Any, ...], members: dict[str, Any]
) -> SealdeskError:
    error = kind.__new__(kind, *args)
    error.__dict__.update(members)
    return error


class InvalidConfiguration(SealdeskError, ValueError):
    """The key, the secret, the URL, an id or a field cannot be used; nothing was sent."""


class ConnectionFailed(SealdeskError):
    """No response arrived. Whether the service received the request is not known."""


class UnexpectedResponse(SealdeskError):
    """The response is not one of Sealdesk: a redirect, a page of a proxy, a captive portal.

    status: of the response. url: of the request, without its query.
    """

    def __init__(self, text: str, *, status: int, url: str) -> None:
        super().__init__(text)
        self.status = status
        self.url = url


class ApiError(SealdeskError):
    """The service refused the request and said why (RFC 9457).

    code: stable; branch on it. detail: for people. diagnosis: the known mistake that leads to this
    signature, or None. request_id: finds the request in the log of the service. members: the whole
    problem document. retry_after_s: when to try again, or None. hint: what the client found out.
    """

    status_of_class: ClassVar[int | None] = None
    code_of_class: ClassVar[str] = ""

    def __init_subclass__(cls, code: str = "") -> None:
        super().__init_subclass__()
        cls.code_of_class = code

    def __init__(
        self, status: int, members: Mapping[str, Any], *, retry_after_s: float | None
    ) -> None:
        super().__init__(status, members.get("code"))
        self.status = status
        self.members = members
        self.retry_after_s = retry_after_s
        self.hint = ""

    @property
    def code(self) -> str:
        return str(self.members.get("code", ""))

    @property
    def detail(self) -> str:
        return str(self.members.get("detail") or self.members.get("title") or "")

    @property
    def diagnosis(self) -> str | None:
        return self._text("diagnosis")

    @property
    def request_id(self) -> str | None:
        return self._text("request_id")

    def __str__(self) -> str:
        parts = [f"{self.status} {self.code}: {self.detail}"]
        if self.diagnosis:
            parts.append(f"Diagnosis: {self.diagnosis}.")
        parts += self._broken_rules()
        parts.append(self.hint)
        if self.request_id:
            parts.append(f"(request {self.request_id})")
        return printable(" ".join(part for part in parts if part))

    def _text(self, name: str) -> str | None:
        value = self.members.get(name)
        return None if value is None else str(value)

    def _broken_rules(self) -> list[str]:
        faults = self.members.get("errors")
        if not isinstance(faults, list):
            return []
        shown = [
            f"{fault.get('pointer', '')}: {fault.get('message', '')}"
            for fault in faults[:_SHOWN_RULES]
            if isinstance(fault, dict)
        ]
        more = len(faults) - len(shown)
        return [*shown, f"and {more} more."] if more > 0 else shown


class BadRequest(ApiError):
    """400: the service cannot read the request."""

    status_of_class = 400


class AuthenticationFailed(ApiError):
    """401: the key or the signature is not accepted."""

    status_of_class = 401


class PermissionDenied(ApiError):
    """403: the key may not do this."""

    status_of_class = 403


class NotFound(ApiError):
    """404: it does not exist in the tenant of the key."""

    status_of_class = 404


class MethodNotAllowed(ApiError):
    """405: the path does not have this method."""

    status_of_class = 405


class RequestTimeout(ApiError):
    """408: the request did not arrive in time."""

    status_of_class = 408


class Conflict(ApiError):
    """409: the request contradicts what is stored."""

    status_of_class = 409


class Gone(ApiError):
    """410: the requested data no longer exists."""

    status_of_class = 410


class PreconditionFailed(ApiError):
    """412: the resource has changed since it was read."""

    status_of_class = 412


class ContentTooLarge(ApiError):
    """413: the body is over the limit."""

    status_of_class = 413


class UnsupportedMediaType(ApiError):
    """415: the type or the encoding of the body is not supported."""

    status_of_class = 415


class Unprocessable(ApiError):
    """422: the request can be read, but breaks a rule."""

    status_of_class = 422


class RateLimited(ApiError):
    """429: a limit is reached; `retry_after_s` says for how long."""

    status_of_class = 429


class HeadersTooLarge(ApiError):
    """431: the headers are over the limit."""

    status_of_class = 431


class ServerFailed(ApiError):
    """5xx: the service failed."""

    status_of_class = 500


class ServiceUnavailable(ServerFailed):
    """503: the service cannot do this at the moment; nothing was changed unless it says so."""

    status_of_class = 503


def make_api_error(status: int, body: bytes, *, retry_after_s: float | None) -> ApiError | None:
    """Return the exception for a problem document, or None if the body is not one."""
    try:
        members = json.loads(body)
    except (ValueError, RecursionError):
        return None
    if not isinstance(members, dict) or not isinstance(members.get("code"), str):
        return None
    kind = class_of(members["code"], status)
    return kind(status, members, retry_after_s=retry_after_s)


def class_of(code: str, status: int) -> type[ApiError]:
    """Return the class of a code; of an unknown one, that of its status."""
    for kind in _subclasses(ApiError):
        if kind.code_of_class == code:
            return kind
    for kind in _subclasses(ApiError):
        if kind.status_of_class == status and not kind.code_of_class:
            return kind
    return ServerFailed if status >= 500 else ApiError


def _subclasses(kind: type[ApiError]) -> list[type[ApiError]]:
    return [each for sub in kind.__subclasses__() for each in (sub, *_subclasses(sub))]
