"""Peers that forward requests without being trusted proxies: all of their clients count as one."""

import logging
from collections import Counter

_WARN_EVERY_S = 60.0
# A client can send the header too: so many addresses are named, and the rest counted together.
_MAX_PEERS = 20
OTHERS = "others"

log = logging.getLogger("sealdesk.forwarding")


class UntrustedForwarders:
    """Counts their requests, and warns of each peer at most once a minute."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self._warned_at: dict[str, float] = {}

    def note(self, peer: str, now_s: float) -> None:
        """Count one request. now_s: monotonic."""
        if peer not in self.counts and len(self.counts) >= _MAX_PEERS:
            peer = OTHERS
        self.counts[peer] += 1
        warned_at = self._warned_at.get(peer)
        if warned_at is None or now_s - warned_at >= _WARN_EVERY_S:
            self._warned_at[peer] = now_s
            log.warning(
                "X-Forwarded-For is ignored: is the peer a proxy? SEALDESK_TRUSTED_PROXIES does not"
                " name it, so all of its clients count as one address",
                extra={"peer": peer, "requests": self.counts[peer]},
            )
