"""The rooms of the service, and what they declare for all of it: error codes, pages, labels."""

from sealdesk.api_keys.pages import keys
from sealdesk.audit_log import pages as audit_log
from sealdesk.automation import pages as automation
from sealdesk.customers import pages as customers
from sealdesk.errors import declared_in, general, requests
from sealdesk.feed import api as feed
from sealdesk.identity.pages import people
from sealdesk.installation import pages as installation
from sealdesk.mail.blocks import api as blocks
from sealdesk.mail.contact_form import pages as contact_form
from sealdesk.mail.customer_page import pages as customer_page
from sealdesk.mail.mailboxes import pages as mailboxes
from sealdesk.mail.ratings import pages as ratings
from sealdesk.mail.received_messages import pages as received_messages
from sealdesk.mail.receiving import errors as receiving_errors
from sealdesk.mail.threads import pages as threads
from sealdesk.mail.weekly_reports import pages as weekly_reports
from sealdesk.reports import pages as reports
from sealdesk.team_now import pages as team_now
from sealdesk.teams import pages as teams
from sealdesk.tickets.attachments import pages as attachments
from sealdesk.tickets.custom_fields import pages as custom_fields
from sealdesk.tickets.customer_merging import pages as customer_merging
from sealdesk.tickets.editing import pages as editing
from sealdesk.tickets.erasing import pages as erasing
from sealdesk.tickets.followers import pages as followers
from sealdesk.tickets.held_replies import pages as held_replies
from sealdesk.tickets.hours import pages as hours
from sealdesk.tickets.links import pages as links
from sealdesk.tickets.macros import pages as macros
from sealdesk.tickets.merging import pages as merging
from sealdesk.tickets.notifications import pages as notifications
from sealdesk.tickets.pages import inbox
from sealdesk.tickets.promises import pages as promises
from sealdesk.tickets.tags import pages as tags
from sealdesk.tickets.views import pages as views
from sealdesk.web.pages.site import Room, make_site
from sealdesk.webhooks.pages import endpoints

# The navigation bar is in this order.
ROOMS: tuple[Room, ...] = (
    inbox.ROOM,
    attachments.ROOM,
    merging.ROOM,
    customer_merging.ROOM,
    followers.ROOM,
    links.ROOM,
    editing.ROOM,
    notifications.ROOM,
    views.ROOM,
    erasing.ROOM,
    customers.ROOM,
    team_now.ROOM,
    reports.ROOM,
    people.ROOM,
    teams.ROOM,
    hours.ROOM,
    held_replies.ROOM,
    promises.ROOM,
    macros.ROOM,
    automation.ROOM,
    custom_fields.ROOM,
    tags.ROOM,
    keys.ROOM,
    endpoints.ROOM,
    mailboxes.ROOM,
    received_messages.ROOM,
    blocks.ROOM,
    contact_form.ROOM,
    customer_page.ROOM,
    ratings.ROOM,
    weekly_reports.ROOM,
    threads.ROOM,
    Room("mail.receiving", receiving_errors),
    feed.ROOM,
    audit_log.ROOM,
    installation.ROOM,
)

# The error codes of the API: those that several rooms raise, then those of each room.
PROBLEM_TYPES = declared_in(requests, general, *(room.errors for room in ROOMS if room.errors))

SITE = make_site(
    ROOMS,
    count_unread=notifications.count_unread,
    count_failing_mailboxes=mailboxes.count_failing,
    list_leaving=held_replies.list_leaving,
    list_beside=views.list_beside,
)
