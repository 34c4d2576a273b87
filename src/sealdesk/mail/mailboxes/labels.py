"""Labels of the audit actions and form fields of mailboxes; pages translate them."""

from sealdesk.web.pages.i18n import gettext_noop

ACTION_LABELS = {
    "mailbox.created": gettext_noop("Mailbox added"),
    "mailbox.updated": gettext_noop("Mailbox changed"),
    "mailbox.connected": gettext_noop("Mailbox connected"),
    "mailbox.code_sent": gettext_noop("Code sent to an address"),
    "mailbox.verified": gettext_noop("Address verified"),
    "mailbox.deleted": gettext_noop("Mailbox deleted"),
    "mailbox.tested": gettext_noop("Mailbox tested"),
    "mailbox_domain.assigned": gettext_noop("Domain assigned"),
    "mailbox_domain.released": gettext_noop("Domain released"),
    "mailbox_address.freed": gettext_noop("Former address freed"),
}
FIELD_LABELS = {
    "address": gettext_noop("Address"),
    "aliases": gettext_noop("Aliases"),
    "display_name": gettext_noop("Display name"),
    "receives": gettext_noop("How messages come in"),
    "imap_host": gettext_noop("IMAP server"),
    "imap_port": gettext_noop("Port of IMAP"),
    "imap_security": gettext_noop("Security of IMAP"),
    "imap_username": gettext_noop("User name of IMAP"),
    "imap_folder": gettext_noop("Folder"),
    "smtp_host": gettext_noop("SMTP server"),
    "smtp_port": gettext_noop("Port of SMTP"),
    "smtp_security": gettext_noop("Security of SMTP"),
    "smtp_username": gettext_noop("User name of SMTP"),
    "oauth_provider": gettext_noop("Provider of the log-in"),
    "per_minute": gettext_noop("Messages a minute"),
    "options": gettext_noop("Options"),
    "language": gettext_noop("Language of automatic messages"),
    "signature": gettext_noop("Signature"),
    "acknowledgement": gettext_noop("Acknowledgement"),
}
