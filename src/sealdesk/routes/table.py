"""All routes: method, path, guard and operation. Read this table to review access.

The rows of the external API are in `external_api.py`, those of the pages of tickets in
`ticket_pages.py`, and those of webhooks in `webhooks.py`.
"""

from sealdesk.api_keys import api as api_keys
from sealdesk.api_keys.debugger import pages as debug_pages
from sealdesk.api_keys.pages import confirm as confirm_pages
from sealdesk.api_keys.pages import keys as key_pages
from sealdesk.api_keys.request_log import api as requests
from sealdesk.api_keys.request_log import pages as request_pages
from sealdesk.audit_log import pages as audit_pages
from sealdesk.automation import api as automation
from sealdesk.automation import pages as automation_pages
from sealdesk.customers import pages as customers_pages
from sealdesk.identity import api as identity
from sealdesk.identity.auth.bearer_guard import administrator, logged_in
from sealdesk.identity.auth.session_guard import SessionGuard, VisitorGuard
from sealdesk.identity.pages import account as account_pages
from sealdesk.identity.pages import login as identity_pages
from sealdesk.identity.pages import people as people_pages
from sealdesk.identity.pages import two_factor
from sealdesk.identity.types import ADMINISTRATORS, ROLES
from sealdesk.installation.api import installation
from sealdesk.installation.pages import show_installation
from sealdesk.routes.by_key import by_key
from sealdesk.routes.documented_events import DOCUMENTED_EVENTS
from sealdesk.routes.external_api import EXTERNAL_API
from sealdesk.routes.mail import MAIL_API, MAIL_PAGES
from sealdesk.routes.rooms import PROBLEM_TYPES
from sealdesk.routes.ticket_pages import TICKET_PAGES
from sealdesk.routes.webhooks import WEBHOOK_API, WEBHOOK_PAGES
from sealdesk.teams import api as teams
from sealdesk.tickets.custom_fields import api as custom_fields
from sealdesk.tickets.custom_fields import pages as custom_field_pages
from sealdesk.tickets.customer_merging import pages as customer_merging_pages
from sealdesk.tickets.erasing import pages as erasing_pages
from sealdesk.tickets.macros import api as macros
from sealdesk.tickets.macros import pages as macro_pages
from sealdesk.tickets.pages import customer as customer_pages
from sealdesk.tickets.promises import api as promises
from sealdesk.tickets.promises import pages as promise_pages
from sealdesk.web import assets, status
from sealdesk.web.documentation import serve_documentation
from sealdesk.web.openapi.endpoints import openapi_routes
from sealdesk.web.operation import Open, Route
from sealdesk.web.request import MAX_BODY_BYTES

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

_RULES: tuple[Route, ...] = (
    Route("GET", "/api/v1/rules", _ADMIN, automation.list_rules),
    Route("POST", "/api/v1/rules", _ADMIN, automation.create_rule, _LONG),
    Route("GET", "/api/v1/rules/{id}", _ADMIN, automation.get_rule),
    Route("PATCH", "/api/v1/rules/{id}", _ADMIN, automation.change_rule, _LONG),
    Route("DELETE", "/api/v1/rules/{id}", _ADMIN, automation.delete_rule),
    Route("GET", "/api/v1/rules/{id}/dry-run", _ADMIN, automation.try_rule),
)

