"""The error codes of tickets."""

from sealdesk.errors import ProblemType, gettext_noop
from sealdesk.errors.general import VERSION_MISMATCH

INVALID_TRANSITION = ProblemType(
    code="invalid_transition",
    status=409,
    title="The ticket cannot change to this status",
    message="A ticket that is %(status)s can only become %(choices)s.",
    meaning="A closed ticket can only be opened again; `allowed` lists the possible statuses.",
    remedy="Set the status to open first.",
    example={"status": "closed", "choices": "open", "allowed": ["open"]},
    members=("allowed",),
)
TICKET_CLOSED = ProblemType(
    code="ticket_closed",
    status=409,
    title="The ticket is closed",
    message='A closed ticket takes no replies. Set its status to "open" first.',
    meaning="Nobody can reply to a closed ticket.",
    remedy="Set its status to open first.",
)
NO_RECIPIENT = ProblemType(
    code="no_recipient",
    status=409,
    title="Nobody can receive the reply",
    message=gettext_noop(
        "Nobody can get this reply by e-mail, so it was not sent. Add a participant, or write a"
        " note."
    ),
    meaning=(
        "The ticket came by e-mail, and its participants are only addresses that nobody reads, such"
        " as noreply@…, or there are none."
    ),
    remedy="Add a participant with PUT /api/v1/external/tickets/{id}/participants, then reply.",
)
TICKET_MERGED = ProblemType(
    code="ticket_merged",
    status=409,
    title="The ticket is merged into another one",
    message="The ticket %(ticket_id)s is merged into %(merged_into_id)s. Use that one.",
    meaning="A merged ticket takes no replies and changes, and is not merged again.",
    remedy="Use the ticket that `merged_into_id` names, or undo the merge.",
    example={
        "ticket_id": "0199c0de-0b1c-7d2e-9f30-415263748596",
        "merged_into_id": "0199c0de-1a2b-7c3d-8e4f-5a6b7c8d9e0f",
    },
    members=("ticket_id", "merged_into_id"),
)
SNOOZE_OF_ENDED = ProblemType(
    code="snooze_of_ended",
    status=409,
    title="A finished ticket cannot be snoozed",
    message="A ticket that is resolved or closed cannot be snoozed. Open it first.",
    meaning="The ticket is resolved or closed, or becomes so by this request.",
    remedy="Set the status to open, pending or on_hold in the same change.",
)
TOO_MANY_SNOOZED = ProblemType(
    code="too_many_snoozed",
    status=409,
    title="Too many tickets are snoozed",
    message="A desk can have at most %(limit)s snoozed tickets. Wake or resolve some first.",
    meaning="A tenant may have at most 5,000 snoozed tickets.",
    remedy="Wake some tickets, or use a status such as on_hold instead.",
    example={"limit": 5000},
)
NEWER_REPLY = VERSION_MISMATCH.variant("There is a newer reply than the one that was seen.")
FIELD_CHANGED = VERSION_MISMATCH.variant("Somebody else has changed this field meanwhile.")
