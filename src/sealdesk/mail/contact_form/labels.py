"""Labels of the audit action and the fields of the form's settings; pages translate them."""

from sealdesk.web.pages.i18n import gettext_noop

ACTION_LABELS = {"contact_form.updated": gettext_noop("Form for customers changed")}
FIELD_LABELS = {
    "path_name": gettext_noop("Name in the address"),
    "mailbox_id": gettext_noop("Mailbox that sends"),
    "base_url": gettext_noop("Address of this desk"),
    "field_keys": gettext_noop("Custom fields"),
    "is_on": gettext_noop("Customers can use the form"),
    "has_ticket_pages": gettext_noop("Customers have a page of each ticket"),
}
