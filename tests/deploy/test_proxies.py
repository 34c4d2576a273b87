"""What comes through the shipped proxies, and what they answer themselves."""

import contextlib
import json
import socket
import ssl
import time
from collections.abc import Iterator
from http.client import HTTPSConnection
from pathlib import Path

import httpx
import pytest

from sealdesk.cli.doctor import public_url
from tests.deploy.conftest import Front, Kind, PutUp, said_to
from tests.deploy.files import Certificate
from tests.deploy.peers import Breaking, Way
from tests.servers import free_port
from tests.support.client import Key
from tests.support.service import PASSWORD, Service, Tenant, running

WHOAMI = "/api/v1/external/whoami"
TICKETS = "/api/v1/external/tickets"
TICKET = {"subject": "Hello", "description": "x", "customer": {"email": "bo@example.test"}}
PROBLEM = "application/problem+json"
KINDS = pytest.mark.parametrize("kind", ["haproxy", "nginx"])


@pytest.fixture
def tenant(served: Service) -> Tenant:
    return served.tenant()


def signed(key: Key, method: str, target: str, body: bytes = b"") -> dict[str, str]:
    return {"content-type": "application/json", **key.signature_headers(method, target, body)}


def test_what_clients_sign_arrives_byte_for_byte(
    front: Front, tenant: Tenant, certificate: Certificate, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = tenant.key(permissions=[])
    monkeypatch.setenv("SEALDESK_API_KEY", key.api_key)
    monkeypatch.setenv("SEALDESK_API_SECRET", key.api_secret)
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate.certificate))
    found = list(public_url.check(front.url))
    assert [finding for finding in found if finding.state != "good"] == []
    assert len(found) > 15


def test_a_claimed_address_is_not_believed(
    front: Front, tenant: Tenant, certificate: Certificate
) -> None:
    key = tenant.key(allowed_ips=["203.0.113.9/32"])
    context = ssl.create_default_context(cafile=certificate.certificate)
    connection = HTTPSConnection(
        "127.0.0.1", front.tls, source_address=("127.0.0.2", 0), context=context
    )
    context.check_hostname = False
    claims = {"x-forwarded-for": "203.0.113.9", "forwarded": "for=203.0.113.9"}
    with contextlib.closing(connection):
        connection.request("GET", WHOAMI, headers={**signed(key, "GET", WHOAMI), **claims})
        answer = json.loads(connection.getresponse().read())
    assert (answer["code"], "127.0.0.2" in answer["detail"]) == ("ip_not_allowed", True)


def test_a_refusal_comes_back_with_when_to_try_again(
    front: Front, tenant: Tenant, http: httpx.Client
) -> None:
    key = tenant.key(rate_limit=1)
    answers = [http.get(front.url + WHOAMI, headers=signed(key, "GET", WHOAMI)) for _ in range(2)]
    assert answers[1].json()["code"] == "rate_limit_exceeded"
    assert 0 < int(answers[1].headers["retry-after"]) <= 60


def test_an_answer_keeps_its_tag_and_place(
    front: Front, tenant: Tenant, http: httpx.Client
) -> None:
    key, body = tenant.key(), json.dumps(TICKET).encode()
    made = http.post(front.url + TICKETS, content=body, headers=signed(key, "POST", TICKETS, body))
    place, tag = made.headers["location"], made.headers["etag"]
    assert (made.status_code, tag) == (201, '"1.1"')
    known = {**signed(key, "GET", place), "if-none-match": tag}
    assert http.get(front.url + place, headers=known).status_code == 304


def test_too_large_headers_are_refused_by_the_service(
    front: Front, certificate: Certificate
) -> None:
    head = b"GET /docs HTTP/1.1\r\nHost: localhost\r\nx: %b\r\n\r\n" % (b"a" * 17_000)
    answer, body = said_to(front, certificate, head)
    assert (answer.status, json.loads(body)["max_headers"]) == (431, 100)


def test_a_too_large_body_is_refused_by_the_service(front: Front, certificate: Certificate) -> None:
    head = b"POST /api/v1/auth/login HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1048577\r\n\r\n"
    answer, body = said_to(front, certificate, head + b" " * 1_048_577)
    assert (answer.status, json.loads(body)["max_bytes"]) == (413, 8192)


def test_without_tls_the_api_is_refused_and_not_redirected(
    front: Front, http: httpx.Client
) -> None:
    answer = http.get(f"http://127.0.0.1:{front.plain}{WHOAMI}")
    assert (answer.status_code, answer.json()["code"]) == (403, "https_required")
    page = http.get(f"http://127.0.0.1:{front.plain}/docs?a=%2f")
    assert page.status_code == 308
    assert page.headers["location"].startswith("https://")
    assert page.headers["location"].endswith("/docs?a=%2f")


