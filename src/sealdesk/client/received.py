"""What the headers of a response say, readable on every result."""

import re
from collections.abc import Mapping
from typing import NamedTuple

_KEY_LIMIT = re.compile(r'"key"\s*;\s*r=(\d+)\s*;\s*t=(\d+)')


class LimitLeft(NamedTuple):
    """The rate limit of the key after a request. full_in_s: when all requests are there again."""

    remaining: int
    full_in_s: int


class Received(NamedTuple):
    """The response of a result. headers: with any case of letters."""

    status: int
    headers: Mapping[str, str]

    @property
    def etag(self) -> str | None:
        """The version of the result, for `if_match`."""
        return self.headers.get("etag")

    @property
    def request_id(self) -> str | None:
        """Finds the request in the log of the service."""
        return self.headers.get("x-request-id")

    @property
    def warnings(self) -> tuple[str, ...]:
        """What the service has ignored, such as `unknown_field=/colour`."""
        texts = self.headers.get("x-warnings", "").split(",")
        return tuple(text.strip() for text in texts if text.strip())

    @property
    def deprecation(self) -> str | None:
        """Since when the operation is deprecated, as the service wrote it."""
        return self.headers.get("deprecation")

    @property
    def rate_limit(self) -> LimitLeft | None:
        """What is left of the limit of the key."""
        found = _KEY_LIMIT.search(self.headers.get("ratelimit", ""))
        return LimitLeft(int(found[1]), int(found[2])) if found else None
