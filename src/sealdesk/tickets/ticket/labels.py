"""Labels of the audit actions, forms and fields of tickets; pages translate them."""

from sealdesk.web.pages.i18n import gettext_noop

ACTION_LABELS = {
    "tickets.exported": gettext_noop("Tickets exported"),
    "customer.erased": gettext_noop("Customer erased"),
    "customer.merged": gettext_noop("Customer merged"),
    "customer.unmerged": gettext_noop("Merge of a customer undone"),
    "tag.renamed": gettext_noop("Tag renamed"),
    "tag.merged": gettext_noop("Tags merged"),
}
FIELD_LABELS = {
    "assignee": gettext_noop("Assigned to"),
    "assignee_id": gettext_noop("Assigned to"),
    "body": gettext_noop("Text"),
    "owner": gettext_noop("Who sees it"),
    "query": gettext_noop("Filters"),
    "field": gettext_noop("Field"),
    "into": gettext_noop("Number of the ticket that stays"),
    "is_internal": gettext_noop("Internal note"),
    "new_tag": gettext_noop("New name"),
    "new_tags": gettext_noop("Tags"),
    "priority": gettext_noop("Priority"),
    "set_team_id": gettext_noop("Team"),
    "set_assignee_id": gettext_noop("Assigned to"),
    "set_priority": gettext_noop("Priority"),
    "set_snoozed_until": gettext_noop("Snooze"),
    "snoozed_until": gettext_noop("Snooze"),
    "set_status": gettext_noop("Status"),
    "set_tags": gettext_noop("Tags"),
    "status": gettext_noop("Status"),
    "subject": gettext_noop("Subject"),
    "team_id": gettext_noop("Team"),
    "tags": gettext_noop("Tags"),
    "value": gettext_noop("New value"),
}

FORM_LABELS = {
    "/tickets/new": gettext_noop("A new ticket"),
    "/tickets/bulk": gettext_noop("The selected tickets"),
    "/tickets/bulk/macro": gettext_noop("A macro for the selected tickets"),
    "/tickets/{id}": gettext_noop("The fields of a ticket"),
    "/tickets/{id}/reply": gettext_noop("The conversation of a ticket"),
}
