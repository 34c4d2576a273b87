"""`sealdesk doctor --public-url` says which bytes a proxy changes, and only then complains."""

import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from sealdesk.cli.doctor import public_url
from sealdesk.cli.doctor.finding import Finding
from tests.cli.terminal import Terminal
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
    """Of one database only: what stands behind the service makes no difference here."""
    return one_service


@pytest.fixture
def bare_key(tenant: Tenant, monkeypatch: pytest.MonkeyPatch) -> Key:
    """A key that may nothing, where the command looks for one."""
    return given(tenant.key(permissions=[]), monkeypatch)


def given(key: Key, monkeypatch: pytest.MonkeyPatch) -> Key:
    monkeypatch.setenv("SEALDESK_API_KEY", key.api_key)
    monkeypatch.setenv("SEALDESK_API_SECRET", key.api_secret)
    return key


def found(url: str) -> dict[str, Finding]:
    """What is found out, by what it is about; without the mends."""
    return {finding.about: finding for finding in public_url.check(url)}


def found_bad(url: str) -> dict[str, str]:
    return {about: text for about, (state, _, text) in found(url).items() if state == "bad"}


def behind_haproxy(directory: Path, service: Service, rule: str) -> dict[str, str]:
    """What is found bad behind an HAProxy with this rule."""
    port = free_port()
    config = _HAPROXY.format(port=port, rule=rule, service=service.port)
    proxy = Haproxy.start(directory / f"h{port}", config)
    try:
        return found_bad(f"http://127.0.0.1:{port}")
    finally:
        proxy.stop()


def behind_nginx(directory: Path, service: Service, rule: str) -> dict[str, Finding]:
    """What is found behind an nginx with this rule; $service in it is the service's address."""
    port, place = free_port(), directory / f"n{free_port()}"
    rule = rule.replace("$service", f"http://127.0.0.1:{service.port}")
    proxy = Nginx.start(place, _NGINX.format(port=port, rule=rule, directory=directory))
    try:
        return found(f"http://127.0.0.1:{port}")
    finally:
        proxy.kill()


def bad(findings: dict[str, Finding]) -> set[str]:
    return {about for about, finding in findings.items() if finding.state == "bad"}


def underlined(text: str) -> list[tuple[str, str]]:
    """Of each pair of lines: what is underlined of what was sent, and of what arrived."""
    lines = text.splitlines()
    marked = [
        "".join(char for char, mark in zip(line, under, strict=False) if mark == "^")
        for line, under in pairwise(lines)
        if line.startswith(("sent ", "arrived "))
    ]
    return list(zip(marked[::2], marked[1::2], strict=True))


def test_without_a_proxy_everything_arrives(service: Service, bare_key: Key) -> None:
    findings = found(service.url)
    assert {finding.state for finding in findings.values()} == {"good"}
    assert {"%2F %2f", "+ %20", "//", "é", "bodies", "answers"} <= findings.keys()


