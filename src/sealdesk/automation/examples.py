"""Example values of automation rules for the documentation."""

from sealdesk.automation.types import (
    Condition,
    DryRun,
    RuleResponse,
    ShownActions,
    TriedTicket,
)

RULE = RuleResponse(
    id="0199b0c8-1f20-7a41-8b62-7c8d9e0f1a2c",
    name="VIP first",
    position=1,
    trigger="created",
    hours=0,
    conditions=(Condition("tag", "is", ["vip"]),),
    actions=ShownActions(priority="high"),
    is_enabled=True,
    paused_because=None,
    version=1,
    created_at="2026-03-01T08:25:00.000000Z",
    updated_at="2026-03-01T08:25:00.000000Z",
)
NEW_RULE = {
    "name": RULE.name,
    "trigger": RULE.trigger,
    "conditions": [{"field": "tag", "operator": "is", "values": ["vip"]}],
    "actions": {"priority": "high"},
    "is_enabled": True,
}
DRY_RUN = DryRun(
    [
        TriedTicket(
            ticket_id="0199c0de-1a2b-7c3d-8e4f-5a6b7c8d9e0f",
            number=1042,
            subject="Cannot log in",
            happened_at="2026-03-01T09:15:00.000000Z",
            changes={"priority": ("medium", "high")},
            also=(),
            because=RULE.conditions,
        )
    ],
    next_after=None,
)
RULE_CHANGE = {"is_enabled": False}