_API: tuple[Route, ...] = (
    *EXTERNAL_API,
    # Key management (interface section 4.1): an access token of an administrator.
    Route("GET", "/api/v1/api-keys", _ADMIN, api_keys.list_keys),
    Route("POST", "/api/v1/api-keys", _ADMIN, api_keys.create_key, _LONG),
    Route("GET", "/api/v1/api-keys/{id}", _ADMIN, api_keys.get_key),
    Route("PATCH", "/api/v1/api-keys/{id}", _ADMIN, api_keys.change_key, _LONG),
    Route("DELETE", "/api/v1/api-keys/{id}", _ADMIN, api_keys.revoke_key),
    Route("POST", "/api/v1/api-keys/{id}/rotate", _ADMIN, api_keys.rotate_key),
    Route("POST", "/api/v1/api-keys/{id}/confirm", _ADMIN, api_keys.confirm_key),
    Route("GET", "/api/v1/api-keys/{id}/refusals", _ADMIN, api_keys.list_refusals),
    Route("GET", "/api/v1/requests", _ADMIN, requests.list_requests),
    Route("GET", "/api/v1/requests/{request_id}", _ADMIN, requests.get_request, takes_names=True),
    *WEBHOOK_API,
    *MAIL_API,
    # Custom fields, macros and teams: as key management.
    Route("GET", "/api/v1/custom-fields", _ADMIN, custom_fields.list_fields),
    Route("POST", "/api/v1/custom-fields", _ADMIN, custom_fields.define_field, _LONG),
    Route("GET", "/api/v1/custom-fields/{id}", _ADMIN, custom_fields.get_field),
    Route("PATCH", "/api/v1/custom-fields/{id}", _ADMIN, custom_fields.change_field, _LONG),
    Route("DELETE", "/api/v1/custom-fields/{id}", _ADMIN, custom_fields.delete_field),
    Route("GET", "/api/v1/macros", _ADMIN, macros.list_macros),
    Route("POST", "/api/v1/macros", _ADMIN, macros.create_macro, _LONG),
    Route("GET", "/api/v1/macros/{id}", _ADMIN, macros.get_macro),
    Route("PATCH", "/api/v1/macros/{id}", _ADMIN, macros.change_macro, _LONG),
    Route("DELETE", "/api/v1/macros/{id}", _ADMIN, macros.delete_macro),
    *_RULES,
    *by_key(_RULES, "rules"),
    Route("GET", "/api/v1/sla-policies", _ADMIN, promises.list_policies),
    Route("POST", "/api/v1/sla-policies", _ADMIN, promises.create_policy, _LONG),
    Route("GET", "/api/v1/sla-policies/{id}", _ADMIN, promises.get_policy),
    Route("PATCH", "/api/v1/sla-policies/{id}", _ADMIN, promises.change_policy, _LONG),
    Route("DELETE", "/api/v1/sla-policies/{id}", _ADMIN, promises.delete_policy),
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
    Route("GET", "/healthz/installation", status.MetricsGuard(), installation),
)

# Files that are looked up by their whole path.
_DOCUMENTATION = tuple(
    Route("GET", path, _OPEN, serve_documentation, takes_names=True)
    for path in (
        "/docs",
        "/docs.md",
        "/docs/{page}",
        "/docs/{folder}/{page}",
        "/llms.txt",
        "/llms-full.txt",
    )
)

