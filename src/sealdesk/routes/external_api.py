"""The routes of the external API: method, path, guard and operation."""

from sealdesk.api_keys import api as api_keys
from sealdesk.api_keys.guard.signed import signed
from sealdesk.api_keys.guard.upload import signed_upload
from sealdesk.api_keys.test_mode import api as test_mode
from sealdesk.customers import api as customers
from sealdesk.feed import api as feed
from sealdesk.identity import api as identity
from sealdesk.mail.ratings import api as ratings
from sealdesk.mail.threads import api as participants
from sealdesk.reports import api as reports
from sealdesk.teams import api as teams
from sealdesk.tickets import api as tickets
from sealdesk.tickets.attachments import api as attachments
from sealdesk.tickets.attachments.rules import MAX_ATTACHMENT_BYTES
from sealdesk.tickets.bulk import api as bulk
from sealdesk.tickets.customer_merging import api as customer_merging
from sealdesk.tickets.erasing import api as erasing
from sealdesk.tickets.followers import api as followers
from sealdesk.tickets.links import api as links
from sealdesk.tickets.merging import api as merging
from sealdesk.tickets.views import api as search
from sealdesk.web.operation import Open, Route
from sealdesk.web.request import MAX_BODY_BYTES

# Guards of the external API: a signature, and one of these permissions.
_TICKETS_READ, _TICKETS_WRITE = signed("tickets:read"), signed("tickets:write")
_REPLIES_READ = signed("tickets:read", "replies:read")
_REPLIES_WRITE = signed("tickets:write", "replies:write")
_UPLOAD = signed_upload("tickets:write", "replies:write")
_EVENTS_READ = signed("tickets:read", "replies:read", "customers:read")
_CUSTOMERS_READ, _CUSTOMERS_WRITE = signed("customers:read"), signed("customers:write")
_CUSTOMERS_ERASE = signed("customers:erase")
_OPEN = Open()
# For bodies with long text; others may have 8 KiB (decision 0028).
_LONG = MAX_BODY_BYTES

