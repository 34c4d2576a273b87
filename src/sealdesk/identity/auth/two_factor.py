"""The second step of a log-in: a code, after the password."""

import binascii
from base64 import urlsafe_b64decode, urlsafe_b64encode

import msgspec

from sealdesk.crypto.sealing import UnsealError
from sealdesk.errors import Unauthorized
from sealdesk.identity import store
from sealdesk.identity.errors import INVALID_TWO_FACTOR_CODE, PENDING_LOG_IN_ENDED
from sealdesk.identity.two_factor import actions, rules
from sealdesk.identity.types import User
from sealdesk.web.request import Request

_LABEL = b"pending log-in"


class PendingLogIn(msgspec.Struct, frozen=True):
    """A log-in whose password was right and whose code is missing."""

    email: str
    password_fingerprint: str
    expires_at: int

    def is_of(self, user: User | None) -> bool:
        """Whether the user's password is still the one that was given."""
        password_hash = user.password_hash if user else None
        return password_hash is not None and (
            rules.fingerprint(password_hash) == self.password_fingerprint
        )


async def seal_pending(request: Request, email: str) -> str:
    """What the log-in form of a user whose password was right holds in its place."""
    user = await request.state.database.read(lambda tx: store.find_by_email(tx, email))
    if user is None or user.password_hash is None:
        raise Unauthorized(PENDING_LOG_IN_ENDED)
    fingerprint = rules.fingerprint(user.password_hash)
    pending = PendingLogIn(user.email, fingerprint, request.now_us + rules.PENDING_LIFE_US)
    sealed = request.state.key_ring.seal_token(msgspec.json.encode(pending), _LABEL)
    return urlsafe_b64encode(sealed).decode()


def open_pending(request: Request, text: str) -> PendingLogIn:
    """Raises Unauthorized when it has expired, or is not ours."""
    try:
        sealed = urlsafe_b64decode(text.encode())
        opened = request.state.key_ring.open_token(sealed, _LABEL)
    except (binascii.Error, ValueError, UnsealError):
        raise Unauthorized(PENDING_LOG_IN_ENDED) from None
    pending = msgspec.json.decode(opened, type=PendingLogIn)
    if pending.expires_at <= request.now_us:
        raise Unauthorized(PENDING_LOG_IN_ENDED)
    return pending


async def needs_code(request: Request, user: User) -> bool:
    """Whether the user has turned two-factor authentication on."""
    factor = await request.state.database.read(
        lambda tx: actions.find_confirmed(tx, user), user.tenant_id
    )
    return factor is not None


async def use_code(request: Request, user: User, code: str) -> None:
    """Use up a code. Raises Unauthorized for a wrong one, TooManyRequests after too many."""
    database, now_us = request.state.database, request.now_us
    await database.write(lambda tx: actions.count_code(tx, user, now_us=now_us))
    is_right = await database.write(
        lambda tx: actions.use_code(
            tx, user, code, key_ring=request.state.key_ring, address=request.address, now_us=now_us
        ),
        user.tenant_id,
    )
    if not is_right:
        raise Unauthorized(INVALID_TWO_FACTOR_CODE)
