"""Conditional requests: ETags that are compared, and 304 (RFC 9110 section 13)."""

import re

from sealdesk.errors import Malformed
from sealdesk.web.request import Answer, Call

_OPAQUE = r'(?:W/)?"[\x21\x23-\x7e\x80-\xff]*"'
_TAGS = re.compile(rf"\*|{_OPAQUE}\s*(?:,\s*{_OPAQUE}\s*)*")
_TAG = re.compile(r'\*|(?:W/)?"[^"]*"')


def if_match(call: Call) -> tuple[str, ...] | None:
    """The entity tags of If-Match, None when it is absent. Raises Malformed."""
    return _tags(call, b"if-match")


def unless_unchanged(call: Call, etag: str, answer: Answer) -> Answer:
    """The answer with its ETag; 304 when If-None-Match holds the current one."""
    tagged = (b"etag", etag.encode())
    known = _tags(call, b"if-none-match")
    if known is not None and ("*" in known or etag in [tag.removeprefix("W/") for tag in known]):
        return Answer(304, b"", [tagged])
    answer.headers.append(tagged)
    return answer


def _tags(call: Call, name: bytes) -> tuple[str, ...] | None:
    text = call.header(name)
    if text is None:
        return None
    if _TAGS.fullmatch(text) is None:
        raise Malformed(
            "invalid_header", f'{name.decode()} must be entity tags in double quotes, as in "3.1".'
        )
    return tuple(_TAG.findall(text))
