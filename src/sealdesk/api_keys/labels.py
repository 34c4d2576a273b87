"""Labels of the audit actions and form fields of API keys; pages translate them."""

from sealdesk.web.pages.i18n import gettext_noop

ACTION_LABELS = {
    "api_key.created": gettext_noop("API key created"),
    "api_key.updated": gettext_noop("API key changed"),
    "api_key.revoked": gettext_noop("API key revoked"),
    "test_clock.set": gettext_noop("Test clock set"),
    "api_key.rotated": gettext_noop("Secret of an API key rotated"),
}
FIELD_LABELS = {
    "allowed_ips": gettext_noop("Allowed addresses"),
    "everything": gettext_noop("Everything"),
    "expires_at": gettext_noop("Date"),
    "expiry": gettext_noop("Expires"),
    "grant": gettext_noop("Permissions"),
    "host": gettext_noop("Host"),
    "key": gettext_noop("Key"),
    "mode": gettext_noop("Data"),
    "method": gettext_noop("Method"),
    "name": gettext_noop("Name"),
    "permissions": gettext_noop("Permissions"),
    "rate_limit": gettext_noop("Requests a minute"),
    "replay_protection": gettext_noop("Replay protection"),
    "target": gettext_noop("Path and query"),
}
