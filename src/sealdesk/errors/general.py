"""Error codes that more than one room raises."""

from sealdesk.errors.problem_type import ProblemType, gettext_noop

INSUFFICIENT_PERMISSIONS = ProblemType(
    code="insufficient_permissions",
    status=403,
    title="The API key lacks a permission",
    message="This needs the permission %(needs)s. An administrator can change the key.",
    meaning="The signature is valid, but the key has none of the permissions in `required`.",
    remedy="An administrator can add the permission to the key; it applies from the next request.",
    example={"needs": "tickets:write", "required": ["tickets:write"], "granted": ["tickets:read"]},
    members=("required", "granted"),
)
FOREIGN_FORM = ProblemType(
    code="foreign_form",
    status=403,
    title="The form was not sent from a page of this log-in",
    message="This form was not sent from a page of your present log-in. Nothing was changed.",
    meaning="A form was sent from another site, or from a page of an earlier log-in.",
    remedy="Open the page again and send its form.",
    page_title=gettext_noop("This form is out of date"),
    page_advice=gettext_noop(
        "It does not belong to your current log-in, so nothing was changed. Go back, "
        "reload the page, and send it again."
    ),
)
NOT_FOUND = ProblemType(
    code="not_found",
    status=404,
    title="There is nothing here",
    message="There is no such resource. Check the path and the id.",
    meaning=(
        "There is no such path, or no such resource in this tenant. The response is the same for"
        " an unknown id, the id of another tenant's resource, and a text that is not an id."
    ),
    remedy="Check the path, the id, and that the key belongs to the tenant you mean.",
    page_title=gettext_noop("Page not found"),
    page_advice=gettext_noop("The address may be mistyped, or what was here has been deleted."),
)
NO_SUCH_PATH = NOT_FOUND.variant("There is no such path. See /docs for the ones that exist.")
SIMILAR_PATH = NOT_FOUND.variant("There is no such path. Did you mean %(path)s?")

