"""The declaration of a mistake in a signed request."""

from typing import Literal, NamedTuple

Code = Literal["invalid_signature", "malformed_credentials", "timestamp_not_seconds", ""]


class Mistake(NamedTuple):
    """A mistake. Its name is the value of `diagnosis`, and never changes its meaning.

    fault: one sentence. remedy: one or two sentences.
    code: the error code that it is found with, "" for one that only the debugger can see.
    """

    name: str
    fault: str
    remedy: str
    code: Code = "invalid_signature"
