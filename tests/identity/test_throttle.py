"""The throttling of failed log-ins (spec decision 1)."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from sealdesk import ids
from sealdesk.caller import SYSTEM
from sealdesk.db.engine import Tx
from sealdesk.identity import actions, rules
from tests.support.client import Person
from tests.support.databases import Begin
from tests.support.service import PASSWORD, Service, Tenant

HOME, HOTEL, CAFE = "192.0.2.1", "198.51.100.2", "203.0.113.3"
NEW = "another long passphrase"


@pytest.fixture(scope="module")
def behind_a_proxy(begin: Begin, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with begin(tmp_path_factory.mktemp("data"), SEALDESK_TRUSTED_PROXIES="127.0.0.1") as service:
        yield service


@pytest.fixture
def service(behind_a_proxy: Service) -> Service:
    """A service behind a proxy, so that a test can choose its address; no log-in has failed."""
    behind_a_proxy.run("DELETE FROM login_failures")
    return behind_a_proxy


def _try(tenant: Tenant, address: str, password: str = "wrong", email: str = "") -> Any:
    body = {"email": email or tenant.admin_email, "password": password}
    return Person(tenant.service, "").post("/api/v1/auth/login", body, x_forwarded_for=address)


def _code(response: Any) -> str:
    return "" if response.is_success else str(response.json()["code"])


def _fail(tenant: Tenant, count: int, address: str, email: str = "") -> None:
    """Failed log-ins, without the time that hashing takes."""
    now_us = tenant.service.clock.now_us()

    async def work(tx: Tx) -> None:
        for _ in range(count):
            await actions.begin_log_in(tx, email or tenant.admin_email, address, now_us=now_us)

    tenant.service.write(work)


def _fail_anywhere(service: Service, count: int) -> None:
    """Failed log-ins as they are stored for the limit over all accounts and networks."""
    now_us = service.clock.now_us()
    sql = "INSERT INTO login_failures (bucket, id, failed_at) VALUES (:bucket, :id, :at)"
    rows = [
        {"bucket": rules.FROM_ANYWHERE, "id": ids.mint(now_us), "at": now_us} for _ in range(count)
    ]
    service.write(lambda tx: tx.execute_many(sql, rows))


def _reset(tenant: Tenant, address: str) -> None:
    """Set the administrator's password with a reset link."""
    service, now_us = tenant.service, tenant.service.clock.now_us()

    async def make_token(tx: Tx) -> str:
        user = await actions.get_user_by_email(tx, tenant.admin_email)
        return await actions.make_reset_token(tx, user, actor=SYSTEM, now_us=now_us)

    body = {"token": service.write(make_token), "new": NEW}
    response = Person(service, "").post("/api/v1/auth/reset", body, x_forwarded_for=address)
    assert response.status_code == 204, response.text


def test_eleventh_failure_in_five_minutes_is_throttled(tenant: Tenant) -> None:
    assert [_code(_try(tenant, HOME)) for _ in range(10)] == ["invalid_credentials"] * 10
    refused = _try(tenant, HOME)
    assert (refused.status_code, _code(refused)) == (429, "too_many_attempts")
    assert 295 <= int(refused.headers["retry-after"]) <= 300


def test_right_password_is_throttled_too(tenant: Tenant) -> None:
    _fail(tenant, 10, HOME)
    assert _code(_try(tenant, HOME, PASSWORD)) == "too_many_attempts"


def test_other_addresses_of_the_same_account_are_not_throttled(tenant: Tenant) -> None:
    _fail(tenant, 10, HOTEL)
    assert _code(_try(tenant, HOME, PASSWORD)) == ""


def test_other_accounts_from_the_same_address_are_not_throttled(tenant: Tenant) -> None:
    _fail(tenant, 10, HOME, "else@example.test")
    assert _code(_try(tenant, HOME, PASSWORD)) == ""


def test_unknown_account_is_counted_like_a_known_one(tenant: Tenant) -> None:
    _fail(tenant, 10, HOME, "ghost@example.test")
    assert _code(_try(tenant, HOME, email="ghost@example.test")) == "too_many_attempts"


