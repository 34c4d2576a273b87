"""The error codes of users and their log-ins."""

import msgspec

from sealdesk.errors import ProblemType, gettext_noop
from sealdesk.errors.general import NOT_FOUND

_BEARER = {"www-authenticate": "Bearer"}

JWT_REQUIRED = ProblemType(
    code="jwt_required",
    status=401,
    title="A log-in is required",
    message="Log in with POST /api/v1/auth/login and send Authorization: Bearer …",
    meaning=(
        "The operation is for people, and the request has no access token. Signature headers and"
        " cookies are ignored here."
    ),
    remedy="Log in with POST /api/v1/auth/login and send Authorization: Bearer and the token.",
    headers=_BEARER,
)
SIGNATURE_NOT_ACCEPTED = JWT_REQUIRED.variant(
    "Signed requests are never accepted here, whatever the key may do. Log in with POST"
    " /api/v1/auth/login and send Authorization: Bearer …"
)
SESSION_REQUIRED = JWT_REQUIRED.variant("Log in.")
NOT_A_BEARER_TOKEN = JWT_REQUIRED.variant(
    'Authorization must be "Bearer", a space, and the access_token of POST /api/v1/auth/login.'
)

INVALID_TOKEN = ProblemType(
    code="invalid_token",
    status=401,
    title="The access token is not valid",
    message="The access token no longer holds. Log in again.",
    meaning=(
        "This installation did not issue the token, or it is no longer valid: its user logged out,"
        " was deactivated, or has a new password or role. A reset link works once, for one hour."
    ),
    remedy="Log in again, or ask an administrator for a new link.",
    headers=_BEARER,
)
FOREIGN_TOKEN = INVALID_TOKEN.variant(
    "The access token is not one of ours; an API key is none, and nothing stands around it. Log in"
    " with POST /api/v1/auth/login, and send its access_token unchanged."
)
INVALID_RESET_TOKEN = INVALID_TOKEN.variant(
    gettext_noop("The reset token was used, has expired, or never was. Ask for a new one.")
)
TOKEN_EXPIRED = ProblemType(
    code="token_expired",
    status=401,
    title="The access token has expired",
    message="The access token has expired. Log in again.",
    meaning="The access token is older than an hour.",
    remedy="Log in again.",
    headers=_BEARER,
)
INVALID_CREDENTIALS = ProblemType(
    code="invalid_credentials",
    status=401,
    title="The e-mail address or the password is wrong",
    message=gettext_noop("The e-mail address or the password is wrong."),
    meaning="The e-mail address or the password is wrong; the response does not say which.",
    remedy="Try again, or ask an administrator for a reset link. Failures are counted.",
)
INSUFFICIENT_ROLE = ProblemType(
    code="insufficient_role",
    status=403,
    title="The role does not allow this",
    message="This needs the role %(needs)s; yours is %(role)s.",
    meaning=("The role of the user does not allow this, or x-tenant-id names another tenant."),
    remedy="Leave out x-tenant-id, or ask an administrator of the tenant.",
    example={"needs": "tenant_admin or super_admin", "role": "agent"},
    page_title=gettext_noop("This page is for administrators"),
    page_advice=gettext_noop(
        "You do not have permission for this. Ask an administrator of your desk."
    ),
)
PAGE_NEEDS_ROLE = INSUFFICIENT_ROLE.variant("This needs %(needs)s.")
PAGE_OF_INSTALLATION = msgspec.structs.replace(
    PAGE_NEEDS_ROLE,
    page_title=gettext_noop("This page is for administrators of all desks"),
    page_advice=gettext_noop(
        "It is about the installation, not about your desk. Ask whoever runs the installation."
    ),
)
FOREIGN_TENANT = INSUFFICIENT_ROLE.variant("x-tenant-id may only name your own tenant.")
SUPER_ADMIN_ONLY = INSUFFICIENT_ROLE.variant(
    gettext_noop("Only a super_admin can change a super_admin.")
)
ROLE_ABOVE_OWN = INSUFFICIENT_ROLE.variant(gettext_noop("You cannot give a role above your own."))

NO_SUCH_TENANT = NOT_FOUND.variant("There is no such tenant.")
NO_TENANT_OF_HEADER = NOT_FOUND.variant("There is no such tenant; see x-tenant-id.")
NO_USER_WITH_EMAIL = NOT_FOUND.variant("There is no user with the address %(email)s.")

