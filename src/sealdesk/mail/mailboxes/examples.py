"""Example values of mailboxes for the documentation."""

import msgspec

from sealdesk.mail.mailboxes import domain_check, problems
from sealdesk.mail.mailboxes.types import (
    FormerAddress,
    MailboxProblemResponse,
    MailboxResponse,
    MailboxTestResponse,
    MailboxTestStepResponse,
)

MAILBOX = MailboxResponse(
    id="0199b0d1-1f20-7a41-8b62-7c8d9e0f1a2b",
    address="support@acme.test",
    aliases=("help@acme.test",),
    display_name="Acme Support",
    signature="Acme Ltd, 1 High Street",
    receives="imap",
    team_id=None,
    language="en",
    imap_host="imap.acme.test",
    imap_port=993,
    imap_security="tls",
    imap_username="support@acme.test",
    imap_folder="INBOX",
    smtp_host="smtp.acme.test",
    smtp_port=465,
    smtp_security="tls",
    smtp_username="support@acme.test",
    acknowledgement=None,
    per_minute=60,
    options=("ticket_number",),
    is_paused=False,
    has_imap_password=True,
    has_smtp_password=True,
    oauth_provider=None,
    unverified_addresses=(),
    receiving_problem=None,
    sending_problem=None,
    created_at="2026-03-01T08:25:00.000000Z",
)
UNVERIFIED_ADDRESS = {"address": MAILBOX.address}
ADDRESS_CODE = {**UNVERIFIED_ADDRESS, "code": "mfrggzdfmztwq2lknnwg23tpobyxe43uov3ho6dzpiydc"}
FORMER_ADDRESS = FormerAddress("sales@acme.test")
_PROBLEM = MailboxProblemResponse(
    "login_refused",
    problems.MESSAGES["login_refused"],
    "NO [AUTHENTICATIONFAILED] Authentication failed.",
    problems.REMEDIES["login_refused"],
    "2026-03-02T09:15:41.842000Z",
)
FAILING_MAILBOX = msgspec.structs.replace(MAILBOX, receiving_problem=_PROBLEM)
NEW_MAILBOX = {
    "address": MAILBOX.address,
    "display_name": MAILBOX.display_name,
    "signature": MAILBOX.signature,
    "receives": "imap",
    "language": "en",
    "imap_host": MAILBOX.imap_host,
    "imap_username": MAILBOX.imap_username,
    "imap_password": "a password of this account",
    "smtp_host": MAILBOX.smtp_host,
    "smtp_username": MAILBOX.smtp_username,
    "smtp_password": "a password of this account",
}
MAILBOX_CHANGE = {"signature": "Acme Ltd", "is_paused": True}
TEST = MailboxTestResponse(
    is_working=False,
    steps=(
        MailboxTestStepResponse("smtp", "name", "done", None, None, "", None),
        MailboxTestStepResponse("smtp", "connection", "done", None, None, "", None),
        MailboxTestStepResponse("smtp", "tls", "done", None, None, "", None),
        MailboxTestStepResponse(
            "smtp",
            "log_in",
            "failed",
            "login_refused",
            problems.MESSAGES["login_refused"],
            "535 5.7.8 Authentication failed",
            problems.REMEDIES["login_refused"],
        ),
        MailboxTestStepResponse("smtp", "sending", "skipped", None, None, "", None),
    ),
    domain=(domain_check.MESSAGES["dmarc_missing"],),
)
