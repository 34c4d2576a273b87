"""The limits of invitations; no IO."""

import msgspec

from sealdesk.identity.rules import INVITATION_LIFE_US

_HOUR_US = 60 * 60 * 1_000_000


class InvitationLimit(msgspec.Struct, frozen=True):
    """How many users a tenant may add within a period. pending_only: who has not accepted yet."""

    count: int
    within_us: int
    pending_only: bool


INVITATIONS_PER_HOUR = InvitationLimit(100, _HOUR_US, pending_only=False)
PENDING_INVITATIONS = InvitationLimit(200, INVITATION_LIFE_US, pending_only=True)
