"""Labels of the audit actions and form fields of customers; pages translate them."""

from sealdesk.web.pages.i18n import gettext_noop

ACTION_LABELS = {"customers.exported": gettext_noop("Customers exported")}
FIELD_LABELS = {
    "company": gettext_noop("Company"),
    "email": gettext_noop("E-mail address"),
    "external_id": gettext_noop("External id"),
    "name": gettext_noop("Name"),
    "other_emails": gettext_noop("Further e-mail addresses"),
    "other_phones": gettext_noop("Further phone numbers"),
    "phone": gettext_noop("Phone"),
}
