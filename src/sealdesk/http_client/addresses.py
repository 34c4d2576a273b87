"""The addresses that requests may go to: public ones, and those that the operator allows."""

from ipaddress import IPv4Address, IPv6Address, ip_network

from sealdesk.settings import Network

Address = IPv4Address | IPv6Address

# IANA's special-purpose registries, including ranges that `is_global` accepts.
_DENIED = tuple(
    ip_network(text)
    for text in (
        "0.0.0.0/8",  # this network
        "10.0.0.0/8",  # private
        "100.64.0.0/10",  # carrier-grade NAT
        "127.0.0.0/8",  # loopback
        "169.254.0.0/16",  # link-local
        "172.16.0.0/12",  # private
        "192.0.0.0/24",  # protocol assignments
        "192.0.2.0/24",  # documentation
        "192.88.99.0/24",  # relays of 6to4
        "192.168.0.0/16",  # private
        "198.18.0.0/15",  # benchmarks
        "198.51.100.0/24",  # documentation
        "203.0.113.0/24",  # documentation
        "224.0.0.0/4",  # multicast
        "240.0.0.0/4",  # reserved, broadcast
        # All but 2000::/3, the only public range: loopback, IPv4-compatible, NAT64, discard,
        # segment routing, unique local, link-local, site-local, multicast.
        "::/3",
        "4000::/2",
        "8000::/1",
        "2001::/23",  # protocol assignments, Teredo among them
        "2001:db8::/32",  # documentation
        "2002::/16",  # 6to4
        "3fff::/20",  # documentation
    )
)
# Metadata services give credentials of the host to any local client: no setting allows them.
_ALWAYS_DENIED = tuple(
    ip_network(text)
    for text in (
        "169.254.0.0/16",  # of all clouds, and credentials of containers
        "100.100.100.200/32",  # Alibaba
        "168.63.129.16/32",  # Azure
        "192.0.0.192/32",  # Oracle
        "fd00:ec2::/32",  # Amazon
        "fd00:c1::a9fe:a9fe/128",  # Oracle
        "fd20:ce::254/128",  # Google
        "fe80::/10",  # link-local
        "64:ff9b:1::/48",  # embeds IPv4 at positions that only its network knows
    )
)
_IPV4_COMPATIBLE = ip_network("::/96")
_NAT64 = ip_network("64:ff9b::/96")


def unmapped(address: Address) -> Address:
    """The IPv4 address of an IPv4-mapped IPv6 address (::ffff:192.0.2.1), or the address itself."""
    if isinstance(address, IPv6Address) and address.ipv4_mapped is not None:
        return address.ipv4_mapped
    return address


def is_permitted(address: Address, allowed: tuple[Network, ...]) -> bool:
    """Whether requests may go here. allowed: exceptions to the deny list, but never metadata."""
    address = unmapped(address)
    return _is_allowed(address, allowed) and all(
        _is_allowed(one, allowed) for one in _embedded_ipv4(address)
    )


def _is_allowed(address: Address, allowed: tuple[Network, ...]) -> bool:
    if any(address in network for network in _ALWAYS_DENIED):
        return False
    if not any(address in network for network in _DENIED):
        return True
    return any(address in network for network in allowed)


def _embedded_ipv4(address: Address) -> tuple[IPv4Address, ...]:
    """The IPv4 addresses that a gateway may extract from an IPv6 address and connect to."""
    if isinstance(address, IPv4Address):
        return ()
    if address in _NAT64 or address in _IPV4_COMPATIBLE:
        return (IPv4Address(int(address) & 0xFFFF_FFFF),)
    if address.sixtofour is not None:
        return (address.sixtofour,)
    return address.teredo or ()
