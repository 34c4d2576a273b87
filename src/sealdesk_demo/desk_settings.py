"""What the administrator of the demo has set up: a team, custom fields, macros, an SLA policy."""

from sealdesk.caller import Caller
from sealdesk.db.engine import Tx
from sealdesk.tickets.custom_fields import actions as custom_fields
from sealdesk.tickets.custom_fields.types import NewField
from sealdesk.tickets.macros import actions as macros
from sealdesk.tickets.macros.types import ME, NewMacro
from sealdesk.tickets.promises import actions as promises
from sealdesk.tickets.promises.types import NewPolicy
from sealdesk.tickets.teams import actions as teams
from sealdesk.tickets.teams.types import NewTeam
from sealdesk_demo.plan import CARRIERS

TEAM_TAGS = frozenset({"return", "refund", "exchange"})
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


async def create(tx: Tx, admin: Caller, user_ids: list[str], now_us: int) -> str:
    """Create them; the id of the team."""
    team = await teams.create_team(tx, admin, NewTeam("Returns"), now_us=now_us)
    for user_id in user_ids:
        await teams.add_member(tx, admin, team.id, user_id, now_us=now_us)
    for field in _FIELDS:
        await custom_fields.define_field(tx, admin, field, now_us=now_us)
    for macro in _MACROS:
        await macros.create_macro(tx, admin, macro, now_us=now_us)
    await promises.create_policy(tx, admin, _POLICY, now_us=now_us)
    return team.id
