"""What the rooms declare for the whole service: error codes, navigation, labels, the audit page."""

from sealdesk.api_keys import errors as api_key_errors
from sealdesk.api_keys import labels as api_keys_labels
from sealdesk.api_keys.pages import keys as key_pages
from sealdesk.audit_log import labels as audit_log_labels
from sealdesk.audit_log import pages as audit_pages
from sealdesk.customers import errors as customer_errors
from sealdesk.customers import labels as customers_labels
from sealdesk.customers import pages as customers_pages
from sealdesk.errors import declared_in
from sealdesk.errors import general as general_errors
from sealdesk.errors import requests as request_errors
from sealdesk.feed import errors as feed_errors
from sealdesk.identity import errors as identity_errors
from sealdesk.identity import labels as identity_labels
from sealdesk.identity.pages import people as people_pages
from sealdesk.mail.blocks import errors as block_errors
from sealdesk.mail.blocks import labels as block_labels
from sealdesk.mail.contact_form import labels as contact_form_labels
from sealdesk.mail.mailboxes import errors as mailbox_errors
from sealdesk.mail.mailboxes import labels as mailbox_labels
from sealdesk.mail.mailboxes import pages as mailbox_pages
from sealdesk.mail.received_messages import labels as received_labels
from sealdesk.mail.received_messages import pages as held_pages
from sealdesk.mail.receiving import errors as receiving_errors
from sealdesk.mail.threads import errors as thread_errors
from sealdesk.mail.threads import labels as thread_labels
from sealdesk.tickets import errors as ticket_errors
from sealdesk.tickets import labels as tickets_labels
from sealdesk.tickets.attachments import errors as attachment_errors
from sealdesk.tickets.custom_fields import errors as custom_field_errors
from sealdesk.tickets.custom_fields import labels as custom_field_labels
from sealdesk.tickets.custom_fields import pages as custom_field_pages
from sealdesk.tickets.followers import errors as follower_errors
from sealdesk.tickets.macros import errors as macro_errors
from sealdesk.tickets.macros import labels as macros_labels
from sealdesk.tickets.macros import pages as macro_pages
from sealdesk.tickets.merging import errors as merging_errors
from sealdesk.tickets.notifications import pages as notification_pages
from sealdesk.tickets.pages import inbox as inbox_pages
from sealdesk.tickets.tags import pages as tag_pages
from sealdesk.tickets.teams import errors as team_errors
from sealdesk.tickets.teams import labels as team_labels
from sealdesk.tickets.teams import pages as team_pages
from sealdesk.web.pages.site import Site
from sealdesk.webhooks import errors as webhook_errors
from sealdesk.webhooks import labels as webhooks_labels
from sealdesk.webhooks.pages import endpoints as webhook_pages

# The error codes of the API: those that several rooms raise, then those of each room.
PROBLEM_TYPES = declared_in(
    request_errors,
    general_errors,
    api_key_errors,
    identity_errors,
    ticket_errors,
    attachment_errors,
    custom_field_errors,
    merging_errors,
    macro_errors,
    team_errors,
    follower_errors,
    customer_errors,
    feed_errors,
    webhook_errors,
    mailbox_errors,
    block_errors,
    receiving_errors,
    thread_errors,
)

AUDIT_PAGE = audit_pages.audit_page(
    action_labels={
        **identity_labels.ACTION_LABELS,
        **api_keys_labels.ACTION_LABELS,
        **webhooks_labels.ACTION_LABELS,
        **custom_field_labels.ACTION_LABELS,
        **macros_labels.ACTION_LABELS,
        **audit_log_labels.ACTION_LABELS,
        **tickets_labels.ACTION_LABELS,
        **customers_labels.ACTION_LABELS,
        **team_labels.ACTION_LABELS,
        **mailbox_labels.ACTION_LABELS,
        **block_labels.ACTION_LABELS,
        **contact_form_labels.ACTION_LABELS,
        **received_labels.ACTION_LABELS,
        **thread_labels.ACTION_LABELS,
    },
    object_paths={
        "user": people_pages.NAV_ITEM.path,
        "api_key": key_pages.NAV_ITEM.path,
        "webhook": webhook_pages.NAV_ITEM.path,
        "team": team_pages.NAV_ITEM.path,
        "custom_field": custom_field_pages.NAV_ITEM.path,
        "macro": macro_pages.NAV_ITEM.path,
        "customer": customers_pages.NAV_ITEM.path,
        "mailbox": mailbox_pages.NAV_ITEM.path,
        "received_message": held_pages.PATH,
    },
)

# What every page may show of all rooms; the navigation bar is in this order.
SITE = Site(
    count_unread=notification_pages.count_unread,
    count_failing_mailboxes=mailbox_pages.count_failing,
    navigation=(
        inbox_pages.NAV_ITEM,
        customers_pages.NAV_ITEM,
        people_pages.NAV_ITEM,
        team_pages.NAV_ITEM,
        macro_pages.NAV_ITEM,
        custom_field_pages.NAV_ITEM,
        tag_pages.NAV_ITEM,
        key_pages.NAV_ITEM,
        webhook_pages.NAV_ITEM,
        mailbox_pages.NAV_ITEM,
        audit_pages.NAV_ITEM,
    ),
    other_pages=(notification_pages.PATH, held_pages.PATH),
    template_packages=(
        "sealdesk.api_keys",
        "sealdesk.audit_log",
        "sealdesk.customers",
        "sealdesk.identity",
        "sealdesk.mail.contact_form",
        "sealdesk.mail.customer_page",
        "sealdesk.mail.mailboxes",
        "sealdesk.mail.received_messages",
        "sealdesk.mail.threads",
        "sealdesk.tickets",
        "sealdesk.tickets.custom_fields",
        "sealdesk.tickets.erasing",
        "sealdesk.tickets.notifications",
        "sealdesk.tickets.macros",
        "sealdesk.tickets.merging",
        "sealdesk.tickets.tags",
        "sealdesk.tickets.teams",
        "sealdesk.tickets.views",
        "sealdesk.webhooks",
    ),
    field_labels={
        **identity_labels.FIELD_LABELS,
        **customers_labels.FIELD_LABELS,
        **api_keys_labels.FIELD_LABELS,
        **webhooks_labels.FIELD_LABELS,
        **tickets_labels.FIELD_LABELS,
        **custom_field_labels.FIELD_LABELS,
        **macros_labels.FIELD_LABELS,
        **team_labels.FIELD_LABELS,
        **mailbox_labels.FIELD_LABELS,
        **block_labels.FIELD_LABELS,
        **contact_form_labels.FIELD_LABELS,
    },
    form_labels=tickets_labels.FORM_LABELS,
)
