"""Messages whose parts are joined in another way than they must be."""

import re
from collections.abc import Iterator
from itertools import permutations

from sealdesk.crypto.signing import TIMESTAMP, Signed

_SEPARATORS = (
    b" ",
    b":",
    b",",
    b"|",
    b";",
    b"&",
    b"-",
    b"_",
    b"/",
    b"+",
    b"\t",
    b"\0",
    b"\r\n",
    b"\\n",
    b", ",
    b"||",
    b"::",
)
# In the other orders only the most frequent separators, so that 24 orders stay cheap.
_SEPARATORS_OF_ANY_ORDER = (b"", b"\n", b".", b":")
_MAX_TARGET_OF_ANY_ORDER = 512  # for longer targets only without a separator (decision 0067)
_METHODS = (b"GET", b"POST", b"PATCH", b"PUT", b"DELETE", b"HEAD")
_CLOCK_STEPS_S = (1, -1, 2, -2, 3, -3)


def wrong_messages(parts: Signed, digest: bytes) -> Iterator[tuple[str, bytes]]:
    """(name of the mistake, message). digest: of the body, as hex."""
    timestamp, method, target, _ = parts
    rest = target + digest
    for written in (method.lower(), method.title()):
        yield "method_lowercase", timestamp + written + rest
    for other in _METHODS:
        if other != method:
            yield "method_differs", timestamp + other + rest
    yield "method_not_signed", timestamp + rest
    yield "target_not_signed", timestamp + method + digest
    yield "timestamp_not_signed", method + rest
    yield from _with_separators([timestamp, method, target, digest])
    for other in _other_timestamps(timestamp):
        yield "timestamp_differs", other + method + rest
    yield "newline_appended", timestamp + method + rest + b"\n"
    yield "newline_appended", timestamp + method + rest + b"\r\n"


def find_joint(signed: bytes, parts: Signed, digest: bytes) -> str | None:
    """The name of the mistake in a message that has all four parts as they were received."""
    timestamp, method, target, _ = parts
    found = [(signed.find(part), part) for part in (timestamp, method, target, digest)]
    if any(at < 0 for at, _ in found):
        return None
    if found != sorted(found):
        return "parts_in_another_order"
    between, end = [], 0
    for at, part in found:
        between.append(signed[end:at])
        end = at + len(part)
    if between[1][:1].isdigit() or re.match(rb"[.,][0-9]", between[1]):
        return None  # a more precise clock
    if between[2] and not between[1] and not between[3]:
        return None  # as a host: it was taken for the path
    separators = set(between[1:])
    if not between[0] and len(separators) == 1 and signed[end:] in (b"", *separators):
        return "other_separators"
    return "other_text_signed"


def _other_timestamps(timestamp: bytes) -> Iterator[bytes]:
    if TIMESTAMP.fullmatch(timestamp):  # the debugger also passes what was pasted
        for step_s in _CLOCK_STEPS_S:
            yield b"%d" % (int(timestamp) + step_s)
    yield timestamp + b"000"
    yield timestamp + b".0"


def _with_separators(right: list[bytes]) -> Iterator[tuple[str, bytes]]:
    yield "newline_separators", b"\n".join(right)
    yield "newline_separators", b"\n".join([*right, b""])
    yield "dot_separators", b".".join(right)
    for separator in _SEPARATORS:
        yield "other_separators", separator.join(right)
    _, *others = permutations(right)
    is_long = len(right[2]) > _MAX_TARGET_OF_ANY_ORDER
    for order in others:
        for separator in _SEPARATORS_OF_ANY_ORDER[: 1 if is_long else None]:
            yield "parts_in_another_order", separator.join(order)
