"""What a change or a reply does to a ticket, and how a ticket is shown; no IO."""

from typing import Any, NamedTuple

import msgspec

from sealdesk.errors import Conflict, PreconditionFailed
from sealdesk.event_log.events import Changes
from sealdesk.resources import merge_patch, representation
from sealdesk.tickets import importing
from sealdesk.tickets.errors import (
    FIELD_CHANGED,
    INVALID_TRANSITION,
    TICKET_CLOSED,
    TICKET_MERGED,
)
from sealdesk.tickets.new_replies import NewReply
from sealdesk.tickets.snoozing import rules as snoozing
from sealdesk.tickets.types import (
    PRIORITIES,
    AttachmentRef,
    NewTicket,
    Priority,
    Reply,
    ReplyResponse,
    Source,
    Status,
    Ticket,
    TicketChange,
    TicketDocument,
)

# From each status the ones it can change to (decisions 7). The same status is no change.
TRANSITIONS: dict[Status, tuple[Status, ...]] = {
    "open": ("pending", "on_hold", "resolved", "closed"),
    "pending": ("open", "on_hold", "resolved", "closed"),
    "on_hold": ("open", "pending", "resolved", "closed"),
    "resolved": ("open", "pending", "on_hold", "closed"),
    "closed": ("open",),
}
_REOPENED_BY_CUSTOMER: tuple[Status, ...] = ("pending", "on_hold", "resolved")
_MAX_SNIPPET = 160
# Of white space that is left out, and cut off, without reading all of a long text.
_MAX_SNIPPET_SOURCE = 4 * _MAX_SNIPPET
CUSTOM = "custom-"  # before the key of a custom field: its name in forms and in the history
YES = "yes"  # a box that is ticked
_ENDED: tuple[Status, ...] = ("resolved", "closed")
_UNSET = ("first_response_at", "closed_at", "last_customer_reply_at", "merged_into_id")
_OF_NEW: dict[str, Any] = {"reply_count": 0, "version": 1, **dict.fromkeys(_UNSET)}
# Events name each of these that a change alters.
_CHANGEABLE = TicketChange.__struct_fields__

to_reply_response = representation.response_builder(ReplyResponse)
_encode_document = representation.response_encoder(TicketDocument)
_decode_attachments = msgspec.json.Decoder(tuple[AttachmentRef, ...]).decode
_encode_reply = representation.response_encoder(ReplyResponse)


class TicketUpdate(NamedTuple):
    """A ticket before and after an update, the same object when nothing differs.

    changes: field → (old, new) of each field that a `TicketChange` could have changed, for events.
    """

    before: Ticket
    after: Ticket
    changes: Changes


class SeenChange(NamedTuple):
    """A change of some fields, with the values of these fields that its page showed.

    undone_id: the entry of the history that the change undoes, "" for none. custom: the values seen
    of the custom fields that are changed, by key.
    """

    change: TicketChange
    seen: TicketChange = TicketChange()
    undone_id: str = ""
    custom: dict[str, Any] = {}  # noqa: RUF012 - never changed

    def names(self) -> list[str]:
        """The fields that are changed; custom fields each by itself."""
        given = merge_patch.given_fields(self.change)
        given.pop("custom_fields", None)
        return [*given, *(f"{CUSTOM}{key}" for key in self.custom)]


def rank_of(priority: Priority) -> int:
    """1 for low … 4 for urgent: what priorities are stored and sorted as."""
    return PRIORITIES.index(priority) + 1


def new_ticket(
    new: NewTicket,
    *,
    tenant_id: str,
    ticket_id: str,
    number: int,
    customer_id: str,
    source: Source,
    attachments: tuple[AttachmentRef, ...],
    created_at: int,
    now_us: int,
) -> Ticket:
    """The first version of a ticket. Raises Conflict, ValidationFailed."""
    fields = msgspec.structs.asdict(new)
    del fields["customer"], fields["attachment_ids"], fields["created_at"]
    fields["tags"] = distinct(new.tags)
    fields["custom_fields"] = new.custom_fields or {}
    if new.snoozed_until is not None:
        wanted, is_ended = new.snoozed_until, new.status in _ENDED
        fields["snoozed_until"] = snoozing.to_stored(wanted, None, now_us, is_ended=is_ended)
    return Ticket(
        **fields,
        tenant_id=tenant_id,
        id=ticket_id,
        number=number,
        source=source,
        customer_id=customer_id,
        attachments=attachments,
        **_OF_NEW,
        created_at=created_at,
        updated_at=now_us,
        resolved_at=created_at if new.status == "resolved" else None,
        waiting_since=None if new.status == "resolved" else created_at,
        last_message_at=created_at,
        snippet=snippet(new.description),
    )


