"""What a user does with saved views; each action is the work of one transaction."""

import msgspec

from sealdesk import ids
from sealdesk.db.engine import Tx
from sealdesk.errors import Fault, gettext_noop, invalid, must_exist
from sealdesk.tickets.views import rules, store
from sealdesk.tickets.views.rules import MAX_VIEWS, Direction
from sealdesk.tickets.views.types import DESK, View

_TAKEN = gettext_noop("There is already a view with this name.")
_OF_THE_DESK = gettext_noop("Only administrators change the views of the desk.")
_TOO_MANY = gettext_noop("There are already %(count)s views. Delete one first.")


class Editor(msgspec.Struct, frozen=True):
    """Who changes views. is_administrator: may change those of the desk."""

    tenant_id: str
    user_id: str
    is_administrator: bool


async def get_view(tx: Tx, tenant_id: str, user_id: str, view_id: str) -> View:
    """A view that this user sees. Raises NotFound, also for another user's private one."""
    return must_exist(await store.find(tx, tenant_id, view_id, user_id))


async def save_view(
    tx: Tx, editor: Editor, name: str, query: str, *, is_for_desk: bool, now_us: int
) -> View:
    """A new view, the last of its owner's. Raises ValidationFailed."""
    owner_id = DESK if is_for_desk else editor.user_id
    _check_owner(editor, owner_id)
    siblings = await _lock_views(tx, editor, owner_id)
    if len(siblings) >= MAX_VIEWS:
        raise invalid([Fault("/name", "too_many", _TOO_MANY, {"count": len(siblings)})])
    await _check_name(tx, editor.tenant_id, owner_id, name)
    place = max((view.place for view in siblings), default=-1) + 1
    view = View(editor.tenant_id, ids.mint(now_us), owner_id, name, query, place, now_us)
    await store.add(tx, view)
    return view


async def rename_view(tx: Tx, editor: Editor, view_id: str, name: str) -> None:
    """Raises NotFound, ValidationFailed."""
    view = await _get_changeable(tx, editor, view_id)
    await _lock_views(tx, editor, view.owner_id)
    await _check_name(tx, editor.tenant_id, view.owner_id, name, except_id=view.id)
    await store.replace(tx, msgspec.structs.replace(view, name=name))


async def change_query(tx: Tx, editor: Editor, view_id: str, query: str) -> None:
    """Raises NotFound, ValidationFailed."""
    view = await _get_changeable(tx, editor, view_id)
    await store.replace(tx, msgspec.structs.replace(view, query=query))


async def move_view(tx: Tx, editor: Editor, view_id: str, direction: Direction) -> None:
    """Raises NotFound, ValidationFailed."""
    view = await _get_changeable(tx, editor, view_id)
    siblings = await _lock_views(tx, editor, view.owner_id)
    await store.set_order(tx, editor.tenant_id, rules.move(siblings, view_id, direction))


async def delete_view(tx: Tx, editor: Editor, view_id: str) -> None:
    """Raises NotFound, ValidationFailed."""
    view = await _get_changeable(tx, editor, view_id)
    await store.delete(tx, editor.tenant_id, view.id)


async def _get_changeable(tx: Tx, editor: Editor, view_id: str) -> View:
    view = await get_view(tx, editor.tenant_id, editor.user_id, view_id)
    _check_owner(editor, view.owner_id)
    return view


def _check_owner(editor: Editor, owner_id: str) -> None:
    is_administrator = editor.is_administrator
    if owner_id not in rules.changeable_owners(editor.user_id, is_administrator=is_administrator):
        raise invalid([Fault("/owner", "not_allowed", _OF_THE_DESK)])


async def _lock_views(tx: Tx, editor: Editor, owner_id: str) -> list[View]:
    """The owner's views in their order, with changes of them by others locked."""
    await tx.lock(f"views {owner_id}", editor.tenant_id)
    views = await store.list_views(tx, editor.tenant_id, editor.user_id)
    return [view for view in views if view.owner_id == owner_id]


async def _check_name(
    tx: Tx, tenant_id: str, owner_id: str, name: str, except_id: str = ""
) -> None:
    if await store.find_name(tx, tenant_id, owner_id, name) not in (None, except_id):
        raise invalid([Fault("/name", "taken", _TAKEN)])
