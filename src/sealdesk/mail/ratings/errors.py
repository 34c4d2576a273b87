"""The error codes of ratings."""

from sealdesk.errors import ProblemType

ALREADY_RATED = ProblemType(
    code="already_rated",
    status=409,
    title="The ticket is rated",
    message="The customer has rated this ticket, which is possible once.",
    meaning="A ticket has one rating, and each link is used once.",
    remedy="Read `satisfaction` of the ticket.",
)
NOBODY_TO_RATE = ProblemType(
    code="nobody_to_rate",
    status=409,
    title="The customer of the ticket is erased",
    message="The customer of this ticket was erased, so nobody can rate it.",
    meaning="Nothing is kept of an erased customer, so they get no link and rate nothing.",
    remedy="Nothing is to be done.",
)
