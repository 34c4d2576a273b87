"""The Message-IDs in a header field."""

import html
import re

from sealdesk.mail.parsing.charsets import clean_line
from sealdesk.mail.parsing.encoded_words import decode_words

_MAX_LENGTH = 998  # RFC 5322, 2.1.1: of a line
_MAX_COUNT = 100
_IN_BRACKETS = re.compile(r"<([^<>]{1,2000})>")
_BARE = re.compile(r"[^\s<>,;\"()]+@[^\s<>,;\"()@]+")


def read_message_ids(field: str) -> tuple[str, ...]:
    """The ids of a field without angle brackets, each once; of more than 100 the last ones."""
    if "=?" in field or "&lt;" in field:  # as some programs encode a long line
        field = html.unescape(decode_words(field, set()))
    found = _IN_BRACKETS.findall(field)
    # Some programs leave the brackets out. Obsolete ones wrote sentences into In-Reply-To.
    ids = found or [each for each in field.split() if _BARE.fullmatch(each)]
    plain = ("".join(clean_line(each).split()) for each in ids)
    known = dict.fromkeys(each for each in plain if 0 < len(each) <= _MAX_LENGTH)
    return tuple(known)[-_MAX_COUNT:]