def apply_change(ticket: Ticket, change: TicketChange, now_us: int) -> TicketUpdate:
    """What a change does to a ticket. Raises Conflict, ValidationFailed."""
    fields = merge_patch.given_fields(change)
    if "tags" in fields:
        fields["tags"] = distinct(fields["tags"])
    if "custom_fields" in fields:
        fields["custom_fields"] = merge_patch.merge(ticket.custom_fields, fields["custom_fields"])
    if "snoozed_until" in fields:
        wanted, is_ended = fields["snoozed_until"], fields.get("status", ticket.status) in _ENDED
        until = snoozing.to_stored(wanted, ticket.snoozed_until, now_us, is_ended=is_ended)
        fields["snoozed_until"] = until
    if "status" in fields:
        fields |= _status_fields(ticket, fields.pop("status"), now_us)
    if isinstance(change.description, str) and ticket.last_message_at == ticket.created_at:
        fields["snippet"] = snippet(change.description)
    fields["updated_at"] = max(now_us, ticket.updated_at)
    fields["version"] = ticket.version + 1
    after = msgspec.structs.replace(ticket, **fields)
    changes = merge_patch.differences(ticket, after, _CHANGEABLE)
    return TicketUpdate(ticket, after if changes else ticket, changes)


def check_seen(ticket: Ticket, wanted: SeenChange) -> None:
    """Raises PreconditionFailed when a field has neither the value seen nor the one wanted."""
    new = merge_patch.given_fields(wanted.change)
    for name, seen in merge_patch.given_fields(wanted.seen).items():
        current = _comparable(getattr(ticket, name))
        if current not in (_comparable(seen), _comparable(new.get(name, seen))):
            raise PreconditionFailed(FIELD_CHANGED, field=name)
    for key, seen in wanted.custom.items():
        accepted = value_text(seen), value_text(new["custom_fields"][key])
        if value_text(ticket.custom_fields.get(key)) not in accepted:
            raise PreconditionFailed(FIELD_CHANGED, field=f"{CUSTOM}{key}")


def value_text(value: Any) -> str:
    """The value of a custom field as a form sends it: "" for none, and for a box not ticked."""
    if value is None or value is False:
        return ""
    if isinstance(value, str):
        return value.replace("\r\n", "\n")
    return YES if value is True else msgspec.json.encode(value).decode()


def _comparable(value: Any) -> Any:
    # A tag may have been stored in the spelling of the desk.
    is_tags = isinstance(value, list | tuple)
    return [tag.casefold() for tag in distinct([*value])] if is_tags else value


def apply_reply(
    ticket: Ticket, reply: Reply, now_us: int, from_mail: importing.FromMail | None = None
) -> TicketUpdate:
    """What a reply does to its ticket. Raises Conflict when it is closed."""
    if ticket.status == "closed" and from_mail is None:
        raise Conflict(TICKET_CLOSED)
    fields: dict[str, Any] = {
        "updated_at": max(now_us, ticket.updated_at),
        "version": ticket.version + 1,
        "last_message_at": max(reply.created_at, ticket.last_message_at or 0),
        "snippet": snippet(reply.body),
    }
    if not reply.is_internal:
        fields["reply_count"] = ticket.reply_count + 1
        fields["last_reply_by"] = reply.author.type
        by_author = _customer_reply if reply.author.type == "customer" else _answer
        told = by_author(ticket, reply.created_at)
        fields |= importing.without_status(told, ticket.status) if from_mail == "history" else told
    after = msgspec.structs.replace(ticket, **fields)
    changes = merge_patch.differences(ticket, after, ("status", "snoozed_until"))
    return TicketUpdate(ticket, after, changes)


