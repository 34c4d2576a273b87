"""Error codes of invalid HTTP requests, for all endpoints."""

from sealdesk.errors.problem_type import ProblemType, gettext_noop

MALFORMED_REQUEST = ProblemType(
    code="malformed_request",
    status=400,
    title="The request is not HTTP that can be read",
    message="The request is not HTTP/1.1 that can be read.",
    meaning="The server received something that is not HTTP/1.1, and closed the connection.",
    remedy="Use an HTTP library, and check whether a proxy changes the request.",
    page_title=gettext_noop("This request cannot be read"),
    page_advice=gettext_noop("Go back, reload the page, and send its form again."),
)
UNREADABLE_FORM = MALFORMED_REQUEST.variant("The form or the address cannot be read.")
LOWER_CASE_METHOD = MALFORMED_REQUEST.variant(
    "The method %(method)s is not in upper case: send %(upper)s."
)
NOT_ONE_HOST = MALFORMED_REQUEST.variant("A request of HTTP/1.1 has exactly one Host header.")
INVALID_HOST = MALFORMED_REQUEST.variant(
    "The Host header must be a name or an address with a port, such as desk.example.com:8000."
)
FORM_HOLDS_NUL = MALFORMED_REQUEST.variant("The form or the address holds U+0000.")

MALFORMED_JSON = ProblemType(
    code="malformed_json",
    status=400,
    title="The body is not JSON that can be read",
    message="The body cannot be read as JSON: %(reason)s.",
    meaning=(
        "The body is missing, or it is not strict JSON: UTF-8, at most 32 levels deep, no"
        " repeated name in one object, no NaN or Infinity, integers within 64 bits, no U+0000"
        " and no unpaired surrogate, at most 10,000 values. `pointer` leads to a value that is one"
        " of these."
    ),
    remedy="Encode the body with a JSON library, and sign exactly the bytes that you send.",
    example={"reason": "a text holds U+0000, at '/subject'", "pointer": "/subject"},
    members=("pointer",),
)
MISSING_BODY = MALFORMED_JSON.variant("This endpoint needs a JSON body and got none.")

INVALID_PARAMETER = ProblemType(
    code="invalid_parameter",
    status=400,
    title="A query parameter has a value that it cannot take",
    message="The parameter %(parameter)s %(rule)s.",
    meaning="A query parameter has an invalid value, or was sent twice.",
    remedy="See the parameter in the API reference. In times, write + as %2B.",
    example={"parameter": "per_page", "rule": "must be a whole number from 1, in ASCII digits"},
    members=("parameter",),
)
UNREADABLE_QUERY = INVALID_PARAMETER.variant("The query is not percent-encoded UTF-8.")
LONE_PERCENT = INVALID_PARAMETER.variant(
    "The query has a %% without two hexadecimal digits behind it; send %% itself as %%25."
)
QUERY_HOLDS_NUL = INVALID_PARAMETER.variant("The query holds U+0000.")

UNKNOWN_PARAMETER = ProblemType(
    code="unknown_parameter",
    status=400,
    title="A query parameter does not exist",
    message="There is no parameter %(quoted)s here. %(hint)s",
    meaning=(
        "The endpoint does not have a query parameter with this name. It is an error because a"
        " filter that is silently ignored would return too much."
    ),
    remedy="Check the spelling; `detail` suggests a parameter with a similar name.",
    example={"quoted": "'per-page'", "hint": "Did you mean per_page?", "parameter": "per-page"},
    members=("parameter",),
)
NO_PARAMETERS = UNKNOWN_PARAMETER.variant(
    "This endpoint takes no query parameters. What a change says belongs in its body."
)

INVALID_HEADER = ProblemType(
    code="invalid_header",
    status=400,
    title="A header has a value that it cannot take",
    message='%(header)s must be entity tags in double quotes, as in "3.1".',
    meaning="A header has an invalid value, or was sent twice.",
    remedy="`detail` names the header and its valid values.",
    example={"header": "if-match"},
)
REPEATED_HEADER = INVALID_HEADER.variant("The header %(header)s was sent more than once.")
NO_ETAG = INVALID_HEADER.variant(
    "Nothing here has an ETag that If-Match could name. Leave %(header)s out."
)
ONLY_OF_READS = INVALID_HEADER.variant(
    "A change cannot depend on %(header)s. Leave it out, or send If-Match with the ETag you read."
)
INVALID_IDEMPOTENCY_KEY = INVALID_HEADER.variant(
    "Idempotency-Key must be 1 to 255 printable ASCII characters."
)

