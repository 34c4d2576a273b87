"""`sealdesk doctor --public-url` reports the bytes that a proxy alters, and nothing else."""

import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from sealdesk.cli.doctor import public_url
from sealdesk.cli.doctor.finding import Finding
from tests.cli.terminal import Terminal
from tests.http_client.receivers import Authority, receiver, respond
from tests.servers import Haproxy, Nginx, free_port, server_directory
from tests.support.client import Key
from tests.support.service import Service, Tenant, running

_HAPROXY = """
global
    expose-experimental-directives
    maxconn 200
defaults
    mode http
    timeout client 20s
    timeout server 20s
    timeout connect 2s
frontend public
    bind 127.0.0.1:{port}
    {rule}
    default_backend sealdesk
backend sealdesk
    server one 127.0.0.1:{service}
"""
_NGINX = """
proxy_cache_path {directory}/{port} keys_zone=answers:1m use_temp_path=off;
server {{
    listen 127.0.0.1:{port};
    client_max_body_size 2m;
    client_body_buffer_size 2m;
    location / {{ {rule} }}
}}
"""
_TICKETS = "/api/v1/external/tickets"
_WHOAMI = "/api/v1/external/whoami"


@pytest.fixture(scope="module")
def directory() -> Iterator[Path]:
    with server_directory() as path:
        yield path


