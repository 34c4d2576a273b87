"""The API of log-ins, of the user's own account, and of agents."""

from functools import partial

from sealdesk.errors import Unauthorized
from sealdesk.errors.general import STORAGE_UNAVAILABLE
from sealdesk.identity import examples, rules, store
from sealdesk.identity.auth import login, tokens
from sealdesk.identity.errors import (
    INVALID_CREDENTIALS,
    INVALID_TOKEN,
    INVALID_TWO_FACTOR_CODE,
    TOO_MANY_ATTEMPTS,
    TWO_FACTOR_REQUIRED,
    USER_EMAIL_TAKEN,
)
from sealdesk.identity.types import (
    AgentResponse,
    LoggedIn,
    Login,
    PasswordChange,
    PasswordReset,
    User,
)
from sealdesk.web import body, envelope
from sealdesk.web.operation import operation
from sealdesk.web.pagination import PAGING, list_all
from sealdesk.web.request import Request, Response

_TAG = "Log-in"


@operation(
    "Log in",
    tag=_TAG,
    takes=Login,
    gives=examples.LOGGED_IN,
    fails=(
        INVALID_CREDENTIALS,
        TWO_FACTOR_REQUIRED,
        INVALID_TWO_FACTOR_CODE,
        TOO_MANY_ATTEMPTS,
        STORAGE_UNAVAILABLE,
    ),
    example=examples.LOGIN,
)
async def log_in(request: Request) -> Response:
    """Returns an access token that is valid for an hour. Only failed log-ins are limited; an
    address from which the user has logged in before has a limit of its own."""
    credentials = body.read(request, Login)
    user = await login.log_in(request, credentials.email, credentials.password, credentials.code)
    token = login.access_token(request, user)
    response = LoggedIn(token, "Bearer", rules.TOKEN_LIFE_S, rules.shown(user))
    return envelope.one(response)


@operation("Log out", tag=_TAG, status=204)
async def log_out(request: Request) -> Response:
    """Ends the access token of the request, from the next request on."""
    await login.log_out(request, tokens.read(request))
    return envelope.nothing()


@operation("Who is logged in", tag=_TAG, gives=examples.USER)
async def me(request: Request) -> Response:
    """The user of the access token."""
    return envelope.one(rules.shown(await _own_user(request)))


@operation(
    "Change one's password",
    tag=_TAG,
    takes=PasswordChange,
    status=204,
    fails=(INVALID_CREDENTIALS, TOO_MANY_ATTEMPTS),
    example=examples.PASSWORD_CHANGE,
)
async def change_password(request: Request) -> Response:
    """Ends all access tokens of the user, including the one of this request."""
    change = body.read(request, PasswordChange)
    user = await _own_user(request)
    await login.check_password(request, user.email, change.current)
    await login.change_password(request, user, change.new)
    return envelope.nothing()


@operation(
    "Set a password with a reset link",
    tag=_TAG,
    takes=PasswordReset,
    status=204,
    fails=(INVALID_TOKEN, USER_EMAIL_TAKEN, STORAGE_UNAVAILABLE),
    example=examples.PASSWORD_RESET,
)
async def reset_password(request: Request) -> Response:
    """Sets a password with the one-time token of a reset link (`sealdesk users reset-link`). Ends
    all access tokens of the user."""
    reset = body.read(request, PasswordReset)
    await login.use_reset_token(request, reset)
    return envelope.nothing()


@operation("List agents", tag="Tickets", gives=examples.AGENT, is_list=True, params=PAGING)
async def list_agents(request: Request) -> Response:
    """The active users of the tenant, to whom tickets can be assigned."""
    return await list_all(request, partial(store.list_users, active_only=True), _agent)


def _agent(user: User) -> AgentResponse:
    return AgentResponse(user.id, user.name)


async def _own_user(request: Request) -> User:
    """The logged-in user, in their home tenant."""
    token = tokens.read(request)
    user = await request.state.database.read(
        lambda tx: store.find(tx, token.tenant_id, token.user_id), token.tenant_id
    )
    if user is None:
        raise Unauthorized(INVALID_TOKEN)
    return user
