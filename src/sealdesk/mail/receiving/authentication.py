"""What a believed server says of the sender of a message (RFC 8601); no I/O."""

import re
from collections.abc import Collection, Iterator

from sealdesk.mail.parsing.types import Fault, ParsedMessage
from sealdesk.resources.representation import email_identity

# Senders choose what stands in quotes and comments, and the addresses that servers copy.
_PLAIN = re.compile(r"[A-Za-z0-9.\-]*")
_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"')
_COMMENT = re.compile(r"\([^()]*\)")
_MAX_COMMENT_DEPTH = 5
# A method may have a version, and stands at the beginning of its result.
_DMARC = re.compile(r"\s*dmarc\s*(?:/\s*[0-9]+\s*)?=\s*([a-z]+)", re.IGNORECASE)
_FROM = re.compile(r"\sheader\.from\s*=\s*([^\s;]+)", re.IGNORECASE)
_UNCLEAR = frozenset((Fault.FROM, Fault.DUPLICATE_HEADER))


def has_failed(message: ParsedMessage, authserv_ids: Collection[str]) -> bool:
    """Whether a believed server says that the sender's domain does not vouch for a message."""
    return any(verdict == "fail" for verdict, _ in _dmarc_results(message, authserv_ids))


def has_passed(message: ParsedMessage, authserv_ids: Collection[str], address: str) -> bool:
    """Whether a believed server says that the domain of an address vouches for a message."""
    results = list(_dmarc_results(message, authserv_ids))
    passed = {domain for verdict, domain in results if verdict == "pass"}
    own, sender = {_domain(address)}, message.sender
    # A result without a domain is about that in From, if From is clear.
    if sender and _UNCLEAR.isdisjoint(message.faults) and _domain(sender.address) in own:
        own.add("")
    return bool(passed) and passed <= own and all(verdict != "fail" for verdict, _ in results)


def _dmarc_results(
    message: ParsedMessage, authserv_ids: Collection[str]
) -> Iterator[tuple[str, str]]:
    """The verdicts, with the domain that each is about, "" if it names none."""
    for value in message.authentication_results:
        server, *results = _without_comments(value).split(";")
        names = server.split()
        if names and names[0].lower() in authserv_ids:
            for each in results:
                if found := _DMARC.match(each):
                    domain = _FROM.search(each)
                    yield found[1].lower(), _domain(domain[1]) if domain else ""


def _domain(address: str) -> str:
    return email_identity(f"@{address.rpartition('@')[2]}").removeprefix("@").rstrip(".")


def _without_comments(value: str) -> str:
    bare = _QUOTED.sub(lambda found: found[1] if _PLAIN.fullmatch(found[1]) else "", value)
    for _ in range(_MAX_COMMENT_DEPTH):
        bare = _COMMENT.sub(" ", bare)
    return bare