def test_waiting_for_retry_after_is_enough(tenant: Tenant) -> None:
    _fail(tenant, 10, HOME)
    wait_s = int(_try(tenant, HOME, PASSWORD).headers["retry-after"])
    tenant.service.clock.advance(wait_s)
    assert _code(_try(tenant, HOME, PASSWORD)) == ""


def test_success_resets_the_account_from_this_address(tenant: Tenant) -> None:
    _fail(tenant, 9, HOME)
    assert _code(_try(tenant, HOME, PASSWORD)) == ""
    _fail(tenant, 9, HOME)
    assert _code(_try(tenant, HOME, PASSWORD)) == ""


def test_successes_are_not_counted(tenant: Tenant) -> None:
    assert [_code(_try(tenant, HOME, PASSWORD)) for _ in range(12)] == [""] * 12


def test_hundred_and_first_failure_from_one_address_is_throttled(tenant: Tenant) -> None:
    for number in range(11):
        _fail(tenant, 9, HOME, f"{number}@example.test")
    assert _code(_try(tenant, HOME, email="x@example.test")) == "invalid_credentials"
    assert _code(_try(tenant, HOME, PASSWORD)) == "too_many_attempts"
    assert _code(_try(tenant, HOTEL, PASSWORD)) == ""


def test_success_of_one_account_does_not_reset_the_address(tenant: Tenant) -> None:
    for number in range(11):
        _fail(tenant, 9, HOME, f"{number}@example.test")
    assert _code(_try(tenant, HOME, PASSWORD)) == ""
    _fail(tenant, 1, HOME, "x@example.test")
    assert _code(_try(tenant, HOME, PASSWORD)) == "too_many_attempts"


def test_hundred_failures_from_unknown_addresses_throttle_unknown_addresses(tenant: Tenant) -> None:
    for number in range(10):
        _fail(tenant, 10, f"198.51.100.{number}")
    refused = _try(tenant, CAFE, PASSWORD)
    assert _code(refused) == "too_many_attempts"
    assert 3500 <= int(refused.headers["retry-after"]) <= 3600


def test_unknown_addresses_cannot_lock_out_a_known_one(tenant: Tenant) -> None:
    assert _code(_try(tenant, HOME, PASSWORD)) == ""
    for number in range(10):
        _fail(tenant, 10, f"198.51.100.{number}")
    assert _code(_try(tenant, HOME)) == "invalid_credentials"
    assert _code(_try(tenant, HOME, PASSWORD)) == ""


def test_known_address_has_its_own_limit(tenant: Tenant) -> None:
    assert _code(_try(tenant, HOME, PASSWORD)) == ""
    _fail(tenant, 10, HOME)
    assert _code(_try(tenant, HOME, PASSWORD)) == "too_many_attempts"


def test_guesses_at_once_are_all_counted(tenant: Tenant) -> None:
    with ThreadPoolExecutor(16) as pool:
        codes = list(pool.map(lambda _: _code(_try(tenant, HOME)), range(24)))
    assert codes.count("invalid_credentials") == 10
    assert codes.count("too_many_attempts") == 14


def test_client_cannot_set_its_address_with_a_header(
    start: Callable[..., Service],
) -> None:
    tenant = start().tenant()
    _fail(tenant, 10, "127.0.0.1")
    assert _code(_try(tenant, HOME, PASSWORD)) == "too_many_attempts"


def test_changing_the_password_counts_wrong_guesses_too(tenant: Tenant) -> None:
    person = tenant.admin()
    _fail(tenant, 9, "127.0.0.1")
    change = {"current": "wrong", "new": "another long passphrase"}
    codes = [_code(person.post("/api/v1/auth/password", change)) for _ in range(2)]
    assert codes == ["invalid_credentials", "too_many_attempts"]


def test_guesses_from_one_ipv6_network_are_counted_together(tenant: Tenant) -> None:
    _fail(tenant, 9, "2001:db8:1:2::1")
    codes = [_code(_try(tenant, f"2001:db8:1:2:ffff::{n}")) for n in range(2, 4)]
    assert codes == ["invalid_credentials", "too_many_attempts"]
    assert _code(_try(tenant, "2001:db8:1:3::1", PASSWORD)) == ""


