"""Labels of the audit action of participants; pages translate them."""

from sealdesk.web.pages.i18n import gettext_noop

ACTION_LABELS = {"participants.changed": gettext_noop("Participants of a ticket changed")}
