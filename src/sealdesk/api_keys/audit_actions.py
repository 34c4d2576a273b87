"""Labels of the audit actions of `api_keys`."""

from sealdesk.web.pages.i18n import gettext_noop

ACTION_LABELS = {
    "api_key.created": gettext_noop("API key created"),
    "api_key.updated": gettext_noop("API key changed"),
    "api_key.revoked": gettext_noop("API key revoked"),
    "api_key.rotated": gettext_noop("Secret of an API key rotated"),
}
