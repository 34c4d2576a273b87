"""The event types as the OpenAPI document describes them; docs/api/events.md has the same table."""

from sealdesk.api_keys.examples import KEY
from sealdesk.customers.examples import CUSTOMER, ERASED_CUSTOMER, MERGED_CUSTOMER
from sealdesk.mail.mailboxes.examples import FAILING_MAILBOX, MAILBOX
from sealdesk.tickets.ticket.examples import NOTE, RATED_TICKET, REPLY, TICKET
from sealdesk.web.openapi.webhooks import DocumentedEvent
from sealdesk.webhooks.examples import WEBHOOK

_STATUS = {"status": ["pending", "open"]}
_OVER = {"resolution": ["2026-03-02T17:15:41.556301Z", None]}

DOCUMENTED_EVENTS = (
    DocumentedEvent("ticket.created", "a ticket was opened", TICKET),
    DocumentedEvent("ticket.updated", "any field of a ticket changed", TICKET, _STATUS),
    DocumentedEvent(
        "ticket.status_changed",
        "the status of a ticket changed; in addition to `ticket.updated`",
        TICKET,
        _STATUS,
    ),
    DocumentedEvent(
        "ticket.sla_warning",
        "what an SLA policy promises is due soon; `changes` names it and says when",
        TICKET,
        _OVER,
    ),
    DocumentedEvent(
        "ticket.sla_breached",
        "what an SLA policy promises was not done in time; once for each due time",
        TICKET,
        _OVER,
    ),
    DocumentedEvent(
        "ticket.rated",
        "the customer has rated a ticket; in addition to `ticket.updated`",
        RATED_TICKET,
        {"satisfaction": [None, RATED_TICKET.satisfaction]},
    ),
    DocumentedEvent(
        "ticket.rule_matched",
        "a rule that sends an event has acted on a ticket; `changes` names the rule",
        TICKET,
        {"rule": [None, "VIP first"]},
    ),
    DocumentedEvent("reply.created", "a reply or an internal note was written", REPLY),
    DocumentedEvent(
        "reply.updated",
        "the author has edited an internal note",
        NOTE,
        {"body": ["Ask the studio.", NOTE.body]},
    ),
    DocumentedEvent("reply.delivered", "all e-mails of a reply were accepted", REPLY),
    DocumentedEvent("reply.bounced", "an e-mail of a reply cannot be delivered", REPLY),
    DocumentedEvent("customer.created", "a customer was added, also by a new ticket", CUSTOMER),
    DocumentedEvent(
        "customer.updated",
        "any field of a customer changed",
        CUSTOMER,
        {"name": ["Maria", "Maria Santos"]},
    ),
    DocumentedEvent("customer.deleted", "a customer without tickets was deleted", CUSTOMER),
    DocumentedEvent(
        "customer.merged",
        "a customer was merged into another one, who has their tickets",
        MERGED_CUSTOMER,
        {"merged_into_id": [None, MERGED_CUSTOMER.merged_into_id]},
    ),
    DocumentedEvent(
        "customer.erased", "a customer was erased, with all texts of their tickets", ERASED_CUSTOMER
    ),
    DocumentedEvent("api_key.created", "an API key was created", KEY),
    DocumentedEvent(
        "api_key.updated",
        "the name, permissions, limit, expiry or allowed IP addresses of an API key changed",
        KEY,
        {"rate_limit": [1000, 600]},
    ),
    DocumentedEvent("api_key.revoked", "an API key was revoked", KEY, {"is_active": [True, False]}),
    DocumentedEvent("api_key.rotated", "an API key got a new secret", KEY),
    DocumentedEvent(
        "webhook.disabled",
        "Sealdesk disabled an endpoint",
        WEBHOOK,
        {"disabled_reason": [None, "gone"]},
    ),
    DocumentedEvent("webhook.test", "an administrator tested an endpoint", WEBHOOK),
    DocumentedEvent(
        "mailbox.failing",
        "receiving or sending by a mailbox begins to fail, or fails for another reason",
        FAILING_MAILBOX,
        {"receiving_problem": [None, FAILING_MAILBOX.receiving_problem]},
    ),
    DocumentedEvent(
        "mailbox.recovered",
        "a mailbox works again",
        MAILBOX,
        {"receiving_problem": [FAILING_MAILBOX.receiving_problem, None]},
    ),
)
