"""All routes: method, path, guard and operation. Read this table to review access.

The rows of the pages of tickets are in `ticket_pages.py`.
"""

from sealdesk.api_keys import api as api_keys
from sealdesk.api_keys.debugger import pages as debug_pages
from sealdesk.api_keys.guard.signed import signed
from sealdesk.api_keys.guard.upload import signed_upload
from sealdesk.api_keys.pages import confirm as confirm_pages
from sealdesk.api_keys.pages import keys as key_pages
from sealdesk.audit_log import pages as audit_pages
from sealdesk.customers import api as customers
from sealdesk.customers import pages as customers_pages
from sealdesk.feed import api as feed
from sealdesk.identity import api as identity
from sealdesk.identity.auth.bearer_guard import administrator, logged_in
from sealdesk.identity.auth.session_guard import SessionGuard, VisitorGuard
from sealdesk.identity.pages import account as account_pages
from sealdesk.identity.pages import login as identity_pages
from sealdesk.identity.pages import people as people_pages
from sealdesk.identity.pages import two_factor
from sealdesk.identity.rules import ADMINISTRATORS, ROLES
from sealdesk.routes.collected import AUDIT_PAGE, PROBLEM_TYPES
from sealdesk.routes.ticket_pages import TICKET_PAGES
from sealdesk.tickets import api as tickets
from sealdesk.tickets.attachments import api as attachments
from sealdesk.tickets.attachments.rules import MAX_ATTACHMENT_BYTES
from sealdesk.tickets.custom_fields import api as custom_fields
from sealdesk.tickets.custom_fields import pages as custom_field_pages
from sealdesk.tickets.macros import api as macros
from sealdesk.tickets.macros import pages as macro_pages
from sealdesk.tickets.merging import api as merging
from sealdesk.tickets.pages import customer as customer_pages
from sealdesk.tickets.teams import api as teams
from sealdesk.web import assets, status
from sealdesk.web.openapi import endpoints as reference
from sealdesk.web.operation import Open, Route
from sealdesk.web.request import MAX_BODY_BYTES
from sealdesk.webhooks import api as webhooks
from sealdesk.webhooks.pages import deliveries as delivery_pages
from sealdesk.webhooks.pages import endpoints as webhook_pages

# Guards of the external API: a signature, and one of these permissions.
_TICKETS_READ, _TICKETS_WRITE = signed("tickets:read"), signed("tickets:write")
_REPLIES_READ = signed("tickets:read", "replies:read")
_REPLIES_WRITE = signed("tickets:write", "replies:write")
_UPLOAD = signed_upload("tickets:write", "replies:write")
_EVENTS_READ = signed("tickets:read", "replies:read", "customers:read")
_CUSTOMERS_READ, _CUSTOMERS_WRITE = signed("customers:read"), signed("customers:write")
# Guards of the management API: an access token.
_ADMIN = administrator()
_USER = logged_in()
# Guards of pages: a session.
_VISITOR = VisitorGuard()
_USER_PAGE = SessionGuard(ROLES)
_ADMIN_PAGE = SessionGuard(ADMINISTRATORS)
_OWN_REAUTHENTICATED = SessionGuard(ROLES, needs_reauthentication=True)
# For forms whose result outlasts the session: keys, endpoints, and who may log in (decision 0019).
_REAUTHENTICATED = SessionGuard(ADMINISTRATORS, needs_reauthentication=True)
_OPEN = Open()
# For bodies with long text; others may have 8 KiB (decision 0028).
_LONG = MAX_BODY_BYTES

