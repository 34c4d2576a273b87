"""The verdict on each URL of the corpus, before any connection."""

import ipaddress

import pytest

from sealdesk.http_client import RequestFailed
from sealdesk.http_client.addresses import is_permitted
from sealdesk.http_client.urls import parse
from sealdesk.settings import Network
from tests.http_client.url_corpus import CORPUS
from tests.support.for_each import for_each

_METADATA = (
    "169.254.169.254",
    "169.254.170.2",
    "169.254.170.23",
    "100.100.100.200",
    "192.0.0.192",
    "168.63.129.16",
    "fd00:ec2::254",
    "fd00:ec2::23",
    "fd20:ce::254",
    "fd00:c1::a9fe:a9fe",
    "::ffff:169.254.169.254",
    "::a9fe:a9fe",
    "64:ff9b::a9fe:a9fe",
    "64:ff9b::100.100.100.200",
    "64:ff9b:1::a9fe:a9fe",
    "2002:a9fe:a9fe::1",
    "2002:a83f:8110::1",
    "2001:0:a9fe:a9fe::1",
    "2001:0:808:808:0:0:5601:5601",  # Teredo turns the client's bits over
)


def verdict(url: str, *allowed: str) -> str:
    try:
        host = parse(url, allow_http=False).host
    except RequestFailed as error:
        return error.cause
    networks = tuple(map(ipaddress.ip_network, allowed))
    return "sent" if isinstance(host, str) or is_permitted(host, networks) else "url_forbidden"


def test_every_url_of_the_corpus_has_its_verdict() -> None:
    assert len(dict(CORPUS)) == len(CORPUS) > 200
    wrong = {url: verdict(url) for url, expected in CORPUS if verdict(url) != expected}
    assert wrong == {}


def test_an_allowed_network_is_permitted_and_adjacent_ones_are_not() -> None:
    own = ("10.1.0.0/16", "fd12::/32")
    hosts = ("10.1.2.3", "[::ffff:10.1.2.3]", "[fd12::9]", "10.2.0.1", "[fd13::9]", "127.0.0.1")
    verdicts = [verdict(f"https://{host}/", *own) for host in hosts]
    assert verdicts == ["sent"] * 3 + ["url_forbidden"] * 3


@for_each("address", _METADATA)
def test_no_setting_permits_a_metadata_service(address: str) -> None:
    everything: tuple[Network, ...] = tuple(
        map(ipaddress.ip_network, ("0.0.0.0/0", "::/0", "169.254.169.254/32", "fd00:ec2::/32"))
    )
    assert not is_permitted(ipaddress.ip_address(address), everything)


def test_an_embedded_ipv4_address_must_be_permitted_too() -> None:
    gateways = ("64:ff9b::/96", "2002::/16")
    hosts = ("64:ff9b::8.8.8.8", "2002:808:808::1", "64:ff9b::10.0.0.1", "2002:7f00:1::1")
    verdicts = [verdict(f"https://[{host}]/", *gateways) for host in hosts]
    assert verdicts == ["sent", "sent", "url_forbidden", "url_forbidden"]


def test_http_urls_need_a_setting() -> None:
    assert parse("http://example.com/", allow_http=True).port == 80
    with pytest.raises(RequestFailed, match="begins with https://"):
        parse("http://example.com/", allow_http=False)


@pytest.mark.parametrize(
    ("url", "authority", "name"),
    [
        ("https://Example.COM:443/", "example.com", "example.com"),
        ("https://example.com.:8443/", "example.com:8443", "example.com"),
        ("https://B\u00fccher.example/", "xn--bcher-kva.example", "xn--bcher-kva.example"),
        ("https://[2606:4700::1111]:1/", "[2606:4700::1111]:1", "2606:4700::1111"),
    ],
)
def test_the_host_is_normalized(url: str, authority: str, name: str) -> None:
    destination = parse(url, allow_http=False)
    assert (destination.authority, destination.name) == (authority, name)
