"""Labels of the audit actions of `webhooks`."""

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
