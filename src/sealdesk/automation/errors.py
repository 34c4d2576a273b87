"""The error codes of automation rules."""

from sealdesk.errors import ProblemType, gettext_noop

TOO_MANY_RULES = ProblemType(
    code="too_many_rules",
    status=409,
    title="The tenant has the maximum number of rules",
    message=gettext_noop("There are %(limit)s rules, as many as there may be. Delete one first."),
    meaning="A tenant may have at most 1,000 rules.",
    remedy="Delete a rule that nobody needs.",
    example={"limit": 1000},
    members=("limit",),
)
