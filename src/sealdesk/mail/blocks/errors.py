"""The error codes of blocked senders."""

from sealdesk.errors import ProblemType, gettext_noop

TOO_MANY_BLOCKS = ProblemType(
    code="too_many_mail_blocks",
    status=409,
    title="The tenant has the maximum number of blocks",
    message=gettext_noop(
        "%(limit)s senders are blocked, as many as there may be. Remove one first."
    ),
    meaning="A tenant may block at most 1,000 senders and domains.",
    remedy="Remove a block. A domain needs one, instead of one for each of its addresses.",
    example={"limit": 1000},
    members=("limit",),
)
