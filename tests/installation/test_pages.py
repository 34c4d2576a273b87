"""Settings → Installation: issues for the administrators of all desks."""

import pytest

from sealdesk.identity.types import Role
from sealdesk.installation import checks
from sealdesk.installation.watch import Watch
from tests.support.page_security import assert_page_is_secure
from tests.support.pages import Visitor
from tests.support.service import Service, Tenant

HOME = "/settings/installation"


def logged_in_as(tenant: Tenant, role: Role) -> Visitor:
    email, visitor = f"{role}@{tenant.id}.test", Visitor(tenant.service)
    tenant.user(role, email)
    visitor.log_in(email)
    return visitor


def test_issues_are_shown_with_what_to_do(
    tenant: Tenant, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checks, "MIN_FREE_BYTES", 1 << 60)
    service.in_serving(lambda state: Watch(state, "serve").look())
    visitor = logged_in_as(tenant, "super_admin")
    page = visitor.get(HOME)
    assert_page_is_secure(page)
    for text in ("disk_almost_full", "writes will soon fail", "Free some space", "backup_lacks"):
        assert text in page.text
    assert "Installation" in visitor.get("/tickets").text


@pytest.mark.parametrize("role", ["agent", "tenant_admin"])
def test_others_neither_see_the_page_nor_a_link_to_it(tenant: Tenant, role: Role) -> None:
    visitor = logged_in_as(tenant, role)
    refused = visitor.get(HOME)
    assert refused.status == 403
    assert "Ask whoever runs the installation" in refused.text
    assert "Installation" not in visitor.get("/tickets").text
