"""The followers of a ticket as the API shows them."""

import msgspec

from sealdesk.ids import Id


class NewFollower(msgspec.Struct, frozen=True):
    """The body of a request that makes a user follow a ticket.

    user_id: an active user of the tenant; GET /api/v1/external/agents lists them.
    """

    user_id: str


class FollowerResponse(msgspec.Struct, frozen=True):
    """A user who follows a ticket.

    id: of the user.
    is_active: deactivated users are notified of nothing.
    """

    id: Id
    name: str
    is_active: bool
