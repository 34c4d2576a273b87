"""Every problem is followed by success, or by a problem that names what comes next."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from sealdesk.routes import PROBLEM_TYPES, ROUTES
from tests.advice import of_objects, of_requests
from tests.advice.desk import Desk, Steps
from tests.support.receiver import LOOPBACK
from tests.support.service import Service

_TESTS = Path(__file__).parents[1]
_FAULT, _MAIL, _PAGES = "needs a fault or load", "needs e-mail", "is an answer to forms of pages"
# Why a problem is not provoked here, and the tests that do.
_ELSEWHERE = {
    "address_code_not_sent": (_MAIL, "mail/verifying/test_codes.py"),
    "address_code_refused": (_MAIL, "mail/verifying/test_codes.py"),
    "already_rated": (_MAIL, "mail/ratings/test_rating.py"),
    "attachment_quota_exceeded": ("needs the operator", "tickets/test_uploads.py"),
    "consent_not_given": (_PAGES, "mail/mailboxes/test_consents.py"),
    "consent_of_other_account": (_PAGES, "mail/mailboxes/test_consents.py"),
    "consent_unknown": (_PAGES, "mail/mailboxes/test_consents.py"),
    "cursor_expired": ("needs 30 days of events", "feed/test_keeping.py"),
    "foreign_form": (_PAGES, "web/test_pages.py"),
    "idempotency_in_flight": ("needs two requests at once", "records/test_idempotency.py"),
    "internal_error": (_FAULT, "web/test_application.py"),
    "journal_unwritable": (_FAULT, "cli/test_data_owner.py"),
    "last_administrator": (_PAGES, "identity/test_people_pages.py"),
    "mail_domain_assigned": ("needs the operator", "mail/mailboxes/test_mailboxes.py"),
    "mailbox_address_unverified": (_MAIL, "mail/verifying/test_codes.py"),
    "message_expired": (_MAIL, "mail/received_messages/test_held.py"),
    "message_not_processed": (_MAIL, "mail/receiving/test_failures.py"),
    "no_recipient": (_MAIL, "mail/sending/test_recipients.py"),
    "nobody_to_rate": (_MAIL, "mail/ratings/test_rating.py"),
    "not_ready": (_FAULT, "db/test_lost_files.py"),
    "query_too_slow": (_FAULT, "tickets/test_slow_lists.py"),
    "replay_in_progress": ("needs a replay that lasts", "webhooks/test_replay.py"),
    "request_timeout": ("needs 10 s", "server/test_http_protocol.py"),
    "storage_unavailable": (_FAULT, "web/test_application.py"),
    "tenant_rate_limit_exceeded": (_FAULT, "api_keys/test_tenant_limit.py"),
    "too_many_address_codes": (_MAIL, "mail/verifying/test_codes.py"),
    "too_many_bytes": (_FAULT, "server/test_bytes_in_flight.py"),
    "too_many_invitations": (_PAGES, "identity/test_invitations.py"),
    "too_many_mailbox_tests": (_MAIL, "mail/mailboxes/test_connection_test.py"),
    "user_email_taken": (_PAGES, "identity/test_invitations.py"),
    "user_inactive": (_PAGES, "identity/test_people_pages.py"),
}


def _provoked() -> Iterator[tuple[str, Callable[[Desk], Steps]]]:
    for module in (of_requests, of_objects):
        for name, value in vars(module).items():
            if getattr(value, "__module__", "") == module.__name__ and not name.startswith("_"):
                yield name, value


_PROVOKED = dict(_provoked())


def _fault(code: str, desk: Desk) -> str:
    """What is wrong with the advice of a problem; "" if it leads out."""
    try:
        found = [_outcome(each) for each in _PROVOKED[code](desk)]
    except (AssertionError, KeyError, ValueError) as error:
        return repr(error)
    is_out = found[0] == code and found[-1] == "" and {*found} == {code, ""}
    return "" if is_out else ", ".join(each or "success" for each in found)


def _outcome(answer: Any) -> str:
    """The code of a problem; "" for a success."""
    status = getattr(answer, "status_code", 0) or answer.status
    return "" if status < 300 else str(answer.json()["code"])


def test_who_does_what_a_problem_advises_succeeds(start: Callable[..., Service]) -> None:
    service, faults = start(SEALDESK_ATTACHMENT_TYPES="allow:txt,zip", **LOOPBACK), {}
    for code in _PROVOKED:
        with pytest.MonkeyPatch.context() as patches:
            tenant = service.tenant()
            faults[code] = _fault(code, Desk(tenant, tenant.key(), tenant.admin(), patches))
    assert {code: fault for code, fault in faults.items() if fault} == {}


def test_every_problem_is_provoked_here_or_elsewhere() -> None:
    assert {*_PROVOKED} | {*_ELSEWHERE} == {each.code for each in PROBLEM_TYPES}
    assert {*_PROVOKED}.isdisjoint(_ELSEWHERE)
    missing = [file for _, file in _ELSEWHERE.values() if not (_TESTS / file).exists()]
    assert missing == []


def test_what_a_remedy_names_exists() -> None:
    """Endpoints, and the header with the time to wait."""
    routes = {f"{each.method} {_unnamed(each.path)}" for each in ROUTES}
    for each in PROBLEM_TYPES:
        text = f"{each.message} {each.remedy}"
        named = re.findall(r"(?:GET|POST|PUT|PATCH|DELETE) /api[/\w{}-]+", text)
        assert {_unnamed(name) for name in named} <= routes, each.code
        assert "Retry-After" not in text or "retry-after" in each.headers, each.code


def _unnamed(path: str) -> str:
    return re.sub(r"{\w+}", "{}", path)
