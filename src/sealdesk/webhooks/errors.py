"""The error codes of webhooks."""

from sealdesk.errors import ProblemType, gettext_noop
from sealdesk.errors.general import NOT_FOUND, STORAGE_UNAVAILABLE

TOO_MANY_WEBHOOKS = ProblemType(
    code="too_many_webhooks",
    status=409,
    title="The tenant has the maximum number of webhook endpoints",
    message=gettext_noop(
        "There are %(limit)s webhook endpoints, as many as there may be. Delete one first."
    ),
    meaning="A tenant may have at most 50 webhook endpoints.",
    remedy="Delete an unused endpoint, or let one endpoint receive more event types.",
    example={"limit": 50},
    members=("limit",),
)
WEBHOOK_INACTIVE = ProblemType(
    code="webhook_inactive",
    status=409,
    title="The webhook endpoint is paused or disabled",
    message=gettext_noop("The endpoint is paused. Activate it first."),
    meaning="No events are sent to an endpoint that is paused or disabled.",
    remedy='Change it with {"is_active": true} first; `disabled_reason` says why it was disabled.',
)
WEBHOOK_DISABLED = WEBHOOK_INACTIVE.variant(
    gettext_noop("The endpoint is disabled. Activate it first.")
)
REPLAY_IN_PROGRESS = ProblemType(
    code="replay_in_progress",
    status=409,
    title="A replay to the webhook endpoint is under way",
    message=gettext_noop(
        "A replay to this endpoint is under way. Wait until it has its finished_at."
    ),
    meaning="The events of another time range are being delivered again to this endpoint.",
    remedy=(
        "Wait until the replay that `replay_id` names has a `finished_at` in GET"
        " /api/v1/webhooks/{id}/replays, then start the next one."
    ),
    example={"replay_id": "0199c0de-0b1c-7d2e-9f30-415263748596"},
    members=("replay_id",),
)
EVENT_DELETED = NOT_FOUND.variant("The event of this delivery was deleted after 30 days.")
SECRET_UNREADABLE = STORAGE_UNAVAILABLE.variant(
    "The endpoint's secret cannot be read by this server."
)