ROUTES: tuple[Route, ...] = (
    *_API,
    # The OpenAPI document and the documentation.
    *openapi_routes(_API, PROBLEM_TYPES, DOCUMENTED_EVENTS),
    *_DOCUMENTATION,
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
    Route("POST", "/account/theme", _USER_PAGE, account_pages.choose_theme),
    Route("GET", "/account/two-factor", _USER_PAGE, two_factor.show),
    Route("POST", "/account/two-factor/begin", _OWN_REAUTHENTICATED, two_factor.begin),
    Route("POST", "/account/two-factor/confirm", _USER_PAGE, two_factor.confirm),
    Route("POST", "/account/two-factor/recovery-codes", _OWN_REAUTHENTICATED, two_factor.renew),
    Route("POST", "/account/two-factor/off", _OWN_REAUTHENTICATED, two_factor.turn_off),
    Route("POST", "/language", _VISITOR, account_pages.choose_language),
    # Settings → People.
    Route("GET", "/settings", _ADMIN_PAGE, people_pages.open_settings),
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
    Route("GET", "/customers/suggestions", _USER_PAGE, customers_pages.suggest_customers),
    Route("GET", "/customers/export", _ADMIN_PAGE, customers_pages.ask_export),
    Route("GET", "/customers/export/file", _ADMIN_PAGE, customers_pages.export_customers),
    Route("GET", "/customers/{id}", _USER_PAGE, customer_pages.show_customer),
    Route("GET", "/customers/{id}/edit", _USER_PAGE, customers_pages.edit_customer),
    Route("POST", "/customers/{id}/edit", _USER_PAGE, customers_pages.change_customer, _LONG),
    Route("GET", "/customers/{id}/merge", _USER_PAGE, customer_merging_pages.show_merge),
    Route("POST", "/customers/{id}/merge", _USER_PAGE, customer_merging_pages.merge),
    Route("POST", "/customers/{id}/unmerge", _USER_PAGE, customer_merging_pages.undo),
    Route("GET", "/customers/{id}/erase", _ADMIN_PAGE, erasing_pages.ask),
    Route("POST", "/customers/{id}/erase", _REAUTHENTICATED, erasing_pages.erase_customer),
    Route("GET", "/customers/{id}/erasure", _USER_PAGE, erasing_pages.show_progress),
    # Settings → Audit log.
    Route("GET", "/settings/installation", SessionGuard(("super_admin",)), show_installation),
    Route("GET", "/settings/audit", _ADMIN_PAGE, audit_pages.show_audit),
    Route("GET", "/settings/audit/export", _ADMIN_PAGE, audit_pages.export_audit),
    # Settings → API keys.
    Route("GET", "/settings/api-keys", _ADMIN_PAGE, key_pages.list_keys),
    Route("GET", "/settings/api-keys/new", _ADMIN_PAGE, key_pages.new_key),
    Route("POST", "/settings/api-keys/new", _REAUTHENTICATED, key_pages.create_key),
    Route("GET", "/settings/api-keys/requests", _ADMIN_PAGE, request_pages.list_requests),
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
    *WEBHOOK_PAGES,
    *MAIL_PAGES,
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
    Route(
        "GET",
        "/settings/custom-fields/{id}/delete",
        _ADMIN_PAGE,
        custom_field_pages.confirm_deletion,
    ),
    Route(
        "POST", "/settings/custom-fields/{id}/delete", _ADMIN_PAGE, custom_field_pages.delete_field
    ),
    # Settings → Rules.
    Route("GET", "/settings/rules", _ADMIN_PAGE, automation_pages.list_rules),
    Route("GET", "/settings/rules/new", _ADMIN_PAGE, automation_pages.new_rule),
    Route("POST", "/settings/rules/new", _ADMIN_PAGE, automation_pages.create_rule, _LONG),
    Route("GET", "/settings/rules/{id}", _ADMIN_PAGE, automation_pages.show_rule),
    Route("POST", "/settings/rules/{id}", _ADMIN_PAGE, automation_pages.change_rule, _LONG),
    Route("POST", "/settings/rules/ready-made", _ADMIN_PAGE, automation_pages.add_ready_made),
    Route("GET", "/settings/rules/{id}/dry-run", _ADMIN_PAGE, automation_pages.try_rule),
    Route("POST", "/settings/rules/{id}/switch", _ADMIN_PAGE, automation_pages.switch_rule),
    Route("GET", "/settings/rules/{id}/delete", _ADMIN_PAGE, automation_pages.confirm_deletion),
    Route("POST", "/settings/rules/{id}/delete", _ADMIN_PAGE, automation_pages.delete_rule),
    # Settings → SLA policies.
    Route("GET", "/settings/sla-policies", _ADMIN_PAGE, promise_pages.list_policies),
    Route("GET", "/settings/sla-policies/new", _ADMIN_PAGE, promise_pages.new_policy),
    Route("POST", "/settings/sla-policies/new", _ADMIN_PAGE, promise_pages.create_policy, _LONG),
    Route("GET", "/settings/sla-policies/{id}", _ADMIN_PAGE, promise_pages.show_policy),
    Route("POST", "/settings/sla-policies/{id}", _ADMIN_PAGE, promise_pages.change_policy, _LONG),
    Route("GET", "/settings/sla-policies/{id}/delete", _ADMIN_PAGE, promise_pages.confirm_deletion),
    Route("POST", "/settings/sla-policies/{id}/delete", _ADMIN_PAGE, promise_pages.delete_policy),
    # Settings → Macros.
    Route("GET", "/settings/macros", _USER_PAGE, macro_pages.list_macros),
    Route("GET", "/settings/macros/new", _USER_PAGE, macro_pages.new_macro),
    Route("POST", "/settings/macros/new", _USER_PAGE, macro_pages.create_macro, _LONG),
    Route("GET", "/settings/macros/{id}", _USER_PAGE, macro_pages.show_macro),
    Route("POST", "/settings/macros/{id}", _USER_PAGE, macro_pages.change_macro, _LONG),
    Route("GET", "/settings/macros/{id}/delete", _USER_PAGE, macro_pages.confirm_deletion),
    Route("POST", "/settings/macros/{id}/delete", _USER_PAGE, macro_pages.delete_macro),
    # Style sheet, script, font and icons.
    *(Route("GET", f"/assets/{name}", _OPEN, assets.asset(name)) for name in assets.FILES),
)
