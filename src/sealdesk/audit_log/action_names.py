"""What deeds, roles and ways in are called on the page of the audit; they are translated there."""

from sealdesk.web.pages.i18n import noted

ROLE_NAMES = {
    "agent": noted("Agent"),
    "tenant_admin": noted("Administrator"),
    "super_admin": noted("Administrator of all desks"),
}
WAYS = {"browser": noted("in a browser"), "api": noted("through the API")}
DEEDS = {
    "tenant.created": noted("Desk made"),
    "user.created": noted("Person added"),
    "user.invited": noted("Invitation made"),
    "user.reset_link_made": noted("Reset link made"),
    "user.password_changed": noted("Password changed"),
    "user.logged_in": noted("Logged in"),
    "user.logged_out": noted("Logged out"),
    "user.log_in_failed": noted("Log-in failed"),
    "user.confirmation_failed": noted("Wrong password when asked for it again"),
    "user.renamed": noted("Name changed"),
    "user.role_changed": noted("Role changed"),
    "user.deactivated": noted("Person deactivated"),
    "user.reactivated": noted("Person reactivated"),
    "super_admin.acted": noted("Act of an administrator of all desks"),
    "api_key.created": noted("API key made"),
    "api_key.updated": noted("API key changed"),
    "api_key.revoked": noted("API key revoked"),
    "api_key.rotated": noted("Secret of an API key rotated"),
    "webhook.created": noted("Webhook added"),
    "webhook.updated": noted("Webhook changed"),
    "webhook.deleted": noted("Webhook deleted"),
    "webhook.rotated": noted("Secret of a webhook rotated"),
    "webhook.tested": noted("Webhook tested"),
    "webhook.redelivered": noted("Delivery sent again"),
    "webhook.replayed": noted("Events replayed"),
    "audit.exported": noted("Audit exported"),
}
