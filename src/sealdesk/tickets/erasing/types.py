"""The structs of erasures: as stored, and as shown."""

from typing import Literal, NamedTuple

import msgspec

from sealdesk.clock import Iso
from sealdesk.ids import Id

State = Literal["pending", "finished"]


class Erasure(msgspec.Struct, frozen=True):
    """The erasure of a customer as it is stored.

    texts: what names the person, to find it in logs; empty once it is finished. stage: the part
    of the work that is next. cursor: the last row of it that is done.
    """

    tenant_id: str
    customer_id: str
    actor_kind: str
    actor_id: str
    actor_name: str
    texts: tuple[str, ...]
    stage: str
    cursor: str
    ticket_count: int
    erased_ticket_count: int
    created_at: int
    stepped_at: int
    finished_at: int | None


class ErasureResponse(msgspec.Struct, frozen=True):
    """The erasure of a customer as the API shows it.

    status: `pending` until everything is erased, then `finished`.
    ticket_count: of the customer when the erasure began.
    erased_ticket_count: how many of them are erased already.
    """

    customer_id: Id
    status: State
    ticket_count: int
    erased_ticket_count: int
    created_at: Iso
    finished_at: Iso | None


class Done(NamedTuple):
    """What a step has done.

    cursor: the last row that is done, None when nothing is left of the stage.
    tickets: how many were erased. is_waiting: nothing could be done yet. texts: what names the
    person, if more was found.
    """

    cursor: str | None
    tickets: int = 0
    is_waiting: bool = False
    texts: tuple[str, ...] = ()


FINISHED = Done(None)
