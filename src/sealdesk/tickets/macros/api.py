"""The API of macros, for administrators."""

import msgspec

from sealdesk.db.engine import Tx
from sealdesk.tickets.macros import actions, examples, rules, store
from sealdesk.tickets.macros.errors import TOO_MANY_MACROS
from sealdesk.tickets.macros.types import Macro, MacroChange, NewMacro
from sealdesk.web import body, envelope
from sealdesk.web.operation import operation
from sealdesk.web.pagination import PAGING, page, read_list
from sealdesk.web.request import Request, Response

_TAG = "Macros"
_PATH = "/api/v1/macros"


@operation("List macros", tag=_TAG, gives=examples.MACRO, is_list=True, params=PAGING)
async def list_macros(request: Request) -> Response:
    """Newest first."""
    list_request = read_list(request, ())
    tenant_id = request.caller.tenant_id
    found = await request.read(lambda tx: store.list_macros(tx, tenant_id, list_request.page))
    return page(request, list_request, found, show=_encode, position=lambda macro: [macro.id])


@operation(
    "Create a macro",
    tag=_TAG,
    takes=NewMacro,
    gives=examples.MACRO,
    status=201,
    response_headers=("location",),
    fails=(TOO_MANY_MACROS,),
    example=examples.NEW_MACRO,
)
async def create_macro(request: Request) -> Response:
    """A text for replies, what it sets on the ticket, or both. Agents choose it in the composer,
    where its variables are replaced by values of the ticket. Nothing changes until they send."""
    new = body.read(request, NewMacro)

    async def work(tx: Tx) -> Response:
        macro = await actions.create_macro(tx, request.caller, new, now_us=request.now_us)
        location = (b"location", f"{_PATH}/{macro.id}".encode())
        return envelope.one(rules.to_response(macro), 201, [location])

    return await request.write(work)


@operation("Get a macro", tag=_TAG, gives=examples.MACRO)
async def get_macro(request: Request) -> Response:
    """The macro with its variables, as it was written."""
    (macro_id,) = request.params
    tenant_id = request.caller.tenant_id
    macro = await request.read(lambda tx: actions.get_macro(tx, tenant_id, macro_id))
    return envelope.one(rules.to_response(macro))


@operation(
    "Change a macro",
    tag=_TAG,
    takes=MacroChange,
    gives=examples.MACRO,
    example=examples.MACRO_CHANGE,
)
async def change_macro(request: Request) -> Response:
    """A JSON Merge Patch. Replies that were written with the macro stay as they are."""
    (macro_id,) = request.params
    change = body.read(request, MacroChange)

    async def work(tx: Tx) -> Response:
        macro = await actions.change_macro(
            tx, request.caller, macro_id, change, now_us=request.now_us
        )
        return envelope.one(rules.to_response(macro))

    return await request.write(work)


@operation("Delete a macro", tag=_TAG, status=204)
async def delete_macro(request: Request) -> Response:
    """Replies that were written with the macro stay as they are."""
    (macro_id,) = request.params

    async def work(tx: Tx) -> Response:
        await actions.delete_macro(tx, request.caller, macro_id, now_us=request.now_us)
        return envelope.nothing()

    return await request.write(work)


def _encode(macro: Macro) -> bytes:
    return msgspec.json.encode(rules.to_response(macro))
