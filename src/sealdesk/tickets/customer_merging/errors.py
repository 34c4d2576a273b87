"""The error codes of merging customers."""

from sealdesk.errors import ProblemType

CUSTOMER_ERASED = ProblemType(
    code="customer_erased",
    status=409,
    title="The customer is erased",
    message="The customer %(customer_id)s is erased. Nothing is left to merge.",
    meaning="One of the two customers was erased, or is being erased.",
    remedy="Leave both as they are.",
    example={"customer_id": "0199c0de-0b1c-7d2e-9f30-415263748596"},
    members=("customer_id",),
)
TOO_MANY_TICKETS = ProblemType(
    code="too_many_tickets",
    status=409,
    title="Too many tickets to move",
    message="At most %(max_tickets)s tickets can move to another customer.",
    meaning="The tickets move in one transaction, which other writes wait for.",
    remedy="Merge the other way round. If both have more, keep both.",
    example={"max_tickets": 2000},
)
