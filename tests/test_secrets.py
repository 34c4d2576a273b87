"""Secrets are in no file, log, error response or `repr`."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest

from sealdesk.api_keys import store as api_keys
from sealdesk.caller import SYSTEM
from sealdesk.crypto import webhook_signing
from sealdesk.db.engine import Tx
from sealdesk.identity import actions, store
from sealdesk.identity.types import LoggedIn, Login, PasswordChange, PasswordReset, UserResponse
from sealdesk.webhooks.examples import CREATED_WEBHOOK
from sealdesk.webhooks.types import Endpoint
from tests.support.client import Key, Person, send
from tests.support.databases import Begin
from tests.support.logs import captured_logs
from tests.support.receiver import LOOPBACK
from tests.support.service import PASSWORD as FIRST_PASSWORD
from tests.support.service import Service, random_key

PASSWORD = "canary password of a user"
NEW_PASSWORD = "canary password, the second"
WRONG_PASSWORD = "canary password, mistyped"
KEYS, TICKETS = "/api/v1/api-keys", "/api/v1/external/tickets"
WEBHOOKS = "/api/v1/webhooks"


class Traces(NamedTuple):
    """The secrets that a service has used, and the data that it has stored, logged and returned."""

    secrets: dict[str, str]
    refusals: list[str]
    logged: str
    files: dict[str, bytes]


@pytest.fixture(scope="module")
def traces(begin: Begin, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Traces]:
    data = tmp_path_factory.mktemp("secrets")
    metrics_token, jwt_secret = "canary token of the metrics", random_key()
    env = {
        **LOOPBACK,
        "SEALDESK_METRICS_TOKEN": metrics_token,
        "SEALDESK_JWT_SECRET": jwt_secret,
    }
    with captured_logs() as logged, begin(data, **env) as service:
        secrets, refusals = _use_service(service)
        # Read while it runs, so that the log of the database is there too.
        files = {path.name: path.read_bytes() for path in data.iterdir()}
        files["database"] = service.bytes_at_rest()
        logged_now = repr(logged)
    secrets |= {"metrics token": metrics_token, "jwt secret": jwt_secret}
    assert b"ticket.created" in files["database"]
    yield Traces(secrets, refusals, logged_now, files)


def _use_service(service: Service) -> tuple[dict[str, str], list[str]]:
    tenant = service.tenant()
    person = _new_password(tenant.admin(), tenant.admin_email)
    made = person.post(KEYS, {"name": "canary"}).json()["data"]
    key = Key(service, made["id"], made["api_key"], made["api_secret"])
    ticket = key.ticket()
    key.post(f"{TICKETS}/{ticket['id']}/replies", {"body": "Hello"}, idempotency_key="once")
    rotated = person.post(f"{KEYS}/{key.id}/rotate").json()["data"]["api_secret"]
    webhook = _use_webhooks(service, person)
    reset = _reset_token(service, tenant.admin_email)
    responses = [
        *_failed_requests(service, key, person, reset),
        *_log_ins(service, tenant.admin_email),
    ]
    secrets = {
        "api key": key.api_key,
        "secret": key.api_secret,
        "rotated secret": rotated,
        "access token": person.token,
        "reset token": reset,
        "password": PASSWORD,
        "new password": NEW_PASSWORD,
        "wrong password": WRONG_PASSWORD,
        **webhook,
    }
    return secrets, [f"{response.headers} {response.text}" for response in responses]


def _use_webhooks(service: Service, person: Person) -> dict[str, str]:
    new = {"url": f"{service.url}/", "events": ["ticket.created"]}
    made = person.post(WEBHOOKS, new).json()["data"]
    path = f"{WEBHOOKS}/{made['id']}"
    second = person.post(f"{path}/rotate-secret").json()["data"]["secret"]
    person.post(f"{path}/test")  # the service refuses it, and the log keeps that
    person.patch(path, {"description": "Ours"})
    person.delete(path)
    return {"webhook secret": made["secret"], "second webhook secret": second}


def _new_password(admin: Person, email: str) -> Person:
    admin.post("/api/v1/auth/password", {"current": FIRST_PASSWORD, "new": PASSWORD})
    return admin.service.log_in(email, PASSWORD)


def _failed_requests(service: Service, key: Key, person: Person, reset: str) -> list[Any]:
    signed = key.signature_headers("GET", TICKETS)
    odd = {**signed, "x-api-signature": key.api_secret}
    return [
        key.get(TICKETS),
        send(service, "GET", TICKETS, b"", odd),
        send(service, "GET", TICKETS, b"", {**signed, "x-api-signature": "0" * 64}),
        send(service, "GET", TICKETS, b"", {**signed, "x-api-key": key.api_key.upper()}),
        person.post(KEYS, {"name": 7, "api_secret": key.api_secret}),
        person.get(f"{KEYS}/{key.id}"),
        person.get(f"{KEYS}/{key.id}/refusals"),
        Person(service, person.token + "x").get(KEYS),
        Person(service, "").post("/api/v1/auth/reset", {"token": reset, "new": "short"}),
        Person(service, "").post("/api/v1/auth/reset", {"token": reset, "new": NEW_PASSWORD}),
        Person(service, "").post("/api/v1/auth/reset", {"token": reset, "new": NEW_PASSWORD}),
    ]


def _log_ins(service: Service, email: str) -> list[Any]:
    body = {"email": email, "password": WRONG_PASSWORD}
    refused = [Person(service, "").post("/api/v1/auth/login", body) for _ in range(2)]
    service.log_in(email, NEW_PASSWORD)
    return refused


def _reset_token(service: Service, email: str) -> str:
    async def work(tx: Tx) -> str:
        user = await actions.get_user_by_email(tx, email)
        now_us = service.clock.now_us()
        return await actions.make_reset_token(tx, user, actor=SYSTEM, now_us=now_us)

    return service.write(work)


def test_no_secret_is_in_the_files_of_the_database(traces: Traces) -> None:
    found = [
        (kind, name)
        for kind, secret in traces.secrets.items()
        for name, content in traces.files.items()
        if name.startswith("sealdesk.db") and secret.encode() in content
    ]
    assert found == []


def test_no_raw_form_of_a_secret_is_in_the_files_of_the_database(traces: Traces) -> None:
    secrets = traces.secrets
    raw = [bytes.fromhex(secrets["secret"]), webhook_signing.key_of(secrets["webhook secret"])]
    found = [name for name, content in traces.files.items() if any(r in content for r in raw)]
    assert found == []


def test_no_secret_is_in_an_error_response(traces: Traces) -> None:
    assert traces.refusals
    found = [
        (kind, text)
        for kind, secret in traces.secrets.items()
        for text in traces.refusals
        if secret in text
    ]
    assert found == []


def test_no_secret_is_logged(traces: Traces) -> None:
    assert [kind for kind, secret in traces.secrets.items() if secret in traces.logged] == []


def test_secrets_are_not_in_the_repr_of_their_objects(service: Service) -> None:
    tenant = service.tenant()
    made = tenant.make_key()
    user = service.read(lambda tx: store.find_by_email(tx, tenant.admin_email))
    key = service.read(lambda tx: api_keys.find(tx, tenant.id, made.id))
    assert user is not None and user.password_hash and key is not None
    shown = UserResponse("", "", "", "agent", "")
    sealed = b"canary"
    endpoint = Endpoint("", "", "", (), None, True, None, sealed, 2, sealed, 0, None, 0)
    holders = {
        "settings": (service.settings, service.settings.jwt_secret),
        "shared": (service.state, service.settings.master_keys[0]),
        "key ring": (service.state.key_ring, service.settings.master_keys[0]),
        "user": (user, user.password_hash),
        "key": (key, key.sealed_secret),
        "new key": (made, made.api_secret),
        "new key's name": (made, made.api_key),
        "log-in": (Login("a@example.test", PASSWORD), PASSWORD),
        "change": (PasswordChange(PASSWORD, NEW_PASSWORD), PASSWORD),
        "reset": (PasswordReset("canary", NEW_PASSWORD), "canary"),
        "logged in": (LoggedIn("canary", "Bearer", 1, shown), "canary"),
        "new webhook": (CREATED_WEBHOOK, CREATED_WEBHOOK.secret),
        "endpoint": (endpoint, "canary"),
    }
    assert [name for name, (holder, secret) in holders.items() if _shows(holder, secret)] == []


def _shows(holder: object, secret: object) -> bool:
    text = secret if isinstance(secret, str) else repr(secret)[2:-1]
    return text in repr(holder) or text in str(holder)
