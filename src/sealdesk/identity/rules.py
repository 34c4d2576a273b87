"""The types of users, log-ins and tokens, and their rules; no IO."""

import re
import unicodedata
from collections.abc import Collection, Sequence
from typing import Annotated, Any, Literal, NamedTuple, get_args

import msgspec
from msgspec import Meta

from sealdesk.errors import Fault, gettext_noop
from sealdesk.ids import Id
from sealdesk.resources import representation

Role = Literal["agent", "tenant_admin", "super_admin"]
ROLES: tuple[Role, ...] = get_args(Role)
ADMINISTRATORS: tuple[Role, ...] = ("tenant_admin", "super_admin")

TOKEN_LIFE_S = 3600
# A session is renewed while its user is active, and ends this long after the log-in at the latest.
SESSION_LIFE_S = 12 * 3600
RESET_LINK_LIFE_US = 60 * 60 * 1_000_000
INVITATION_LIFE_US = 7 * 24 * RESET_LINK_LIFE_US
# How far the clocks of two processes may differ. Times further in the future are from a clock that
# has been corrected since.
MAX_CLOCK_SKEW_US = 60 * 1_000_000
MIN_PASSWORD_LENGTH = 12
MAX_PASSWORD_LENGTH = 1024
MAX_CODE_LENGTH = 40  # of an authenticator app, or a recovery code
# The characters that a password must have besides the user's own words, and the minimum length
# of such a word: shorter ones are part of too many other words.
_MIN_OTHER_CHARS = 8
_MIN_OWN_WORD_LENGTH = 3
_WORD = re.compile(r"[^\W_]+")

NAME_LENGTH = gettext_noop("A name has 1 to 100 characters.")
_TOO_SHORT = gettext_noop("A password must have at least %(least)s characters.")

Password = Annotated[str, Meta(max_length=MAX_PASSWORD_LENGTH)]


def _check_length(password: str) -> list[Fault]:
    if len(password) < MIN_PASSWORD_LENGTH:
        return [Fault("", "too_short", _TOO_SHORT, {"least": MIN_PASSWORD_LENGTH})]
    return []


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


NewPassword = Annotated[
    str,
    Meta(
        max_length=MAX_PASSWORD_LENGTH,
        extra={"check": _check_length},
        extra_json_schema={"minLength": MIN_PASSWORD_LENGTH},
    ),
]


class Login(msgspec.Struct, frozen=True):
    """The body of a log-in.

    code: of the user's authenticator app, or a recovery code, if they use two-factor
    authentication.
    """

    email: Annotated[str, Meta(max_length=representation.MAX_EMAIL_LENGTH)]
    password: Password
    code: Annotated[str, Meta(max_length=MAX_CODE_LENGTH)] = ""

    def __repr__(self) -> str:
        return "Login(…)"


class PasswordChange(msgspec.Struct, frozen=True):
    """The body of a change of the user's own password.

    new: at least 12 characters, of whatever kind; not one of the common passwords, and with 8
    characters besides the user's name, e-mail address and desk.
    """

    current: Password
    new: NewPassword

    def __repr__(self) -> str:
        return "PasswordChange(…)"


class PasswordReset(msgspec.Struct, frozen=True):
    """The body of a password reset.

    token: the one-time token of the reset link.
    new: at least 12 characters, of whatever kind; not one of the common passwords, and with 8
    characters besides the user's name, e-mail address and desk.
    """

    token: Annotated[str, Meta(max_length=128)]
    new: NewPassword

    def __repr__(self) -> str:
        return "PasswordReset(…)"


def _check_name(name: str) -> list[Fault]:
    return [] if name.strip() else [Fault("", "invalid_length", NAME_LENGTH)]


class Invitation(msgspec.Struct, frozen=True):
    """The fields of an invitation."""

    email: Annotated[
        str,
        Meta(
            max_length=representation.MAX_EMAIL_LENGTH, extra={"check": representation.check_email}
        ),
    ]
    name: Annotated[str, Meta(max_length=100, extra={"check": _check_name})]
    role: Role


class NameChange(msgspec.Struct, frozen=True):
    """The fields of a change of a name."""

    name: Annotated[str, Meta(max_length=100, extra={"check": _check_name})]


class RoleChange(msgspec.Struct, frozen=True):
    """The fields of a change of a role."""

    role: Role


class User(msgspec.Struct, frozen=True):
    """A user as it is stored; the password only as a hash, which `repr` leaves out.

    token_version: tokens of another version are refused.
    """

    tenant_id: str
    id: str
    email: str
    name: str
    role: Role
    password_hash: str | None
    is_active: bool
    token_version: int
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
    """A user to whom tickets can be assigned."""

    id: Id
    name: str


class LoggedIn(msgspec.Struct, frozen=True):
    """The response to a log-in.

    access_token: sent as `Authorization: Bearer …` from now on.
    expires_in: seconds.
    """

    access_token: str
    token_type: Literal["Bearer"]
    expires_in: int
    user: UserResponse

    def __repr__(self) -> str:
        return "LoggedIn(…)"


class Token(NamedTuple):
    """The contents of a valid access token. issued_at: of the log-in; both in microseconds."""

    id: str
    user_id: str
    tenant_id: str
    role: str
    issued_at: int
    expires_at: int
    version: int


class FailureLimit(msgspec.Struct, frozen=True):
    """How many log-ins of a bucket may fail within a period before further ones are refused.

    is_of_network: it counts all accounts, so that a reset of one does not end it.
    """

    bucket: str
    count: int
    within_us: int
    is_of_network: bool = False


_MINUTE_US = 60 * 1_000_000
LONGEST_LIMIT_US = 60 * _MINUTE_US
FROM_ANYWHERE = "from anywhere"


def failure_limits(
    email: str, networks: Sequence[str], *, is_known_network: bool
) -> list[FailureLimit]:
    """The limits of a log-in (decisions 1), that of the account in its network first.

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