IDEMPOTENCY_IN_FLIGHT = ProblemType(
    code="idempotency_in_flight",
    status=409,
    title="A request with this idempotency key is being answered",
    message=(
        "A request with this Idempotency-Key is being answered just now. Ask again in a second."
    ),
    meaning="The first request with this Idempotency-Key has not finished yet.",
    remedy="Send the same request again after `Retry-After`; it returns the stored response.",
    headers={"retry-after": "1"},
)
VERSION_MISMATCH = ProblemType(
    code="version_mismatch",
    status=412,
    title="The resource has changed since it was read",
    message=(
        "It is %(current)s now, and If-Match says otherwise. Read it again and repeat the change."
    ),
    meaning="The resource has changed since the version in If-Match; `current` is its ETag now.",
    remedy="Read it again, apply the change to its current version, and send the new ETag.",
    example={"current": '"4.2"'},
    members=("current",),
)
CHANGED_MEANWHILE = VERSION_MISMATCH.variant(
    gettext_noop(
        "Somebody else has changed this since you opened the form, so nothing was saved. Your input"
        " is kept. Look at what they changed, or save again to replace it."
    )
)
VALIDATION_FAILED = ProblemType(
    code="validation_failed",
    status=422,
    title="The body breaks a rule",
    message="One field breaks a rule; see `errors`. Nothing was stored.",
    meaning=(
        "The body is JSON, but some fields are invalid. `errors` lists up to 100 of them, each with"
        " a JSON pointer to the field, a code and a message. Nothing was stored."
    ),
    remedy="Correct the named fields and send it again; the same Idempotency-Key may be used.",
    example={
        "errors": [
            {
                "in": "body",
                "pointer": "/subject",
                "code": "required",
                "message": "This field is required.",
            }
        ]
    },
    members=("errors",),
)
SEVERAL_FIELDS_FAILED = VALIDATION_FAILED.variant(
    "%(count)s fields break a rule; see `errors`. Nothing was stored."
)
IDEMPOTENCY_KEY_REUSED = ProblemType(
    code="idempotency_key_reused",
    status=422,
    title="The idempotency key was used for another body",
    message=(
        "This Idempotency-Key was used for another body within 24 hours. Use a new key for a new"
        " request, and the same body for a repeated one."
    ),
    meaning="The Idempotency-Key was used with another body in the last 24 hours.",
    remedy="Use a new key for a new request, and the same body for a repeated one.",
)
TOO_MANY_BYTES = ProblemType(
    code="too_many_bytes",
    status=503,
    title="Too many bytes are being sent or received",
    message="Too many bytes are being sent or received at present. Nothing was changed. Try again.",
    meaning=(
        "The process has reached its budget for the bodies of requests and responses that are on"
        " their way, or the share of it of one tenant or address. Bodies up to 16 KiB do not count."
    ),
    remedy="Try again after `Retry-After`, with fewer requests at a time, and read each response.",
    headers={"retry-after": "1"},
    page_title=gettext_noop("Too much is being sent at the moment"),
    page_advice=gettext_noop("Nothing was changed. Try again in a moment."),
)
INTERNAL_ERROR = ProblemType(
    code="internal_error",
    status=500,
    title="Something went wrong on our side",
    message="The request failed for a reason that is ours. Tell us the request_id.",
    meaning="An unexpected error. The log has its cause under `request_id`.",
    remedy="Report the request_id. Repeat a POST only with the same Idempotency-Key.",
    page_title=gettext_noop("Something went wrong"),
    page_advice=gettext_noop("It is our fault, and the error has been logged."),
)
TENANT_RATE_LIMIT_EXCEEDED = ProblemType(
    code="tenant_rate_limit_exceeded",
    status=429,
    title="The tenant has used up its rate limit",
    message=(
        "All keys of the tenant together may use %(limit)s units of work in %(window_s)s s."
        " Wait %(wait_s)s s."
    ),
    meaning=(
        "The tenant's requests together have used up its budget, although the key has some left."
        " Large bodies and pages, and lists that no index serves, count as several requests."
    ),
    remedy=(
        "Wait for `Retry-After`. Ask for smaller pages, use filters that an index serves, and read"
        " the events feed instead of polling lists."
    ),
    example={"limit": 5000, "window_s": 10, "wait_s": 1},
    headers={"retry-after": "%(wait_s)s"},
    page_title=gettext_noop("Too many requests"),
    page_advice=gettext_noop(
        "The users of your desk have sent too many requests in the last seconds. Wait a moment,"
        " and try again."
    ),
)
STORAGE_UNAVAILABLE = ProblemType(
    code="storage_unavailable",
    status=503,
    title="The storage cannot be reached",
    message="The storage cannot be used right now. Nothing was changed. Try again.",
    meaning="The database cannot be reached or its disk is full, or the server is stopping.",
    remedy="Try again after `Retry-After`.",
    headers={"retry-after": "1"},
    page_title=gettext_noop("Temporarily unavailable"),
    page_advice=gettext_noop("The storage cannot be reached right now. Try again in a moment."),
)
NO_FREE_CONNECTION = STORAGE_UNAVAILABLE.variant(
    "All connections to the database are in use. Try again."
)
TOO_MANY_WRITES = STORAGE_UNAVAILABLE.variant(
    "Too many changes of this tenant are waiting. Nothing was changed. Try again."
)
TOO_MANY_LOG_INS = STORAGE_UNAVAILABLE.variant("Too many passwords are being checked. Try again.")
TOO_MANY_CHILDREN = STORAGE_UNAVAILABLE.variant("Too much is being read. Try again.")
COMMIT_UNKNOWN = STORAGE_UNAVAILABLE.variant(
    "The database went away while it was storing this. Whether it was stored is not known: repeat"
    " the request with the same Idempotency-Key, or look first."
)
TOO_MANY_CONFLICTS = STORAGE_UNAVAILABLE.variant(
    "Too many change this at the same time. Try again."
)
TENANT_MOVES = STORAGE_UNAVAILABLE.variant(
    "This tenant is being moved to another installation. Nothing was changed. Try again."
)
SERVER_STOPPING = STORAGE_UNAVAILABLE.variant("The server is stopping. Another one may answer.")

NOT_READY = ProblemType(
    code="not_ready",
    status=503,
    title="This process cannot serve every request",
    message="Reads: %(reads)s, writes: %(writes)s; %(reason)s.",
    meaning=(
        "Only at `/readyz`: the storage cannot be read, takes no changes, or is damaged. `reads`"
        " and `writes` are `ok` or `failed`, and `reason` says why."
    ),
    remedy="Send requests to another process. Run `sealdesk doctor` on the machine of this one.",
    example={
        "reads": "ok",
        "writes": "failed",
        "reason": "the storage takes no writes, for example on a full disk",
    },
    members=("reads", "writes", "reason"),
    headers={"retry-after": "1"},
)

_NO_INDEX = "No index serves this combination: use one filter, or narrow the time range."
QUERY_TOO_SLOW = ProblemType(
    code="query_too_slow",
    status=503,
    title="The query took too long",
    message=f"The query took more than %(limit_s)s s. {_NO_INDEX}",
    meaning="This combination of filters and order has no index, and the query took more than 2 s.",
    remedy="Use one filter in the default order, or narrow the time range.",
    example={"limit_s": 2},
    headers={"retry-after": "10"},
    page_title=gettext_noop("The search took too long"),
    page_advice=gettext_noop("Narrow it down, for example to a shorter time range."),
)
TOO_MANY_SLOW_QUERIES = QUERY_TOO_SLOW.variant(
    f"Too many queries that no index serves are waiting. {_NO_INDEX}"
)