@pytest.fixture(scope="module")
def one_service(template: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with running(tmp_path_factory.mktemp("data"), template) as service:
        yield service


@pytest.fixture
def service(one_service: Service) -> Service:
    """On one database only: the storage makes no difference here."""
    return one_service


@pytest.fixture
def bare_key(tenant: Tenant, monkeypatch: pytest.MonkeyPatch) -> Key:
    """A key without permissions, set in the environment."""
    return given(tenant.key(permissions=[]), monkeypatch)


def given(key: Key, monkeypatch: pytest.MonkeyPatch) -> Key:
    monkeypatch.setenv("SEALDESK_API_KEY", key.api_key)
    monkeypatch.setenv("SEALDESK_API_SECRET", key.api_secret)
    return key


def check(url: str) -> dict[str, Finding]:
    """Run the checks; return the last finding of each subject."""
    return {finding.about: finding for finding in public_url.check(url)}


def check_bad(url: str) -> dict[str, str]:
    return {about: text for about, (state, _, text) in check(url).items() if state == "bad"}


def behind_haproxy(directory: Path, service: Service, rule: str) -> dict[str, str]:
    """Return the failed findings behind an HAProxy with this rule."""
    port = free_port()
    config = _HAPROXY.format(port=port, rule=rule, service=service.port)
    proxy = Haproxy.start(directory / f"h{port}", config)
    try:
        return check_bad(f"http://127.0.0.1:{port}")
    finally:
        proxy.stop()


def behind_nginx(directory: Path, service: Service, rule: str) -> dict[str, Finding]:
    """Return the findings behind an nginx with this rule; $service is the URL of the service."""
    port, place = free_port(), directory / f"n{free_port()}"
    rule = rule.replace("$service", f"http://127.0.0.1:{service.port}")
    proxy = Nginx.start(place, _NGINX.format(port=port, rule=rule, directory=directory))
    try:
        return check(f"http://127.0.0.1:{port}")
    finally:
        proxy.kill()


def bad_groups(findings: dict[str, Finding]) -> set[str]:
    return {about for about, finding in findings.items() if finding.state == "bad"}


def underlined(text: str) -> list[tuple[str, str]]:
    """Return the underlined parts of each pair of lines: (sent, arrived)."""
    lines = text.splitlines()
    marked = [
        "".join(char for char, mark in zip(line, under, strict=False) if mark == "^")
        for line, under in pairwise(lines)
        if line.startswith(("sent ", "arrived "))
    ]
    return list(zip(marked[::2], marked[1::2], strict=True))


def test_without_a_proxy_every_probe_arrives_unchanged(service: Service, bare_key: Key) -> None:
    findings = check(service.url)
    assert {finding.state for finding in findings.values()} == {"good"}
    assert {"%2F %2f", "+ %20", "//", "é", "bodies", "answers"} <= findings.keys()


def test_probes_change_no_data(
    service: Service, tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = given(tenant.key(), monkeypatch)
    assert bad_groups(check(service.url)) == set()
    assert key.get(_TICKETS).json()["data"] == []
    assert key.get("/api/v1/external/customers").json()["data"] == []


@pytest.mark.parametrize(
    ("rule", "about", "sent", "arrived"),
    [
        ("path-merge-slashes", "//", "/", "r"),
        ("path-strip-dot", ". ..", "./", "r"),
        ("percent-to-uppercase", "%2F %2f", "%2f", "%2F"),
        ("percent-to-uppercase", "é", "%c3%a9", "%C3%A9"),
        ("percent-decode-unreserved", "%61", "%61", "a"),
        ("query-sort-by-name", "query", "b=2&a=1", "a=1&b=2"),
    ],
)
@pytest.mark.prove
def test_what_haproxy_normalises_is_reported(
    directory: Path, service: Service, bare_key: Key,
    rule: str, about: str, sent: str, arrived: str,
) -> None:  # fmt: skip
    failed = behind_haproxy(directory, service, f"http-request normalize-uri {rule}")
    assert (sent, arrived) in underlined(failed[about])


def test_what_a_proxy_decodes_is_reported(directory: Path, service: Service, bare_key: Key) -> None:
    failed = behind_haproxy(directory, service, "http-request set-path %[path,url_dec]")
    assert failed.keys() == {"%2F %2f", "%25", "%61", "+ %20", "é", ". .."}
    assert underlined(failed["%2F %2f"]) == [("%2F", "/"), ("%2f", "/")]


@pytest.mark.parametrize(
    "rule", ["proxy_pass $service/;", "rewrite ^(.*)$ $1 break; proxy_pass $service;"]
)
def test_nginx_with_a_path_in_proxy_pass_is_reported(
    directory: Path, service: Service, bare_key: Key, rule: str
) -> None:
    findings = behind_nginx(directory, service, rule)
    assert bad_groups(findings) == {"%2F %2f", "%61", "+ %20", "//", "é", ". .."}
    assert findings["%2F %2f"].text.splitlines() == [
        f"sent     {_TICKETS}/a%2Fb",
        " " * 9 + " " * len(f"{_TICKETS}/a") + "^^^",
        f"arrived  {_TICKETS}/a/b",
        " " * 9 + " " * len(f"{_TICKETS}/a") + "^",
        f"sent     {_TICKETS}/a%2fb",
        " " * 9 + " " * len(f"{_TICKETS}/a") + "^^^",
        f"arrived  {_TICKETS}/a/b",
        " " * 9 + " " * len(f"{_TICKETS}/a") + "^",
    ]
    assert findings["mend"].text.startswith("nginx: proxy_pass without a path")


def test_merge_slashes_alters_nothing_without_a_path_in_proxy_pass(
    directory: Path, service: Service, bare_key: Key
) -> None:
    assert bad_groups(behind_nginx(directory, service, "proxy_pass $service;")) == set()


def test_an_added_query_parameter_is_reported(
    directory: Path, service: Service, bare_key: Key
) -> None:
    findings = behind_nginx(directory, service, "proxy_pass $service$uri?$args&via=proxy;")
    assert bad_groups(findings) == {"plain"}
    assert underlined(findings["plain"].text) == [("", "?&via=proxy")]


def test_dropped_bodies_are_reported(directory: Path, service: Service, bare_key: Key) -> None:
    rule = 'proxy_pass $service; proxy_pass_request_body off; proxy_set_header Content-Length "";'
    findings = behind_nginx(directory, service, rule)
    assert bad_groups(findings) == {"bodies", "methods"}
    assert (
        "arrived  e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855 of 0 bytes"
        in (findings["bodies"].text)
    )


def test_a_low_limit_for_bodies_is_reported(
    directory: Path, service: Service, bare_key: Key
) -> None:
    findings = behind_nginx(directory, service, "client_max_body_size 512k; proxy_pass $service;")
    assert bad_groups(findings) == {"bodies"}
    assert "client_max_body_size 2m" in findings["mend"].text


@pytest.mark.parametrize(
    ("rule", "about", "words"),
    [
        ("http-request del-header X-API-Timestamp", "plain", "x-api-timestamp is missing"),
        ("http-request set-method GET if METH_POST", "bodies", "arrived  GET"),
        (
            "http-request set-method GET if { method HEAD }",
            "methods",
            "did not arrive as HEAD",
        ),
        ("http-request deny if { method PATCH }", "methods", "the response is 403"),
        ("http-response del-header RateLimit-Policy", "answers", "ratelimit-policy"),
        ("http-response set-header Cache-Control public", "cache", "but arrives as public"),
        ("http-response del-header WWW-Authenticate", "answers", "lost www-authenticate"),
        ("http-request redirect location /elsewhere code 302", "plain", "/elsewhere"),
    ],
)
def test_other_alterations_are_reported(
    directory: Path, service: Service, bare_key: Key, rule: str, about: str, words: str
) -> None:
    failed = behind_haproxy(directory, service, rule)
    assert words in failed[about]


def test_cached_responses_are_reported(directory: Path, service: Service, bare_key: Key) -> None:
    rule = (
        "proxy_pass $service; proxy_cache answers; proxy_cache_valid any 1m;"
        " proxy_ignore_headers Cache-Control Vary;"
    )
    findings = behind_nginx(directory, service, rule)
    assert "cache" in bad_groups(findings)
    assert findings["cache"].text.splitlines() == [
        "two requests got the same response: it comes from a cache",
        "a request without a signature got the response of a signed one, from a cache",
    ]


def test_a_cache_that_follows_the_rules_is_only_pointed_out(
    directory: Path, service: Service, bare_key: Key
) -> None:
    names = ("Age", "CF-Cache-Status", "Via", "X-Cache", "X-Cache-Status", "X-Varnish")
    added = " ".join(f"add_header {name} 1 always;" for name in names)
    rule = "proxy_pass $service; proxy_cache answers; proxy_cache_valid any 1m;"
    findings = behind_nginx(directory, service, f"{rule} proxy_cache_convert_head off; {added}")
    assert bad_groups(findings) == set()
    shown = ", ".join(f"{name.lower()}: 1" for name in names)
    assert findings["cache"] == (
        "note",
        "cache",
        f"there may be a cache ({shown}); it did not store these responses",
    )
    assert findings["mend"].text.startswith("nginx: no proxy_cache outside /assets/ and /docs/")


def test_replaced_error_bodies_are_reported(
    directory: Path, service: Service, bare_key: Key
) -> None:
    rule = "proxy_pass $service; proxy_intercept_errors on; error_page 404 =404 /-; "
    findings = behind_nginx(directory, service, rule)
    assert bad_groups(findings) == {"answers"}


def test_a_secret_of_another_key_is_not_blamed_on_the_proxy(
    service: Service, bare_key: Key, tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SEALDESK_API_SECRET", tenant.key().api_secret)
    assert "is not this key's secret" in check_bad(service.url)["plain"]


def test_the_checks_stop_when_nothing_responds(bare_key: Key) -> None:
    findings = check(f"http://127.0.0.1:{free_port()}")
    assert list(findings) == ["plain", "mend"]
    assert "refused" in findings["plain"].text


@pytest.mark.parametrize(
    ("name", "days", "fault"),
    [("127.0.0.1", (-9, -1), "expired"), ("127.0.0.2", (-1, 1), "mismatch")],
)
def test_a_certificate_that_clients_refuse_is_named_with_what_to_do_about_it(
    bare_key: Key,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    days: tuple[int, int],
    fault: str,
) -> None:
    authority = Authority(tmp_path)
    monkeypatch.setenv("SSL_CERT_FILE", str(authority.file))
    with receiver(respond(b""), authority.context(name, days=days)) as port:
        findings = check(f"https://127.0.0.1:{port}")
    assert list(findings) == ["plain", "mend"]
    assert fault in findings["plain"].text
    assert "renew the proxy's certificate" in findings["mend"].text


def test_the_command_prints_marks_and_fails_only_for_alterations(
    directory: Path, service: Service, bare_key: Key, empty: Terminal
) -> None:
    terminal = empty.with_env(
        SEALDESK_API_KEY=bare_key.api_key, SEALDESK_API_SECRET=bare_key.api_secret
    )
    healthy = terminal.out("doctor", "--public-url", service.url)
    assert re.search(r"^✓ %2F %2f +signed requests that arrived byte for byte: 5$", healthy, re.M)
    port = free_port()
    rule = "http-request normalize-uri path-merge-slashes"
    config = _HAPROXY.format(port=port, rule=rule, service=service.port)
    proxy = Haproxy.start(directory / "printed", config)
    failed_run = terminal.run("doctor", "--public-url", f"http://127.0.0.1:{port}", "--json")
    proxy.stop()
    assert (failed_run.returncode, '"state": "bad"' in failed_run.stdout) == (1, True)


@pytest.mark.parametrize("url", ["desk.example.com", "ftp://x", "https://x?y", "http://x:port"])
def test_an_invalid_address_is_refused(empty: Terminal, url: str) -> None:
    keys = {"SEALDESK_API_KEY": f"tk_live_{'0' * 40}", "SEALDESK_API_SECRET": "0" * 64}
    line = empty.with_env(**keys).refused("doctor", "--public-url", url)
    assert "must be a URL such as https://desk.example.com" in line


def test_a_missing_api_key_is_named(empty: Terminal) -> None:
    line = empty.refused("doctor", "--public-url", "http://127.0.0.1:1")
    assert "SEALDESK_API_KEY is not set" in line
