"""The structs of users, log-ins and tokens: as requested, as stored, and as shown."""

from typing import Annotated, Literal, NamedTuple, get_args

import msgspec
from msgspec import Meta

from sealdesk.errors import Fault, gettext_noop
from sealdesk.ids import Id
from sealdesk.resources import representation
from sealdesk.resources.identity import is_visible

Role = Literal["agent", "tenant_admin", "super_admin"]
ROLES: tuple[Role, ...] = get_args(Role)
ADMINISTRATORS: tuple[Role, ...] = ("tenant_admin", "super_admin")
MIN_PASSWORD_LENGTH = 12
MAX_PASSWORD_LENGTH = 1024
MAX_CODE_LENGTH = 40  # of an authenticator app, or a recovery code
NAME_LENGTH = gettext_noop("A name has 1 to 100 characters.")
_TOO_SHORT = gettext_noop("A password must have at least %(least)s characters.")
Password = Annotated[str, Meta(max_length=MAX_PASSWORD_LENGTH)]


def _check_length(password: str) -> list[Fault]:
    if len(password) < MIN_PASSWORD_LENGTH:
        return [Fault("", "too_short", _TOO_SHORT, {"least": MIN_PASSWORD_LENGTH})]
    return []


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
    return [] if is_visible(name) else [Fault("", "invalid_length", NAME_LENGTH)]


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
    """How many attempts of a bucket may fail within a period before further ones are refused.

    is_of_network: it counts all accounts, so that a reset of one does not end it.
    """

    bucket: str
    count: int
    within_us: int
    is_of_network: bool = False


class InvitationLimit(msgspec.Struct, frozen=True):
    """How many users a tenant may add within a period. pending_only: who has not accepted yet."""

    count: int
    within_us: int
    pending_only: bool
