"""The error codes of SLA policies."""

from sealdesk.errors import ProblemType, gettext_noop

TOO_MANY_POLICIES = ProblemType(
    code="too_many_sla_policies",
    status=409,
    title="The tenant has the maximum number of SLA policies",
    message=gettext_noop(
        "There are %(limit)s policies, as many as there may be. Delete one first."
    ),
    meaning="A tenant may have at most 50 SLA policies.",
    remedy="Delete a policy that nobody needs.",
    example={"limit": 50},
    members=("limit",),
)
