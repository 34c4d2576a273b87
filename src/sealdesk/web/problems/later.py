"""What may succeed later."""

from sealdesk.web.problems.problem import Problem

_WAIT = ("retry-after",)

LATER: dict[str, Problem] = {
    "rate_limit_exceeded": Problem(
        "The key has spent its requests of this minute.",
        "Wait for `Retry-After`, then go on; `RateLimit` on every answer tells what is left.",
        "The key may make 600 requests a minute. Wait 1 s.",
        headers=_WAIT,
    ),
    "too_many_attempts": Problem(
        "Too many log-ins failed for this account or from this address; for now even the right"
        " password is not looked at.",
        "Wait for `Retry-After`, or ask an administrator for a reset link.",
        "Too many log-ins failed. Try again in 240 s, or ask an administrator for a reset link.",
        headers=_WAIT,
    ),
    "headers_too_large": Problem(
        "The headers have more than 16 KiB or 100 lines; the connection is closed.",
        "Send fewer or shorter headers; cookies are not needed here.",
        "Headers may have 16384 bytes and 100 lines in all.",
        {"max_bytes": 16384, "max_headers": 100},
    ),
    "internal_error": Problem(
        "A fault of the service. It is in its log under `request_id`.",
        "Report the request_id. Repeat a POST only with the Idempotency-Key of the first try.",
        "The request failed for a reason that is ours. Tell us the request_id.",
    ),
    "storage_unavailable": Problem(
        "The storage is away or full, or the server is stopping. Nothing was changed.",
        "Try again after `Retry-After`.",
        "The storage cannot be used right now. Nothing was changed. Try again.",
        headers=_WAIT,
    ),
    "query_too_slow": Problem(
        "No index serves this combination of filters and order, and it took more than 2 s.",
        "Use one filter in the default order, or narrow the time range.",
        "The query took more than 2 s. No index serves this combination: use one filter, or narrow"
        " the time range.",
        headers=_WAIT,
    ),
}
