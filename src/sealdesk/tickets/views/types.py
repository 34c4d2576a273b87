"""The structs of saved views."""

from typing import Annotated

import msgspec
from msgspec import Meta

from sealdesk.resources.representation import check_not_blank

DESK = ""  # the owner of the views that everybody of the desk sees
ViewName = Annotated[str, Meta(min_length=1, max_length=64, extra={"check": check_not_blank})]


class NewView(msgspec.Struct, frozen=True):
    """What a form says of a view to be saved."""

    name: ViewName


class View(msgspec.Struct, frozen=True):
    """A saved view. owner_id: a user, or DESK. query: of the inbox, as its URL says it."""

    tenant_id: str
    id: str
    owner_id: str
    name: str
    query: str
    place: int
    created_at: int
