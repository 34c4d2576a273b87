"""The page that confirms keys after a restore from a backup."""

import logging

from sealdesk import clock, ids
from sealdesk.api_keys import actions, journal, store
from sealdesk.api_keys.journal import Change
from sealdesk.api_keys.pages import keys as key_pages
from sealdesk.db import epochs
from sealdesk.db.engine import Tx
from sealdesk.errors import ApiError, ValidationFailed
from sealdesk.web.operation import page
from sealdesk.web.pages import forms, render
from sealdesk.web.request import Request, Response

_MAX_SHOWN = 100

log = logging.getLogger("sealdesk.api_keys")


@page
async def list_unconfirmed(request: Request) -> Response:
    """The keys that wait for confirmation, with a form for all and one for each."""
    return await _render(request)


@page
async def confirm_keys(request: Request) -> Response:
    """Confirm the key that the form names, or all."""
    key_id = forms.read(request).text("key")

    async def work(tx: Tx) -> None:
        if ids.is_canonical(key_id):
            await actions.confirm_key(tx, request.caller, key_id, now_us=request.now_us)
        elif key_id == "all":
            revoked = await journal.known_revoked(tx, request.state.settings.data_dir)
            await actions.confirm_keys(
                tx, request.caller, known_revoked=revoked, now_us=request.now_us
            )

    try:
        await request.write(work)
    except ValidationFailed as error:
        return await _render(request, error)
    return render.redirect(request, "/settings/api-keys/confirm")


async def _render(request: Request, error: ApiError | None = None) -> Response:
    waiting = await request.fetch(store.list_unconfirmed, request.now_us, _MAX_SHOWN)
    restored_to = await request.read(epochs.find_restored_time)
    changes = _read_changes(request, restored_to)
    return await render.page(
        request,
        "api_keys/confirm.html",
        error.status if error else 200,
        keys=[key_pages.view_key(key, request.now_us) for key in waiting],
        restored_to=clock.iso_or_none(restored_to),
        is_known=changes is not None,
        changed={change.key_id: change for change in changes or ()},
        lost=[change for change in changes or () if change.type == "created"],
    )


def _read_changes(request: Request, restored_to: int | None) -> list[Change] | None:
    """What the journal knows of the tenant's keys after the backup; None without one."""
    if restored_to is None:
        return None
    try:
        found = journal.read_since(request.state.settings.data_dir, clock.iso(restored_to))
    except OSError as error:
        log.warning("the journal of keys cannot be read", extra={"cause": repr(error)})
        return None
    if found is None:
        return None
    return [change for change in found if change.tenant_id == request.caller.tenant_id]
