"""The active language of a request, and gettext over the compiled catalogues in `locale`."""

from collections.abc import Iterator
from contextvars import ContextVar
from gettext import GNUTranslations, NullTranslations
from importlib import resources
from importlib.resources.abc import Traversable

from sealdesk.errors import ApiError, Fault, gettext_noop

__all__ = ["gettext_noop"]

ENGLISH = "en"


def load(locale: Traversable) -> Iterator[tuple[str, NullTranslations]]:
    """The languages of a folder of catalogues, each with its code; English needs none."""
    yield ENGLISH, NullTranslations()  # messages are written in English
    for folder in sorted(locale.iterdir(), key=lambda each: each.name):
        if folder.is_dir():
            with (folder / "LC_MESSAGES" / "sealdesk.mo").open("rb") as file:
                yield folder.name, GNUTranslations(file)


# Loaded at the start (decision 0022: 1 ms a language): files may be replaced while we serve.
_CATALOGUES = dict(load(resources.files("sealdesk.web") / "locale"))
# By code, what each language calls itself.
LANGUAGES = {
    code: catalogue.pgettext("the name of this language", "English")
    for code, catalogue in _CATALOGUES.items()
}
_active: ContextVar[str] = ContextVar("language", default=ENGLISH)


def activate(language: str) -> None:
    """Translate to this language, one of LANGUAGES, for the rest of this request."""
    _active.set(language)


def active_language() -> str:
    """The language of this request."""
    return _active.get()


def gettext(message: str) -> str:
    """The message in the language of this request; unchanged when it has no translation."""
    return _CATALOGUES[_active.get()].gettext(message)


def ngettext(singular: str, plural: str, count: int) -> str:
    """The message for this count in the language of this request."""
    return _CATALOGUES[_active.get()].ngettext(singular, plural, count)


def number(value: int) -> str:
    """A number with the thousands separator of the language."""
    separator = _CATALOGUES[_active.get()].pgettext("thousands separator", ",")
    return f"{value:,}".replace(",", separator)


def translate(error: ApiError | Fault) -> str:
    """The message of an error in the language of this request; English when not translated."""
    return gettext(error.message) % error.values
