"""The connection test says step by step what works and what is wrong."""

import logging
from typing import Any
from uuid import uuid4

import pytest

from sealdesk.mail.mailboxes import connection_test
from sealdesk.mail.mailboxes.types import Failure
from tests.mail.mailboxes.servers import PASSWORD, USERNAME, MailServers
from tests.mail.mailboxes.stored import MAILBOXES, made, set_problem
from tests.support.service import Service, Tenant

ALL_DONE = [
    *("name", "connection", "tls", "log_in", "sending"),
    *("name", "connection", "tls", "log_in", "folder", "arrival"),
]


@pytest.fixture
def tester(tenant: Tenant, servers: MailServers) -> "Trials":
    return Trials(tenant, servers)


class Trials:
    """Makes mailboxes on the servers and tests them."""

    def __init__(self, tenant: Tenant, servers: MailServers) -> None:
        self.admin = tenant.admin()
        self._log_in = {
            f"{protocol}_{name}": value
            for protocol in ("imap", "smtp")
            for name, value in (("username", USERNAME), ("password", PASSWORD))
        }
        self._servers = {
            "imap_host": "localhost", "imap_port": servers.imaps_port,
            "smtp_host": "localhost", "smtp_port": servers.smtps_port,
        }  # fmt: skip

    def made(self, **fields: Any) -> str:
        """The id of a mailbox of both servers."""
        address = f"{uuid4().hex[:24]}@acme.test"
        new = {"receives": "imap", **self._servers, **self._log_in, **fields}
        unused = {f"{name}_" for name in ("imap", "smtp") if new[f"{name}_host"] is None}
        new = {name: value for name, value in new.items() if name[:5] not in unused}
        return str(made(self.admin, address, **new)["id"])

    def test(self, mailbox_id: str) -> dict[str, Any]:
        answer = self.admin.post(f"{MAILBOXES}/{mailbox_id}/test")
        assert answer.status_code == 200, answer.text
        assert PASSWORD not in answer.text
        found: dict[str, Any] = answer.json()["data"]
        return found

    def failure(self, **fields: Any) -> tuple[str, str, str]:
        """The protocol, step and code of the only step that fails."""
        steps = self.test(self.made(**fields))["steps"]
        (failed,) = [step for step in steps if step["outcome"] == "failed"]
        assert failed["message"] and failed["remedy"] and failed["detail"]
        return failed["protocol"], failed["step"], failed["code"]


@pytest.mark.parametrize("security", ["tls", "starttls"])
def test_a_mailbox_that_works_sends_to_itself_and_sees_it_arrive(
    tester: Trials, servers: MailServers, security: str
) -> None:
    is_tls = security == "tls"
    ports = {
        "imap_port": servers.imaps_port if is_tls else servers.imap_port,
        "smtp_port": servers.smtps_port if is_tls else servers.smtp_port,
    }
    securities = {"imap_security": security, "smtp_security": security}
    result = tester.test(tester.made(**ports, **securities, imap_folder="Anfragen & Köln"))
    assert result["is_working"], result
    assert [step["step"] for step in result["steps"]] == ALL_DONE
    assert {step["outcome"] for step in result["steps"]} == {"done"}
    assert servers.inbox.messages == [b""], "it deletes its message"


def test_each_fault_is_found_in_its_step(tester: Trials, servers: MailServers) -> None:
    no_sending = {"smtp_host": None}
    found = [
        tester.failure(imap_host="mail.invalid", **no_sending),
        tester.failure(imap_host="169.254.169.254", **no_sending),
        tester.failure(imap_port=1, **no_sending),
        tester.failure(imap_port=servers.expired_port, **no_sending),
        tester.failure(imap_host="127.0.0.1", **no_sending),
        tester.failure(imap_port=servers.web_port, **no_sending),
        tester.failure(imap_password="wrong", **no_sending),
        tester.failure(imap_folder="Gone", **no_sending),
    ]
    assert found == [
        ("imap", "name", "name_not_found"),
        ("imap", "name", "address_not_allowed"),
        ("imap", "connection", "not_reachable"),
        ("imap", "tls", "certificate_invalid"),
        ("imap", "tls", "certificate_invalid"),
        ("imap", "tls", "unexpected_answer"),
        ("imap", "log_in", "login_refused"),
        ("imap", "folder", "folder_missing"),
    ]


