"""Labels of the audit log's own audit action; pages translate them."""

from sealdesk.web.pages.i18n import gettext_noop

ACTION_LABELS = {"audit.exported": gettext_noop("Audit log exported")}
