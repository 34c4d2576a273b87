"""The structs of automation rules: as requested, as stored, and as shown."""

from typing import Annotated, ClassVar, Literal, NamedTuple

import msgspec
from msgspec import UNSET, Meta, UnsetType

from sealdesk.clock import Iso
from sealdesk.event_log.events import Changes
from sealdesk.ids import Id
from sealdesk.resources.representation import Object, check_visible
from sealdesk.tickets.macros.types import MacroText
from sealdesk.tickets.ticket.types import LongText, Priority, ReplyBody, Status, Tags

# unchanged: no event, but a time without one.
Trigger = Literal[
    "created", "changed", "replied", "bounced", "rated", "warned", "breached", "unchanged"
]
Operator = Literal["is", "is_not", "contains", "lacks"]
PauseReason = Literal[
    "too_many_effects", "team_missing", "person_missing", "macro_missing", "field_missing"
]
MAX_NOTIFIED = 20

MAX_HOURS = 90 * 24

RuleName = Annotated[str, Meta(min_length=1, max_length=100, extra={"check": check_visible})]
FieldName = Annotated[str, Meta(min_length=1, max_length=80)]
Value = Annotated[str, Meta(max_length=255)]
Hours = Annotated[int, Meta(ge=0, le=MAX_HOURS)]
Position = Annotated[int, Meta(ge=1, le=1_000_000)]


class Condition(msgspec.Struct, frozen=True):
    """One condition of a rule.

    field: `status`, `priority`, `source`, `tag`, `subject`, `description`, `message`,
    `last_reply_by`, `customer_email`, `customer_name`, `assignee_id`, `team_id`, `external_id`,
    `rating`, `rating_comment`, `business_hours`, or `custom_fields.` with a key.
    `message` is what was written: the reply, or the description of a new ticket. `last_reply_by`
    is who wrote it: `customer`, `agent` or `api_key`. `business_hours`
    is `yes` or `no`, by the hours of the ticket's team or of the desk.
    operator: `is` and `is_not` compare the whole value, without regard to case; `contains` and
    `lacks` a part of it.
    values: one of which is enough; for `is_not` and `lacks`, none of which may hold. An empty one
    is a field without a value.
    """

    field: FieldName
    operator: Operator
    values: Annotated[list[Value], Meta(min_length=1, max_length=20)]


class RuleActions(msgspec.Struct, frozen=True):
    """What a rule does to a ticket. What is null or empty stays as it is.

    raise_priority: by one step, up to urgent.
    assignee_id: an active user.
    custom_fields: a merge patch of fields that the desk has defined.
    macro_id: does what the macro does, apart from what the rule itself sets.
    note: an internal note, as Markdown.
    reply: a reply to the customer, as Markdown with the variables of macros, in place of the text
    of the macro.
    notify: ids of active users and of teams, who get a notification.
    send_event: records the event `ticket.rule_matched`, for webhooks that subscribe to it.
    """

    MISTAKEN: ClassVar[dict[str, str]] = dict.fromkeys(
        ReplyBody.MISTAKEN, "The customer gets `reply`, and never `note`."
    )

    status: Status | None = None
    priority: Priority | None = None
    raise_priority: bool = False
    assignee_id: str | None = None
    team_id: str | None = None
    add_tags: Tags | None = None
    remove_tags: Tags | None = None
    custom_fields: Object | None = None
    macro_id: str | None = None
    note: LongText | None = None
    reply: MacroText | None = None
    notify: Annotated[list[Id], Meta(max_length=MAX_NOTIFIED)] | None = None
    send_event: bool = False


class ShownActions(RuleActions, frozen=True):
    """What a rule does to a ticket. What is null stays as it is."""


Conditions = Annotated[list[Condition], Meta(max_length=20)]


class NewRule(msgspec.Struct, frozen=True):
    """The body of a request that creates a rule.

    position: rules run from the lowest to the highest; at the end if it is left out.
    hours: how long a ticket must be `unchanged`; 0 for the other triggers.
    conditions: all of them must hold.
    """

    IGNORED: ClassVar[frozenset[str]] = frozenset(
        {"id", "version", "paused_because", "created_at", "updated_at"}
    )
    IS_CLOSED: ClassVar[bool] = True  # a rule whose condition is not read acts on every ticket

    name: RuleName
    trigger: Trigger
    actions: RuleActions
    conditions: Conditions = []
    hours: Hours = 0
    position: Position | None = None
    is_enabled: bool = False


class RuleChange(msgspec.Struct, frozen=True):
    """A merge patch of a rule; `conditions` and `actions` are replaced as a whole."""

    IS_CLOSED: ClassVar[bool] = True

    name: RuleName | UnsetType = UNSET
    trigger: Trigger | UnsetType = UNSET
    actions: RuleActions | UnsetType = UNSET
    conditions: Conditions | UnsetType = UNSET
    hours: Hours | UnsetType = UNSET
    position: Position | UnsetType = UNSET
    is_enabled: bool | UnsetType = UNSET


class RuleFields(msgspec.Struct, frozen=True, kw_only=True):
    """The fields of a rule that the API shows as they are stored.

    position: rules run from the lowest to the highest.
    hours: how long a ticket must be `unchanged`.
    version: rises with each change.
    paused_because: why the desk has stopped it; null while it runs. Switching it on again, or
    changing it, ends that.
    """

    id: Id
    name: str
    position: int
    trigger: Trigger
    hours: int
    conditions: tuple[Condition, ...]
    actions: RuleActions
    is_enabled: bool
    paused_because: PauseReason | None
    version: int


class Rule(RuleFields, frozen=True, kw_only=True):
    """A rule as it is stored.

    enabled_at: it acts on events from then on.
    """

    tenant_id: str
    enabled_at: int
    created_at: int
    updated_at: int


class RuleResponse(RuleFields, frozen=True, kw_only=True):
    """A rule as the API shows it."""

    actions: ShownActions
    created_at: Iso
    updated_at: Iso


class Cause(NamedTuple):
    """A condition that held, and the value for which it did."""

    field: str
    operator: Operator
    value: str


class Outcome(NamedTuple):
    """What a rule would do, or would have done, to a ticket.

    at: when. changes: field → (old, new). others: which of OTHER_ACTIONS it does besides. causes:
    the conditions that held.
    """

    ticket_id: str
    number: int
    subject: str
    at: int
    changes: Changes
    others: tuple[str, ...]
    causes: list[Cause]


class Trial(NamedTuple):
    """A part of a dry run. first, reached, last: positions in the feed."""

    outcomes: list[Outcome]
    first: int
    reached: int
    last: int

    @property
    def is_over(self) -> bool:
        """Whether there are no later events."""
        return self.reached >= self.last


class TriedTicket(msgspec.Struct, frozen=True):
    """What a rule would have done to a ticket.

    happened_at: of the event.
    changes: field → [old, new]. also: further actions, as `reply`.
    because: the conditions that held, each with the value for which it did.
    """

    ticket_id: Id
    number: int
    subject: str
    happened_at: Iso
    changes: Changes
    also: tuple[str, ...]
    because: tuple[Condition, ...]


class DryRun(msgspec.Struct, frozen=True):
    """A part of a dry run of a rule.

    next_after: for the next request, as there are more events; null when it is over.
    """

    tickets: list[TriedTicket]
    next_after: int | None