INVALID_CURSOR = ProblemType(
    code="invalid_cursor",
    status=400,
    title="The cursor does not belong to this query",
    message=(
        "The cursor was made by a query with another %(changed)s. Go on with the filters and order"
        " of the first page, or leave `cursor` out to begin again."
    ),
    meaning=(
        "The cursor is not from this list (`reason: malformed`), or it is from a query with other"
        " filters or another order (`reason: query_changed`; `parameters` names them)."
    ),
    remedy=(
        "Send `meta.next_cursor` unchanged, with the same filters and order; `per_page` may"
        " differ. To start again, omit `cursor`."
    ),
    example={"changed": "status", "reason": "query_changed", "parameters": ["status"]},
    members=("reason", "parameters"),
)
MALFORMED_CURSOR = INVALID_CURSOR.variant(
    "This is not a cursor of this list. Send `meta.next_cursor` of the previous page unchanged, to"
    " the same path, or leave `cursor` out to begin again."
)
CURSOR_EXPIRED = ProblemType(
    code="cursor_expired",
    status=410,
    title="The cursor leads to a position that no longer exists",
    message=(
        "The service was restored from a backup after this cursor was given out. Begin again"
        " without `cursor`; for events with start=latest, then read tickets and customers once in"
        " full."
    ),
    meaning=(
        "Events are deleted after 30 days, among them some after this cursor; or the service was"
        " restored from a backup after it was given out. A client that continued from it would"
        " miss changes without noticing it."
    ),
    remedy=(
        "In a list, begin again without `cursor`. For events, request `start=latest` and store the"
        " `resume_cursor`, then read tickets and customers once in full, then continue from that"
        " cursor."
    ),
)

METHOD_NOT_ALLOWED = ProblemType(
    code="method_not_allowed",
    status=405,
    title="The method is not available here",
    message="%(method)s is not available here; %(allowed)s is.",
    meaning="The path exists, but not with this method; `Allow` lists its methods.",
    remedy="Use one of those methods.",
    example={"method": "PUT", "allowed": "GET, HEAD, PATCH"},
    headers={"allow": "%(allowed)s"},
    page_title=gettext_noop("This address only accepts forms"),
    page_advice=gettext_noop("Go back to the page with the form."),
)
REQUEST_TIMEOUT = ProblemType(
    code="request_timeout",
    status=408,
    title="The request did not arrive in time",
    message="The request did not arrive within %(within_s)s s. Send it again.",
    meaning="The headers took more than 10 s, or the body more than 30 s. The connection closes.",
    remedy="Send the request again, with a new timestamp and signature.",
    example={"within_s": 30},
)
BODY_TOO_LARGE = ProblemType(
    code="body_too_large",
    status=413,
    title="The body is too large",
    message="The body is over %(max_bytes)s bytes.",
    meaning=(
        "The body is over 1 MiB, or over 8 KiB where no long text is expected, as when logging in."
        " The rest of it is not read."
    ),
    remedy="Send a smaller body.",
    example={"max_bytes": 1048576},
    members=("max_bytes",),
    headers={"connection": "close"},
    page_title=gettext_noop("The form is too large"),
    page_advice=gettext_noop("Go back and send less of it. Nothing was changed."),
)
UNSUPPORTED_MEDIA_TYPE = ProblemType(
    code="unsupported_media_type",
    status=415,
    title="The body is not of a supported type",
    message="Send the body with Content-Type: application/json.",
    meaning="The Content-Type is not JSON, or the body is compressed.",
    remedy=(
        "Send Content-Type: application/json (or application/merge-patch+json with PATCH), and no"
        " Content-Encoding: the signature covers the bytes that are sent."
    ),
)
CONTENT_ENCODING = UNSUPPORTED_MEDIA_TYPE.variant(
    "The body must be sent without a Content-Encoding: the signature covers the bytes as they"
    " travel."
)
NOT_A_FORM = UNSUPPORTED_MEDIA_TYPE.variant("Forms are sent as %(media_type)s.")

UNKNOWN_TRANSFER_CODING = ProblemType(
    code="unknown_transfer_coding",
    status=501,
    title="The transfer coding is not supported",
    message="The body must be sent with Content-Length, or with Transfer-Encoding: chunked.",
    meaning="Transfer-Encoding is something else than `chunked`. The connection was closed.",
    remedy="Send the body as it is, with Content-Length or in chunks.",
)
HEADERS_TOO_LARGE = ProblemType(
    code="headers_too_large",
    status=431,
    title="The headers are too large",
    message="Headers may have %(max_bytes)s bytes and %(max_headers)s lines in all.",
    meaning="The headers have more than 16 KiB or 100 lines. The connection was closed.",
    remedy="Send fewer or shorter headers; cookies are not needed here.",
    example={"max_bytes": 16384, "max_headers": 100},
    members=("max_bytes", "max_headers"),
)
