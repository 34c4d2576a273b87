"""The error codes of teams."""

from sealdesk.errors import ProblemType, gettext_noop

TOO_MANY_TEAMS = ProblemType(
    code="too_many_teams",
    status=409,
    title="The tenant has the maximum number of teams",
    message=gettext_noop("There are %(limit)s teams, as many as there may be. Delete one first."),
    meaning="A tenant may have at most 200 teams.",
    remedy="Delete a team that is not used.",
    example={"limit": 200},
    members=("limit",),
)
TOO_MANY_MEMBERS = ProblemType(
    code="too_many_members",
    status=409,
    title="The team has the maximum number of members",
    message=gettext_noop("The team has %(limit)s members, as many as it may have."),
    meaning="A team may have at most 50 members.",
    remedy="Remove a member, or make a second team.",
    example={"limit": 50},
    members=("limit",),
)
