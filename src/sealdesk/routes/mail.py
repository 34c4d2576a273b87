"""The routes of e-mail, as rows of the table in `table.py`."""

from sealdesk.identity.auth.bearer_guard import BearerGuard, administrator
from sealdesk.identity.auth.session_guard import SessionGuard
from sealdesk.identity.types import ADMINISTRATORS, ROLES
from sealdesk.mail.blocks import api as blocks
from sealdesk.mail.contact_form import pages as contact_form
from sealdesk.mail.contact_form import settings_pages as form_settings
from sealdesk.mail.contact_form.guard import PublicGuard
from sealdesk.mail.customer_page import pages as customer_page
from sealdesk.mail.customer_page.rules import MAX_BODY_BYTES as MAX_REPLY_BYTES
from sealdesk.mail.mailboxes import api as mailboxes
from sealdesk.mail.mailboxes import consent_pages as consents
from sealdesk.mail.mailboxes import pages
from sealdesk.mail.ratings import pages as ratings
from sealdesk.mail.ratings import settings_pages as rating_settings
from sealdesk.mail.received_messages import api as received
from sealdesk.mail.received_messages import pages as held_pages
from sealdesk.mail.threads import pages as thread_pages
from sealdesk.mail.verifying import api as verifying
from sealdesk.mail.verifying import pages as verifying_pages
from sealdesk.mail.weekly_reports import pages as weekly_reports
from sealdesk.web.operation import Route
from sealdesk.web.request import MAX_BODY_BYTES

_ADMIN, _USER = administrator(), BearerGuard(ROLES, own_account=False)
_USER_PAGE = SessionGuard(ROLES)
_ADMIN_PAGE = SessionGuard(ADMINISTRATORS)
# For forms whose result outlasts the session (decision 0019).
_REAUTHENTICATED = SessionGuard(ADMINISTRATORS, needs_reauthentication=True)
# For bodies with long text; others may have 8 KiB (decision 0028).
_LONG = MAX_BODY_BYTES
_PUBLIC = PublicGuard()
# 20,000 characters outside of ASCII, percent-encoded.
_FORM = 256 * 1024

MAIL_API: tuple[Route, ...] = (
    Route("GET", "/api/v1/mailboxes", _ADMIN, mailboxes.list_mailboxes),
    Route("POST", "/api/v1/mailboxes", _ADMIN, mailboxes.create_mailbox, _LONG),
    Route("GET", "/api/v1/mailboxes/{id}", _ADMIN, mailboxes.get_mailbox),
    Route("PATCH", "/api/v1/mailboxes/{id}", _ADMIN, mailboxes.change_mailbox, _LONG),
    Route("DELETE", "/api/v1/mailboxes/{id}", _ADMIN, mailboxes.delete_mailbox),
    Route("POST", "/api/v1/mailboxes/{id}/test", _ADMIN, mailboxes.test_mailbox),
    Route("POST", "/api/v1/mailboxes/{id}/code", _ADMIN, verifying.send_code),
    Route("POST", "/api/v1/mailboxes/{id}/verify", _ADMIN, verifying.verify_address),
    Route("GET", "/api/v1/former-addresses", _ADMIN, mailboxes.list_former_addresses),
    Route(
        "DELETE",
        "/api/v1/former-addresses/{address}",
        _ADMIN,
        mailboxes.free_address,
        takes_names=True,
    ),
    Route("GET", "/api/v1/received-messages", _USER, received.list_messages),
    Route("GET", "/api/v1/received-messages/{id}", _USER, received.get_message),
    Route("DELETE", "/api/v1/received-messages/{id}", _ADMIN, received.delete_message),
    Route("GET", "/api/v1/received-messages/{id}/raw", _USER, received.download_message),
    Route("POST", "/api/v1/received-messages/{id}/release", _USER, received.release_message),
    Route("POST", "/api/v1/received-messages/{id}/add-sender", _USER, received.add_sender),
    Route("POST", "/api/v1/received-messages/{id}/open-ticket", _USER, received.open_ticket),
    Route("GET", "/api/v1/mail-blocks", _ADMIN, blocks.list_blocks),
    Route("POST", "/api/v1/mail-blocks", _ADMIN, blocks.add_block),
    Route("DELETE", "/api/v1/mail-blocks/{pattern}", _ADMIN, blocks.remove_block, takes_names=True),
)

