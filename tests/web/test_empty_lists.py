"""Lists without entries say what they would show, and the next step."""

import re

from tests.support.pages import INBOX, Visitor
from tests.support.service import Tenant

_EMPTY = re.compile(r'<section class="card empty">(.*?)</section>', re.DOTALL)


def _steps(visitor: Visitor, path: str) -> list[str]:
    """The links of the only empty state of a page, none of which is a second button."""
    text = visitor.get(path).answer.text
    buttons = re.findall(r'class="button main" href="([^"]+)"', text)
    assert len(buttons) == len({*buttons})
    (empty,) = _EMPTY.findall(text)
    assert "<h2>" in empty
    return re.findall(r'href="([^"]+)"', empty.replace("&amp;", "&"))


def test_a_new_desk_says_in_each_list_what_to_do(visitor: Visitor) -> None:
    steps = {
        "/customers": ["/tickets/new"],
        "/settings/api-keys": ["/settings/api-keys/new"],
        "/settings/webhooks": ["/settings/webhooks/new"],
        "/settings/teams": ["/settings/teams/new"],
        "/settings/macros": ["/settings/macros/new"],
        "/settings/rules": ["/settings/rules/new"],
        "/settings/custom-fields": ["/settings/custom-fields/new"],
        "/settings/tags": [],
        "/settings/audit?action=key.revoked": ["/settings/audit"],
        "/notifications": ["/tickets?view=unassigned"],
        "/tickets/views": ["/tickets"],
    }
    assert {path: _steps(visitor, path) for path in steps} == steps


def test_a_list_of_tickets_without_rows_leads_to_one_with_rows(
    visitor: Visitor, tenant: Tenant
) -> None:
    ticket = tenant.key().ticket(subject="A saucer")
    paths = (
        "?status=closed", "?tag=nothing", "?q=saucer&status=closed", "?view=urgent",
        "?before=1_00000000-0000-0000-0000-000000000000",
    )  # fmt: skip
    for path in paths:
        (step,) = _steps(visitor, f"{INBOX}{path}")
        if "q=" not in step:
            assert f"/tickets/{ticket['id']}" in visitor.get(step).links, path
    assert _steps(visitor, f"{INBOX}?q=saucer&status=closed") == [f"{INBOX}?q=saucer"]
    assert _steps(visitor, f"{INBOX}?q=nobody") == ["/customers?q=nobody"]
    assert _steps(visitor, "/customers?q=nobody") == ["/customers"]
