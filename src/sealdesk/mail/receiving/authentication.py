"""What a believed server says of the sender of a message (RFC 8601); no I/O."""

import re
from collections.abc import Collection, Iterator

from sealdesk.mail.parsing.types import ParsedMessage

# Senders choose what stands in quotes and comments, and the addresses that servers copy.
_PLAIN = re.compile(r"[A-Za-z0-9.\-]*")
_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"')
_COMMENT = re.compile(r"\([^()]*\)")
_MAX_COMMENT_DEPTH = 5
# A method may have a version, and stands at the beginning of its result.
_DMARC = re.compile(r"\s*dmarc\s*(?:/\s*[0-9]+\s*)?=\s*([a-z]+)", re.IGNORECASE)


def has_failed(message: ParsedMessage, authserv_ids: Collection[str]) -> bool:
    """Whether a believed server says that the sender's domain does not vouch for a message."""
    return "fail" in _dmarc_results(message, authserv_ids)


def has_passed(message: ParsedMessage, authserv_ids: Collection[str]) -> bool:
    """Whether a believed server says that the sender's domain vouches for a message."""
    results = set(_dmarc_results(message, authserv_ids))
    return "pass" in results and "fail" not in results


def _dmarc_results(message: ParsedMessage, authserv_ids: Collection[str]) -> Iterator[str]:
    for value in message.authentication_results:
        server, *results = _without_comments(value).split(";")
        names = server.split()
        if names and names[0].lower() in authserv_ids:
            yield from (found[1].lower() for each in results if (found := _DMARC.match(each)))


def _without_comments(value: str) -> str:
    bare = _QUOTED.sub(lambda found: found[1] if _PLAIN.fullmatch(found[1]) else "", value)
    for _ in range(_MAX_COMMENT_DEPTH):
        bare = _COMMENT.sub(" ", bare)
    return bare
