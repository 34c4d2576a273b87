"""The words of pages, in the reader's language."""

import asyncio
from contextvars import ContextVar
from importlib import resources

from sealdesk.web.pages import po_file
from sealdesk.web.pages.po_file import Catalogue

# What each calls itself. The texts of the source are English, so that it needs no catalogue.
LANGUAGES = {"en": "English", "de": "Deutsch"}
ENGLISH = "en"
_BETWEEN_THOUSANDS = {"en": ",", "de": "."}
_spoken: ContextVar[str] = ContextVar("spoken", default=ENGLISH)


async def activate(language: str) -> None:
    """This language, one of LANGUAGES, from now on in this request."""
    if language != ENGLISH and language not in _read:
        _read[language] = await asyncio.to_thread(_catalogue, language)
    _spoken.set(language)


def active_language() -> str:
    """The language of this request."""
    return _spoken.get()


def gettext(message: str) -> str:
    """The message in the language of this request; as it is where nobody has translated it."""
    found = _read.get(_spoken.get())
    return found.one(message) if found else message


def ngettext(one: str, many: str, count: int) -> str:
    """The message for so many, in the language of this request."""
    found = _read.get(_spoken.get())
    if found:
        return found.many(one, many, count)
    return one if count == 1 else many


def number(value: int) -> str:
    """A number as people of this language write it, their thousands apart."""
    return f"{value:,}".replace(",", _BETWEEN_THOUSANDS[_spoken.get()])


def gettext_noop(message: str) -> str:
    """The same message: it is translated where it is shown, and stands in the catalogue by this."""
    return message


_read: dict[str, Catalogue] = {}


def _catalogue(language: str) -> Catalogue:
    file = resources.files("sealdesk.web") / "locale" / language / "LC_MESSAGES" / "sealdesk.po"
    return po_file.parse(file.read_text(encoding="utf-8"))
