"""Labels of the audit actions and form fields of SLA policies; pages translate them."""

from sealdesk.web.pages.i18n import gettext_noop

ACTION_LABELS = {
    "sla_policy.created": gettext_noop("SLA policy added"),
    "sla_policy.updated": gettext_noop("SLA policy changed"),
    "sla_policy.deleted": gettext_noop("SLA policy deleted"),
}
FIELD_LABELS = {
    "priorities": gettext_noop("Priorities"),
    "team_ids": gettext_noop("Teams"),
    "customers": gettext_noop("Customers"),
    "first_response_minutes": gettext_noop("First response"),
    "next_response_minutes": gettext_noop("Next responses"),
    "resolution_minutes": gettext_noop("Resolution"),
    "counts": gettext_noop("What counts"),
    "pauses_on": gettext_noop("Pauses"),
    "warning_minutes": gettext_noop("Warning"),
}
