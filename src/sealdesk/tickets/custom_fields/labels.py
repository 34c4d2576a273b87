"""Labels of the audit actions and form fields of field definitions; pages translate them."""

from sealdesk.web.pages.i18n import gettext_noop

ACTION_LABELS = {
    "custom_field.created": gettext_noop("Custom field added"),
    "custom_field.updated": gettext_noop("Custom field changed"),
    "custom_field.deleted": gettext_noop("Custom field deleted"),
}
FIELD_LABELS = {
    "choices": gettext_noop("Choices"),
    "is_active": gettext_noop("Active"),
    "key": gettext_noop("Key"),
    "label": gettext_noop("Label"),
    "position": gettext_noop("Position"),
    "required_on_resolve": gettext_noop("Required to resolve a ticket"),
    "type": gettext_noop("Type"),
}
