"""What can be wrong with a request: few kinds, each with stable codes and one status.

And `Unfit`: what is wrong before there can be any request.
"""

from typing import Any, NamedTuple


class Code(NamedTuple):
    """A stable code that clients may branch on: its HTTP status and its short title."""

    status: int
    title: str


# The whole vocabulary. A test holds the documentation and the OpenAPI document to it.
CODES: dict[str, Code] = {
    "malformed_request": Code(400, "The request is not HTTP that can be read"),
    "malformed_json": Code(400, "The body is not JSON that can be read"),
    "invalid_parameter": Code(400, "A query parameter has a value that it cannot take"),
    "unknown_parameter": Code(400, "A query parameter does not exist"),
    "invalid_header": Code(400, "A header has a value that it cannot take"),
    "invalid_cursor": Code(400, "The cursor does not belong to this query"),
    "missing_credentials": Code(401, "The request is not signed"),
    "malformed_credentials": Code(401, "The signature headers are not well formed"),
    "timestamp_not_seconds": Code(401, "The timestamp is not in whole seconds"),
    "timestamp_out_of_range": Code(401, "The timestamp is too far from the server's time"),
    "invalid_api_key": Code(401, "The API key is not known"),
    "api_key_revoked": Code(401, "The API key has been revoked"),
    "api_key_expired": Code(401, "The API key has expired"),
    "invalid_signature": Code(401, "The signature does not fit the request"),
    "signature_replayed": Code(401, "The signature has been used before"),
    "jwt_required": Code(401, "A log-in is required"),
    "invalid_token": Code(401, "The access token is not valid"),
    "token_expired": Code(401, "The access token has expired"),
    "invalid_credentials": Code(401, "The e-mail address or the password is wrong"),
    "insufficient_role": Code(403, "The role does not allow this"),
    "insufficient_permissions": Code(403, "The API key lacks a permission"),
    "ip_not_allowed": Code(403, "The API key may not be used from this address"),
    "foreign_form": Code(403, "The form was not sent from a page of this log-in"),
    "not_found": Code(404, "There is nothing here"),
    "method_not_allowed": Code(405, "The method is not available here"),
    "request_timeout": Code(408, "The request did not arrive in time"),
    "user_email_taken": Code(409, "Another user has this e-mail address"),
    "last_administrator": Code(409, "Nobody else can administer the desk"),
    "user_inactive": Code(409, "The user is deactivated"),
    "customer_email_taken": Code(409, "Another customer has this e-mail address"),
    "invalid_transition": Code(409, "The ticket cannot change to this status"),
    "ticket_closed": Code(409, "The ticket is closed"),
    "idempotency_in_flight": Code(409, "A request with this idempotency key is being answered"),
    "too_many_webhooks": Code(409, "The tenant has as many webhook endpoints as it may have"),
    "webhook_inactive": Code(409, "The webhook endpoint is paused or disabled"),
    "replay_in_progress": Code(409, "A replay to the webhook endpoint is under way"),
    "cursor_expired": Code(410, "The cursor is older than the events that are kept"),
    "version_mismatch": Code(412, "The resource has changed since it was read"),
    "body_too_large": Code(413, "The body is too large"),
    "unsupported_media_type": Code(415, "The body is not of a supported type"),
    "validation_failed": Code(422, "The body breaks a rule"),
    "idempotency_key_reused": Code(422, "The idempotency key was used for another body"),
    "rate_limit_exceeded": Code(429, "The API key has used up its rate limit"),
    "too_many_attempts": Code(429, "There were too many failed log-ins"),
    "headers_too_large": Code(431, "The headers are too large"),
    "internal_error": Code(500, "Something went wrong on our side"),
    "storage_unavailable": Code(503, "The storage cannot be reached"),
    "query_too_slow": Code(503, "The query took too long"),
}


class ConfigurationError(Exception):
    """The installation cannot be worked on as it is; the text, one line, says what to do."""


class ApiError(Exception):
    """A request that is answered with a problem document.

    members: further members of the document. headers: further headers of the answer.
    """

    status = 0

    def __init__(
        self,
        code: str,
        detail: str,
        *,
        headers: tuple[tuple[str, str], ...] = (),
        **members: Any,
    ) -> None:
        super().__init__(code, detail)
        self.code = code
        self.detail = detail
        self.headers = headers
        self.members = members


class BadRequest(ApiError):
    """400: it cannot be read."""

    status = 400


class Unauthorized(ApiError):
    """401: it is not proven who asks."""

    status = 401


class Forbidden(ApiError):
    """403: it is known who asks, and they may not."""

    status = 403


class NotFound(ApiError):
    """404: absent, or another tenant's: the same answer."""

    status = 404

    def __init__(
        self, detail: str = "There is no such resource. Check the path and the id."
    ) -> None:
        super().__init__("not_found", detail)


class MethodNotAllowed(ApiError):
    """405: the path exists with other methods."""

    status = 405


class RequestTimeout(ApiError):
    """408: the rest of the request did not come in time."""

    status = 408


class Conflict(ApiError):
    """409: it contradicts what is stored."""

    status = 409


class Gone(ApiError):
    """410: it was there, and is kept no longer."""

    status = 410


class PreconditionFailed(ApiError):
    """412: the caller acted on an older version."""

    status = 412


class ContentTooLarge(ApiError):
    """413: the body is over the cap."""

    status = 413


class UnsupportedMediaType(ApiError):
    """415: the body's type or encoding is not taken."""

    status = 415


class ValidationFailed(ApiError):
    """422: it can be read and breaks a rule."""

    status = 422


class TooManyRequests(ApiError):
    """429: a limit is used up."""

    status = 429


class HeadersTooLarge(ApiError):
    """431: the headers are over the cap."""

    status = 431


class ServiceUnavailable(ApiError):
    """503: nothing is wrong with the request; try again later."""

    status = 503

    def __init__(
        self,
        code: str = "storage_unavailable",
        detail: str = "The storage cannot be used right now. Nothing was changed. Try again.",
        *,
        retry_after_s: int = 1,
    ) -> None:
        super().__init__(code, detail, headers=(("retry-after", str(retry_after_s)),))


class QueryTooSlow(ServiceUnavailable):
    """503: a query took so long that it was ended. what: took too long, as a sentence."""

    def __init__(self, what: str) -> None:
        advice = "No index serves this combination: use one filter, or narrow the time range."
        super().__init__("query_too_slow", f"{what} {advice}", retry_after_s=10)


class Fault(NamedTuple):
    """One thing wrong with a body, as it stands in `errors` of a 422."""

    pointer: str
    code: str
    message: str


def invalid(faults: list[Fault]) -> ValidationFailed:
    """The one 422 that names every fault of a body."""
    count = len(faults)
    what = "One field breaks" if count == 1 else f"{count} fields break"
    return ValidationFailed(
        "validation_failed",
        f"{what} a rule; see `errors`. Nothing was stored.",
        errors=[
            {"in": "body", "pointer": f.pointer, "code": f.code, "message": f.message}
            for f in faults
        ],
    )