def is_same_reply(stored: Reply, new: NewReply, user_id: str) -> bool:
    """Whether a stored reply is what a user sends."""
    attached = tuple(each.id for each in stored.attachments)
    before = stored.body, stored.is_internal, attached, stored.author.id
    return before == (new.body, new.is_internal, tuple(new.attachment_ids or ()), user_id)


def distinct(tags: list[str] | None) -> tuple[str, ...]:
    """Tags in the order given, each once, regardless of case; the first spelling stays."""
    first: dict[str, str] = {}
    for tag in tags or ():
        first.setdefault(tag.casefold(), tag)
    return tuple(first.values())


def snippet(text: str) -> str:
    """The beginning of a text as one line."""
    line = " ".join(text.lstrip()[:_MAX_SNIPPET_SOURCE].split())
    return line if len(line) <= _MAX_SNIPPET else line[: _MAX_SNIPPET - 1] + "…"


def _customer_reply(ticket: Ticket, said_at: int) -> dict[str, Any]:
    """The fields that a reply of the customer sets."""
    is_reopened = ticket.status in _REOPENED_BY_CUSTOMER
    fields = _status_fields(ticket, "open", said_at) if is_reopened else {}
    waiting_since = said_at if ticket.waiting_since is None else ticket.waiting_since
    told = {"last_customer_reply_at": said_at, "waiting_since": waiting_since}
    return fields | told | {"snoozed_until": None}


def _answer(ticket: Ticket, said_at: int) -> dict[str, Any]:
    """The fields that a public reply to the customer sets."""
    first_at = said_at if ticket.first_response_at is None else ticket.first_response_at
    return {"first_response_at": first_at, "waiting_since": None}


def _status_fields(ticket: Ticket, status: Status, now_us: int) -> dict[str, Any]:
    """The fields that a change of status sets. Raises Conflict."""
    if status == ticket.status:
        return {}
    if ticket.merged_into_id is not None:
        raise Conflict(TICKET_MERGED)
    allowed = TRANSITIONS[ticket.status]
    if status not in allowed:
        raise Conflict(
            INVALID_TRANSITION,
            status=ticket.status,
            choices=", ".join(allowed),
            allowed=list(allowed),
        )
    fields: dict[str, Any] = {"status": status}
    if status == "resolved":
        fields |= {"resolved_at": now_us, "waiting_since": None, "snoozed_until": None}
    elif status == "closed":
        fields |= {"closed_at": now_us, "waiting_since": None, "snoozed_until": None}
    elif ticket.status in _ENDED:
        fields |= {"resolved_at": None, "closed_at": None}
        fields["waiting_since"] = _unanswered_since(ticket)
    return fields


def _unanswered_since(ticket: Ticket) -> int | None:
    """Since when the customer of a reopened ticket waits; None when the desk wrote last."""
    if ticket.last_reply_by == "customer":
        return ticket.last_customer_reply_at
    return ticket.created_at if ticket.reply_count == 0 else None


def ready_document(ticket: Ticket) -> bytes:
    """The ready JSON of a ticket without its customer, stored beside its columns."""
    return _encode_document(ticket)


def with_customer(document: bytes, reference: bytes) -> bytes:
    """TicketResponse as JSON, from a ready document and the JSON reference of its customer."""
    return b"".join((document[:-1], b',"customer":', reference, b"}"))


def encode_attachments(attachments: tuple[AttachmentRef, ...]) -> str | None:
    """As tickets and replies store them: most have none."""
    return msgspec.json.encode(attachments).decode() if attachments else None


def decode_attachments(stored: str | None) -> tuple[AttachmentRef, ...]:
    """The attachments of a ticket or reply from its column."""
    return _decode_attachments(stored) if stored else ()


def reply_json(reply: Reply) -> bytes:
    """ReplyResponse as JSON."""
    return _encode_reply(reply)


def etag(ticket_version: int, customer_version: int) -> str:
    """The ETag of a ticket with its customer: a renamed customer changes it too."""
    return representation.etag(ticket_version, customer_version)
