"""The structs of tags."""

import msgspec

from sealdesk.tickets.ticket.types import Tag


class NewName(msgspec.Struct, frozen=True):
    """What a form says of the other name of a tag."""

    new_tag: Tag


class CountedTag(msgspec.Struct, frozen=True):
    """A tag with the number of its tickets, which is exact up to a bound.

    tag: as its newest ticket spells it.
    """

    identity: str
    tag: str
    ticket_count: int


class Renaming(msgspec.Struct, frozen=True):
    """A tag that gets another name.

    total: its tickets at the beginning. changed_count: of tickets. ticket_id: up to which the
    tickets have it, where it is another spelling only. view_id: up to which the views have it.
    stepped_at: the time of the last step.
    """

    tenant_id: str
    id: str
    tag: str
    new_tag: str
    actor_id: str
    actor_name: str
    ticket_id: str | None
    view_id: str
    total: int
    changed_count: int
    created_at: int
    stepped_at: int
    finished_at: int | None = None
