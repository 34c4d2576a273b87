"""Authenticates the requests of `schemathesis run`, once their bytes are final."""

import hashlib
import hmac
import os
import time
from itertools import cycle
from typing import Any
from urllib.parse import urlsplit

import schemathesis
from requests import PreparedRequest

from sealdesk import ids

# Keys as `key:secret`, which take turns so that no rate limit ends the run.
_KEYS = cycle(pair.split(":") for pair in os.environ["FUZZED_KEYS"].split())
_TOKEN = os.environ["FUZZED_TOKEN"]
# Of a user whose token and password may be lost.
_OWN_TOKEN = os.environ["FUZZED_OWN_TOKEN"]


@schemathesis.hook
def before_call(_context: Any, _case: Any, kwargs: dict[str, Any]) -> None:
    """Have requests call `_authenticate` with the prepared request."""
    kwargs["auth"] = _authenticate


def _authenticate(request: PreparedRequest) -> PreparedRequest:
    path = urlsplit(request.path_url).path
    if ids.is_canonical(
        str(request.headers.get("x-tenant-id", ""))
    ):  # every other tenant is refused
        del request.headers["x-tenant-id"]
    if path.startswith("/api/v1/external/"):
        request.headers.update(_signature(request))
    else:
        token = _OWN_TOKEN if path.startswith("/api/v1/auth/") else _TOKEN
        request.headers["authorization"] = f"Bearer {token}"
    return request


def _signature(request: PreparedRequest) -> dict[str, str]:
    key, secret = next(_KEYS)
    timestamp, body = str(int(time.time())), request.body or b""
    content = body.encode() if isinstance(body, str) else body
    assert isinstance(content, bytes)
    text = f"{timestamp}{request.method}{request.path_url}{hashlib.sha256(content).hexdigest()}"
    signature = hmac.digest(secret.encode(), text.encode(), "sha256").hex()
    return {"x-api-key": key, "x-api-timestamp": timestamp, "x-api-signature": signature}
