"""What can be wrong with the servers of a mailbox, in words, and what to do about it."""

from sealdesk.errors import gettext_noop
from sealdesk.mail.mailboxes.types import ProblemCode

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
