"""Labels of the audit actions and states of received messages; pages translate them."""

from sealdesk.web.pages.i18n import gettext_noop

ACTION_LABELS = {
    "received_message.released": gettext_noop("A held message was released"),
    "received_message.deleted": gettext_noop("A held message was deleted"),
}
