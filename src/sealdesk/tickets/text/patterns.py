"""What the lines that mail programs write are recognised by."""

import re

ADDRESS = re.compile(r"[^\s<>@:()\[\]]{1,64}@[^\s<>@:()\[\]]{1,255}")
IN_BRACKETS = re.compile(r"[<\[(](?:mailto:)?[^\s<>@]{1,64}@[^\s<>@]{1,255}[>\])]")
TIME = re.compile(r"(?<!\d)\d{1,2}[:.]\d{2}(?!\d)")
# 25: the calendar of Thailand. Then 20 in the digits of Arabic, Persian and Hindi, and Persian 14.
_CENTURY = "19|20|25|\u0662\u0660|\u06f2\u06f0|\u0968\u0966|\u06f1\u06f4"
YEAR = re.compile(rf"(?<!\d)(?:{_CENTURY})\d\d(?!\d)")
# Invisible marks that mailers put around names and addresses between texts of two directions.
MARKS = re.compile("[\u200b-\u200f\u202a-\u202e\u2066-\u2069\ufeff]")
COLONS = (":", "：")
SEPARATOR = re.compile(r"[-_=*](?:[ ]?[-_=*]){2,}")


def phrases(text: str) -> frozenset[str]:
    """The phrases between the commas of a text."""
    return frozenset(phrase.strip() for phrase in text.split(","))