MAIL_PAGES: tuple[Route, ...] = (
    # Who gets the replies of a ticket.
    Route("GET", "/tickets/{id}/participants", _USER_PAGE, thread_pages.show_participants),
    Route("POST", "/tickets/{id}/participants", _USER_PAGE, thread_pages.change_participants),
    # What to do with the message of somebody who is no participant.
    Route("POST", "/held-messages/{id}/add-sender", _USER_PAGE, held_pages.add_sender),
    Route("POST", "/held-messages/{id}/open-ticket", _USER_PAGE, held_pages.open_ticket),
    # Messages that wait: every user may look at them and release them.
    Route("GET", "/held-messages", _USER_PAGE, held_pages.list_held),
    Route("GET", "/held-messages/{id}", _USER_PAGE, held_pages.show_held),
    Route("GET", "/held-messages/{id}/raw", _USER_PAGE, held_pages.download_held),
    Route("POST", "/held-messages/{id}/release", _USER_PAGE, held_pages.release_held),
    Route("POST", "/held-messages/{id}/delete", _ADMIN_PAGE, held_pages.delete_held),
    Route("POST", "/held-messages/{id}/block", _ADMIN_PAGE, held_pages.block_sender),
    # Settings → E-mail.
    Route("GET", "/settings/email", _ADMIN_PAGE, pages.list_mailboxes),
    Route("POST", "/settings/email/blocks", _ADMIN_PAGE, pages.add_block),
    Route("POST", "/settings/email/blocks/remove", _ADMIN_PAGE, pages.remove_block),
    Route("POST", "/settings/email/former", _REAUTHENTICATED, pages.free_address),
    Route("GET", "/settings/email/new", _ADMIN_PAGE, pages.new_mailbox),
    Route("POST", "/settings/email/new", _REAUTHENTICATED, pages.create_mailbox, _LONG),
    Route("GET", "/settings/email/form", _ADMIN_PAGE, form_settings.show),
    Route("POST", "/settings/email/form", _REAUTHENTICATED, form_settings.save),
    Route("GET", "/settings/email/ratings", _ADMIN_PAGE, rating_settings.show),
    Route("POST", "/settings/email/ratings", _REAUTHENTICATED, rating_settings.save),
    Route("GET", "/settings/email/callback", _ADMIN_PAGE, consents.take_consent),
    Route("GET", "/settings/email/{id}", _ADMIN_PAGE, pages.show_mailbox),
    Route("POST", "/settings/email/{id}/connect", _REAUTHENTICATED, consents.connect_mailbox),
    Route("GET", "/settings/email/{id}/application", _ADMIN_PAGE, consents.show_application),
    Route(
        "POST",
        "/settings/email/{id}/application",
        _REAUTHENTICATED,
        consents.connect_application,
    ),
    Route("GET", "/settings/email/{id}/edit", _ADMIN_PAGE, pages.edit_mailbox),
    Route("POST", "/settings/email/{id}/edit", _REAUTHENTICATED, pages.change_mailbox, _LONG),
    Route("POST", "/settings/email/{id}/test", _ADMIN_PAGE, pages.test_mailbox),
    Route("POST", "/settings/email/{id}/code", _ADMIN_PAGE, verifying_pages.send_code),
    Route("POST", "/settings/email/{id}/verify", _ADMIN_PAGE, verifying_pages.verify_address),
    Route("POST", "/settings/email/{id}/pause", _ADMIN_PAGE, pages.pause_mailbox),
    Route("POST", "/settings/email/{id}/resume", _ADMIN_PAGE, pages.resume_mailbox),
    Route("GET", "/settings/email/{id}/delete", _ADMIN_PAGE, pages.confirm_deletion),
    Route("POST", "/settings/email/{id}/delete", _REAUTHENTICATED, pages.delete_mailbox),
    # The form for customers, who have no session. The first part is the name of the desk.
    Route("GET", "/{path_name}/new", _PUBLIC, contact_form.show_form, takes_names=True),
    Route("POST", "/{path_name}/new", _PUBLIC, contact_form.submit, _FORM, takes_names=True),
    Route(
        "GET",
        "/{path_name}/confirm/{token}",
        _PUBLIC,
        contact_form.ask_confirmation,
        takes_names=True,
    ),
    Route("POST", "/{path_name}/confirm/{token}", _PUBLIC, contact_form.confirm, takes_names=True),
    # A page of one ticket for one of its participants.
    Route("GET", "/{path_name}/ticket/{token}", _PUBLIC, customer_page.show, takes_names=True),
    Route(
        "POST",
        "/{path_name}/ticket/{token}",
        PublicGuard(takes_files=True),
        customer_page.reply,
        MAX_REPLY_BYTES,
        takes_names=True,
    ),
    Route(
        "GET",
        "/{path_name}/ticket/{token}/files/{id}",
        _PUBLIC,
        customer_page.show_file,
        takes_names=True,
    ),
    # Reports by e-mail each Monday, and the link in them.
    Route("GET", "/reports/weekly", _ADMIN_PAGE, weekly_reports.list_reports),
    Route("POST", "/reports/weekly", _ADMIN_PAGE, weekly_reports.save_report),
    Route("POST", "/reports/weekly/{id}/delete", _ADMIN_PAGE, weekly_reports.delete_report),
    Route(
        "GET",
        "/reports/unsubscribe/{token}",
        _PUBLIC,
        weekly_reports.ask_unsubscribe,
        takes_names=True,
    ),
    Route(
        "POST",
        "/reports/unsubscribe/{token}",
        _PUBLIC,
        weekly_reports.unsubscribe,
        _FORM,
        takes_names=True,
    ),
    # Asks the customer of a ticket for a rating.
    Route("GET", "/r/{token}", _PUBLIC, ratings.show, takes_names=True),
    Route("POST", "/r/{token}", _PUBLIC, ratings.rate, _FORM, takes_names=True),
)
