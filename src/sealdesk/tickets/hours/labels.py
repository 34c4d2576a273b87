"""Labels of the audit action and the form fields of business hours; pages translate them."""

from sealdesk.web.pages.i18n import gettext_noop

ACTION_LABELS = {"business_hours.updated": gettext_noop("Business hours changed")}
FIELD_LABELS = {
    "time_zone": gettext_noop("Time zone"),
    "monday": gettext_noop("Monday"),
    "tuesday": gettext_noop("Tuesday"),
    "wednesday": gettext_noop("Wednesday"),
    "thursday": gettext_noop("Thursday"),
    "friday": gettext_noop("Friday"),
    "saturday": gettext_noop("Saturday"),
    "sunday": gettext_noop("Sunday"),
    "holidays": gettext_noop("Holidays"),
    "country": gettext_noop("Country or region"),
}
