"""How people get in and out, whether from a page or from a program."""

from sealdesk import ids
from sealdesk.identity import actions, passwords, rules, store, tokens
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


def access_token(call: Call, user: User, began_us: int | None = None) -> str:
    """A new token of a user who has proven themselves, now or then."""
    now_us = call.now_us if began_us is None else began_us
    secret = call.shared.settings.jwt_secret
    return tokens.issue(
        user, secret, token_id=ids.mint(now_us), began_us=now_us, now_us=call.now_us
    )


def renewed(call: Call, user: User, token: Token) -> str:
    """The same log-in for longer: its id and its beginning stay, so all that ends it does."""
    secret = call.shared.settings.jwt_secret
    return tokens.issue(
        user, secret, token_id=token.id, began_us=token.issued_at, now_us=call.now_us
    )


async def get_user(call: Call, token: Token) -> User:
    """A token's user as they are now. Raises Unproven when the token no longer holds."""
    return await call.shared.database.read(
        lambda tx: actions.get_token_user(tx, token), token.tenant_id
    )


async def end(call: Call, token: Token) -> None:
    """Refuse this token, and those that renew it, from the very next request on."""
    latest_us = rules.latest_us(token.issued_at)
    await call.shared.database.write(lambda tx: store.end_token(tx, token.id, latest_us))


async def change_password(call: Call, user: User, new: str) -> int:
    """Set the user's own new password; all their tokens end. The instant from which new ones hold.

    It is taken when it is written: a log-in may have begun while this request was hashing.
    """
    password_hash = await passwords.hash_of(new)
    now_us = call.shared.clock.now_us()
    await call.shared.database.write(
        lambda tx: actions.set_password(
            tx,
            user,
            password_hash,
            actor=call.caller.actor,
            address=call.address,
            now_us=now_us,
        ),
        user.tenant_id,
    )
    return now_us


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
