"""The identity of a text: what makes two texts one name, tag or value (spec decision 7)."""

import re
import unicodedata
from collections.abc import Iterable
from importlib import metadata

# Format characters (Cf of Unicode 16), such as soft hyphens and joiners.
_FORMAT = (
    "\u00ad\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u180e\u200b-\u200f\u202a-\u202e"
    "\u2060-\u2064\u2066-\u206f\ufeff\ufff9-\ufffb\U000110bd\U000110cd\U00013430-\U0001343f"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0001\U000e0020-\U000e007f"
)
# Others without a picture: combining grapheme joiner, Hangul fillers, Khmer inherent vowels,
# Mongolian and other variation selectors, blank Braille, the null notehead.
_FILLERS = (
    "\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180d\u180f\u2800\u3164\ufe00-\ufe0f\uffa0"
    "\U0001d159\U000e0100-\U000e01ef"
)
_INVISIBLE = re.compile(f"[{_FORMAT}{_FILLERS}]")
_VISIBLE = re.compile(rf"[^\s\x00-\x1f\x7f-\x9f{_FORMAT}{_FILLERS}]")


# Of `identity` and `email_identity`: to be incremented when either is changed.
_NUMBER = 1


def version() -> str:
    """What identities depend on: these functions, and the tables of Python and of idna."""
    return f"{_NUMBER} {unicodedata.unidata_version} {metadata.version('idna')}"


def identity(text: str) -> str:
    """The form in which texts are compared: for people they look the same.

    NFC and case folding, without invisible characters; white space counts as one space, and not at
    the ends.
    """
    if text.isascii():
        return " ".join(text.lower().split())
    folded = unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).casefold())
    return " ".join(strip_invisible(folded).split())


def is_among(text: str, others: Iterable[str]) -> bool:
    """Whether people would take a text for one of the others."""
    wanted = identity(text)
    return any(identity(each) == wanted for each in others)


def strip_invisible(text: str) -> str:
    """A text without format characters and fillers."""
    return text if text.isascii() else _INVISIBLE.sub("", text)


def is_visible(text: str) -> bool:
    """Whether anything of a text can be seen."""
    return _VISIBLE.search(text) is not None