def test_four_hundred_guesses_from_one_ipv6_network_are_not_evaluated(tenant: Tenant) -> None:
    for number in range(20):
        _fail(tenant, 5, f"2001:db8:1:2::{number:x}", f"{number}@example.test")
    refused = _try(tenant, "2001:db8:1:2:3:4:5:6", email="x@example.test")
    assert (refused.status_code, _code(refused)) == (429, "too_many_attempts")


def test_networks_of_one_site_are_counted_together(tenant: Tenant) -> None:
    for number in range(60):
        _fail(tenant, 5, f"2001:db8:1:{number // 15:x}::1", f"{number}@example.test")
    assert _code(_try(tenant, "2001:db8:1:ffff::1", PASSWORD)) == "too_many_attempts"
    assert _code(_try(tenant, "2001:db8:2::1", PASSWORD)) == ""


def test_an_ipv4_mapped_address_is_counted_as_ipv4(tenant: Tenant) -> None:
    _fail(tenant, 10, f"::ffff:{HOME}")
    assert _code(_try(tenant, HOME, PASSWORD)) == "too_many_attempts"
    assert _code(_try(tenant, f"::ffff:{HOTEL}", PASSWORD)) == ""


def test_an_owner_may_change_their_address_within_a_known_ipv6_network(tenant: Tenant) -> None:
    assert _code(_try(tenant, "2001:db8:1:2::1", PASSWORD)) == ""
    for number in range(10):
        _fail(tenant, 10, f"198.51.100.{number}")
    assert _code(_try(tenant, "2001:db8:1:2:aaaa::2", PASSWORD)) == ""
    assert _code(_try(tenant, "2001:db8:1:3::1", PASSWORD)) == "too_many_attempts"


def test_over_a_thousand_failures_in_all_only_known_networks_are_evaluated(
    tenant: Tenant,
) -> None:
    assert _code(_try(tenant, HOME, PASSWORD)) == ""
    person = tenant.admin()
    _fail_anywhere(tenant.service, 999)
    assert _code(_try(tenant, HOTEL, email="ghost@example.test")) == "invalid_credentials"
    refused = [_try(tenant, CAFE, PASSWORD), _try(tenant, CAFE, email="ghost@example.test")]
    assert [_code(each) for each in refused] == ["too_many_attempts"] * 2
    assert int(refused[0].headers["retry-after"]) <= 300
    assert _code(_try(tenant, HOME, PASSWORD)) == ""
    assert person.get("/api/v1/auth/me").status_code == 200
    tenant.service.clock.advance(301)
    assert _code(_try(tenant, CAFE, PASSWORD)) == ""


def test_a_reset_ends_the_limits_of_the_account(tenant: Tenant) -> None:
    for address in (CAFE, *(f"198.51.100.{number}" for number in range(9))):
        _fail(tenant, 10, address)
    _fail_anywhere(tenant.service, 900)
    refused = _try(tenant, CAFE, PASSWORD)
    assert (_code(refused), "reset link" in refused.text) == ("too_many_attempts", True)
    _reset(tenant, CAFE)
    assert _code(_try(tenant, CAFE, NEW)) == ""
    assert _code(_try(tenant, "198.51.100.0", email="ghost@example.test")) == "too_many_attempts"


def test_a_reset_does_not_end_the_limits_of_other_accounts(tenant: Tenant) -> None:
    other = f"{tenant.admin_email}.test"
    _fail(tenant, 10, HOME, other)
    _reset(tenant, HOME)
    assert _code(_try(tenant, HOME, email=other)) == "too_many_attempts"


def test_no_reset_is_advised_where_it_does_not_help(tenant: Tenant) -> None:
    for number in range(10):
        _fail(tenant, 10, HOME, f"{number}@example.test")
    refused = _try(tenant, HOME, PASSWORD)
    assert (_code(refused), "reset link" in refused.json()["detail"]) == (
        "too_many_attempts",
        False,
    )
    _reset(tenant, HOME)
    assert _code(_try(tenant, HOME, NEW)) == "too_many_attempts"
