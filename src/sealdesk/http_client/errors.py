"""Why a request to a tenant's address got no answer."""

from typing import Literal

Cause = Literal[
    "url_invalid",  # not a URL that can be sent to: scheme, user, port, host
    "url_forbidden",  # an address that nothing may be sent to
    "url_unresolvable",  # the name has no address
    "url_unreachable",  # no connection: refused, timed out, or TLS failed
    "timeout",  # connected, and no answer in time
    "bad_answer",  # connected, and what came is not HTTP, or the connection broke
]


class RequestFailed(Exception):
    """There was no answer. text: one sentence for the tenant, without our own addresses."""

    def __init__(self, cause: Cause, text: str) -> None:
        super().__init__(text)
        self.cause = cause
        self.text = text
