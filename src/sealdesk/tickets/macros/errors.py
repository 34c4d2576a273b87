"""The error codes of macros."""

from sealdesk.errors import ProblemType, gettext_noop

TOO_MANY_MACROS = ProblemType(
    code="too_many_macros",
    status=409,
    title="The tenant has the maximum number of macros",
    message=gettext_noop("There are %(limit)s macros, as many as there may be. Delete one first."),
    meaning="A tenant may have at most 500 macros.",
    remedy="Delete a macro that nobody uses.",
    example={"limit": 500},
    members=("limit",),
)
