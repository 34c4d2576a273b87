"""The API of macros, for administrators."""

from sealdesk.tickets.macros import actions, examples, rules, store
from sealdesk.tickets.macros.errors import TOO_MANY_MACROS
from sealdesk.tickets.macros.types import MacroChange, MacroResponse, NewMacro
from sealdesk.web import body, envelope
from sealdesk.web.operation import operation
from sealdesk.web.pagination import PAGING, list_all
from sealdesk.web.request import Request, Response

_TAG = "Macros"


@operation("List macros", tag=_TAG, gives=examples.MACRO, is_list=True, params=PAGING)
async def list_macros(request: Request) -> Response:
    """Newest first."""
    return await list_all(request, store.list_macros, rules.to_response)


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
    macro = await request.act(actions.create_macro, new, now_us=request.now_us)
    return envelope.created(request, rules.to_response(macro))


@operation("Get a macro", tag=_TAG, gives=examples.MACRO)
async def get_macro(request: Request, macro_id: str) -> Response:
    """The macro with its variables, as it was written."""
    return envelope.one(await _show(request, macro_id))


async def _show(request: Request, macro_id: str) -> MacroResponse:
    return rules.to_response(await request.fetch(actions.get_macro, macro_id))


@operation(
    "Change a macro",
    tag=_TAG,
    takes=MacroChange,
    gives=examples.MACRO,
    example=examples.MACRO_CHANGE,
)
async def change_macro(request: Request, macro_id: str) -> Response:
    """A JSON Merge Patch. Replies that were written with the macro stay as they are."""
    change = await body.read_change(request, MacroChange, lambda: _show(request, macro_id))
    macro = await request.act(actions.change_macro, macro_id, change, now_us=request.now_us)
    return envelope.one(rules.to_response(macro))


@operation("Delete a macro", tag=_TAG, status=204)
async def delete_macro(request: Request, macro_id: str) -> Response:
    """Replies that were written with the macro stay as they are."""
    await request.act(actions.delete_macro, macro_id, now_us=request.now_us)
    return envelope.nothing()
