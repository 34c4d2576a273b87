"""HTTP clients of the service: one signs with an API key, one has the token of a user."""

import atexit
import json
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import httpx

from sealdesk.crypto.signing import Signed, sign
from tests.support.keep_alive import KeepAliveClient

if TYPE_CHECKING:
    from tests.support.service import Service

_http = KeepAliveClient()
atexit.register(_http.close)
Headers = dict[str, str]


def send(
    service: "Service", method: str, target: str, content: bytes, headers: Headers
) -> httpx.Response:
    """Send exactly this target and body."""
    # Some tests start a service as a process of its own, of which they know the URL.
    port = int(service.url.rpartition(":")[2])
    return _http.send(port, method, target, content, headers)


class Key:
    """An API key that signs its requests for real."""

    def __init__(self, service: "Service", key_id: str, api_key: str, api_secret: str) -> None:
        self.service = service
        self.id = key_id
        self.api_key = api_key
        self.api_secret = api_secret

    def signature_headers(
        self, method: str, target: str, content: bytes = b"", *, timestamp: int | None = None
    ) -> Headers:
        """The three headers of a request that is sent now, or at `timestamp` (seconds)."""
        at = str(self.service.clock.now_us() // 1_000_000 if timestamp is None else timestamp)
        parts = Signed(at.encode(), method.encode(), target.encode("latin-1"), content)
        return {
            "x-api-key": self.api_key,
            "x-api-timestamp": at,
            "x-api-signature": sign(self.api_secret, parts),
        }

    def call(
        self,
        method: str,
        target: str,
        body: Any = None,
        *,
        content: bytes | None = None,
        headers: Headers | None = None,
    ) -> httpx.Response:
        """Sign and send; `body` is sent as JSON, `content` as it is."""
        sent = content if content is not None else b"" if body is None else _json(body)
        typed = {"content-type": "application/json"} if sent else {}
        signed = self.signature_headers(method, target, sent)
        return send(self.service, method, target, sent, {**typed, **signed, **(headers or {})})

    def get(self, target: str, **headers: str) -> httpx.Response:
        return self.call("GET", target, headers=_named(headers))

    def post(self, target: str, body: Any, **headers: str) -> httpx.Response:
        return self.call("POST", target, body, headers=_named(headers))

    def patch(self, target: str, body: Any, **headers: str) -> httpx.Response:
        return self.call("PATCH", target, body, headers=_named(headers))

    def delete(self, target: str, **headers: str) -> httpx.Response:
        return self.call("DELETE", target, headers=_named(headers))

    def ticket(self, **fields: Any) -> dict[str, Any]:
        """A new ticket, as the answer shows it."""
        new = {
            "subject": "A subject",
            "description": "A description",
            "customer": {"email": "customer@example.test"},
            **fields,
        }
        answer = self.post("/api/v1/external/tickets", new)
        assert answer.status_code == 201, answer.text
        return dict(answer.json()["data"])

    def customer(self, email: str, **fields: Any) -> dict[str, Any]:
        """A new customer, as the answer shows it."""
        answer = self.post("/api/v1/external/customers", {"email": email, **fields})
        assert answer.status_code == 201, answer.text
        return dict(answer.json()["data"])

    def upload(
        self, name: str, content: bytes, content_type: str = "application/octet-stream"
    ) -> httpx.Response:
        """Upload a file."""
        target = f"/api/v1/external/attachments?name={quote(name, safe='')}"
        return self.call("POST", target, content=content, headers={"content-type": content_type})

    def attachment(self, name: str = "a.txt", content: bytes = b"text") -> dict[str, Any]:
        """A new attachment, as the answer shows it."""
        answer = self.upload(name, content)
        assert answer.status_code == 201, answer.text
        return dict(answer.json()["data"])

    def walk(self, target: str, per_page: int = 2) -> list[dict[str, Any]]:
        """All rows of a list, page by page."""
        rows: list[dict[str, Any]] = []
        joiner = "&" if "?" in target else "?"
        cursor = ""
        while True:
            answer = self.get(f"{target}{joiner}per_page={per_page}{cursor}")
            assert answer.status_code == 200, answer.text
            page = answer.json()
            rows += page["data"]
            if not page["meta"]["has_more"]:
                return rows
            cursor = f"&cursor={page['meta']['next_cursor']}"


class Person:
    """A logged-in user; with an empty token, an anonymous client."""

    def __init__(self, service: "Service", token: str) -> None:
        self.service = service
        self.token = token

    def call(
        self, method: str, target: str, body: Any = None, headers: Headers | None = None
    ) -> httpx.Response:
        content = b"" if body is None else _json(body)
        sent = {"content-type": "application/json"} if content else {}
        if self.token:
            sent["authorization"] = f"Bearer {self.token}"
        return send(self.service, method, target, content, {**sent, **(headers or {})})

    def get(self, target: str, **headers: str) -> httpx.Response:
        return self.call("GET", target, headers=_named(headers))

    def post(self, target: str, body: Any = None, **headers: str) -> httpx.Response:
        return self.call("POST", target, body, _named(headers))

    def patch(self, target: str, body: Any, **headers: str) -> httpx.Response:
        return self.call("PATCH", target, body, _named(headers))

    def delete(self, target: str, **headers: str) -> httpx.Response:
        return self.call("DELETE", target, headers=_named(headers))


def _json(body: Any) -> bytes:
    return json.dumps(body).encode()


def _named(headers: Headers) -> Headers:
    return {name.replace("_", "-"): value for name, value in headers.items()}
