"""No name server can direct a request to a forbidden address: packets are counted."""

import ipaddress

from sealdesk.http_client.addresses import is_permitted
from tests.http_client.network_namespace import PUBLIC, posted

_POSTS = 500


def test_no_packet_goes_to_a_forbidden_address_whatever_a_name_server_says() -> None:
    result = posted(_POSTS)
    addresses = {text: ipaddress.ip_address(text) for text in result["syns"]}
    forbidden = {text: result["syns"][text] for text in addresses if text not in PUBLIC}
    assert forbidden == {}
    assert all(is_permitted(address, ()) for address in addresses.values())
    assert all(result["syns"].get(address, 0) > 10 for address in PUBLIC), result
    assert result["sent"] > _POSTS / 10
    assert result.keys() == {"syns", "sent", "refused"}  # no other outcome
