"""Labels of the form fields of tickets; pages translate them."""

from sealdesk.web.pages.i18n import gettext_noop

FIELD_LABELS = {
    "assignee": gettext_noop("Assigned to"),
    "assignee_id": gettext_noop("Assigned to"),
    "body": gettext_noop("Text"),
    "owner": gettext_noop("Who sees it"),
    "query": gettext_noop("Filters"),
    "is_internal": gettext_noop("Internal note"),
    "new_tags": gettext_noop("Tags"),
    "priority": gettext_noop("Priority"),
    "status": gettext_noop("Status"),
    "tags": gettext_noop("Tags"),
}
