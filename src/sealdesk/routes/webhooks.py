"""The routes of webhooks, as rows of the table in `table.py`."""

from sealdesk.identity.auth.bearer_guard import administrator
from sealdesk.identity.auth.session_guard import SessionGuard
from sealdesk.identity.types import ADMINISTRATORS
from sealdesk.routes.by_key import by_key
from sealdesk.web.operation import Route
from sealdesk.web.request import MAX_BODY_BYTES
from sealdesk.webhooks import api as webhooks
from sealdesk.webhooks.pages import deliveries as delivery_pages
from sealdesk.webhooks.pages import endpoints as webhook_pages
from sealdesk.webhooks.pages import redelivery as redelivery_pages

_ADMIN = administrator()
_ADMIN_PAGE = SessionGuard(ADMINISTRATORS)
# For forms whose result outlasts the session (decision 0019).
_REAUTHENTICATED = SessionGuard(ADMINISTRATORS, needs_reauthentication=True)
# For bodies with long text; others may have 8 KiB (decision 0028).
_LONG = MAX_BODY_BYTES

_BY_ADMINISTRATORS: tuple[Route, ...] = (
    Route("GET", "/api/v1/webhooks", _ADMIN, webhooks.list_webhooks),
    Route("POST", "/api/v1/webhooks", _ADMIN, webhooks.create_webhook, _LONG),
    Route("GET", "/api/v1/webhooks/{id}", _ADMIN, webhooks.get_webhook),
    Route("PATCH", "/api/v1/webhooks/{id}", _ADMIN, webhooks.change_webhook, _LONG),
    Route("DELETE", "/api/v1/webhooks/{id}", _ADMIN, webhooks.delete_webhook),
    Route("POST", "/api/v1/webhooks/{id}/rotate-secret", _ADMIN, webhooks.rotate_webhook_secret),
    Route("POST", "/api/v1/webhooks/{id}/test", _ADMIN, webhooks.test_webhook),
    Route("GET", "/api/v1/webhooks/{id}/deliveries", _ADMIN, webhooks.list_deliveries),
    Route("GET", "/api/v1/webhooks/{id}/deliveries/{delivery_id}", _ADMIN, webhooks.get_delivery),
    Route(
        "POST",
        "/api/v1/webhooks/{id}/deliveries/{delivery_id}/redeliver",
        _ADMIN,
        webhooks.redeliver,
    ),
    Route("POST", "/api/v1/webhooks/{id}/redeliver-failed", _ADMIN, webhooks.redeliver_failed),
    Route("POST", "/api/v1/webhooks/{id}/retry-now", _ADMIN, webhooks.retry_now),
    Route("POST", "/api/v1/webhooks/{id}/replay", _ADMIN, webhooks.replay_events, _LONG),
    Route("GET", "/api/v1/webhooks/{id}/replays", _ADMIN, webhooks.list_replays),
)

WEBHOOK_API: tuple[Route, ...] = (
    *_BY_ADMINISTRATORS,
    *by_key(_BY_ADMINISTRATORS, "webhooks"),
)

WEBHOOK_PAGES: tuple[Route, ...] = (
    # Settings → Webhooks.
    Route("GET", "/settings/webhooks", _ADMIN_PAGE, webhook_pages.list_webhooks),
    Route("GET", "/settings/webhooks/new", _ADMIN_PAGE, webhook_pages.new_webhook),
    Route("POST", "/settings/webhooks/new", _REAUTHENTICATED, webhook_pages.create_webhook, _LONG),
    Route("GET", "/settings/webhooks/{id}", _ADMIN_PAGE, webhook_pages.show_webhook),
    Route("GET", "/settings/webhooks/{id}/edit", _ADMIN_PAGE, webhook_pages.edit_webhook),
    Route(
        "POST",
        "/settings/webhooks/{id}/edit",
        _REAUTHENTICATED,
        webhook_pages.change_webhook,
        _LONG,
    ),
    Route("POST", "/settings/webhooks/{id}/pause", _ADMIN_PAGE, webhook_pages.pause_webhook),
    Route("POST", "/settings/webhooks/{id}/activate", _ADMIN_PAGE, webhook_pages.activate_webhook),
    Route("GET", "/settings/webhooks/{id}/rotate", _ADMIN_PAGE, webhook_pages.confirm_rotation),
    Route("POST", "/settings/webhooks/{id}/rotate", _REAUTHENTICATED, webhook_pages.rotate_secret),
    Route("GET", "/settings/webhooks/{id}/delete", _ADMIN_PAGE, webhook_pages.confirm_deletion),
    Route("POST", "/settings/webhooks/{id}/delete", _REAUTHENTICATED, webhook_pages.delete_webhook),
    Route("POST", "/settings/webhooks/{id}/test", _ADMIN_PAGE, delivery_pages.send_test),
    Route("POST", "/settings/webhooks/{id}/retry-now", _ADMIN_PAGE, delivery_pages.retry_now),
    Route(
        "GET",
        "/settings/webhooks/{id}/redeliver-failed",
        _ADMIN_PAGE,
        redelivery_pages.redelivery_form,
    ),
    Route(
        "POST",
        "/settings/webhooks/{id}/redeliver-failed",
        _ADMIN_PAGE,
        redelivery_pages.redeliver_failed,
    ),
    Route("GET", "/settings/webhooks/{id}/replay", _ADMIN_PAGE, delivery_pages.replay_form),
    Route("POST", "/settings/webhooks/{id}/replay", _ADMIN_PAGE, delivery_pages.replay),
    Route(
        "GET",
        "/settings/webhooks/{id}/deliveries/{delivery_id}",
        _ADMIN_PAGE,
        delivery_pages.show_delivery,
    ),
    Route(
        "POST",
        "/settings/webhooks/{id}/deliveries/{delivery_id}/redeliver",
        _ADMIN_PAGE,
        delivery_pages.redeliver,
    ),
)
