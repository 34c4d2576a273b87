"""Labels of the audit actions and form fields of webhooks; pages translate them."""

from sealdesk.web.pages.i18n import gettext_noop

ACTION_LABELS = {
    "webhook.created": gettext_noop("Webhook added"),
    "webhook.updated": gettext_noop("Webhook changed"),
    "webhook.deleted": gettext_noop("Webhook deleted"),
    "webhook.rotated": gettext_noop("Secret of a webhook rotated"),
    "webhook.tested": gettext_noop("Test event sent to a webhook"),
    "webhook.redelivered": gettext_noop("Delivery sent again"),
    "webhook.replayed": gettext_noop("Events replayed"),
}
FIELD_LABELS = {
    "description": gettext_noop("Description"),
    "events": gettext_noop("Events"),
    "everything": gettext_noop("Everything"),
    "since": gettext_noop("From"),
    "until": gettext_noop("Until"),
    "url": "URL",
}
