"""Labels of the audit log's own audit action, and of details of others; pages translate them."""

from sealdesk.web.pages.i18n import gettext_noop

ACTION_LABELS = {"audit.exported": gettext_noop("Audit log exported")}
FIELD_LABELS = {
    "version": gettext_noop("Version"),
    "rows": gettext_noop("Rows"),
    "actor": gettext_noop("By whom"),
    "action": gettext_noop("Action"),
    "from": gettext_noop("From"),
    "tickets": gettext_noop("Tickets"),
    "ticket_id": gettext_noop("Ticket"),
    "added": gettext_noop("Added"),
    "removed": gettext_noop("Removed"),
    "was": gettext_noop("Before"),
    "delivery_id": gettext_noop("Delivery"),
    "event_type": gettext_noop("Event"),
    "domain": gettext_noop("Domain"),
    "revoked_at": gettext_noop("Revoked"),
}
