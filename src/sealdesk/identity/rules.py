"""What tenants and users are, and what log-in allows; no IO."""

import re
import unicodedata
from collections.abc import Collection
from typing import Annotated, Any, Literal, get_args

import msgspec
from msgspec import Meta

from sealdesk.ids import Id
from sealdesk.resources import emails

Role = Literal["agent", "tenant_admin", "super_admin"]
ROLES: tuple[Role, ...] = get_args(Role)
ADMINISTRATORS: tuple[Role, ...] = ("tenant_admin", "super_admin")

TOKEN_LIFE_S = 3600
# A session of pages is renewed while somebody works, but no longer than this after the log-in.
SESSION_LIFE_S = 12 * 3600
RESET_LINK_LIFE_US = 60 * 60 * 1_000_000
INVITATION_LIFE_US = 7 * 24 * RESET_LINK_LIFE_US
MIN_PASSWORD_LENGTH = 12
MAX_PASSWORD_LENGTH = 1024
# What a password must have besides its user's own words; shorter words stand in too many others.
_BESIDES_OWN_WORDS = 8
_OWN_WORD_LENGTH = 3
_WORD = re.compile(r"[^\W_]+")

Found = list[tuple[str, str, str]]

Password = Annotated[str, Meta(max_length=MAX_PASSWORD_LENGTH)]


def _long_enough(password: str) -> Found:
    if len(password) < MIN_PASSWORD_LENGTH:
        text = f"A password must have at least {MIN_PASSWORD_LENGTH} characters."
        return [("", "too_short", text)]
    return []


def own_words(email: str, name: str, desk: str) -> frozenset[str]:
    """The words that are known of a user, and so guessed first: theirs, the desk's and ours."""
    found = _words(f"{email} {name} {desk} sealdesk")
    return frozenset(word for word in found if len(word) >= _OWN_WORD_LENGTH)


def is_own(password: str, words: Collection[str]) -> bool:
    """Whether a password is little else than these words, however they are put together."""
    whole = rest = "".join(_words(password))
    for word in sorted(words, key=len, reverse=True):
        rest = rest.replace(word, "")
    return rest != whole and len(rest) < _BESIDES_OWN_WORDS


def _words(text: str) -> list[str]:
    return _WORD.findall(unicodedata.normalize("NFKC", text).casefold())


NewPassword = Annotated[
    str,
    Meta(
        max_length=MAX_PASSWORD_LENGTH,
        extra={"check": _long_enough},
        extra_json_schema={"minLength": MIN_PASSWORD_LENGTH},
    ),
]


class Login(msgspec.Struct, frozen=True):
    """What logging in takes."""

    email: Annotated[str, Meta(max_length=emails.MAX_LENGTH)]
    password: Password

    def __repr__(self) -> str:
        return "Login(…)"


class PasswordChange(msgspec.Struct, frozen=True):
    """What changing one's password takes.

    new: at least 12 characters, of whatever kind; not one of the common passwords, and with 8
    characters besides the user's name, e-mail address and desk.
    """

    current: Password
    new: NewPassword

    def __repr__(self) -> str:
        return "PasswordChange(…)"


class PasswordReset(msgspec.Struct, frozen=True):
    """What a one-time reset takes.

    token: the one-time token of the reset link.
    new: at least 12 characters, of whatever kind; not one of the common passwords, and with 8
    characters besides the user's name, e-mail address and desk.
    """

    token: Annotated[str, Meta(max_length=128)]
    new: NewPassword

    def __repr__(self) -> str:
        return "PasswordReset(…)"


def _a_name(name: str) -> Found:
    return [("", "invalid_length", "A name has 1 to 100 characters.")] if not name.strip() else []


def _an_address(email: str) -> Found:
    wrong = emails.fault(email)
    return [("", "invalid_email", f"This {wrong}")] if wrong else []


