"""What deeds, roles and ways in are called on the page of the audit; they are translated there."""

from sealdesk.web.pages.i18n import gettext_noop

ROLE_NAMES = {
    "agent": gettext_noop("Agent"),
    "tenant_admin": gettext_noop("Administrator"),
    "super_admin": gettext_noop("Administrator of all desks"),
}
WAYS = {"browser": gettext_noop("in a browser"), "api": gettext_noop("through the API")}
ACTION_NAMES = {
    "tenant.created": gettext_noop("Desk made"),
    "user.created": gettext_noop("Person added"),
    "user.invited": gettext_noop("Invitation made"),
    "user.reset_link_made": gettext_noop("Reset link made"),
    "user.password_changed": gettext_noop("Password changed"),
    "user.logged_in": gettext_noop("Logged in"),
    "user.logged_out": gettext_noop("Logged out"),
    "user.log_in_failed": gettext_noop("Log-in failed"),
    "user.confirmation_failed": gettext_noop("Wrong password when asked for it again"),
    "user.renamed": gettext_noop("Name changed"),
    "user.role_changed": gettext_noop("Role changed"),
    "user.deactivated": gettext_noop("Person deactivated"),
    "user.reactivated": gettext_noop("Person reactivated"),
    "super_admin.acted": gettext_noop("Act of an administrator of all desks"),
    "api_key.created": gettext_noop("API key made"),
    "api_key.updated": gettext_noop("API key changed"),
    "api_key.revoked": gettext_noop("API key revoked"),
    "api_key.rotated": gettext_noop("Secret of an API key rotated"),
    "webhook.created": gettext_noop("Webhook added"),
    "webhook.updated": gettext_noop("Webhook changed"),
    "webhook.deleted": gettext_noop("Webhook deleted"),
    "webhook.rotated": gettext_noop("Secret of a webhook rotated"),
    "webhook.tested": gettext_noop("Webhook tested"),
    "webhook.redelivered": gettext_noop("Delivery sent again"),
    "webhook.replayed": gettext_noop("Events replayed"),
    "audit.exported": gettext_noop("Audit exported"),
}
