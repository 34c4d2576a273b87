"""The messages of errors in the language of a page."""

from sealdesk.errors import ApiError, Fault
from sealdesk.web.pages.i18n import gettext


def translate(error: ApiError | Fault) -> str:
    """The message of an error in the language of this request; English when not translated."""
    return gettext(error.message) % error.values
