"""The error codes of mailboxes."""

from sealdesk.errors import ProblemType, gettext_noop

TOO_MANY_MAILBOXES = ProblemType(
    code="too_many_mailboxes",
    status=409,
    title="The tenant has the maximum number of mailboxes",
    message=gettext_noop(
        "There are %(limit)s mailboxes, as many as there may be. Delete one first."
    ),
    meaning="A tenant may have at most 20 mailboxes.",
    remedy="Delete a mailbox that is not used.",
    example={"limit": 20},
    members=("limit",),
)
MAILBOX_ADDRESS_TAKEN = ProblemType(
    code="mailbox_address_taken",
    status=409,
    title="The address belongs to a mailbox",
    message=gettext_noop("A mailbox of this installation has this address already."),
    meaning="An address belongs to one mailbox of the whole installation, whatever its case.",
    remedy="Change or delete the mailbox that has the address, or choose another address.",
)
TOO_MANY_MAILBOX_TESTS = ProblemType(
    code="too_many_mailbox_tests",
    status=429,
    title="The tenant has tested its mailboxes too often",
    message=gettext_noop("Mailboxes were tested too often. Try again in %(wait_s)s s."),
    meaning="A tenant may test its mailboxes 10 times in a minute.",
    remedy="Wait for `Retry-After`, then test again.",
    example={"wait_s": 6},
    headers={"retry-after": "%(wait_s)s"},
)
