"""The error of a request to a URL of a tenant that got no response."""

from typing import Literal

Cause = Literal[
    "url_invalid",  # scheme, user, port or host is not accepted
    "url_forbidden",  # resolves to an address that requests may not go to
    "url_unresolvable",  # the name has no address
    "url_unreachable",  # no connection: refused, timed out, or TLS failed
    "timeout",  # connected, but no complete response in time
    "bad_answer",  # connected, but the response is not HTTP, or the connection closed
]


class RequestFailed(Exception):
    """The request got no response. text: a sentence for the tenant, without internal addresses."""

    def __init__(self, cause: Cause, text: str) -> None:
        super().__init__(text)
        self.cause = cause
        self.text = text
