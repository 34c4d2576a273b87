"""The API of SLA policies, for administrators."""

from sealdesk.resources import representation
from sealdesk.tickets.promises import actions, examples, store
from sealdesk.tickets.promises.errors import TOO_MANY_POLICIES
from sealdesk.tickets.promises.types import NewPolicy, PolicyChange, PolicyResponse
from sealdesk.web import body, envelope
from sealdesk.web.operation import operation
from sealdesk.web.pagination import PAGING, list_all
from sealdesk.web.request import Request, Response

_TAG = "SLA policies"
_to_response = representation.response_builder(PolicyResponse)


@operation("List SLA policies", tag=_TAG, gives=examples.POLICY, is_list=True, params=PAGING)
async def list_policies(request: Request) -> Response:
    """Newest first; of those that match a ticket, the one with the lowest `position` is used."""
    return await list_all(request, store.list_page, _to_response)


@operation(
    "Create an SLA policy",
    tag=_TAG,
    takes=NewPolicy,
    gives=examples.POLICY,
    status=201,
    response_headers=("location",),
    fails=(TOO_MANY_POLICIES,),
    example=examples.NEW_POLICY,
)
async def create_policy(request: Request) -> Response:
    """By when the desk promises to answer and to resolve the tickets that match. Tickets that are
    not finished get it within some minutes; what is over by then is shown as late, without an
    event."""
    new = body.read(request, NewPolicy)
    policy = await request.act(actions.create_policy, new, now_us=request.now_us)
    return envelope.created(request, _to_response(policy))


@operation("Get an SLA policy", tag=_TAG, gives=examples.POLICY)
async def get_policy(request: Request, policy_id: str) -> Response:
    """One SLA policy."""
    return envelope.one(await _show(request, policy_id))


async def _show(request: Request, policy_id: str) -> PolicyResponse:
    return _to_response(await request.fetch(actions.get_policy, policy_id))


@operation(
    "Change an SLA policy",
    tag=_TAG,
    takes=PolicyChange,
    gives=examples.POLICY,
    example=examples.POLICY_CHANGE,
)
async def change_policy(request: Request, policy_id: str) -> Response:
    """A JSON Merge Patch. Tickets that are not finished get it within some minutes."""
    change = await body.read_change(request, PolicyChange, lambda: _show(request, policy_id))
    policy = await request.act(actions.change_policy, policy_id, change, now_us=request.now_us)
    return envelope.one(_to_response(policy))


@operation("Delete an SLA policy", tag=_TAG, status=204)
async def delete_policy(request: Request, policy_id: str) -> Response:
    """Its tickets get the next policy that matches, or none."""
    await request.act(actions.delete_policy, policy_id, now_us=request.now_us)
    return envelope.nothing()