def test_no_probe_has_an_effect(
    service: Service, tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = given(tenant.key(), monkeypatch)
    assert bad(found(service.url)) == set()
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
def test_what_haproxy_normalises_is_named(
    directory: Path, service: Service, bare_key: Key,
    rule: str, about: str, sent: str, arrived: str,
) -> None:  # fmt: skip
    harmed = behind_haproxy(directory, service, f"http-request normalize-uri {rule}")
    assert (sent, arrived) in underlined(harmed[about])


def test_what_a_proxy_decodes_is_named(directory: Path, service: Service, bare_key: Key) -> None:
    harmed = behind_haproxy(directory, service, "http-request set-path %[path,url_dec]")
    assert harmed.keys() == {"%2F %2f", "%25", "%61", "+ %20", "é", ". .."}
    assert underlined(harmed["%2F %2f"]) == [("%2F", "/"), ("%2f", "/")]


@pytest.mark.parametrize(
    "rule", ["proxy_pass $service/;", "rewrite ^(.*)$ $1 break; proxy_pass $service;"]
)
def test_nginx_with_a_path_of_its_own_is_found_out(
    directory: Path, service: Service, bare_key: Key, rule: str
) -> None:
    findings = behind_nginx(directory, service, rule)
    assert bad(findings) == {"%2F %2f", "%61", "+ %20", "//", "é", ". .."}
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


def test_merging_slashes_does_no_harm_while_the_path_is_passed_on_as_it_came(
    directory: Path, service: Service, bare_key: Key
) -> None:
    assert bad(behind_nginx(directory, service, "proxy_pass $service;")) == set()


def test_a_query_that_is_added_to_is_found_out(
    directory: Path, service: Service, bare_key: Key
) -> None:
    findings = behind_nginx(directory, service, "proxy_pass $service$uri?$args&via=proxy;")
    assert bad(findings) == {"plain"}
    assert underlined(findings["plain"].text) == [("", "?&via=proxy")]


def test_dropped_bodies_are_found_out(directory: Path, service: Service, bare_key: Key) -> None:
    rule = 'proxy_pass $service; proxy_pass_request_body off; proxy_set_header Content-Length "";'
    findings = behind_nginx(directory, service, rule)
    assert bad(findings) == {"bodies", "methods"}
    assert (
        "arrived  e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855 of 0 bytes"
        in (findings["bodies"].text)
    )


def test_too_low_a_limit_for_bodies_is_found_out(
    directory: Path, service: Service, bare_key: Key
) -> None:
    findings = behind_nginx(directory, service, "client_max_body_size 512k; proxy_pass $service;")
    assert bad(findings) == {"bodies"}
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
        ("http-response del-header WWW-Authenticate", "answers", "lost www-authenticate"),
        ("http-request redirect location /elsewhere code 302", "plain", "/elsewhere"),
    ],
)
def test_other_harm_is_named(
    directory: Path, service: Service, bare_key: Key, rule: str, about: str, words: str
) -> None:
    harmed = behind_haproxy(directory, service, rule)
    assert words in harmed[about]


def test_answers_out_of_a_cache_are_found_out(
    directory: Path, service: Service, bare_key: Key
) -> None:
    rule = "proxy_pass $service; proxy_cache answers; proxy_cache_valid any 1m;"
    findings = behind_nginx(directory, service, rule)
    assert "from a cache" in findings["answers"].text


def test_pages_in_place_of_problems_are_found_out(
    directory: Path, service: Service, bare_key: Key
) -> None:
    rule = "proxy_pass $service; proxy_intercept_errors on; error_page 404 =404 /-; "
    findings = behind_nginx(directory, service, rule)
    assert bad(findings) == {"answers"}


def test_a_secret_of_another_key_is_not_blamed_on_the_proxy(
    service: Service, bare_key: Key, tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SEALDESK_API_SECRET", tenant.key().api_secret)
    assert "is not this key's secret" in found_bad(service.url)["plain"]


def test_where_nothing_answers_it_stops_at_once(bare_key: Key) -> None:
    findings = found(f"http://127.0.0.1:{free_port()}")
    assert list(findings) == ["plain", "mend"]
    assert "refused" in findings["plain"].text


def test_the_command_prints_marks_and_fails_only_for_harm(
    directory: Path, service: Service, bare_key: Key, empty: Terminal
) -> None:
    terminal = empty.with_env(
        SEALDESK_API_KEY=bare_key.api_key, SEALDESK_API_SECRET=bare_key.api_secret
    )
    sound = terminal.out("doctor", "--public-url", service.url)
    assert re.search(r"^✓ %2F %2f +signed requests that arrived byte for byte: 5$", sound, re.M)
    port = free_port()
    rule = "http-request normalize-uri path-merge-slashes"
    config = _HAPROXY.format(port=port, rule=rule, service=service.port)
    proxy = Haproxy.start(directory / "printed", config)
    ill = terminal.run("doctor", "--public-url", f"http://127.0.0.1:{port}", "--json")
    proxy.stop()
    assert (ill.returncode, '"state": "bad"' in ill.stdout) == (1, True)


@pytest.mark.parametrize("url", ["desk.example.com", "ftp://x", "https://x?y", "http://x:port"])
def test_an_address_that_is_none_is_refused(empty: Terminal, url: str) -> None:
    keys = {"SEALDESK_API_KEY": f"tk_live_{'0' * 40}", "SEALDESK_API_SECRET": "0" * 64}
    line = empty.with_env(**keys).refused("doctor", "--public-url", url)
    assert "must be a URL such as https://desk.example.com" in line


def test_without_a_key_it_says_what_is_missing(empty: Terminal) -> None:
    line = empty.refused("doctor", "--public-url", "http://127.0.0.1:1")
    assert "SEALDESK_API_KEY is not set" in line
