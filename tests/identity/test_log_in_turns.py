"""Log-ins from one network do not delay those from another."""

import threading
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from sealdesk.identity.auth import passwords
from tests.support.service import PASSWORD, Service, Tenant, wait_until

LOG_IN = "/api/v1/auth/login"
GUESS = "a guess that takes long"


class SlowChecks:
    """The checks of GUESS: how many have begun. None ends before `goes_on` is set."""

    def __init__(self) -> None:
        self.begun = 0
        self.goes_on = threading.Event()


@pytest.fixture
def checks(monkeypatch: pytest.MonkeyPatch) -> SlowChecks:
    slow, check = SlowChecks(), passwords._is_correct_now

    def check_slowly(password: str, password_hash: str | None) -> bool:
        if password == GUESS:
            slow.begun += 1
            slow.goes_on.wait(30)
        return check(password, password_hash)

    monkeypatch.setattr(passwords, "_is_correct_now", check_slowly)
    return slow


def test_log_ins_from_one_address_leave_threads_to_others(
    service: Service, tenant: Tenant, checks: SlowChecks
) -> None:
    def log_in(address: str, email: str, password: str) -> int:
        transport = httpx.HTTPTransport(local_address=address)
        with httpx.Client(base_url=service.url, transport=transport, timeout=120) as client:
            return client.post(LOG_IN, json={"email": email, "password": password}).status_code

    with ThreadPoolExecutor(4) as pool:
        for number in range(4):
            pool.submit(log_in, "127.0.0.4", f"guessed{number}@example.test", GUESS)
        wait_until(lambda: checks.begun == 2)
        assert log_in("127.0.0.5", tenant.admin_email, PASSWORD) == 200
        assert checks.begun == 2
        checks.goes_on.set()
