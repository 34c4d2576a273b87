"""The filters and fields that the methods of the client take, as typed dictionaries.

A name that is not among them is refused before anything is sent: a typo would be lost silently.
What a later version of the service adds is reached with `Desk.request`.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from difflib import get_close_matches
from typing import Any, Literal, Required, TypedDict

from sealdesk.client.errors import InvalidConfiguration


def check_names(
    given: Mapping[str, Any], kind: type, where: str = "", *, shown: Sequence[str] = ()
) -> None:
    """Raises InvalidConfiguration for a name that a typed dictionary lacks.

    shown: other members of the resource, which may be sent back as they are.
    """
    known: list[str] = [*kind.__annotations__]
    for name in given:
        if name not in known and name not in shown:
            near = get_close_matches(str(name), known, 1)
            advice = f"; did you mean {near[0]!r}?" if near else f": there are {', '.join(known)}"
            raise InvalidConfiguration(f"{where}{name!r} is unknown{advice}")


class TicketCustomer(TypedDict, total=False):
    """The customer of a new ticket, found by e-mail address or added."""

    email: Required[str]
    name: str | None


class _ReportPart(TypedDict, total=False):
    period: Literal["day", "week", "month", "quarter", "year"]
    day: str
    first_day: str
    last_day: str
    step: Literal["hour", "day", "week"]
    team_id: str
    assignee_id: str
    source: Literal["api", "dashboard", "email"]
    tag: str
    key_id: str
    custom_field: str


class ReportFilters(_ReportPart, total=False):
    """What a report is of: a day of a period, or the first and last day of any.

    step: hour, day or week. group_by: team, assignee, source, tag, key, or field: and the key of a
    custom field. Either group_by, or one of the filters.
    """

    group_by: str


class ReportTicketFilters(_ReportPart, total=False):
    """Which tickets of a report: those behind a figure, of all of it or of a step.

    starts_at: of the step. age_days: `days` of one of `unfinished`, for figure="unfinished".
    """

    figure: Literal[
        "created", "answered", "resolved", "reopened", "kept", "missed", "rated", "unfinished"
    ]
    starts_at: str
    age_days: str


class TicketFilters(TypedDict, total=False):
    """The filters of a list of tickets. status, priority, tag: one value, or several.

    custom_field: key:value, or several that all must match. include: customer, replies.
    """

    status: str | Sequence[str]
    priority: str | Sequence[str]
    customer_id: str
    assignee_id: str
    team_id: str
    waiting: bool
    snoozed: bool
    follower_id: str
    tag: str | Sequence[str]
    custom_field: str | Sequence[str]
    include: str | Sequence[str]
    external_id: str
    rating: int
    number: int
    customer_email: str
    created_after: str | datetime
    created_before: str | datetime
    updated_after: str | datetime
    updated_before: str | datetime
    due_before: str | datetime
    sort_by: str
    sort: Literal["asc", "desc"]
    cursor: str
    per_page: int


class NewTicket(TypedDict, total=False):
    """The fields of a new ticket."""

    subject: Required[str]
    description: Required[str]
    customer: Required[TicketCustomer]
    priority: str
    status: str
    assignee_id: str | None
    team_id: str | None
    tags: Sequence[str] | None
    custom_fields: dict[str, Any] | None
    external_id: str | None
    snoozed_until: str | datetime | None
    attachment_ids: Sequence[str] | None


class TicketChange(TypedDict, total=False):
    """The fields of a ticket that change; None clears a field.

    add_tags, remove_tags: single tags; `tags` replaces all.
    """

    subject: str
    description: str
    status: str
    priority: str
    assignee_id: str | None
    team_id: str | None
    tags: Sequence[str] | None
    add_tags: Sequence[str]
    remove_tags: Sequence[str]
    custom_fields: dict[str, Any] | None
    external_id: str | None
    snoozed_until: str | datetime | None


class NewReply(TypedDict, total=False):
    """The fields of a new reply. author: {"type": "customer"} writes as the customer."""

    body: Required[str]
    is_internal: bool
    author: dict[str, str] | None
    attachment_ids: Sequence[str] | None


class ReplyFilters(TypedDict, total=False):
    """The filters of a list of replies."""

    is_internal: bool
    sort: Literal["asc", "desc"]
    html: bool
    cursor: str
    per_page: int


class CustomerFilters(TypedDict, total=False):
    """The filters of a list of customers."""

    email: str
    external_id: str
    q: str
    updated_after: str | datetime
    sort_by: str
    sort: Literal["asc", "desc"]
    cursor: str
    per_page: int


class NewCustomer(TypedDict, total=False):
    """The fields of a new customer."""

    email: Required[str]
    name: str | None
    phone: str | None
    company: str | None
    external_id: str | None
    metadata: dict[str, Any] | None
    other_emails: Sequence[str] | None
    other_phones: Sequence[str] | None


class CustomerChange(TypedDict, total=False):
    """The fields of a customer that change; None clears a field."""

    email: str
    name: str | None
    phone: str | None
    company: str | None
    external_id: str | None
    metadata: dict[str, Any] | None
    other_emails: Sequence[str] | None
    other_phones: Sequence[str] | None


class IdentifiedChange(TicketChange, total=False):
    """A change of one of several tickets. if_match: the ETag that the ticket must have."""

    id: Required[str]
    if_match: str


class CustomerUpsert(TypedDict, total=False):
    """The fields of a customer that is created or changed; None clears a field."""

    email: Required[str]
    name: str | None
    phone: str | None
    company: str | None
    metadata: dict[str, Any] | None


class NewWebhook(TypedDict, total=False):
    """The fields of a new webhook. events: types of events, or ["*"] for all."""

    url: Required[str]
    events: Required[Sequence[str]]
    description: str | None


class WebhookChange(TypedDict, total=False):
    """The fields of a webhook that change."""

    url: str
    events: Sequence[str]
    description: str | None
    is_active: bool


class DeliveryFilters(TypedDict, total=False):
    """The filters of a list of deliveries."""

    status: str
    event_type: str
    created_after: str | datetime
    created_before: str | datetime
    cursor: str
    per_page: int


class RuleCondition(TypedDict):
    """A condition of a rule: of several values one is enough."""

    field: str
    operator: Literal["is", "is_not", "contains", "lacks"]
    values: Sequence[str]


class RuleActions(TypedDict, total=False):
    """What a rule does to a ticket."""

    status: str | None
    priority: str | None
    raise_priority: bool
    assignee_id: str | None
    team_id: str | None
    add_tags: Sequence[str] | None
    remove_tags: Sequence[str] | None
    custom_fields: dict[str, Any] | None
    macro_id: str | None
    note: str | None
    reply: str | None
    notify: Sequence[str] | None
    send_event: bool


class NewRule(TypedDict, total=False):
    """The fields of a new rule. position: at the end if it is left out."""

    name: Required[str]
    trigger: Required[str]
    actions: Required[RuleActions]
    conditions: Sequence[RuleCondition]
    hours: int
    position: int | None
    is_enabled: bool


class RuleChange(TypedDict, total=False):
    """The fields of a rule that change; `conditions` and `actions` are replaced as a whole."""

    name: str
    trigger: str
    actions: RuleActions
    conditions: Sequence[RuleCondition]
    hours: int
    position: int
    is_enabled: bool
