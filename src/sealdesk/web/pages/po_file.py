"""Catalogues of translations: the .po files of gettext, as far as they are used here."""

import ast
from collections.abc import Iterator
from typing import NamedTuple

_KEYWORDS = ("msgid", "msgid_plural", "msgstr", "msgstr[0]", "msgstr[1]")
# How tools mark a translation that they guessed and nobody has looked at: it is none yet.
_GUESSED = "fuzzy"


class Entry(NamedTuple):
    """A message, its plural if it has one, and what it is in the other language."""

    one: str
    many: str | None
    said: tuple[str, ...]

    @property
    def is_whole(self) -> bool:
        """Whether all its forms are translated."""
        return len(self.said) == (1 if self.many is None else 2) and all(self.said)


class Catalogue:
    """Translations by their message; plurals as English and German have them."""

    def __init__(self, entries: list[Entry]) -> None:
        self.entries = entries
        self._said = {entry.one: entry.said for entry in entries if entry.is_whole}

    def one(self, message: str) -> str:
        return self._said.get(message, (message,))[0]

    def many(self, one: str, many: str, count: int) -> str:
        said = self._said.get(one, ())
        forms = said if len(said) == 2 else (one, many)
        return forms[0 if count == 1 else 1]


def parse(text: str) -> Catalogue:
    """The entries of a .po file but for its head. Raises ValueError when it is not understood."""
    blocks = [_fields(block) for block in text.split("\n\n")]
    return Catalogue([_entry(fields) for fields in blocks if fields.get("msgid")])


def _entry(fields: dict[str, str]) -> Entry:
    if _GUESSED in fields:
        fields |= {name: "" for name in fields if name.startswith("msgstr")}
    if "msgid_plural" in fields:
        said = (fields["msgstr[0]"], fields["msgstr[1]"])
        return Entry(fields["msgid"], fields["msgid_plural"], said)
    return Entry(fields["msgid"], None, (fields["msgstr"],))


def _fields(block: str) -> dict[str, str]:
    is_guessed = any(line.startswith("#,") and _GUESSED in line for line in block.splitlines())
    fields: dict[str, str] = {_GUESSED: ""} if is_guessed else {}
    keyword = ""
    for line in _lines(block):
        quoted = line
        if not line.startswith('"'):
            keyword, _, quoted = line.partition(" ")
            if keyword not in _KEYWORDS or keyword in fields:
                raise ValueError(f"not understood in a catalogue: {line}")
            fields[keyword] = ""
        text = ast.literal_eval(quoted)
        if not isinstance(text, str):
            raise ValueError(f"not a text in a catalogue: {line}")
        fields[keyword] += text
    return fields


def _lines(block: str) -> Iterator[str]:
    return (line.strip() for line in block.splitlines() if line.strip() and line[0] != "#")