def test_people_log_in_with_a_cookie_that_only_https_carries(
    front: Front, http: httpx.Client, tenant: Tenant
) -> None:
    form = {"email": tenant.admin_email, "password": PASSWORD}
    # As browsers that do not tell the site: the host that the proxy passes on is compared.
    own, foreign = {"origin": front.url}, {"origin": "https://desk.example.org"}
    assert http.post(f"{front.url}/log-in", data=form, headers=foreign).status_code == 403
    answer = http.post(f"{front.url}/log-in", data=form, headers=own)
    cookie, _, flags = answer.headers["set-cookie"].partition("; ")
    assert cookie.startswith("__Host-sealdesk=")
    assert "Secure" in flags
    http.cookies.clear()
    page = http.get(f"{front.url}/settings/webhooks", headers={"cookie": cookie})
    assert page.status_code == 200
    assert page.headers["strict-transport-security"] == "max-age=31536000"  # said once


def test_metrics_are_not_shown_through_a_proxy(front: Front, http: httpx.Client) -> None:
    assert http.get(front.url + "/metrics").status_code == 404


@KINDS
def test_with_no_server_up_the_answer_is_a_problem_that_says_when(
    kind: Kind, put_up: PutUp, http: httpx.Client
) -> None:
    front = put_up(kind, (free_port(), free_port()))
    answer = http.get(front.url + WHOAMI)
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "1")
    assert (answer.headers["content-type"], answer.json()["status"]) == (PROBLEM, 503)


@KINDS
def test_a_server_that_is_gone_costs_no_request(
    kind: Kind, put_up: PutUp, served: Service, tenant: Tenant, http: httpx.Client
) -> None:
    front = put_up(kind, (free_port(), served.port))
    key, body = tenant.key(), json.dumps(TICKET).encode()
    headers = signed(key, "POST", TICKETS, body)
    made = [http.post(front.url + TICKETS, content=body, headers=headers) for _ in range(8)]
    assert [answer.status_code for answer in made] == [201] * 8


@pytest.fixture
def breaking() -> Iterator[Breaking]:
    with contextlib.closing(Breaking()) as server:
        yield server


@KINDS
@pytest.mark.parametrize("method", ["POST", "PATCH"])
def test_a_write_that_was_sent_is_never_sent_again(
    kind: Kind, method: str, put_up: PutUp, breaking: Breaking, certificate: Certificate
) -> None:
    front = put_up(kind, (breaking.port, breaking.port))
    # In one piece: what is still incomplete when it is passed on could not be sent again anyway.
    head = f"{method} {TICKETS} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{{}}"
    answer, body = said_to(front, certificate, head.encode())
    assert (breaking.taken, answer.headers["content-type"]) == ([method], PROBLEM)
    assert answer.status in (502, 503)
    assert "Idempotency-Key" in json.loads(body)["detail"]


@KINDS
def test_a_read_that_a_server_broke_off_is_sent_again(
    kind: Kind, put_up: PutUp, breaking: Breaking, served: Service, http: httpx.Client
) -> None:
    front = put_up(kind, (breaking.port, served.port))
    statuses = {http.get(f"{front.url}/api/v1/time").status_code for _ in range(6)}
    assert (statuses, set(breaking.taken)) == ({200}, {"GET"})


def test_haproxy_leaves_a_server_alone_that_is_about_to_stop(
    template: Path, tmp_path: Path, put_up: PutUp, http: httpx.Client
) -> None:
    with running(tmp_path / "one", template) as leaving, running(tmp_path / "two", template) as two:
        front = put_up("haproxy", (leaving.port, two.port))
        key = two.tenant().key()

        def met() -> set[int]:
            """401 is the other server, which does not know the key."""
            headers = signed(key, "GET", WHOAMI)
            return {http.get(front.url + WHOAMI, headers=headers).status_code for _ in range(10)}

        assert met() == {200, 401}
        leaving.state.lifetime.is_draining = True
        # That SEALDESK_DRAIN_NOTICE_S, 3 s, is enough is tested by tests/resilience/rolling.py;
        # this machine may be too busy to ask so fast.
        until = time.monotonic() + 120.0
        while met() != {200}:
            assert time.monotonic() < until, "HAProxy did not notice in time"
        assert met() == {200}


@KINDS
def test_half_a_header_is_not_waited_for(
    kind: Kind, put_up: PutUp, served: Service, certificate: Certificate
) -> None:
    limit = {"haproxy": "timeout http-request 10s", "nginx": "client_header_timeout 10s"}[kind]
    front = put_up(kind, (served.port, served.port), {limit: limit.replace("10s", "1s")})
    context = ssl.create_default_context(cafile=certificate.certificate)
    with (
        socket.create_connection(("127.0.0.1", front.tls), timeout=120) as bare,
        context.wrap_socket(bare, server_hostname="localhost") as connection,
    ):
        connection.sendall(b"GET / HTTP/1.1\r\nHost: loc")
        answer = b""
        while part := connection.recv(4096):
            answer += part
    assert answer == b"" or b" 408 " in answer


@KINDS
def test_connections_to_the_servers_are_kept(
    kind: Kind, put_up: PutUp, served: Service, http: httpx.Client
) -> None:
    with contextlib.closing(Way(served.port)) as way:
        front = put_up(kind, (way.port, way.port))
        assert [http.get(f"{front.url}/api/v1/time").status_code for _ in range(30)] == [200] * 30
        assert way.count < 30  # the questions for readiness among them, one a second
