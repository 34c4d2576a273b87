"""Searching the people to whom tickets are assigned."""

from urllib.parse import urlencode

from tests.support.pages import logged_in
from tests.support.service import Service, Tenant


def _found(tenant: Tenant, words: str) -> list[str]:
    page = logged_in(tenant).get(f"/tickets/people?{urlencode({'q': words})}")
    return [value for _, name, value in page.attributes if name == "data-person"]


def test_all_words_must_be_in_the_name_in_any_case(tenant: Tenant) -> None:
    eve = tenant.user("agent", name="Évelyne Roux")
    tenant.user("agent", name="Roux Martin")
    assert _found(tenant, "roux e\u0301VEL") == [eve]


def test_people_of_other_desks_are_not_found(service: Service, tenant: Tenant) -> None:
    service.tenant("Another").user("agent", name="Zoe Zander")
    assert _found(tenant, "zoe") == []


def test_at_most_ten_are_found_the_newest_first(tenant: Tenant) -> None:
    agents = [tenant.user("agent", name=f"Ann {n}") for n in range(12)]
    assert _found(tenant, "ann") == agents[:1:-1]
