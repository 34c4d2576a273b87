"""What can be wrong with the servers of a mailbox, in words, and what to do about it."""

from sealdesk.errors import gettext_noop
from sealdesk.mail.servers import ProblemCode

MESSAGES: dict[ProblemCode, str] = {
    "name_not_found": gettext_noop("The server's name has no address."),
    "address_not_allowed": gettext_noop("The server's address is not a public one."),
    "not_reachable": gettext_noop("The server cannot be reached."),
    "timed_out": gettext_noop("The server does not respond in time."),
    "closed": gettext_noop("The server closed the connection."),
    "certificate_invalid": gettext_noop("The server's certificate is not valid."),
    "tls_failed": gettext_noop("TLS cannot be started."),
    "starttls_missing": gettext_noop("The server does not offer STARTTLS."),
    "login_refused": gettext_noop("The server refuses the log-in."),
    "password_unreadable": gettext_noop("The stored password cannot be opened."),
    "consent_withdrawn": gettext_noop("The provider no longer lets Sealdesk log in."),
    "oauth_client_refused": gettext_noop(
        "The provider refuses the id or the secret that Sealdesk logs in with."
    ),
    "folder_missing": gettext_noop("The folder cannot be opened."),
    "message_refused": gettext_noop("The server refuses the message."),
    "quota_full": gettext_noop("The account on the server is full."),
    "not_arrived": gettext_noop("The message has not arrived within 30 seconds."),
    "unexpected_answer": gettext_noop("The server's response cannot be understood."),
}
REMEDIES: dict[ProblemCode, str] = {
    "name_not_found": gettext_noop("Check the name of the server, as in imap.example.com."),
    "address_not_allowed": gettext_noop(
        "Use a public server, or ask the operator of Sealdesk to allow its network with"
        " SEALDESK_MAIL_ALLOWED_CIDRS."
    ),
    "not_reachable": gettext_noop(
        "Check the port, and that the server's firewall admits Sealdesk. If the server is down,"
        " wait: Sealdesk tries again by itself."
    ),
    "timed_out": gettext_noop(
        "Check that port and security belong together: 993 and 465 are TLS, 143 and 587 are"
        " STARTTLS. If the server is busy, wait: Sealdesk tries again by itself."
    ),
    "closed": gettext_noop(
        "Check that port and security belong together: 993 and 465 are TLS, 143 and 587 are"
        " STARTTLS. The server may also limit connections: wait a few minutes."
    ),
    "certificate_invalid": gettext_noop(
        "Have the certificate renewed, or enter the server's name that the certificate is for."
        " Nothing is sent to a server that cannot prove its name."
    ),
    "tls_failed": gettext_noop(
        "Check that port and security belong together: 993 and 465 are TLS, 143 and 587 are"
        " STARTTLS."
    ),
    "starttls_missing": gettext_noop("Choose TLS with port 993 or 465, or have STARTTLS enabled."),
    "login_refused": gettext_noop(
        "Check the user name and enter the password again. Many providers need a password of its"
        " own for programs, or log-ins by IMAP and SMTP to be enabled."
    ),
    "password_unreadable": gettext_noop(
        "Enter the password again. If other passwords cannot be opened either, the operator of"
        " Sealdesk should check SEALDESK_MASTER_KEY."
    ),
    "consent_withdrawn": gettext_noop(
        "The consent was withdrawn or has ended, or the account's password was changed. Press"
        " Connect on the page of the mailbox, and consent again."
    ),
    "oauth_client_refused": gettext_noop(
        "The operator of Sealdesk should check the id and the secret of the OAuth client in the"
        " settings SEALDESK_MAIL_GOOGLE_… or SEALDESK_MAIL_MICROSOFT_… If the mailbox has an"
        " application of its own, enter its secret again: it may have ended."
    ),
    "folder_missing": gettext_noop("Choose another folder, or create this one on the server."),
    "message_refused": gettext_noop(
        "Check that this account may send from the address, and what the server says."
    ),
    "quota_full": gettext_noop("Delete messages on the server, or have the quota raised."),
    "not_arrived": gettext_noop(
        "Check that messages to the address come into this folder. If delivery is slow, look there"
        " in a minute and test again."
    ),
    "unexpected_answer": gettext_noop(
        "Check that the port is one of IMAP or SMTP, and not of another service."
    ),
}
_APP_PASSWORD = gettext_noop(
    "This provider refuses the password of the account. Make an app password in the security"
    " settings of the account, and enter it here."
)
_GOOGLE = gettext_noop(
    "Google refuses the password of the account. Press Connect on the page of the mailbox, or turn"
    " on 2-step verification in the account, make an app password and enter it here."
)
_MICROSOFT = gettext_noop(
    "Microsoft refuses passwords. Press Connect on the page of the mailbox; for sending, the"
    " administrator of Microsoft 365 must allow authenticated SMTP for the account."
)
_TURN_ON = gettext_noop(
    "This provider admits programs only once IMAP and SMTP are turned on in the settings of the"
    " account, under POP3/IMAP. With two-factor authentication it needs an app password."
)
# What a provider wants in place of the account's password, by the end of its servers' names.
_LOGIN_REMEDIES = {
    "gmail.com": _GOOGLE,
    "googlemail.com": _GOOGLE,
    "office365.com": _MICROSOFT,
    "outlook.com": _MICROSOFT,
    "yahoo.com": _APP_PASSWORD,
    "aol.com": _APP_PASSWORD,
    "mail.me.com": _APP_PASSWORD,
    "fastmail.com": _APP_PASSWORD,
    "zoho.com": _APP_PASSWORD,
    "zoho.eu": _APP_PASSWORD,
    "gmx.net": _TURN_ON,
    "gmx.com": _TURN_ON,
    "web.de": _TURN_ON,
}


def remedy(code: ProblemCode, host: str | None) -> str:
    """What an administrator can do about a problem with a server."""
    if code == "login_refused" and host is not None:
        for end, found in _LOGIN_REMEDIES.items():
            if f".{host}".endswith(f".{end}"):
                return found
    return REMEDIES[code]
