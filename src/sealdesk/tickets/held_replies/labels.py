"""Labels of the audit action and the setting of held replies; pages translate them."""

from sealdesk.web.pages.i18n import gettext_noop

ACTION_LABELS = {"reply_settings.updated": gettext_noop("Undo of public replies changed")}
FIELD_LABELS = {"is_held": gettext_noop("Public replies can be undone for 10 seconds")}
