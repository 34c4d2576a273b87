"""The mail providers whose mailboxes are connected with OAuth; a tenant chooses none of these."""

from typing import Literal

import msgspec

ProviderName = Literal["google", "microsoft", "microsoft_application"]
# Those that ask a person for consent, with the client of the installation.
WITH_CONSENT: tuple[ProviderName, ...] = ("google", "microsoft")


class MailServer(msgspec.Struct, frozen=True):
    """A mail server of a provider. security: `tls` or `starttls`."""

    host: str
    port: int
    security: Literal["tls", "starttls"]


class Provider(msgspec.Struct, frozen=True):
    """Where a provider asks for consent, where it gives tokens, and what they are good for.

    title: its name for people. token_url: with `{directory}` for that of an application.
    parameters: of its own in the request for consent. account_claim: of the ID token, the address
    of the account that consented.
    """

    title: str
    authorization_url: str
    token_url: str
    scope: str
    parameters: dict[str, str]
    account_claim: str
    imap: MailServer
    smtp: MailServer

    def has(self, host: str | None, port: int | None, security: str | None) -> bool:
        """Whether a server is one of this provider, which may be given its tokens."""
        given = (host, port, security)
        return any(given == (s.host, s.port, s.security) for s in (self.imap, self.smtp))


# https://developers.google.com/identity/protocols/oauth2/web-server and
# https://learn.microsoft.com/exchange/client-developer/legacy-protocols/how-to-authenticate-an-imap-pop-smtp-application-by-using-oauth,
# both as of 2026.
PROVIDERS: dict[ProviderName, Provider] = {
    "google": Provider(
        "Google",
        "https://accounts.google.com/o/oauth2/v2/auth",
        "https://oauth2.googleapis.com/token",
        scope="https://mail.google.com/ openid email",
        # Without them Google gives no refresh token when somebody consents again.
        parameters={"access_type": "offline", "prompt": "consent"},
        account_claim="email",
        imap=MailServer("imap.gmail.com", 993, "tls"),
        smtp=MailServer("smtp.gmail.com", 465, "tls"),
    ),
    "microsoft": Provider(
        "Microsoft 365",
        "https://login.microsoftonline.com/common/oauth2/v2.0/authorize",
        "https://login.microsoftonline.com/common/oauth2/v2.0/token",
        scope="https://outlook.office.com/IMAP.AccessAsUser.All"
        " https://outlook.office.com/SMTP.Send offline_access openid email profile",
        parameters={"prompt": "select_account"},
        # Anybody's directory can claim any `email`; this name has a domain that it has proven.
        account_claim="preferred_username",
        imap=MailServer("outlook.office365.com", 993, "tls"),
        smtp=MailServer("smtp.office365.com", 587, "starttls"),
    ),
}
# An application logs in by itself (RFC 6749, 4.4). It is always the mailbox's own: that of the
# installation could read the mailboxes of every desk whose directory admits it.
PROVIDERS["microsoft_application"] = msgspec.structs.replace(
    PROVIDERS["microsoft"],
    authorization_url="",
    token_url="https://login.microsoftonline.com/{directory}/oauth2/v2.0/token",  # noqa: S106 - a URL
    scope="https://outlook.office365.com/.default",
    parameters={},
    account_claim="",
)