EXTERNAL_API: tuple[Route, ...] = (
    # The external API (interface section 4.2): a signature and a permission.
    Route("GET", "/api/v1/external/tickets", _TICKETS_READ, tickets.list_tickets),
    Route("POST", "/api/v1/external/tickets", _TICKETS_WRITE, tickets.create_ticket, _LONG),
    Route("POST", "/api/v1/external/tickets/bulk", _TICKETS_WRITE, bulk.create_tickets, _LONG),
    Route("PATCH", "/api/v1/external/tickets/bulk", _TICKETS_WRITE, bulk.change_tickets, _LONG),
    Route("GET", "/api/v1/external/tickets/{id}", _TICKETS_READ, tickets.get_ticket),
    Route("PATCH", "/api/v1/external/tickets/{id}", _TICKETS_WRITE, tickets.change_ticket, _LONG),
    Route(
        "GET", "/api/v1/external/tickets/{ticket_id}/replies", _REPLIES_READ, tickets.list_replies
    ),
    Route(
        "POST",
        "/api/v1/external/tickets/{ticket_id}/replies",
        _REPLIES_WRITE,
        tickets.create_reply,
        _LONG,
    ),
    Route(
        "GET",
        "/api/v1/external/tickets/{ticket_id}/participants",
        _REPLIES_READ,
        participants.get_participants,
    ),
    Route(
        "PUT",
        "/api/v1/external/tickets/{ticket_id}/participants",
        _REPLIES_WRITE,
        participants.set_participants,
        _LONG,
    ),
    Route(
        "POST", "/api/v1/external/attachments", _UPLOAD, attachments.upload, MAX_ATTACHMENT_BYTES
    ),
    Route("GET", "/api/v1/external/attachments/{id}", _REPLIES_READ, attachments.get_attachment),
    Route("GET", "/api/v1/external/attachments/{id}/content", _REPLIES_READ, attachments.download),
    # For who has its link, without a signature.
    Route("GET", "/attachments/{id}", _OPEN, attachments.follow_link),
    Route(
        "POST", "/api/v1/external/tickets/{id}/merge", _TICKETS_WRITE, merging.merge_ticket, _LONG
    ),
    Route("DELETE", "/api/v1/external/tickets/{id}/merge", _TICKETS_WRITE, merging.undo_merge),
    Route(
        "POST", "/api/v1/external/tickets/{id}/split", _TICKETS_WRITE, merging.split_ticket, _LONG
    ),
    Route(
        "POST",
        "/api/v1/external/tickets/{id}/rating-link",
        _TICKETS_WRITE,
        ratings.create_rating_link,
    ),
    Route("GET", "/api/v1/external/reports", _TICKETS_READ, reports.get_report),
    Route("GET", "/api/v1/external/reports/tickets", _TICKETS_READ, reports.list_report_tickets),
    Route("GET", "/api/v1/external/search", _TICKETS_READ, search.search_tickets),
    Route(
        "GET",
        "/api/v1/external/tickets/{ticket_id}/followers",
        _TICKETS_READ,
        followers.list_followers,
    ),
    Route(
        "POST",
        "/api/v1/external/tickets/{ticket_id}/followers",
        _TICKETS_WRITE,
        followers.add_follower,
    ),
    Route(
        "DELETE",
        "/api/v1/external/tickets/{ticket_id}/followers/{user_id}",
        _TICKETS_WRITE,
        followers.remove_follower,
    ),
    Route("GET", "/api/v1/external/tickets/{ticket_id}/links", _TICKETS_READ, links.list_links),
    Route("POST", "/api/v1/external/tickets/{ticket_id}/links", _TICKETS_WRITE, links.add_link),
    Route(
        "DELETE",
        "/api/v1/external/tickets/{ticket_id}/links/{other_id}",
        _TICKETS_WRITE,
        links.remove_link,
    ),
    Route("GET", "/api/v1/external/customers", _CUSTOMERS_READ, customers.list_customers),
    Route("POST", "/api/v1/external/customers", _CUSTOMERS_WRITE, customers.create_customer, _LONG),
    Route(
        "PUT",
        "/api/v1/external/customers/by-external-id/{external_id}",
        _CUSTOMERS_WRITE,
        customers.upsert_customer,
        _LONG,
        takes_names=True,
    ),
    Route("GET", "/api/v1/external/customers/{id}", _CUSTOMERS_READ, customers.get_customer),
    Route(
        "PATCH",
        "/api/v1/external/customers/{id}",
        _CUSTOMERS_WRITE,
        customers.change_customer,
        _LONG,
    ),
    Route("DELETE", "/api/v1/external/customers/{id}", _CUSTOMERS_WRITE, customers.delete_customer),
    Route(
        "POST",
        "/api/v1/external/customers/{id}/merge",
        _CUSTOMERS_WRITE,
        customer_merging.merge_customer,
        _LONG,
    ),
    Route(
        "DELETE",
        "/api/v1/external/customers/{id}/merge",
        _CUSTOMERS_WRITE,
        customer_merging.undo_customer_merge,
    ),
    Route(
        "POST", "/api/v1/external/customers/{id}/erase", _CUSTOMERS_ERASE, erasing.erase_customer
    ),
    Route("GET", "/api/v1/external/customers/{id}/erasure", _CUSTOMERS_ERASE, erasing.get_erasure),
    Route("GET", "/api/v1/external/agents", _TICKETS_READ, identity.list_agents),
    Route("GET", "/api/v1/external/teams", _TICKETS_READ, teams.list_choices),
    Route("GET", "/api/v1/external/events", _EVENTS_READ, feed.list_events),
    Route("GET", "/api/v1/external/whoami", signed(), api_keys.whoami),
    Route("GET", "/api/v1/external/test-clock", signed(), test_mode.get_test_clock),
    Route("PUT", "/api/v1/external/test-clock", _TICKETS_WRITE, test_mode.set_test_clock),
)
