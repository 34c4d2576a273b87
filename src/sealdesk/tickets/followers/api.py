"""The followers of a ticket as JSON."""

from sealdesk.db.engine import Tx
from sealdesk.tickets.followers import actions
from sealdesk.tickets.followers.errors import TOO_MANY_FOLLOWERS
from sealdesk.tickets.followers.types import FollowerResponse, NewFollower
from sealdesk.web import body, envelope
from sealdesk.web.operation import operation
from sealdesk.web.pagination import PAGING, list_few
from sealdesk.web.request import Request, Response

_TAG = "Tickets"
_FOLLOWER = FollowerResponse("0199b000-1a2b-7c3d-8e4f-5a6b7c8d9e0f", "Ada", is_active=True)
NEW_FOLLOWER = {"user_id": _FOLLOWER.id}


@operation("List a ticket's followers", tag=_TAG, gives=_FOLLOWER, is_list=True, params=PAGING)
async def list_followers(request: Request, ticket_id: str) -> Response:
    """The users who are notified of what others do on the ticket, at most 50, by id."""
    return await list_few(
        request, lambda: request.fetch(actions.list_followers, ticket_id), lambda each: each
    )


@operation(
    "Make a user follow a ticket",
    tag=_TAG,
    takes=NewFollower,
    gives=_FOLLOWER,
    status=201,
    headers=("idempotency-key",),
    fails=(TOO_MANY_FOLLOWERS,),
    example=NEW_FOLLOWER,
)
async def add_follower(request: Request, ticket_id: str) -> Response:
    """A user who follows the ticket already goes on. Neither the ticket nor its ETag changes."""
    user_id = body.read(request, NewFollower).user_id

    async def work(tx: Tx) -> Response:
        follower = await actions.follow(tx, request.caller.tenant_id, ticket_id, user_id)
        return envelope.one(follower, 201)

    return await request.write_idempotently(work)


@operation("Make a user unfollow a ticket", tag=_TAG, status=204)
async def remove_follower(request: Request, ticket_id: str, user_id: str) -> Response:
    """Also if the user does not follow it. Assignees and mentioned users are still notified."""
    await request.write(
        lambda tx: actions.unfollow(tx, request.caller.tenant_id, ticket_id, user_id)
    )
    return envelope.nothing()
