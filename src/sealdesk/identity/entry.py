"""How people get in and out, whether from a page or from a program."""

from sealdesk import ids
from sealdesk.identity import actions, passwords, store, tokens
from sealdesk.identity.rules import PasswordReset, User
from sealdesk.identity.tokens import Token
from sealdesk.web.call import Call


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


def access_token(call: Call, user: User) -> str:
    """A new token of a user who has proven themselves."""
    secret = call.shared.settings.jwt_secret
    return tokens.issue(user, secret, token_id=ids.mint(call.now_us), now_us=call.now_us)


async def get_user(call: Call, token: Token) -> User:
    """A token's user as they are now. Raises Unproven when the token no longer holds."""
    return await call.shared.database.read(
        lambda tx: actions.get_token_user(tx, token), token.tenant_id
    )


async def end(call: Call, token: Token) -> None:
    """Refuse this token from the very next request on."""
    await call.shared.database.write(lambda tx: store.end_token(tx, token.id, token.expires_at))


async def use_reset_token(call: Call, reset: PasswordReset) -> None:
    """Set a password with a one-time token. Raises Unproven."""
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
