"""The rules that come with each desk, switched off."""

from sealdesk.automation.types import Condition, NewRule, RuleActions
from sealdesk.errors import gettext_noop

# Offered on the page until the desk has a rule of this name.
READY_MADE = (
    NewRule(
        name=gettext_noop("Close what is resolved"),
        trigger="unchanged",
        hours=96,
        conditions=[Condition("status", "is", ["resolved"])],
        actions=RuleActions(status="closed"),
        is_enabled=True,
    ),
    NewRule(
        name=gettext_noop("Follow up on pending tickets"),
        trigger="unchanged",
        hours=72,
        conditions=[Condition("status", "is", ["pending"])],
        actions=RuleActions(status="open", add_tags=["follow-up"]),
        is_enabled=True,
    ),
    NewRule(
        name=gettext_noop("Remind of pending tickets"),
        trigger="unchanged",
        hours=48,
        conditions=[Condition("status", "is", ["pending"])],
        actions=RuleActions(note=gettext_noop("The customer has not answered for two days.")),
        is_enabled=True,
    ),
)
