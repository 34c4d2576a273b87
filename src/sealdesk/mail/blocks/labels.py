"""Labels of the audit actions and form fields of blocked senders; pages translate them."""

from sealdesk.web.pages.i18n import gettext_noop

ACTION_LABELS = {
    "mail_block.created": gettext_noop("A sender was blocked"),
    "mail_block.deleted": gettext_noop("A sender was unblocked"),
}
FIELD_LABELS = {"pattern": gettext_noop("Address or domain")}
