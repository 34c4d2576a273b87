"""Labels of the audit action and the settings of ratings; pages translate them."""

from sealdesk.web.pages.i18n import gettext_noop

ACTION_LABELS = {"rating_settings.updated": gettext_noop("Ratings by customers changed")}
FIELD_LABELS = {
    "is_on": gettext_noop("Ask for a rating when a ticket is solved"),
    "delay_hours": gettext_noop("Hours until the e-mail"),
    "base_url": gettext_noop("Address of this desk"),
}
