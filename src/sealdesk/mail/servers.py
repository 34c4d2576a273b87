"""The mail servers that tenants choose, and what can be wrong with one."""

from typing import Literal, NamedTuple

import msgspec

Security = Literal["tls", "starttls", "none"]
ProblemCode = Literal[
    "name_not_found",
    "address_not_allowed",
    "not_reachable",
    "timed_out",
    "closed",
    "certificate_invalid",
    "tls_failed",
    "starttls_missing",
    "login_refused",
    "password_unreadable",
    "consent_withdrawn",
    "oauth_client_refused",
    "folder_missing",
    "message_refused",
    "quota_full",
    "not_arrived",
    "unexpected_answer",
]


class Server(NamedTuple):
    """Where a mail server is. security: `tls` from the start, `starttls` or `none`."""

    host: str
    port: int
    security: Security


class LogIn(msgspec.Struct, frozen=True):
    """What a mail server is given to log in. is_token: the secret is an OAuth access token."""

    username: str
    secret: str
    is_token: bool = False

    def __repr__(self) -> str:
        return f"LogIn({self.username!r}, ***)"


class MailFailed(Exception):
    """A mail server could not be used. detail: one sentence, perhaps the server's own words."""

    def __init__(self, code: ProblemCode, detail: str) -> None:
        super().__init__(f"{code}: {detail}")
        self.code = code
        self.detail = detail
