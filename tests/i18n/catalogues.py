"""Message catalogues: extracted from the source, updated and compiled with Babel."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from babel.messages import Catalog, Message, mofile, pofile
from babel.messages import extract as extraction

import sealdesk

SOURCE = Path(sealdesk.__file__).parent
LOCALE = SOURCE / "web" / "locale"
POT = LOCALE / "sealdesk.pot"
_METHODS = [("**/templates/**.html", "jinja2.ext:babel_extract")]
# As web/pages/environment.py renders them.
_OPTIONS = {"**/templates/**.html": {"trimmed": "true", "silent": "false"}}
_KEYWORDS = {**extraction.DEFAULT_KEYWORDS, "gettext_noop": None}
# Files without a call of these have no message: to take them apart takes two thirds of the time.
_CALLED = re.compile(rf"\b(?:{'|'.join(_KEYWORDS)})\s*\(")
_HEADER = "# The messages of the pages. Written by `python -m tests.i18n`."


def extract() -> Catalog:
    """The template: all messages of the source, without the places where they are used."""
    template = Catalog(
        creation_date=read_po(POT).creation_date,
        revision_date=read_po(POT).creation_date,
        fuzzy=False,
        header_comment=_HEADER,
        project="Sealdesk",
        version="1",
        msgid_bugs_address="-",
        last_translator="-",
        language_team="-",
    )
    for *_, message, _, context in _found():
        template.add(message, context=context)
    return template


def _found() -> Iterator[tuple[Any, ...]]:
    yield from extraction.extract_from_dir(SOURCE, _METHODS, _OPTIONS, _KEYWORDS)
    for path in SOURCE.rglob("*.py"):
        if _CALLED.search(path.read_text()):
            yield from extraction.extract_from_file("python", path, _KEYWORDS)


def update(language: str, template: Catalog) -> Catalog:
    """A language's catalogue with the template's messages and no others."""
    catalogue = read_po(po_path(language))
    catalogue.update(template, no_fuzzy_matching=True, update_creation_date=False)
    return catalogue


def languages() -> list[str]:
    """The languages with a catalogue."""
    return sorted(path.name for path in LOCALE.iterdir() if path.is_dir())


def po_path(language: str) -> Path:
    return LOCALE / language / "LC_MESSAGES" / "sealdesk.po"


def mo_path(language: str) -> Path:
    return po_path(language).with_suffix(".mo")


def read_po(path: Path) -> Catalog:
    with path.open("rb") as file:
        return pofile.read_po(file, locale=None if path == POT else path.parent.parent.name)


def read_mo(path: Path) -> Catalog:
    with path.open("rb") as file:
        return mofile.read_mo(file)


def write_po(catalogue: Catalog, path: Path) -> None:
    """Sorted by message, one line each: moving a message to another file changes nothing."""
    with path.open("wb") as file:
        pofile.write_po(
            file, catalogue, width=0, no_location=True, sort_output=True, ignore_obsolete=True
        )


def write_mo(catalogue: Catalog, path: Path) -> None:
    with path.open("wb") as file:
        mofile.write_mo(file, catalogue)


def messages(catalogue: Catalog) -> list[Message]:
    """All but the header."""
    return [message for message in catalogue if message.id]


def untranslated(catalogue: Catalog) -> list[Message]:
    """The messages without a translation, or with one that a tool has guessed ("fuzzy")."""
    return [each for each in messages(catalogue) if each.fuzzy or not all(_strings(each))]


def _strings(message: Message) -> tuple[str, ...]:
    text = message.string or ""
    return (text,) if isinstance(text, str) else tuple(text)
