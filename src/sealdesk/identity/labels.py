"""Labels of users' audit actions, roles and form fields; pages translate them."""

from sealdesk.web.pages.i18n import gettext_noop

ACTION_LABELS = {
    "tenant.created": gettext_noop("Desk created"),
    "user.created": gettext_noop("User added"),
    "user.invited": gettext_noop("Invitation created"),
    "user.reset_link_made": gettext_noop("Reset link created"),
    "user.password_changed": gettext_noop("Password changed"),
    "user.logged_in": gettext_noop("Logged in"),
    "user.logged_out": gettext_noop("Logged out"),
    "user.log_in_failed": gettext_noop("Log-in failed"),
    "user.confirmation_failed": gettext_noop("Password confirmation failed"),
    "user.two_factor_on": gettext_noop("Two-factor authentication turned on"),
    "user.two_factor_off": gettext_noop("Two-factor authentication turned off"),
    "user.recovery_codes_made": gettext_noop("Recovery codes created"),
    "user.recovery_code_used": gettext_noop("Recovery code used"),
    "user.renamed": gettext_noop("Name changed"),
    "user.role_changed": gettext_noop("Role changed"),
    "user.deactivated": gettext_noop("User deactivated"),
    "user.released": gettext_noop("E-mail address released"),
    "user.reactivated": gettext_noop("User reactivated"),
    "super_admin.acted": gettext_noop("Action by an administrator of all desks"),
}
ROLE_LABELS = {
    "agent": gettext_noop("Agent"),
    "tenant_admin": gettext_noop("Administrator"),
    "super_admin": gettext_noop("Administrator of all desks"),
}
CHANNEL_LABELS = {"browser": gettext_noop("in a browser"), "api": gettext_noop("through the API")}
FIELD_LABELS = {
    "email": gettext_noop("E-mail address"),
    "name": gettext_noop("Name"),
    "role": gettext_noop("Role"),
    "how": gettext_noop("How"),
}
