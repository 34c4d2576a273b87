"""Thousands of requests to names whose servers lie, with the packets counted on the network."""

from typing import Any

from tests.http_client.network_namespace import PUBLIC, posted
from tests.resilience.figures import Target, Tell, quiet

TARGETS = (
    Target("connections_to_forbidden", "=", 0),
    # Otherwise nothing was put to the test.
    Target("connections_to_permitted", "≥", 1000),
    Target("refused", "≥", 1000),
)
_POSTS = 5000


def run(*, tell: Tell = quiet) -> dict[str, Any]:
    """Post in a network namespace where whatever goes astray would arrive."""
    result = posted(_POSTS)
    tell(_POSTS, _POSTS)
    syns = result["syns"]
    permitted = sum(syns.get(address, 0) for address in PUBLIC)
    return {
        "connections_to_forbidden": sum(syns.values()) - permitted,
        "connections_to_permitted": permitted,
        "sent": result["sent"],
        "refused": result["refused"],
    }
