"""The words of pages, in the reader's language."""

from contextvars import ContextVar
from gettext import NullTranslations

ENGLISH = NullTranslations()
_spoken: ContextVar[NullTranslations] = ContextVar("spoken", default=ENGLISH)


def speak(translations: NullTranslations) -> None:
    """From now on in this request."""
    _spoken.set(translations)


def gettext(message: str) -> str:
    return _spoken.get().gettext(message)


def ngettext(one: str, many: str, count: int) -> str:
    return _spoken.get().ngettext(one, many, count)
