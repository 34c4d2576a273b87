"""The error codes of received messages."""

from sealdesk.errors import ProblemType, gettext_noop

NOT_HELD = ProblemType(
    code="message_not_held",
    status=409,
    title="The message does not wait",
    message=gettext_noop("This message does not wait, or somebody has released it already."),
    meaning="Messages whose outcome is `held`, `spam` or `blocked` can be released, each once.",
    remedy="Get the message again; it names the ticket that it has become.",
)
NOT_UNDECIDED = ProblemType(
    code="message_decided",
    status=409,
    title="There is nothing to decide about the message",
    message=gettext_noop("Somebody has decided already what to do with this message."),
    meaning="The message is no note of somebody who was no participant, or it was decided upon.",
    remedy="Get the message again; it names the ticket that it belongs to.",
)
CANNOT_ADD = ProblemType(
    code="sender_cannot_be_added",
    status=409,
    title="The sender cannot become a participant",
    message=gettext_noop(
        "The sender has no valid address, or the ticket has %(limit)s participants already."
    ),
    meaning="The message has no valid sender, or the ticket has as many participants as it may.",
    remedy="Remove a participant first, or open a new ticket of the message.",
    example={"limit": 50},
)
MESSAGE_EXPIRED = ProblemType(
    code="message_expired",
    status=410,
    title="The message is kept no longer",
    message=gettext_noop("This message was kept until its time was over, and is deleted."),
    meaning="Raw messages are kept for 30 days. Afterwards they cannot be read or released.",
    remedy="Ask the sender to send it again.",
)
NOT_PROCESSED = ProblemType(
    code="message_not_processed",
    status=409,
    title="Sealdesk cannot process the message",
    message=gettext_noop(
        "Sealdesk made a mistake with this message. It still waits, and you can download it."
    ),
    meaning="A mistake in Sealdesk prevents that a ticket is made of the message. It still waits.",
    remedy="Download the message to read it. After an update of Sealdesk, release it again. "
    "The log of the server has the error.",
)
