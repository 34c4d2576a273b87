"""What the lines that mail programs write are recognised by."""

import re

ADDRESS = re.compile(r"[^\s<>@:()\[\]]{1,64}@[^\s<>@:()\[\]]{1,255}")
# Mailers break lines behind the first bracket and before the last one.
IN_BRACKETS = re.compile(
    r"[<\[(] ?(?:mailto:)?[^\s<>@]{1,64}@[^\s<>@]{1,255}(?: ?[>\])]| ?$)", re.MULTILINE
)
# `\d` is a digit of any script, so that only what begins a year must name them.
_ZEROS = "0\u0660\u06f0\u0966\u09e6\u0e50\u1040\u17e0\uff10"
TIME = re.compile(r"(?<!\d)\d{1,2}[:.\uff1a]\d{2}(?!\d)")
# 25: the calendar of Thailand. The last one is 14 of Persia.
_CENTURY = "|".join(
    chr(ord(zero) + tens) + chr(ord(zero) + ones)
    for zero in _ZEROS
    for tens, ones in ((1, 9), (2, 0), (2, 5))
)
YEAR = re.compile(rf"(?<!\d)(?:{_CENTURY}|\u06f1\u06f4)\d\d(?!\d)")
# Invisible marks that mailers put around names and addresses between texts of two directions.
MARKS = re.compile("[\u200b-\u200f\u202a-\u202e\u2066-\u2069\ufeff]")
COLONS = (":", "：", "\u055d", "\u1366", "\u17d6")  # the last three: Armenian, Ethiopic, Khmer
SEPARATOR = re.compile(r"[-_=*](?:[ ]?[-_=*]){2,}")


def phrases(text: str) -> frozenset[str]:
    """The phrases between the commas of a text."""
    return frozenset(phrase.strip() for phrase in text.split(","))
