"""Labels of the audit actions and form fields of teams; pages translate them."""

from sealdesk.web.pages.i18n import gettext_noop

ACTION_LABELS = {
    "team.created": gettext_noop("Team added"),
    "team.updated": gettext_noop("Team changed"),
    "team.deleted": gettext_noop("Team deleted"),
    "team.member_added": gettext_noop("Member added to a team"),
    "team.member_changed": gettext_noop("Member of a team changed"),
    "team.member_removed": gettext_noop("Member removed from a team"),
}
FIELD_LABELS = {
    "assignment": gettext_noop("How tickets are assigned"),
    "capacity": gettext_noop("Open tickets of a member, at most"),
    "user_id": gettext_noop("Member"),
}
