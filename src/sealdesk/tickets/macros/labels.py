"""Labels of the audit actions and form fields of macros; pages translate them."""

from sealdesk.web.pages.i18n import gettext_noop

ACTION_LABELS = {
    "macro.created": gettext_noop("Macro added"),
    "macro.updated": gettext_noop("Macro changed"),
    "macro.deleted": gettext_noop("Macro deleted"),
}
FIELD_LABELS = {"macro": gettext_noop("Macro"), "shortcut": gettext_noop("Shortcut")}
