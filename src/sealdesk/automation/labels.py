"""Labels of the audit actions and form fields of automation rules; pages translate them."""

from sealdesk.web.pages.i18n import gettext_noop

ACTION_LABELS = {
    "rule.created": gettext_noop("Rule added"),
    "rule.updated": gettext_noop("Rule changed"),
    "rule.deleted": gettext_noop("Rule deleted"),
}
FIELD_LABELS = {
    "rule": gettext_noop("Rule"),
    "trigger": gettext_noop("When"),
    "conditions": gettext_noop("Conditions"),
    "actions": gettext_noop("Actions"),
    "hours": gettext_noop("Hours"),
    "position": gettext_noop("Position"),
    "is_enabled": gettext_noop("On"),
}
