"""What a change or a reply does to a ticket; no IO."""

from collections.abc import Sequence
from typing import Any

import msgspec

from sealdesk import clock
from sealdesk.errors import Conflict, Fault, PreconditionFailed, gettext_noop, invalid
from sealdesk.resources import merge_patch
from sealdesk.resources.identity import identity
from sealdesk.tickets.ticket import snoozing
from sealdesk.tickets.ticket.errors import (
    FIELD_CHANGED,
    INVALID_TRANSITION,
    TICKET_CLOSED,
    TICKET_MERGED,
)
from sealdesk.tickets.ticket.types import (
    CUSTOM,
    ENDED,
    MAX_TAGS,
    PRIORITIES,
    YES,
    AttachmentRef,
    FromMail,
    NewReply,
    NewTicket,
    Priority,
    Reply,
    SeenChange,
    Source,
    Status,
    Ticket,
    TicketChange,
    TicketUpdate,
)

# From each status the ones it can change to (spec decision 7). The same status is no change.
TRANSITIONS: dict[Status, tuple[Status, ...]] = {
    "open": ("pending", "on_hold", "resolved", "closed"),
    "pending": ("open", "on_hold", "resolved", "closed"),
    "on_hold": ("open", "pending", "resolved", "closed"),
    "resolved": ("open", "pending", "on_hold", "closed"),
    "closed": ("open",),
}
_REOPENED_BY_CUSTOMER: tuple[Status, ...] = ("pending", "on_hold", "resolved")
NOTE_MARK = "\x1f"  # The snippet of an internal note begins with it; texts have it as a space.
_MAX_SNIPPET = 160
# Of white space that is left out, and cut off, without reading all of a long text.
_MAX_SNIPPET_SOURCE = 4 * _MAX_SNIPPET
# 1990-01-01: older times are mistakes, such as seconds in place of milliseconds.
MIN_IMPORTED_US = 631_152_000 * 1_000_000
_TOO_OLD = gettext_noop("This is before 1990.")
_IN_FUTURE = gettext_noop("This is in the future; it is %(now)s now.")
_NOT_IN_ORDER = gettext_noop(
    "This is before the newest message of the ticket, %(newest)s; import replies in order of time."
)
_REPLACED = "Send either `tags`, or `add_tags` and `remove_tags`."
_ADDED_AND_REMOVED = "`add_tags` has this tag too."
_TOO_MANY_TAGS = gettext_noop(
    "With these the ticket would have %(count)s tags, and it can have %(limit)s."
)
_UNSET = ("first_response_at", "closed_at", "last_customer_reply_at", "merged_into_id")
_OF_NEW: dict[str, Any] = {"reply_count": 0, "version": 1, **dict.fromkeys(_UNSET)}
# Events name each of these that a change alters.
_CHANGEABLE = tuple(
    name for name in TicketChange.__struct_fields__ if name in Ticket.__struct_fields__
)


def written_at(created_at: str, now_us: int, *, newest_us: int = 0) -> int:
    """When something that is imported was written. Raises ValidationFailed.

    newest_us: the time of the newest message of its ticket.
    """
    at_us = clock.parse_instant(created_at) or 0
    if at_us < MIN_IMPORTED_US:
        raise invalid([Fault("/created_at", "time_too_old", _TOO_OLD)])
    if at_us > now_us:
        values = {"now": clock.iso(now_us)}
        raise invalid([Fault("/created_at", "time_in_future", _IN_FUTURE, values)])
    if at_us < newest_us:
        values = {"newest": clock.iso(newest_us)}
        raise invalid([Fault("/created_at", "not_in_order", _NOT_IN_ORDER, values)])
    return at_us


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
    key_id: str | None = None,
) -> Ticket:
    """The first version of a ticket. Raises Conflict, ValidationFailed."""
    fields = msgspec.structs.asdict(new)
    del fields["customer"], fields["attachment_ids"], fields["created_at"]
    fields["tags"] = distinct(new.tags)
    fields["custom_fields"] = new.custom_fields or {}
    if new.snoozed_until is not None:
        wanted, is_ended = new.snoozed_until, new.status in ENDED
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
        key_id=key_id,
    )


def apply_change(ticket: Ticket, change: TicketChange, now_us: int) -> TicketUpdate:
    """What a change does to a ticket. Raises Conflict, ValidationFailed."""
    fields = merge_patch.given_fields(change)
    added, removed = fields.pop("add_tags", ()), fields.pop("remove_tags", ())
    if added or removed:
        _check_tag_change(fields, added, removed)
        fields["tags"] = _changed_tags(ticket.tags, added, removed)
    elif "tags" in fields:
        fields["tags"] = distinct(fields["tags"])
    if "custom_fields" in fields:
        fields["custom_fields"] = merge_patch.merge(ticket.custom_fields, fields["custom_fields"])
    if "snoozed_until" in fields:
        wanted, is_ended = fields["snoozed_until"], fields.get("status", ticket.status) in ENDED
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


def check_not_merged(ticket: Ticket) -> None:
    """Raises Conflict, which names the ticket to use instead."""
    if ticket.merged_into_id is not None:
        raise Conflict(TICKET_MERGED, ticket_id=ticket.id, merged_into_id=ticket.merged_into_id)


def check_takes_replies(ticket: Ticket) -> None:
    """Raises Conflict when a ticket is merged or closed."""
    check_not_merged(ticket)
    if ticket.status == "closed":
        raise Conflict(TICKET_CLOSED)


def _comparable(value: Any) -> Any:
    is_tags = isinstance(value, list | tuple)
    return [identity(tag) for tag in distinct([*value])] if is_tags else value


