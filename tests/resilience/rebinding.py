"""Thousands of webhooks to names whose DNS server changes its answers; packets are counted."""

from typing import Any

from tests.http_client.network_namespace import PUBLIC, posted
from tests.resilience.figures import Progress, Target, no_progress

TARGETS = (
    Target("connections_to_forbidden", "=", 0),
    # Otherwise nothing was tested.
    Target("connections_to_permitted", "≥", 1000),
    Target("refused", "≥", 1000),
)
_POSTS = 5000


def run(*, progress: Progress = no_progress) -> dict[str, Any]:
    """Post in a network namespace where forbidden addresses accept connections; the figures."""
    result = posted(_POSTS)
    progress(_POSTS, _POSTS)
    syns = result["syns"]
    permitted = sum(syns.get(address, 0) for address in PUBLIC)
    return {
        "connections_to_forbidden": sum(syns.values()) - permitted,
        "connections_to_permitted": permitted,
        "sent": result["sent"],
        "refused": result["refused"],
    }
