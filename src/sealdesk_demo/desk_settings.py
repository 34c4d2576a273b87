"""What the administrator of the demo has set up: teams, fields, macros, an SLA policy, a view."""

from collections.abc import Iterable, Mapping

from sealdesk.caller import Caller
from sealdesk.db.engine import Tx
from sealdesk.teams import actions as teams
from sealdesk.teams.types import NewMember, NewTeam
from sealdesk.tickets.custom_fields import actions as custom_fields
from sealdesk.tickets.custom_fields.types import NewField
from sealdesk.tickets.macros import actions as macros
from sealdesk.tickets.macros.types import ME, NewMacro
from sealdesk.tickets.promises import actions as promises
from sealdesk.tickets.promises.types import NewPolicy
from sealdesk.tickets.views import actions as views
from sealdesk.tickets.views.actions import Editor
from sealdesk_demo.plan import CARRIERS

# The tags of each team's tickets; of several teams the first has a ticket.
_TEAMS = {
    "Wholesale": {"wholesale"},
    "Returns": {"return", "refund", "exchange", "damage", "guarantee"},
    "Orders": {"order", "shipping", "payment"},
}
_FIELDS = (
    NewField("order_number", "Order number", "text"),
    NewField("carrier", "Carrier", "choice", [*CARRIERS]),
)
_POLICY = NewPolicy(
    "What is urgent first",
    priorities=["urgent", "high"],
    first_response_minutes=4 * 60,
    next_response_minutes=8 * 60,
    resolution_minutes=5 * 24 * 60,
    counts="calendar",
    pauses_on=["pending"],
)
_MACROS = (
    NewMacro(
        "Ask for a photo",
        "photo",
        "Hello {{customer.first_name}},\n\nI am sorry about that. Could you send us a photo of it?"
        "\n\nBest regards\n{{agent.first_name}}",
        status="pending",
        assignee_id=ME,
    ),
    NewMacro(
        "Refund sent",
        "refund",
        "Hello {{customer.first_name}},\n\nwe have sent your refund today. It takes up to five"
        " days to arrive.\n\nBest regards\n{{agent.first_name}}",
        status="resolved",
        tags=["refund"],
    ),
)


async def create(tx: Tx, admin: Caller, user_ids: list[str], now_us: int) -> Mapping[str, str]:
    """Create them; the ids of the teams by their names."""
    team_ids = {}
    for name in sorted(_TEAMS):
        team = await teams.create_team(tx, admin, NewTeam(name), now_us=now_us)
        team_ids[name] = team.id
        for user_id in user_ids:
            await teams.add_member(tx, admin, team.id, NewMember(user_id), now_us=now_us)
    for field in _FIELDS:
        await custom_fields.define_field(tx, admin, field, now_us=now_us)
    for macro in _MACROS:
        await macros.create_macro(tx, admin, macro, now_us=now_us)
    await promises.create_policy(tx, admin, _POLICY, now_us=now_us)
    editor = Editor(admin.tenant_id, admin.actor.id, is_administrator=True)
    await views.save_view(
        tx, editor, "Broken in transit", "tag=damage&status=all", is_for_desk=True, now_us=now_us
    )
    return team_ids


def team_of(tags: Iterable[str], team_ids: Mapping[str, str]) -> str | None:
    """The id of the team that a ticket with these tags is for."""
    return next((team_ids[name] for name, own in _TEAMS.items() if own.intersection(tags)), None)
