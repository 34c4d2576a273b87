"""Checks responses: turns every one that is no success into the exception that explains it."""

import re
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from hashlib import sha256
from typing import TypeVar

import httpx
import msgspec

from sealdesk.client.errors import (
    ApiError,
    ConnectionFailed,
    InvalidConfiguration,
    SealdeskError,
    UnexpectedResponse,
    make_api_error,
)
from sealdesk.client.operation import Operation
from sealdesk.client.received import Received
from sealdesk.client.results import with_response
from sealdesk.client.signing import MAX_CORRECTION_S, find_target

T = TypeVar("T")
_TITLE = re.compile(r"<title[^>]*>([^<]{1,200})", re.IGNORECASE)
_SEARCHED_CHARACTERS = 20_000


def read(response: httpx.Response, operation: Operation[T]) -> T:
    """Return the result in a successful response.

    Raises ApiError or UnexpectedResponse, also for the result of another resource.
    """
    error = find_error(response)
    if error is not None:
        raise error
    try:
        result = operation.read(response.content)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error_of_body:
        raise _unexpected(response) from error_of_body
    _check_resource(response, operation.resource_id, result)
    return with_response(result, Received(response.status_code, response.headers))


def _check_resource(response: httpx.Response, resource_id: str | None, result: object) -> None:
    found = getattr(result, "id", None)  # None of bytes that are handed on as they are
    if resource_id is not None and found is not None and found.lower() != resource_id.lower():
        raise UnexpectedResponse(
            f"{_address(response.request)} responded with {found[:100]!r}, which was not asked for:"
            " do several processes or proxies share one connection?",
            status=response.status_code,
            url=_address(response.request),
        )


def find_error(response: httpx.Response) -> SealdeskError | None:
    """Return the exception for a response, or None if it is a success."""
    if response.is_success:
        return None
    if response.is_redirect:
        return _redirect(response)
    if response.status_code < 400:
        return _unexpected(response)
    error = make_api_error(
        response.status_code, response.content, retry_after_s=find_retry_after_s(response)
    )
    if error is None:
        return _unexpected(response)
    error.hint = _hint(error, response.request)
    return error


def find_retry_after_s(response: httpx.Response) -> float | None:
    """Return the seconds of Retry-After, which may also be a date, or None."""
    value = response.headers.get("retry-after", "").strip()
    if re.fullmatch(r"[0-9]{1,9}", value):
        return float(value)
    until, date = (_read_date(text) for text in (value, response.headers.get("date", "")))
    if until is None:
        return None
    # By the clock of the service, if it says its time.
    return max(0.0, (until - (date or datetime.now(UTC))).total_seconds())


def describe_failure(error: httpx.RequestError, base_url: str) -> SealdeskError:
    """Return the exception for a request that got no response."""
    reason = str(error) or type(error).__name__
    if isinstance(error, httpx.UnsupportedProtocol | httpx.LocalProtocolError):
        return InvalidConfiguration(f"the request cannot be sent: {reason}")
    if isinstance(error, httpx.TimeoutException):
        advice = "the service did not respond in time"
    elif "CERTIFICATE_VERIFY_FAILED" in reason:
        advice = "the certificate of the service is not trusted here"
    elif "WRONG_VERSION_NUMBER" in reason or "record layer" in reason:
        advice = "the port does not speak TLS; does the URL need http:// instead of https://?"
    else:
        advice = "is the URL right, and is the service running there?"
    return ConnectionFailed(f"no response from {base_url}: {reason}; {advice}")


def _read_date(text: str) -> datetime | None:
    try:
        time = parsedate_to_datetime(text)
    except (ValueError, OverflowError):
        return None
    return time if time.tzinfo else time.replace(tzinfo=UTC)


def _redirect(response: httpx.Response) -> UnexpectedResponse:
    url = _address(response.request)
    location = response.headers.get("location", "").partition("?")[0]  # may repeat what was sent
    return UnexpectedResponse(
        f"{url} redirects to {location[:200]!r} (status {response.status_code}). Redirects are not"
        " followed, because a signature is valid for one path only: use the final address as the"
        " URL of the service, such as https:// instead of http://. A network that asks to log in"
        " also redirects.",
        status=response.status_code,
        url=url,
    )


def _unexpected(response: httpx.Response) -> UnexpectedResponse:
    url = _address(response.request)
    kind = response.headers.get("content-type", "no content type").split(";")[0]
    title = _TITLE.search(response.text[:_SEARCHED_CHARACTERS]) if "html" in kind else None
    shown = f", titled {' '.join(title[1].split())!r}" if title else ""
    return UnexpectedResponse(
        f"{url} did not respond as Sealdesk does: status {response.status_code} with"
        f" {kind[:100]}{shown}. Check the URL of the service. A proxy, or a network that asks to"
        " log in, may have responded instead.",
        status=response.status_code,
        url=url,
    )


def _address(request: httpx.Request) -> str:
    return str(request.url.copy_with(query=None, username=None, password=None))


def _hint(error: ApiError, request: httpx.Request) -> str:
    if error.code == "invalid_signature":
        return _hint_about_signature(error, request)
    if error.code == "timestamp_out_of_range":
        return _hint_about_clock(error, request)
    prefix = find_target(request).decode("latin-1").partition("/api/")[0]
    if error.code == "not_found" and prefix and not request.url.path.startswith("/api/"):
        return f"Does the URL of the service really have the path {prefix[:200]!r}?"
    return ""


def _hint_about_clock(error: ApiError, request: httpx.Request) -> str:
    sent, server_time = request.headers.get("x-api-timestamp", ""), error.members.get("server_time")
    signed_at = int(sent) if sent.isdecimal() else server_time
    if isinstance(server_time, int) and abs(server_time - (signed_at or 0)) > MAX_CORRECTION_S:
        return (
            f"The service says that it is {server_time} s since 1970, and the clock of this machine"
            f" says {sent} s. A difference of over 24 hours is not corrected: set the clock that is"
            " wrong."
        )
    return "The clock of this machine is wrong: set it, for example with NTP."


def _hint_about_signature(error: ApiError, request: httpx.Request) -> str:
    received = error.members.get("received")
    if not isinstance(received, dict):
        return ""
    sent = {
        "method": request.method,
        "request_target": find_target(request).decode("latin-1"),
        "body_sha256": sha256(request.content).hexdigest(),
    }
    for name, value in sent.items():
        if name in received and received[name] != value:
            return (
                f"A proxy changes requests on their way: {name} was sent as {value[:200]!r}, and"
                f" arrived as {str(received[name])[:200]!r}. `sealdesk doctor --public-url URL`"
                " shows what it changes."
            )
    return "The request arrived as it was sent, so this is probably not the secret of this key."