class Invitation(msgspec.Struct, frozen=True):
    """What inviting somebody takes."""

    email: Annotated[str, Meta(max_length=emails.MAX_LENGTH, extra={"check": _an_address})]
    name: Annotated[str, Meta(max_length=100, extra={"check": _a_name})]
    role: Role


class NameChange(msgspec.Struct, frozen=True):
    """What changing a name takes."""

    name: Annotated[str, Meta(max_length=100, extra={"check": _a_name})]


class RoleChange(msgspec.Struct, frozen=True):
    """What changing somebody's role takes."""

    role: Role


class User(msgspec.Struct, frozen=True):
    """A user as it is stored; the password only as a hash, which `repr` leaves out.

    tokens_from: tokens issued before this instant are refused.
    """

    tenant_id: str
    id: str
    email: str
    name: str
    role: Role
    password_hash: str | None
    is_active: bool
    tokens_from: int
    created_at: int

    def __repr__(self) -> str:
        return f"User(id={self.id!r})"


class UserResponse(msgspec.Struct, frozen=True):
    """A user as the API shows them."""

    id: Id
    email: str
    name: str
    role: Role
    tenant_id: Id


class AgentResponse(msgspec.Struct, frozen=True):
    """Somebody whom a ticket can be assigned to."""

    id: Id
    name: str


class LoggedIn(msgspec.Struct, frozen=True):
    """The answer to a log-in.

    access_token: sent as `Authorization: Bearer …` from now on.
    expires_in: seconds.
    """

    access_token: str
    token_type: Literal["Bearer"]
    expires_in: int
    user: UserResponse

    def __repr__(self) -> str:
        return "LoggedIn(…)"


class Bound(msgspec.Struct, frozen=True):
    """How many failures a bucket may hold within a time before no more are looked at."""

    bucket: str
    count: int
    within_us: int


def bounds(email: str, address: str, *, is_known_address: bool) -> list[Bound]:
    """What a log-in is measured against (decisions 1).

    An address that the account has used before is not counted with the strangers, so that a
    stranger cannot keep the owner out.
    """
    account = emails.identity(email)
    minute = 60 * 1_000_000
    found = [
        Bound(f"account {account} from {address}", 10, 5 * minute),
        Bound(f"from {address}", 100, 5 * minute),
    ]
    if not is_known_address:
        found.append(Bound(f"account {account} from strangers", 100, 60 * minute))
    return found


LONGEST_BOUND_US = 60 * 60 * 1_000_000


def givable(may: frozenset[str]) -> tuple[Role, ...]:
    """The roles that somebody with these can give: none above their own."""
    return tuple(role for role in ROLES if "super_admin" in may or role != "super_admin")


def shown(user: User) -> UserResponse:
    return UserResponse(user.id, user.email, user.name, user.role, user.tenant_id)


def default_name(email: str) -> str:
    """A name for who gave none: the part before the @."""
    return email.partition("@")[0]


def expiry_s(began_us: int, now_us: int) -> int:
    """When a token ends that is made or renewed now, of a log-in that began then."""
    return min(now_us // 1_000_000 + TOKEN_LIFE_S, began_us // 1_000_000 + SESSION_LIFE_S)


def latest_us(began_us: int) -> int:
    """When a log-in that began then ends at the latest, however often it is renewed."""
    return began_us + SESSION_LIFE_S * 1_000_000


def claims(user: User, *, token_id: str, began_us: int, now_us: int) -> dict[str, Any]:
    """What a user's access token says. `iat` keeps its microseconds: a token issued in the same
    second as a change of password must not be taken for an older one. A token that is renewed
    keeps its id and `iat`, so that whatever ends the log-in ends all tokens of it."""
    return {
        "iss": "sealdesk",
        "aud": "sealdesk-api",
        "sub": user.id,
        "jti": token_id,
        "iat": began_us / 1_000_000,
        "exp": expiry_s(began_us, now_us),
        "tenant_id": user.tenant_id,
        "role": user.role,
    }
