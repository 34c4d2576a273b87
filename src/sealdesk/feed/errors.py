"""The error codes of the event feed."""

from sealdesk.errors import ProblemType
from sealdesk.errors.general import INSUFFICIENT_PERMISSIONS
from sealdesk.errors.requests import CURSOR_EXPIRED

PRUNED_CURSOR = CURSOR_EXPIRED.variant(
    "Events behind this cursor were deleted after 30 days. Begin again with start=latest, then"
    " read tickets and customers once in full, then go on from its resume_cursor."
)
TOO_MANY_WAITING = ProblemType(
    code="too_many_waiting_requests",
    status=429,
    title="Too many requests of this tenant wait for events",
    message=(
        "%(limit)s requests of this tenant are waiting for events already. One that waits gets"
        " every event: share it among your programs, or read without `wait`."
    ),
    meaning="Other keys of the tenant have as many requests waiting for events as it may have.",
    remedy=(
        "Read the feed in one program and hand the events on, or use webhooks; without `wait` the"
        " feed can be read at any time. Wait for `Retry-After`."
    ),
    example={"limit": 40},
    headers={"retry-after": "10"},
)
EVENT_TYPE_NOT_PERMITTED = INSUFFICIENT_PERMISSIONS.variant(
    "Events of type %(type)s need the permission %(needs)s. Leave the type away, or let an"
    " administrator change the key."
)
