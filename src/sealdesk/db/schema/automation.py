"""Tables of automation rules."""

from sealdesk.db.schema.definitions import (
    DAY_US,
    Column,
    Expiry,
    flag,
    id_,
    index,
    number,
    of_tenant,
    refers,
    table,
    tenant,
    text_,
    texts,
    time_,
)

# conditions, actions: JSON. hours: above 0 for a rule on time, which has looked at the tickets up
# to reached_at and reached_id, the last time at looked_at.
table(
    "automation_rules",
    tenant(),
    id_(key=True),
    text_("name"),
    number("position"),
    text_("trigger"),
    number("hours"),
    *texts("conditions", "actions"),
    flag("is_enabled"),
    text_("paused_because", null=True),
    number("version"),
    time_("enabled_at"),
    number("reached_at", default="0"),
    Column("reached_id", "text", default=""),
    number("looked_at", default="0"),
    time_("created_at"),
    time_("updated_at"),
    of_tenant(),
    index("automation_rules_timed", "looked_at", where="hours > 0"),
    runtime="UPDATE DELETE",
    worker="SELECT UPDATE",
)
# Tickets for which a rule may hold after the event of this id. caused_by: a trigger; or the id of
# a rule on time that has failed.
table(
    "automation_tasks",
    tenant(),
    id_(key=True),
    id_("ticket_id"),
    text_("caused_by"),
    time_("created_at"),
    time_("due_at"),
    refers("ticket_id", "tickets"),
    index("automation_tasks_due", "due_at tenant_id id"),
    worker="SELECT INSERT UPDATE DELETE",
)
# Which versions of a ticket rules have made: those behind first_version, up to last_version.
table(
    "automation_effects",
    tenant(),
    id_("ticket_id", key=True),
    number("last_version", key=True),
    number("first_version"),
    id_("rule_id"),
    time_("created_at"),
    refers("ticket_id", "tickets"),
    index("automation_effects_created_at", "created_at"),
    has_rowid=False,
    worker="SELECT INSERT DELETE",
    expiry=Expiry("created_at", 100 * DAY_US),
)
