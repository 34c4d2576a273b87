"""What a mailbox logs in with: a password, or an access token for its refresh token."""

from sealdesk.crypto.sealing import KeyRing
from sealdesk.http_client import RequestFailed
from sealdesk.mail.mailboxes import passwords, rules
from sealdesk.mail.mailboxes.store import mailboxes
from sealdesk.mail.mailboxes.types import Mailbox, Protocol
from sealdesk.mail.servers import LogIn, MailFailed, ProblemCode
from sealdesk.oauth.tokens import AccessTokens, TokenRefused, Tokens
from sealdesk.state import AppState

# RFC 6749, 5.2; the others concern the client and the request, not the consent.
_WITHDRAWN = ("invalid_grant", "interaction_required", "consent_required", "login_required")


async def open_log_in(state: AppState, mailbox: Mailbox, protocol: Protocol) -> LogIn | None:
    """What to log in with at a server, None without a log-in. Raises MailFailed."""
    key_ring = state.key_ring
    log_in, tokens = await get_log_in(key_ring, state.access_tokens, mailbox, protocol)
    if tokens is not None and tokens.refresh_token is not None:
        rotated = passwords.seal(key_ring, mailbox, "oauth", tokens.refresh_token)
        sealed = rotated.sealed_refresh_token or b""
        await state.database.write(
            lambda tx: mailboxes.rotate_refresh_token(tx, mailbox, sealed), mailbox.tenant_id
        )
    return log_in


async def get_log_in(
    key_ring: KeyRing, access_tokens: AccessTokens, mailbox: Mailbox, protocol: Protocol
) -> tuple[LogIn | None, Tokens | None]:
    """The same, and the new tokens if there are any, of which nothing is stored."""
    if mailbox.oauth_provider is None or not rules.uses_oauth(mailbox, protocol):
        password = passwords.open_password(key_ring, mailbox, protocol)
        username: str | None = getattr(mailbox, f"{protocol}_username")
        if password is None or username is None:
            return None, None
        return LogIn(username, password), None
    key, tokens = _cache_key(mailbox), None
    access_token = access_tokens.find(key)
    if access_token is None:
        refresh_token = passwords.open_password(key_ring, mailbox, "oauth") or ""
        try:
            tokens = await access_tokens.refresh(key, mailbox.oauth_provider, refresh_token)
        except TokenRefused as error:
            raise _failed(error) from None
        except RequestFailed as error:
            raise MailFailed("not_reachable", error.text) from None
        access_token = tokens.access_token
    return LogIn(mailbox.address, access_token, is_token=True), tokens


def note_refusal(access_tokens: AccessTokens, mailbox: Mailbox, error: MailFailed) -> None:
    """After a refused log-in the next one gets a new access token, or learns why there is none."""
    if error.code == "login_refused":
        access_tokens.forget(_cache_key(mailbox))


def _failed(error: TokenRefused) -> MailFailed:
    is_withdrawn = error.code in _WITHDRAWN
    code: ProblemCode = "consent_withdrawn" if is_withdrawn else "oauth_client_refused"
    return MailFailed(code, f"The provider says {error.code}.")


def _cache_key(mailbox: Mailbox) -> str:
    return f"{mailbox.id} {mailbox.address_identity}"