def test_each_fault_of_sending_is_found_in_its_step(tester: Trials, servers: MailServers) -> None:
    only_sends = {"receives": "no", "imap_host": None}
    found = [
        tester.failure(smtp_port=servers.smtp_port, **only_sends),
        tester.failure(smtp_port=servers.closing_port, smtp_security="starttls", **only_sends),
        tester.failure(smtp_password="wrong", **only_sends),
    ]
    for servers.inbox.refuses in ("550 5.7.1 not yours", "552 5.2.2 mailbox full"):
        found.append(tester.failure(**only_sends))
    assert found == [
        ("smtp", "tls", "tls_failed"),
        ("smtp", "tls", "closed"),
        ("smtp", "log_in", "login_refused"),
        ("smtp", "sending", "message_refused"),
        ("smtp", "sending", "quota_full"),
    ]


def test_a_refused_password_is_not_repeated(tester: Trials) -> None:
    steps = tester.test(tester.made(smtp_host=None, imap_password="hunter2"))["steps"]
    details = [step["detail"] for step in steps]
    assert "not ***" in str(details)
    assert "hunter2" not in str(details)


def test_a_server_that_hangs_ends_the_step(
    tester: Trials, servers: MailServers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection_test, "STEP_S", 5.0)  # which slower steps before it keep
    starts = {"smtp_host": None, "imap_security": "starttls"}
    failed = tester.failure(imap_port=servers.silent_port, **starts)
    assert failed == ("imap", "tls", "timed_out")


def test_a_message_that_does_not_arrive_is_missed(
    tester: Trials, servers: MailServers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection_test, "ARRIVAL_S", 1.0)
    servers.inbox.loses_messages = True
    assert tester.failure() == ("imap", "arrival", "not_arrived")


def test_after_a_failed_step_the_others_of_the_server_are_skipped(tester: Trials) -> None:
    steps = tester.test(tester.made(smtp_password="wrong"))["steps"]
    outcomes = [(step["protocol"], step["step"], step["outcome"]) for step in steps]
    assert outcomes[3:5] == [("smtp", "log_in", "failed"), ("smtp", "sending", "skipped")]
    assert outcomes[-2:] == [("imap", "folder", "done"), ("imap", "arrival", "skipped")]


def test_a_test_that_works_ends_the_problems(
    service: Service, tenant: Tenant, tester: Trials
) -> None:
    mailbox_id = tester.made()
    for side in ("receiving", "sending"):
        set_problem(service, tenant, mailbox_id, side, Failure("closed", "Closed."))
    tester.test(mailbox_id)
    shown = tester.admin.get(f"{MAILBOXES}/{mailbox_id}").json()["data"]
    assert (shown["receiving_problem"], shown["sending_problem"]) == (None, None)


def test_tests_of_a_tenant_are_limited(tester: Trials) -> None:
    mailbox_id = tester.made(smtp_host=None, imap_host="mail.invalid")
    path = f"{MAILBOXES}/{mailbox_id}/test"
    answers = [tester.admin.post(path) for _ in range(12)]
    assert [answer.status_code for answer in answers[:10]] == [200] * 10
    refused = answers[-1]
    assert (refused.status_code, refused.json()["code"]) == (429, "too_many_mailbox_tests")
    assert int(refused.headers["retry-after"]) > 0


def test_passwords_are_in_no_log(tester: Trials, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        tester.test(tester.made())
        tester.test(tester.made(imap_password="wrong-one", smtp_password="wrong-one"))
    assert PASSWORD not in caplog.text
    assert "wrong-one" not in caplog.text
