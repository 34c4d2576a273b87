"""The query plans of lists of customers, keys, refusals and users: one index serves each."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from sealdesk.api_keys import store as api_keys
from sealdesk.customers import store
from sealdesk.customers.store import Filter
from sealdesk.identity import store as identity
from sealdesk.resources.paging import PageRequest
from tests.support.plans import plan

FIRST, FURTHER = PageRequest(25, None), PageRequest(25, ["id"])


@pytest.mark.parametrize(
    ("fields", "index", "by", "ends_in_id"),
    [
        ({}, "sqlite_autoindex_customers_1", "", True),
        ({"external_id": "x"}, "customers_external_id", " AND external_id=?", True),
    ],
)
@pytest.mark.parametrize("newest_first", [True, False])
def test_a_filter_of_customers_reads_its_own_index(
    template: Path,
    fields: dict[str, Any],
    index: str,
    by: str,
    ends_in_id: bool,
    newest_first: bool,
) -> None:
    filters = Filter(**fields, newest_first=newest_first)
    assert filters.is_served()
    sign = "<" if newest_first else ">"
    for page, place in ((FIRST, ""), (FURTHER, f" AND id{sign}?" if ends_in_id else "")):
        steps = plan(template, partial(_list, filters, page))
        assert steps == [f"SEARCH customers USING INDEX {index} (tenant_id=?{by}{place})"]


# An address is one customer's, but for the few of decision 0141: whatever else is asked of their
# rows costs nothing.
@pytest.mark.parametrize("more", [{}, {"external_id": "y", "updated_after": 1}])
def test_a_filter_by_address_reads_the_indexes_of_addresses(
    template: Path, more: dict[str, Any]
) -> None:
    steps = plan(template, partial(_list, Filter(email="x", **more), FIRST))
    assert [each for each in steps if "SEARCH" in each] == [
        "SEARCH customer_addresses USING PRIMARY KEY (tenant_id=? AND email_identity=?)",
        "SEARCH customers USING INDEX customers_email (tenant_id=? AND email_identity=?)",
        "SEARCH customer_addresses USING PRIMARY KEY"
        " (tenant_id=? AND email_identity>? AND email_identity<?)",
    ]


def test_the_external_id_of_merged_customers_has_an_index(template: Path) -> None:
    steps = plan(template, lambda tx: store.list_merged_with(tx, "tenant", "x", 1))
    index = "customer_merges_external_id (tenant_id=? AND external_id=?)"
    assert steps == [f"SEARCH customer_merges USING INDEX {index}"]


async def _list(filters: Filter, page: PageRequest, tx: Any) -> object:
    return await store.list_customers(tx, "tenant", filters, page)


def test_a_filter_by_change_time_of_customers_has_no_index(template: Path) -> None:
    assert not Filter(updated_after=1).is_served()
    assert not Filter(updated_after=1, external_id="x").is_served()


@pytest.mark.parametrize("page", [FIRST, FURTHER], ids=["first", "further"])
@pytest.mark.parametrize(
    ("listing", "step"),
    [
        (api_keys.list_keys, "k USING PRIMARY KEY (tenant_id=? AND id<?)"),
        # Inactive users are walked over: a tenant has people by the hundred, not by the million.
        (partial(identity.list_users, active_only=True),
         "u USING INDEX sqlite_autoindex_users_1 (tenant_id=? AND id<?)"),
        (identity.list_users, "u USING INDEX sqlite_autoindex_users_1 (tenant_id=? AND id<?)"),
    ],
    ids=["keys", "agents", "users"],
)  # fmt: skip
def test_keys_and_people_are_read_in_the_order_of_their_ids(
    template: Path, listing: Callable[..., Any], step: str, page: PageRequest
) -> None:
    assert plan(template, lambda tx: listing(tx, "tenant", page)) == [f"SEARCH {step}"]


@pytest.mark.parametrize("page", [FIRST, FURTHER], ids=["first", "further"])
def test_refusals_are_read_in_the_order_of_their_ids(template: Path, page: PageRequest) -> None:
    index = "sqlite_autoindex_refusals_1 (tenant_id=? AND key_id=? AND id<?)"
    steps = plan(template, lambda tx: api_keys.list_refusals(tx, "tenant", "key", page))
    assert steps == [f"SEARCH refusals USING INDEX {index}"]
