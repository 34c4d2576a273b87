"""The callers of a tenant whose mistakes are tried, and limits that are soon reached."""

import sys
from collections.abc import Iterator
from typing import Any, NamedTuple

import httpx
import pytest

from tests.support.client import Key, Person, send
from tests.support.service import PASSWORD, Service, Tenant
from tests.support.wire import WireAnswer

EXTERNAL = "/api/v1/external"
TICKETS, CUSTOMERS = f"{EXTERNAL}/tickets", f"{EXTERNAL}/customers"
KEYS, WEBHOOKS = "/api/v1/api-keys", "/api/v1/webhooks"
MAILBOXES = "/api/v1/mailboxes"
# The answer with the problem, and those to what its advice says.
Steps = Iterator[httpx.Response | WireAnswer]


class Desk(NamedTuple):
    """A tenant of its own for each problem."""

    tenant: Tenant
    key: Key
    admin: Person
    patches: pytest.MonkeyPatch

    @property
    def service(self) -> Service:
        return self.tenant.service

    def limit(self, name: str, value: int = 1) -> None:
        """Give a limit another value wherever it is imported."""
        modules = [
            each
            for each in list(sys.modules.values())
            if each.__name__.startswith("sealdesk.") and name in vars(each)
        ]
        assert modules, name
        for each in modules:
            self.patches.setattr(each, name, value)

    def wait(self, refused: httpx.Response) -> None:
        """Let the time of `Retry-After` pass."""
        self.service.clock.advance(int(refused.headers["retry-after"]) + 0.001)

    def log_in(self, **fields: Any) -> httpx.Response:
        body = {"email": self.tenant.admin_email, "password": PASSWORD, **fields}
        return Person(self.service, "").post("/api/v1/auth/login", body)

    def send(self, method: str, target: str, content: bytes = b"", **headers: str) -> Any:
        """A request with exactly these headers; values replace those of the signature."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        signed = self.key.signature_headers(method, target, content)
        return send(self.service, method, target, content, {**signed, **named})

    def made(self, path: str, **fields: Any) -> dict[str, Any]:
        """What the administrator has created there."""
        answer = self.admin.post(path, fields)
        assert answer.status_code == 201, answer.text
        return dict(answer.json()["data"])