USER_EMAIL_TAKEN = ProblemType(
    code="user_email_taken",
    status=409,
    title="Another user has this e-mail address",
    message="%(email)s is the address of another user.",
    meaning=(
        "Another user has this address (case is ignored). An invitation says so only when it is"
        " accepted."
    ),
    remedy="Use another address, or change the existing user.",
    example={"email": "ada@acme.test"},
)
INVITED_EMAIL_TAKEN = USER_EMAIL_TAKEN.variant(
    gettext_noop(
        "This invitation can no longer be accepted: its e-mail address already belongs to a user,"
        " at this desk or another. Ask for an invitation to another address."
    )
)
TOO_MANY_INVITATIONS = ProblemType(
    code="too_many_invitations",
    status=429,
    title="There are too many invitations",
    message=gettext_noop(
        "This desk has added %(count)s users within an hour. Try again in %(wait_s)s s."
    ),
    meaning=(
        "The tenant has invited too many users in the last hour, or too many have not accepted."
    ),
    remedy="Wait for `Retry-After`, or deactivate users who will not accept.",
    example={"count": 100, "wait_s": 600},
    headers={"retry-after": "%(wait_s)s"},
)
TOO_MANY_PENDING = TOO_MANY_INVITATIONS.variant(
    gettext_noop(
        "%(count)s people are invited to this desk and have not accepted yet. Deactivate those who"
        " will not."
    )
)
LAST_ADMINISTRATOR = ProblemType(
    code="last_administrator",
    status=409,
    title="Nobody else can administer the desk",
    message=gettext_noop(
        "Nobody else can administer this desk. Make somebody else an administrator first."
    ),
    meaning=(
        "The tenant must keep at least one active administrator with a password, and this user is"
        " the last one."
    ),
    remedy="Make somebody else an administrator first.",
)
USER_INACTIVE = ProblemType(
    code="user_inactive",
    status=409,
    title="The user is deactivated",
    message=gettext_noop("Reactivate them first: a link would let nobody in."),
    meaning="A deactivated user cannot log in, also not with a reset link.",
    remedy="Reactivate the user first.",
)
TWO_FACTOR_REQUIRED = ProblemType(
    code="two_factor_required",
    status=401,
    title="A code of the authenticator app is required",
    message=gettext_noop("Enter the code that your authenticator app shows."),
    meaning="The password is right, and the user has turned on two-factor authentication.",
    remedy=(
        "Send the log-in again with `code`: the 6 digits that the authenticator app shows, or a"
        " recovery code."
    ),
    headers=_BEARER,
)
INVALID_TWO_FACTOR_CODE = ProblemType(
    code="invalid_two_factor_code",
    status=401,
    title="The code of the authenticator app is not right",
    message=gettext_noop("This code is wrong or was used already. Wait for the next one."),
    meaning="The code is wrong, is older than 30 seconds, or has been used: each works once.",
    remedy="Send the code that the authenticator app shows now, or a recovery code.",
    headers=_BEARER,
)
PENDING_LOG_IN_ENDED = INVALID_CREDENTIALS.variant(
    gettext_noop("This took more than five minutes. Log in again.")
)
TOO_MANY_ATTEMPTS = ProblemType(
    code="too_many_attempts",
    status=429,
    title="There were too many failed log-ins",
    message=gettext_noop(
        "Too many log-ins failed. Try again in %(wait_s)s s, or ask an administrator for a reset"
        " link."
    ),
    meaning=(
        "Too many log-ins failed: for this account, from this network, or in all. Until"
        " `Retry-After` even the right password is refused. A network is an IPv4 address, or the"
        " /64 or /48 of an IPv6 address."
    ),
    remedy=(
        "Wait for `Retry-After`. If the message names a reset link, one from an administrator helps"
        " at once."
    ),
    example={"wait_s": 240},
    headers={"retry-after": "%(wait_s)s"},
)
TOO_MANY_FROM_NETWORK = TOO_MANY_ATTEMPTS.variant(
    gettext_noop("Too many log-ins failed from your network. Try again in %(wait_s)s s.")
)
TOO_MANY_CODES = TOO_MANY_ATTEMPTS.variant(
    gettext_noop(
        "Too many codes were wrong. Try again in %(wait_s)s s, or ask an administrator to turn"
        " two-factor authentication off for you."
    )
)
