"""The rules of users, passwords, log-ins and tokens; no IO."""

import re
import unicodedata
from collections.abc import Collection, Sequence
from typing import Any

from sealdesk.identity.types import ROLES, FailureLimit, InvitationLimit, Role, User, UserResponse
from sealdesk.resources import representation

TOKEN_LIFE_S = 3600
# A session is renewed while its user is active, and ends this long after the log-in at the latest.
SESSION_LIFE_S = 12 * 3600
RESET_LINK_LIFE_US = 60 * 60 * 1_000_000
INVITATION_LIFE_US = 7 * 24 * RESET_LINK_LIFE_US
INVITATIONS_PER_HOUR = InvitationLimit(100, 60 * 60 * 1_000_000, pending_only=False)
PENDING_INVITATIONS = InvitationLimit(200, INVITATION_LIFE_US, pending_only=True)
# How far the clocks of two processes may differ. Times further in the future are from a clock that
# has been corrected since.
MAX_CLOCK_SKEW_US = 60 * 1_000_000
# The characters that a password must have besides the user's own words, and the minimum length
# of such a word: shorter ones are part of too many other words.
_MIN_OTHER_CHARS = 8
_MIN_OWN_WORD_LENGTH = 3
_WORD = re.compile(r"[^\W_]+")


def own_words(email: str, name: str, tenant_name: str) -> frozenset[str]:
    """Words of the user and the tenant, and the name of the service: they are guessed first."""
    words = _words(f"{email} {name} {tenant_name} sealdesk")
    return frozenset(word for word in words if len(word) >= _MIN_OWN_WORD_LENGTH)


def is_own(password: str, words: Collection[str]) -> bool:
    """Whether a password consists almost only of these words, in any order."""
    all_words = rest = "".join(_words(password))
    for word in sorted(words, key=len, reverse=True):
        rest = rest.replace(word, "")
    return rest != all_words and len(rest) < _MIN_OTHER_CHARS


def _words(text: str) -> list[str]:
    return _WORD.findall(unicodedata.normalize("NFKC", text).casefold())


_MINUTE_US = 60 * 1_000_000
LONGEST_LIMIT_US = 24 * 60 * _MINUTE_US  # that of codes to addresses of mailboxes
FROM_ANYWHERE = "from anywhere"


def failure_limits(
    email: str, networks: Sequence[str], *, is_known_network: bool
) -> list[FailureLimit]:
    """The limits of a log-in (spec decision 1), that of the account in its network first.

    networks: those of the client's address, the smallest first. One from which the account has
    logged in before has its own count, so that guesses from elsewhere cannot lock the owner out.
    """
    account = _account_bucket(email)
    nearest, *wider = networks
    limits = [
        FailureLimit(f"{account} from {nearest}", 10, 5 * _MINUTE_US),
        FailureLimit(f"from {nearest}", 100, 5 * _MINUTE_US, is_of_network=True),
        *(FailureLimit(f"from {each}", 300, 5 * _MINUTE_US, is_of_network=True) for each in wider),
    ]
    if not is_known_network:
        limits.append(FailureLimit(f"{account} from strangers", 100, 60 * _MINUTE_US))
        limits.append(FailureLimit(FROM_ANYWHERE, 1000, 5 * _MINUTE_US))
    return limits


def account_buckets(email: str) -> tuple[str, str]:
    """The range of the account's buckets: from the first text up to before the second."""
    start = f"{_account_bucket(email)} from "
    return start, start[:-1] + "!"  # the character after the space


def _account_bucket(email: str) -> str:
    return f"account {representation.email_identity(email)}"


def assignable_roles(may: frozenset[str]) -> tuple[Role, ...]:
    """The roles that a user with these roles can assign: none above their own."""
    return tuple(role for role in ROLES if "super_admin" in may or role != "super_admin")


def shown(user: User) -> UserResponse:
    return UserResponse(user.id, user.email, user.name, user.role, user.tenant_id)


def default_name(email: str) -> str:
    """The name of a user who gave none: the part of the address before the @."""
    return email.partition("@")[0]


def expiry_s(login_at: int, now_us: int) -> int:
    """When a token expires that is issued or renewed now, in Unix seconds."""
    return min(now_us // 1_000_000 + TOKEN_LIFE_S, login_at // 1_000_000 + SESSION_LIFE_S)


def session_end(login_at: int) -> int:
    """When a session ends even if it is renewed, in microseconds."""
    return login_at + SESSION_LIFE_S * 1_000_000


def claims(user: User, *, token_id: str, login_at: int, now_us: int) -> dict[str, Any]:
    """The claims of an access token. A renewed token keeps its id and `iat`, so that ending the
    session ends all of its tokens."""
    return {
        "iss": "sealdesk",
        "aud": "sealdesk-api",
        "sub": user.id,
        "jti": token_id,
        "iat": login_at / 1_000_000,
        "exp": expiry_s(login_at, now_us),
        "tenant_id": user.tenant_id,
        "role": user.role,
        "version": user.token_version,
    }