def apply_reply(
    ticket: Ticket, reply: Reply, now_us: int, from_mail: FromMail | None = None
) -> TicketUpdate:
    """What a reply does to its ticket. Raises Conflict when it is closed."""
    if from_mail is None:
        check_takes_replies(ticket)
    fields: dict[str, Any] = {
        "updated_at": max(now_us, ticket.updated_at),
        "version": ticket.version + 1,
        "last_message_at": max(reply.created_at, ticket.last_message_at or 0),
        "snippet": snippet(reply.body, is_note=reply.is_internal),
    }
    if not reply.is_internal:
        fields["reply_count"] = ticket.reply_count + 1
        fields["last_reply_by"] = reply.author.type
        by_author = _customer_reply if reply.author.type == "customer" else _answer
        new = by_author(ticket, reply.created_at)
        fields |= _of_old_reply(new, ticket.status) if from_mail == "history" else new
    after = msgspec.structs.replace(ticket, **fields)
    changes = merge_patch.differences(ticket, after, ("status", "snoozed_until"))
    return TicketUpdate(ticket, after, changes)


def wake(ticket: Ticket, now_us: int) -> TicketUpdate:
    """What the end of its snooze does to a ticket."""
    after = msgspec.structs.replace(
        ticket,
        snoozed_until=None,
        updated_at=max(now_us, ticket.updated_at),
        version=ticket.version + 1,
    )
    return TicketUpdate(ticket, after, {"snoozed_until": (ticket.snoozed_until, None)})


def is_same_reply(stored: Reply, new: NewReply, user_id: str) -> bool:
    """Whether a stored reply is what a user sends."""
    attached = tuple(each.id for each in stored.attachments)
    before = stored.body, stored.is_internal, attached, stored.author.id
    return before == (new.body, new.is_internal, tuple(new.attachment_ids or ()), user_id)


def distinct(tags: list[str] | None) -> tuple[str, ...]:
    """Tags in the order given, each once; of those with one identity the first one stays."""
    first: dict[str, str] = {}
    for tag in tags or ():
        first.setdefault(identity(tag), tag)
    return tuple(first.values())


def _check_tag_change(fields: dict[str, Any], added: Sequence[str], removed: Sequence[str]) -> None:
    """Raises ValidationFailed when a change of tags contradicts itself."""
    if "tags" in fields:
        raise invalid([Fault("/tags", "conflicting_fields", _REPLACED)])
    identities = {identity(tag) for tag in added}
    for place, tag in enumerate(removed):
        if identity(tag) in identities:
            raise invalid(
                [Fault(f"/remove_tags/{place}", "conflicting_fields", _ADDED_AND_REMOVED)]
            )


def _changed_tags(
    tags: Sequence[str], added: Sequence[str], removed: Sequence[str]
) -> tuple[str, ...]:
    """The tags of a ticket after a change. Raises ValidationFailed when they are too many."""
    gone = {identity(tag) for tag in removed}
    after = distinct([*(tag for tag in tags if identity(tag) not in gone), *added])
    if len(after) > MAX_TAGS:
        values = {"count": len(after), "limit": MAX_TAGS}
        raise invalid([Fault("/add_tags", "too_many", _TOO_MANY_TAGS, values)])
    return after


def snippet(text: str, *, is_note: bool = False) -> str:
    """The beginning of a text as one line. is_note: whether NOTE_MARK stands before it."""
    line = " ".join(text.lstrip()[:_MAX_SNIPPET_SOURCE].split())
    line = line if len(line) <= _MAX_SNIPPET else line[: _MAX_SNIPPET - 1] + "…"
    return f"{NOTE_MARK}{line}" if is_note else line


def _customer_reply(ticket: Ticket, said_at: int) -> dict[str, Any]:
    """The fields that a reply of the customer sets."""
    is_reopened = ticket.status in _REOPENED_BY_CUSTOMER
    fields = _status_fields(ticket, "open", said_at) if is_reopened else {}
    waiting_since = said_at if ticket.waiting_since is None else ticket.waiting_since
    times = {"last_customer_reply_at": said_at, "waiting_since": waiting_since}
    return fields | times | {"snoozed_until": None}


def _answer(ticket: Ticket, said_at: int) -> dict[str, Any]:
    """The fields that a public reply to the customer sets."""
    first_at = said_at if ticket.first_response_at is None else ticket.first_response_at
    return {"first_response_at": first_at, "waiting_since": None}


def _of_old_reply(times: dict[str, Any], status: str) -> dict[str, Any]:
    """Of the fields that a reply sets, those of an old one: nobody waits for an ended ticket."""
    names = ("last_customer_reply_at", "first_response_at", "waiting_since")
    fields = {name: times[name] for name in names if name in times}
    return fields | {"waiting_since": None} if status in ENDED else fields


def _status_fields(ticket: Ticket, status: Status, now_us: int) -> dict[str, Any]:
    """The fields that a change of status sets. Raises Conflict."""
    if status == ticket.status:
        return {}
    check_not_merged(ticket)
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
    elif ticket.status in ENDED:
        fields |= {"resolved_at": None, "closed_at": None}
        fields["waiting_since"] = _unanswered_since(ticket)
    return fields


def _unanswered_since(ticket: Ticket) -> int | None:
    """Since when the customer of a reopened ticket waits; None when the desk wrote last."""
    if ticket.last_reply_by == "customer":
        return ticket.last_customer_reply_at
    return ticket.created_at if ticket.reply_count == 0 else None
