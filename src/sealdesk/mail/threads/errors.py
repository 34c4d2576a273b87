"""The error codes of participants."""

from sealdesk.errors import ProblemType, gettext_noop

NO_MAILBOX = ProblemType(
    code="no_mailbox",
    status=409,
    title="The tenant has no mailbox",
    message=gettext_noop("Without a mailbox nothing can be sent by e-mail. Add a mailbox first."),
    meaning="Participants get replies from a mailbox of the tenant, and there is none.",
    remedy="Add a mailbox under Settings, E-mail, or with POST /api/v1/mailboxes.",
)
