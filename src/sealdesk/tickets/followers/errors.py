"""The error codes of followers."""

from sealdesk.errors import ProblemType

TOO_MANY_FOLLOWERS = ProblemType(
    code="too_many_followers",
    status=409,
    title="Too many people follow the ticket",
    message="A ticket can have at most %(limit)s followers.",
    meaning="A ticket may have at most 50 followers, including deactivated users.",
    remedy="Remove another follower first, such as a deactivated user.",
    example={"limit": 50},
)
