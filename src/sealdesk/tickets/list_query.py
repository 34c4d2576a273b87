"""The query parameters of a list of tickets, and the filter that they make; no IO."""

from typing import Any

import msgspec

from sealdesk.resources import representation
from sealdesk.tickets import types
from sealdesk.tickets.store.filters import Filter
from sealdesk.web import query

_NOBODY = "none"
ANY = "any"  # stands for the customer of an address until they are known
_MAX_TAGS = 10
_MAX_FIELD_LENGTH = 320  # of a key and a value


def _custom_field() -> query.Param:
    def read(text: str) -> str:
        key, colon, value = text.partition(":")
        if not (key and colon and value) or len(text) > _MAX_FIELD_LENGTH:
            raise query.BadValue("a key and a value, as in carrier:DHL")
        return text

    param = query.text("custom_field", "", max_length=_MAX_FIELD_LENGTH, example="carrier:DHL")
    return msgspec.structs.replace(
        param, read=read, schema={**param.schema, "pattern": r"^[^:]+:[\s\S]"}
    )


FILTERS = (
    query.any_of("status", types.STATUSES, "Tickets in one of these statuses."),
    query.any_of("priority", types.PRIORITIES, "Tickets with one of these priorities."),
    query.number("number", "The ticket with this number."),
    query.identifier("customer_id", "Tickets of this customer."),
    query.text(
        "customer_email",
        "Tickets of the customer with this e-mail address, whatever its case.",
        max_length=representation.MAX_EMAIL_LENGTH,
        example="maria.santos@example.com",
    ),
    query.identifier(
        "assignee_id", "Tickets assigned to this agent, or `none`: to nobody.", besides=_NOBODY
    ),
    query.identifier("team_id", "Tickets of this team."),
    query.flag(
        "waiting",
        "Tickets whose customer waits for a public reply (true), or the others (false).",
    ),
    query.flag("snoozed", "Tickets that are snoozed (true), or the others (false)."),
    query.identifier("follower_id", "Tickets that this user follows."),
    query.repeated(
        query.text("tag", "", max_length=64, example="refund"),
        "Tickets that carry this tag; sent several times, all of these tags.",
        most=_MAX_TAGS,
    ),
    query.repeated(
        _custom_field(),
        "Tickets with this value of a custom field, as `key:value`, regardless of case; sent"
        " several times, all of these values. The newest first; a page may end before it is full.",
        most=_MAX_TAGS,
    ),
    query.text(
        "external_id", "Tickets with this external_id.", max_length=255, example="order-7731"
    ),
    query.instant("created_after", "Tickets created at this time or later."),
    query.instant("created_before", "Tickets created before this time."),
    query.instant("updated_after", "Tickets changed at this time or later."),
    query.instant("updated_before", "Tickets changed before this time, and not since."),
    query.one_of(
        "sort_by",
        ("created_at", "updated_at", "priority", "waiting_since"),
        "What to order by; equal ones by id. `waiting_since` lists only those who wait.",
        default="created_at",
    ),
    query.one_of("sort", ("desc", "asc"), "Descending or ascending.", default="desc"),
)
_PLAIN = (
    "status", "priority", "number", "customer_id", "team_id", "follower_id", "external_id",
    "created_after", "created_before", "updated_after", "updated_before", "sort_by",
)  # fmt: skip


def filter_of(values: dict[str, Any]) -> Filter:
    """The filter of the values that were sent.

    Its customer_id is ANY if only `customer_email` says whose tickets are meant.
    """
    fields = {name: values[name] for name in _PLAIN if name in values}
    if "customer_email" in values:
        fields.setdefault("customer_id", ANY)
    is_unassigned = values.get("assignee_id") == _NOBODY
    tag, *more_tags = values.get("tag", (None,))
    return Filter(
        **fields,
        assignee_id=None if is_unassigned else values.get("assignee_id"),
        is_unassigned=is_unassigned,
        is_waiting=values.get("waiting"),
        is_snoozed=values.get("snoozed"),
        tag=tag,
        more_tags=tuple(more_tags),
        newest_first=values.get("sort", "desc") == "desc",
    )


def custom_fields_of(values: dict[str, Any]) -> list[tuple[str, str]]:
    """The keys of custom fields with the values that tickets must have."""
    pairs = [text.partition(":") for text in values.get("custom_field", ())]
    return [(key, value) for key, _, value in pairs]
