"""A strict parser of the URLs that tenants give: rejects all but plain http(s) URLs."""

import re
from functools import lru_cache
from ipaddress import AddressValueError, IPv4Address, IPv6Address

import idna
import msgspec

from sealdesk.http_client.addresses import Address
from sealdesk.http_client.errors import RequestFailed

MAX_URL = 2048
_MAX_NAME = 253  # RFC 1035 2.3.4, without the trailing dot
_PORTS = {"https": 443, "http": 80}
_PARTS = re.compile(r"([A-Za-z]+)://([^/?#]*)(/[^?#]*)?(\?[^#]*)?(#.*)?", re.DOTALL)
_AUTHORITY = re.compile(r"(\[[^\[\]]*\]|[^:\[\]]+)(?::([0-9]{1,5}))?")
_TARGET = re.compile(r"(?:[\w.~:/?\[\]@!$&'()*+,;=-]|%[0-9A-Fa-f]{2})*", re.ASCII)
_NAME = re.compile(r"(?:(?!-)[a-z0-9_-]{1,63}(?<!-)\.)*(?!-)[a-z0-9_-]{1,63}(?<!-)")
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*")


class Destination(msgspec.Struct, frozen=True):
    """The parts of a URL. authority: for the Host header. host: an address, or a name in ASCII.

    name: the name that the certificate must have. target: path and query.
    """

    is_tls: bool
    host: Address | str
    port: int
    authority: str
    target: str

    @property
    def name(self) -> str:
        return str(self.host).removesuffix(".")


@lru_cache(maxsize=1024)
def parse(url: str, *, allow_http: bool) -> Destination:
    """Parse a URL. Raises RequestFailed (url_invalid)."""
    if len(url) > MAX_URL:
        raise _invalid(f"A URL has at most {MAX_URL} characters.")
    parts = _PARTS.fullmatch(url)
    scheme = parts[1].lower() if parts else ""
    if parts is None or scheme not in _PORTS:
        raise _invalid("A URL begins with https://, as in https://example.com/hooks.")
    if scheme == "http" and not allow_http:
        raise _invalid("A URL begins with https://; http:// is not sent to.")
    if parts[5] is not None:
        raise _invalid(
            "A URL here has no fragment, as that is never sent; leave out what is after #."
        )
    target = f"{parts[3] or '/'}{parts[4] or ''}"
    if not _TARGET.fullmatch(target):
        raise _invalid("Path and query hold a character that has to be percent-encoded.")
    host, port = _parse_authority(parts[2], _PORTS[scheme])
    shown = f"[{host}]" if isinstance(host, IPv6Address) else str(host).removesuffix(".")
    authority = shown if port == _PORTS[scheme] else f"{shown}:{port}"
    return Destination(scheme == "https", host, port, authority, target)


def _parse_authority(text: str, usual_port: int) -> tuple[Address | str, int]:
    if "@" in text:
        raise _invalid("A URL here has no user and no password.")
    parts = _AUTHORITY.fullmatch(text)
    if parts is None:
        raise _invalid("A URL names a host, and a port from 1 to 65535 if it is not the usual one.")
    port = int(parts[2] or usual_port)
    if not 1 <= port <= 65535:
        raise _invalid("A port is a number from 1 to 65535.")
    return parse_host(parts[1]), port


def parse_host(text: str) -> Address | str:
    """An address, or a name in ASCII and lower case. Raises RequestFailed (url_invalid)."""
    if text.startswith("["):
        return _parse_ipv6(text[1:-1])
    host = text.lower() if text.isascii() else _encode_idna(text)
    name = host.removesuffix(".")
    if len(name) > _MAX_NAME or not _NAME.fullmatch(name):
        raise _invalid("The host of the URL is not a name that can be looked up.")
    if _NUMBER.fullmatch(name.rpartition(".")[2]):
        return _parse_ipv4(name)
    return host


def _parse_ipv4(text: str) -> IPv4Address:
    # 0x7f.1, 2130706433 and 010.0.0.1 are addresses too, which systems interpret differently.
    try:
        return IPv4Address(text)
    except AddressValueError:
        raise _invalid(
            "An IPv4 address is four numbers from 0 to 255, as in 203.0.113.5."
        ) from None


def _parse_ipv6(text: str) -> IPv6Address:
    try:
        address = IPv6Address(text)
    except AddressValueError:
        raise _invalid("What the URL has in brackets is not an IPv6 address.") from None
    if address.scope_id is not None:
        raise _invalid("An IPv6 address in a URL has no zone.")
    return address


def _encode_idna(text: str) -> str:
    if len(text) > _MAX_NAME:
        raise _invalid("The host of the URL is not a name that can be looked up.")
    try:
        return idna.encode(text, uts46=True, std3_rules=True).decode("ascii")
    except idna.IDNAError:
        raise _invalid("The host of the URL is not an internationalized domain name.") from None


def _invalid(text: str) -> RequestFailed:
    return RequestFailed("url_invalid", text)
