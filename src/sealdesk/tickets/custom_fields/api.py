"""The API of field definitions."""

from sealdesk.tickets.custom_fields import actions, examples, rules, store
from sealdesk.tickets.custom_fields.errors import TOO_MANY_FIELDS
from sealdesk.tickets.custom_fields.types import FieldChange, FieldResponse, NewField
from sealdesk.web import body, envelope
from sealdesk.web.operation import operation
from sealdesk.web.pagination import PAGING, list_few
from sealdesk.web.request import Request, Response

_TAG = "Custom fields"


@operation("List custom fields", tag=_TAG, gives=examples.FIELD, is_list=True, params=PAGING)
async def list_fields(request: Request) -> Response:
    """In the order of pages, with the inactive ones."""
    return await list_few(
        request,
        lambda: request.fetch(store.list_fields),
        rules.to_response,
        lambda field: [field.place],
    )


@operation(
    "Define a custom field",
    tag=_TAG,
    takes=NewField,
    gives=examples.FIELD,
    status=201,
    response_headers=("location",),
    fails=(TOO_MANY_FIELDS,),
    example=examples.NEW_FIELD,
)
async def define_field(request: Request) -> Response:
    """From now on tickets show the field, and values that requests write for its key must have its
    type. Values that tickets have already stay as they are."""
    new = body.read(request, NewField)
    field = await request.act(actions.define_field, new, now_us=request.now_us)
    return envelope.created(request, rules.to_response(field))


@operation("Get a custom field", tag=_TAG, gives=examples.FIELD)
async def get_field(request: Request, field_id: str) -> Response:
    """One definition."""
    return envelope.one(await _show(request, field_id))


async def _show(request: Request, field_id: str) -> FieldResponse:
    return rules.to_response(await request.fetch(actions.get_field, field_id))


@operation(
    "Change a custom field",
    tag=_TAG,
    takes=FieldChange,
    gives=examples.FIELD,
    fails=(TOO_MANY_FIELDS,),
    example=examples.FIELD_CHANGE,
)
async def change_field(request: Request, field_id: str) -> Response:
    """A JSON Merge Patch. The key and the type never change. `is_active: false` hides the field on
    pages and ends its checks; the values of tickets stay, and are found as before."""
    change = await body.read_change(request, FieldChange, lambda: _show(request, field_id))
    field = await request.act(actions.change_field, field_id, change, now_us=request.now_us)
    return envelope.one(rules.to_response(field))


@operation("Delete a custom field", tag=_TAG, status=204)
async def delete_field(request: Request, field_id: str) -> Response:
    """Only the definition: the values of tickets stay in `custom_fields`, and nothing checks their
    key any more. The history names the key instead of the label; deactivating keeps the label."""
    await request.act(actions.delete_field, field_id, now_us=request.now_us)
    return envelope.nothing()