_API: tuple[Route, ...] = (
    # The external API (interface section 4.2): a signature and a permission.
    Route("GET", "/api/v1/external/tickets", _TICKETS_READ, tickets.list_tickets),
    Route("POST", "/api/v1/external/tickets", _TICKETS_WRITE, tickets.create_ticket, _LONG),
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
    Route("GET", "/api/v1/external/customers", _CUSTOMERS_READ, customers.list_customers),
    Route("POST", "/api/v1/external/customers", _CUSTOMERS_WRITE, customers.create_customer, _LONG),
    Route("GET", "/api/v1/external/customers/{id}", _CUSTOMERS_READ, customers.get_customer),
    Route(
        "PATCH",
        "/api/v1/external/customers/{id}",
        _CUSTOMERS_WRITE,
        customers.change_customer,
        _LONG,
    ),
    Route("GET", "/api/v1/external/agents", _TICKETS_READ, identity.list_agents),
    Route("GET", "/api/v1/external/teams", _TICKETS_READ, teams.list_choices),
    Route("GET", "/api/v1/external/events", _EVENTS_READ, feed.list_events),
    Route("GET", "/api/v1/external/whoami", signed(), api_keys.whoami),
    # Key management (interface section 4.1): an access token of an administrator.
    Route("GET", "/api/v1/api-keys", _ADMIN, api_keys.list_keys),
    Route("POST", "/api/v1/api-keys", _ADMIN, api_keys.create_key, _LONG),
    Route("GET", "/api/v1/api-keys/{id}", _ADMIN, api_keys.get_key),
    Route("PATCH", "/api/v1/api-keys/{id}", _ADMIN, api_keys.change_key, _LONG),
    Route("DELETE", "/api/v1/api-keys/{id}", _ADMIN, api_keys.revoke_key),
    Route("POST", "/api/v1/api-keys/{id}/rotate", _ADMIN, api_keys.rotate_key),
    Route("POST", "/api/v1/api-keys/{id}/confirm", _ADMIN, api_keys.confirm_key),
    Route("GET", "/api/v1/api-keys/{id}/refusals", _ADMIN, api_keys.list_refusals),
    # Webhooks: as key management.
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
    Route("POST", "/api/v1/webhooks/{id}/replay", _ADMIN, webhooks.replay_events, _LONG),
    Route("GET", "/api/v1/webhooks/{id}/replays", _ADMIN, webhooks.list_replays),
    # Custom fields, macros and teams: as key management.
    Route("GET", "/api/v1/custom-fields", _ADMIN, custom_fields.list_fields),
    Route("POST", "/api/v1/custom-fields", _ADMIN, custom_fields.define_field, _LONG),
    Route("GET", "/api/v1/custom-fields/{id}", _ADMIN, custom_fields.get_field),
    Route("PATCH", "/api/v1/custom-fields/{id}", _ADMIN, custom_fields.change_field, _LONG),
    Route("GET", "/api/v1/macros", _ADMIN, macros.list_macros),
    Route("POST", "/api/v1/macros", _ADMIN, macros.create_macro, _LONG),
    Route("GET", "/api/v1/macros/{id}", _ADMIN, macros.get_macro),
    Route("PATCH", "/api/v1/macros/{id}", _ADMIN, macros.change_macro, _LONG),
    Route("DELETE", "/api/v1/macros/{id}", _ADMIN, macros.delete_macro),
    Route("GET", "/api/v1/teams", _ADMIN, teams.list_teams),
    Route("POST", "/api/v1/teams", _ADMIN, teams.create_team),
    Route("GET", "/api/v1/teams/{id}", _ADMIN, teams.get_team),
    Route("PATCH", "/api/v1/teams/{id}", _ADMIN, teams.change_team),
    Route("DELETE", "/api/v1/teams/{id}", _ADMIN, teams.delete_team),
    Route("GET", "/api/v1/teams/{id}/members", _ADMIN, teams.list_members),
    Route("POST", "/api/v1/teams/{id}/members", _ADMIN, teams.add_member),
    Route("DELETE", "/api/v1/teams/{id}/members/{user_id}", _ADMIN, teams.remove_member),
    # The user's own account: an access token, except for logging in and resetting a password.
    Route("POST", "/api/v1/auth/login", _OPEN, identity.log_in),
    Route("POST", "/api/v1/auth/reset", _OPEN, identity.reset_password),
    Route("GET", "/api/v1/auth/me", _USER, identity.me),
    Route("POST", "/api/v1/auth/logout", _USER, identity.log_out),
    Route("POST", "/api/v1/auth/password", _USER, identity.change_password),
    # The service itself, without authentication.
    Route("GET", "/api/v1/time", _OPEN, status.tell_time),
    Route("GET", "/healthz", _OPEN, status.is_alive),
    Route("GET", "/readyz", _OPEN, status.is_ready),
    Route("GET", "/metrics", status.MetricsGuard(), status.metrics),
)

