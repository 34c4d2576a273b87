"""Example followers for the API reference."""

from sealdesk.tickets.followers.types import FollowerResponse

FOLLOWER = FollowerResponse(id="0199b000-1a2b-7c3d-8e4f-5a6b7c8d9e0f", name="Ada", is_active=True)
NEW_FOLLOWER = {"user_id": FOLLOWER.id}
