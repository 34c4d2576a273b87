"""Large forms of clients without a session take turns, so that nobody else waits for them."""

import asyncio
from collections.abc import Callable
from urllib.parse import urlencode

import pytest

from sealdesk.identity.auth import session_guard
from tests.support.pages import Visitor, logged_in
from tests.support.service import Service

_SMALL, _LARGE = "a" * 1_000, "a" * 20_000
_AT_ONCE = 3


@pytest.fixture
def impatient(start: Callable[..., Service], monkeypatch: pytest.MonkeyPatch) -> Service:
    """A service in which no form waits, and that sees each X-Forwarded-For as another client.

    After the first three it takes one in twenty seconds, so that a slow machine gets no more.
    """
    monkeypatch.setattr(session_guard, "_MAX_WAIT_S", 0.0)
    monkeypatch.setattr(session_guard, "_FORMS_PER_MINUTE", _AT_ONCE)
    monkeypatch.setattr(session_guard, "_FORMS_AT_ONCE_S", 60.0)
    return start(SEALDESK_TRUSTED_PROXIES="127.0.0.1")


def log_in_status(service: Service, typed: str, address: str) -> int:
    """The status of a failed log-in that carries a form."""
    fields = {"email": "a@b.test", "password": "p", "kept_to": "/tickets", "kept.body": typed}
    headers = {"x-forwarded-for": address, "content-type": "application/x-www-form-urlencoded"}
    sent = urlencode(fields).encode()
    return Visitor(service).once("POST", "/log-in", sent, **headers).status_code


def test_large_forms_of_one_network_are_refused_beyond_a_few(impatient: Service) -> None:
    found = [log_in_status(impatient, _LARGE, "2001:db8::1") for _ in range(_AT_ONCE + 1)]
    assert found == [*[401] * _AT_ONCE, 503]
    assert log_in_status(impatient, _LARGE, "2001:db8:0:1::1") == 503
    assert log_in_status(impatient, _LARGE, "2001:db8:1::1") == 401
    assert log_in_status(impatient, _SMALL, "2001:db8::1") == 401


def test_large_forms_of_a_session_do_not_take_turns(impatient: Service) -> None:
    tenant = impatient.tenant()
    visitor, key = logged_in(tenant), tenant.key()
    at = f"/tickets/{key.ticket()['id']}"
    for _ in range(_AT_ONCE + 1):
        form = visitor.get(at).form(f"{at}/reply")
        assert visitor.submit(form, body=_LARGE).status == 200


def test_a_large_form_waits_for_its_turn(
    start: Callable[..., Service], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session_guard, "_FORMS_PER_MINUTE", 600)
    monkeypatch.setattr(session_guard, "_FORMS_AT_ONCE_S", 0.1)
    service = start()
    assert [log_in_status(service, _LARGE, "") for _ in range(4)] == [401] * 4


def test_a_large_form_that_wakes_too_early_waits_again(
    start: Callable[..., Service], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Timers may end early, and the turn may be somebody else's by then."""
    sleep = asyncio.sleep

    async def sleep_too_short(seconds: float) -> None:
        await sleep(seconds / 2)

    monkeypatch.setattr(session_guard, "_FORMS_PER_MINUTE", 600)
    monkeypatch.setattr(session_guard, "_FORMS_AT_ONCE_S", 0.1)
    service = start()
    monkeypatch.setattr(asyncio, "sleep", sleep_too_short)
    assert [log_in_status(service, _LARGE, "") for _ in range(3)] == [401] * 3
