"""Log-in and one's own account as JSON, and the agents that tickets are assigned to."""

import msgspec

from sealdesk import ids
from sealdesk.db.engine import Tx
from sealdesk.identity import actions, examples, passwords, rules, store, tokens
from sealdesk.identity.rules import (
    AgentShown,
    LoggedIn,
    Login,
    PasswordChange,
    PasswordReset,
    User,
)
from sealdesk.web import body, envelope
from sealdesk.web.call import Answer, Call
from sealdesk.web.listing import PAGING, page, read_list
from sealdesk.web.route import operation

_TAG = "Log-in"


@operation(
    "Log in",
    tag=_TAG,
    takes=Login,
    gives=examples.LOGGED_IN,
    answer_headers=("cache-control",),
    fails=("invalid_credentials", "too_many_attempts", "storage_unavailable"),
    example=examples.LOGIN,
)
async def log_in(call: Call) -> Answer:
    """An access token for an hour. Only failures count against the limits, and an address that
    the account has used before keeps its own count."""
    wanted = body.read(call, Login)
    user = await prove_password(call, wanted.email, wanted.password)
    secret = call.shared.settings.jwt_secret
    token = tokens.issue(user, secret, token_id=ids.mint(call.now_us), now_us=call.now_us)
    answer = LoggedIn(token, "Bearer", rules.TOKEN_LIFE_S, rules.shown(user))
    return envelope.one(answer, 200, [(b"cache-control", b"no-store")])


async def prove_password(call: Call, email: str, password: str) -> User:
    """The user whose e-mail address and password these are. Raises Unproven, TooMany.

    One at a time for each hash that may run: what only waits for its turn is not yet counted as a
    failure, so that many right log-ins at once do not shut each other out.
    """
    async with call.shared.log_ins:
        return await _prove_now(call, email, password)


async def _prove_now(call: Call, email: str, password: str) -> User:
    database, now_us = call.shared.database, call.now_us
    attempt = await database.write(
        lambda tx: actions.begin_log_in(tx, email, call.address, now_us=now_us)
    )
    user = attempt.user
    is_right = await passwords.is_right(password, user.password_hash if user else None)
    if user is None or not user.is_active or not is_right:
        raise actions.wrong_credentials()
    await database.write(
        lambda tx: actions.finish_log_in(tx, attempt, user, call.address, now_us=now_us),
        user.tenant_id,
    )
    return user


@operation("Log out", tag=_TAG, status=204)
async def log_out(call: Call) -> Answer:
    """Ends the token that the request carries, for the very next request."""
    token = tokens.read(call)
    await call.shared.database.write(lambda tx: store.end_token(tx, token.id, token.expires_at))
    return envelope.nothing()


@operation("Who is logged in", tag=_TAG, gives=examples.USER)
async def me(call: Call) -> Answer:
    """The user whose token this is."""
    return envelope.one(rules.shown(await _own_user(call)))


@operation(
    "Change one's password",
    tag=_TAG,
    takes=PasswordChange,
    status=204,
    fails=("invalid_credentials", "too_many_attempts"),
    example=examples.PASSWORD_CHANGE,
)
async def change_password(call: Call) -> Answer:
    """Ends every token of the user, this one included."""
    change = body.read(call, PasswordChange)
    user = await _own_user(call)
    await prove_password(call, user.email, change.current)
    await _store_password(call, user, change.new)
    return envelope.nothing()


async def _store_password(call: Call, user: User, new: str) -> None:
    password_hash = await passwords.hash_of(new)
    await call.shared.database.write(
        lambda tx: actions.set_password(
            tx,
            user,
            password_hash,
            actor=call.caller.actor,
            address=call.address,
            # Taken when it is written: a log-in may have begun while this request was hashing.
            now_us=call.shared.clock.now_us(),
        ),
        user.tenant_id,
    )


@operation(
    "Set a password with a reset link",
    tag=_TAG,
    takes=PasswordReset,
    status=204,
    fails=("invalid_token", "storage_unavailable"),
    example=examples.PASSWORD_RESET,
)
async def reset_password(call: Call) -> Answer:
    """With the one-time token that an administrator made (`sealdesk users reset-link`). Ends
    every token of the user."""
    reset = body.read(call, PasswordReset)
    # Looked at before as well: whoever has no token must not make us hash.
    await call.shared.database.read(
        lambda tx: actions.get_reset_user(tx, reset.token, now_us=call.now_us)
    )
    password_hash = await passwords.hash_of(reset.new)
    await call.shared.database.write(
        lambda tx: actions.use_reset_token(
            tx,
            reset.token,
            password_hash,
            address=call.address,
            now_us=call.shared.clock.now_us(),
        )
    )
    return envelope.nothing()


@operation("List agents", tag="Tickets", gives=examples.AGENT, is_list=True, params=PAGING)
async def list_agents(call: Call) -> Answer:
    """Whom a ticket can be assigned to: the tenant's active users."""
    asked = read_list(call, ())

    async def work(tx: Tx) -> list[User]:
        return await store.list_users(tx, call.caller.tenant_id, asked.page, active_only=True)

    users = await call.read(work)
    return page(call, asked, users, show=_agent, position=lambda user: [user.id])


def _agent(user: User) -> bytes:
    return msgspec.json.encode(AgentShown(user.id, user.name))


async def _own_user(call: Call) -> User:
    """The logged-in user, in their home tenant."""
    token = tokens.read(call)
    user = await call.shared.database.read(
        lambda tx: store.find(tx, token.tenant_id, token.user_id), token.tenant_id
    )
    if user is None:
        raise tokens.refused("invalid_token", "The access token no longer holds. Log in again.")
    return user