_REFERENCE = reference.Reference(_API, PROBLEM_TYPES)

ROUTES: tuple[Route, ...] = (
    *_API,
    # The API reference.
    Route("GET", "/openapi.json", _OPEN, _REFERENCE.openapi()),
    Route("GET", "/docs", _OPEN, _REFERENCE.page()),
    Route("GET", "/docs/errors", _OPEN, _REFERENCE.errors()),
    Route("GET", "/docs/assets/reference.css", _OPEN, assets.asset("reference.css")),
    Route("GET", "/docs/assets/reference.js", _OPEN, assets.asset("reference.js")),
    Route("GET", "/docs/assets/icon.svg", _OPEN, assets.asset("icon.svg")),
)

PAGES: tuple[Route, ...] = (
    # Logging in and out, and resetting a password.
    Route("GET", "/", _VISITOR, identity_pages.front),
    # The log-in form carries the form that the end of a session has interrupted.
    Route("POST", "/log-in", _VISITOR, identity_pages.log_in, _LONG),
    Route("POST", "/log-out", _USER_PAGE, identity_pages.log_out),
    Route("GET", "/reset", _VISITOR, identity_pages.reset_form),
    Route("POST", "/reset", _VISITOR, identity_pages.reset),
    *TICKET_PAGES,
    # The user's own account, and the language of the pages.
    Route("GET", "/account", _USER_PAGE, account_pages.show_account),
    Route("POST", "/account/name", _USER_PAGE, account_pages.rename),
    Route("POST", "/account/password", _USER_PAGE, account_pages.change_password),
    Route("GET", "/account/two-factor", _USER_PAGE, two_factor.show),
    Route("POST", "/account/two-factor/begin", _OWN_REAUTHENTICATED, two_factor.begin),
    Route("POST", "/account/two-factor/confirm", _USER_PAGE, two_factor.confirm),
    Route("POST", "/account/two-factor/recovery-codes", _OWN_REAUTHENTICATED, two_factor.renew),
    Route("POST", "/account/two-factor/off", _OWN_REAUTHENTICATED, two_factor.turn_off),
    Route("POST", "/language", _VISITOR, account_pages.choose_language),
    # Settings → People.
    Route("GET", "/settings/people", _ADMIN_PAGE, people_pages.list_people),
    Route("GET", "/settings/people/invite", _ADMIN_PAGE, people_pages.invitation_form),
    Route("POST", "/settings/people/invite", _REAUTHENTICATED, people_pages.invite),
    Route("GET", "/settings/people/{id}", _ADMIN_PAGE, people_pages.show_person),
    Route("POST", "/settings/people/{id}/link", _REAUTHENTICATED, people_pages.make_link),
    Route("POST", "/settings/people/{id}/name", _ADMIN_PAGE, people_pages.rename),
    Route("POST", "/settings/people/{id}/role", _REAUTHENTICATED, people_pages.change_role),
    Route(
        "GET", "/settings/people/{id}/deactivate", _ADMIN_PAGE, people_pages.confirm_deactivation
    ),
    Route("POST", "/settings/people/{id}/deactivate", _REAUTHENTICATED, people_pages.deactivate),
    Route("POST", "/settings/people/{id}/reactivate", _REAUTHENTICATED, people_pages.reactivate),
    Route(
        "POST",
        "/settings/people/{id}/two-factor-off",
        _REAUTHENTICATED,
        people_pages.turn_off_two_factor,
    ),
    # Customers.
    Route("GET", "/customers", _USER_PAGE, customers_pages.list_customers),
    Route("GET", "/customers/export", _ADMIN_PAGE, customers_pages.ask_export),
    Route("GET", "/customers/export/file", _ADMIN_PAGE, customers_pages.export_customers),
    Route("GET", "/customers/{id}", _USER_PAGE, customer_pages.show_customer),
    Route("GET", "/customers/{id}/edit", _USER_PAGE, customers_pages.edit_customer),
    Route("POST", "/customers/{id}/edit", _USER_PAGE, customers_pages.change_customer, _LONG),
    # Settings → Audit log.
    Route("GET", "/settings/audit", _ADMIN_PAGE, AUDIT_PAGE),
    Route("GET", "/settings/audit/export", _ADMIN_PAGE, audit_pages.export_audit),
    # Settings → API Keys.
    Route("GET", "/settings/api-keys", _ADMIN_PAGE, key_pages.list_keys),
    Route("GET", "/settings/api-keys/new", _ADMIN_PAGE, key_pages.new_key),
    Route("POST", "/settings/api-keys/new", _REAUTHENTICATED, key_pages.create_key),
    Route("GET", "/settings/api-keys/debug", _ADMIN_PAGE, debug_pages.ask),
    Route("POST", "/settings/api-keys/debug", _ADMIN_PAGE, debug_pages.debug, _LONG),
    Route("GET", "/settings/api-keys/confirm", _ADMIN_PAGE, confirm_pages.list_unconfirmed),
    Route("POST", "/settings/api-keys/confirm", _REAUTHENTICATED, confirm_pages.confirm_keys),
    Route("GET", "/settings/api-keys/{id}", _ADMIN_PAGE, key_pages.show_key),
    Route("GET", "/settings/api-keys/{id}/edit", _ADMIN_PAGE, key_pages.edit_key),
    Route("POST", "/settings/api-keys/{id}/edit", _REAUTHENTICATED, key_pages.change_key),
    Route("GET", "/settings/api-keys/{id}/rotate", _ADMIN_PAGE, key_pages.confirm_rotation),
    Route("POST", "/settings/api-keys/{id}/rotate", _REAUTHENTICATED, key_pages.rotate_key),
    Route("GET", "/settings/api-keys/{id}/revoke", _ADMIN_PAGE, key_pages.confirm_revocation),
    Route("POST", "/settings/api-keys/{id}/revoke", _REAUTHENTICATED, key_pages.revoke_key),
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
    # Settings → Custom fields.
    Route("GET", "/settings/custom-fields", _ADMIN_PAGE, custom_field_pages.list_fields),
    Route("GET", "/settings/custom-fields/new", _ADMIN_PAGE, custom_field_pages.new_field),
    Route(
        "POST", "/settings/custom-fields/new", _ADMIN_PAGE, custom_field_pages.define_field, _LONG
    ),
    Route("GET", "/settings/custom-fields/{id}", _ADMIN_PAGE, custom_field_pages.edit_field),
    Route(
        "POST", "/settings/custom-fields/{id}", _ADMIN_PAGE, custom_field_pages.change_field, _LONG
    ),
    # Settings → Macros.
    Route("GET", "/settings/macros", _ADMIN_PAGE, macro_pages.list_macros),
    Route("GET", "/settings/macros/new", _ADMIN_PAGE, macro_pages.new_macro),
    Route("POST", "/settings/macros/new", _ADMIN_PAGE, macro_pages.create_macro, _LONG),
    Route("GET", "/settings/macros/{id}", _ADMIN_PAGE, macro_pages.show_macro),
    Route("POST", "/settings/macros/{id}", _ADMIN_PAGE, macro_pages.change_macro, _LONG),
    Route("GET", "/settings/macros/{id}/delete", _ADMIN_PAGE, macro_pages.confirm_deletion),
    Route("POST", "/settings/macros/{id}/delete", _ADMIN_PAGE, macro_pages.delete_macro),
    # Style sheet, script, font and icon.
    Route("GET", "/assets/desk.css", _OPEN, assets.asset("desk.css")),
    Route("GET", "/assets/desk.js", _OPEN, assets.asset("desk.js")),
    Route("GET", "/assets/inter.woff2", _OPEN, assets.asset("inter.woff2")),
    Route("GET", "/assets/icon.svg", _OPEN, assets.asset("icon.svg")),
)
