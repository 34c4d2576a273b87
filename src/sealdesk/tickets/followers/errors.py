"""The error codes of followers."""

from sealdesk.errors import ProblemType

TOO_MANY_FOLLOWERS = ProblemType(
    code="too_many_followers",
    status=409,
    title="Too many people follow the ticket",
    message="A ticket can have at most %(limit)s followers.",
    meaning="So many people follow the ticket already, deactivated ones included.",
    remedy="Let somebody unfollow the ticket first.",
    example={"limit": 50},
)
