"""Labels of the audit log's own actions."""

from sealdesk.web.pages.i18n import gettext_noop

ACTION_LABELS = {"audit.exported": gettext_noop("Audit log exported")}
