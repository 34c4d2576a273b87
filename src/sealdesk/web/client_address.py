"""The client's address behind trusted proxies, and networks of addresses."""

import ipaddress
from collections.abc import Sequence
from functools import lru_cache

from sealdesk.settings import Network


def client_address(
    peer: str, headers: Sequence[tuple[bytes, bytes]], trusted: tuple[Network, ...]
) -> str:
    """The client's IP address: the peer's, or the right-most one that is no trusted proxy's."""
    if not is_within(peer, trusted):
        return peer
    lines = [value for name, value in headers if name == b"x-forwarded-for"]
    for hop in reversed(b",".join(lines).decode("latin-1").split(",")):
        try:
            address = str(ipaddress.ip_address(hop.strip()))
        except ValueError:
            return peer
        peer = address
        if not is_within(peer, trusted):
            return peer
    return peer


@lru_cache(maxsize=4096)
def networks_of(address: str) -> tuple[str, ...]:
    """The networks by which failures of a client are counted, the smallest first.

    An IPv4 address alone. Of an IPv6 address its /64, within which a client chooses its address
    itself, and its /48, the largest network that a site gets (RFC 6177).
    """
    try:
        ip = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return (address,)
    if ip.version == 4:
        return (address,)
    if ip.ipv4_mapped is not None:
        return (str(ip.ipv4_mapped),)
    return tuple(str(ipaddress.IPv6Network((int(ip), bits), strict=False)) for bits in (64, 48))


def is_within(address: str, networks: tuple[Network, ...]) -> bool:
    """Whether an IP address belongs to one of the networks; an IPv4-mapped one counts as IPv4."""
    if not networks:
        return False
    try:
        ip = ipaddress.ip_address(address)
    except ValueError:
        return False
    mapped = getattr(ip, "ipv4_mapped", None)
    return any((mapped or ip) in network for network in networks)
