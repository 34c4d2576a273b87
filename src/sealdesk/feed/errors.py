"""The error codes of the event feed."""

from sealdesk.errors import ProblemType
from sealdesk.errors.general import INSUFFICIENT_PERMISSIONS

CURSOR_EXPIRED = ProblemType(
    code="cursor_expired",
    status=410,
    title="The cursor is older than the events that are kept",
    message=(
        "Events behind this cursor were deleted after 30 days. Begin again with start=latest, then"
        " read tickets and customers once in full, then go on from its resume_cursor."
    ),
    meaning=(
        "Events are deleted after 30 days, among them some after this cursor: a client that"
        " continues from it would miss events without noticing it."
    ),
    remedy=(
        "Request `start=latest` and store the `resume_cursor`, then read tickets and customers once"
        " in full, then continue from that cursor."
    ),
)
EVENT_TYPE_NOT_PERMITTED = INSUFFICIENT_PERMISSIONS.variant(
    "Events of type %(type)s need the permission %(needs)s. Leave the type away, or let an"
    " administrator change the key."
)
