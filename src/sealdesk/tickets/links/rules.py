"""What a link is from its other side, and how it is shown; no IO."""

from collections.abc import Iterable, Mapping

from sealdesk import clock
from sealdesk.tickets.links.types import Relation, StoredLink, TicketLinkResponse

MAX_LINKS = 50
# As pages list them.
MIRRORED: Mapping[Relation, Relation] = {
    "blocked_by": "blocks",
    "blocks": "blocked_by",
    "duplicate_of": "has_duplicate",
    "has_duplicate": "duplicate_of",
    "relates_to": "relates_to",
}
_ORDER = [*MIRRORED]


def show(links: Iterable[StoredLink]) -> list[TicketLinkResponse]:
    """Without tickets that were merged into others, which have their links."""
    return [
        TicketLinkResponse(
            link.other_id,
            link.number,
            link.subject,
            link.status,
            link.relation,
            clock.iso(link.created_at),
        )
        for link in links
        if not link.is_merged
    ]


def in_order(links: Iterable[TicketLinkResponse]) -> list[TicketLinkResponse]:
    """By relation and number, as pages show them."""
    return sorted(links, key=lambda each: (_ORDER.index(each.relation), each.number))
