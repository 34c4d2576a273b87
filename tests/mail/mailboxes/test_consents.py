"""Connecting a mailbox with OAuth, and logging in with what that gives."""

import logging
from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import pytest

from sealdesk.mail.mailboxes import problems
from sealdesk.mail.mailboxes.store import mailboxes
from sealdesk.mail.mailboxes.types import Mailbox
from sealdesk.oauth.providers import PROVIDERS
from tests.mail.mailboxes.servers import PASSWORD, MailServers
from tests.mail.mailboxes.servers import USERNAME as ADDRESS
from tests.mail.mailboxes.stored import MAILBOXES, made
from tests.support.authorization_server import (
    DIRECTORY,
    ENV,
    OWN_ID,
    OWN_SECRET,
    AuthorizationServer,
    authorizing,
)
from tests.support.databases import Begin
from tests.support.for_each import for_each
from tests.support.pages import Page, logged_in
from tests.support.receiver import Reply
from tests.support.service import Service, Tenant

CALLBACK = "/settings/email/callback"


@pytest.fixture(scope="module")
def shared_service(begin: Begin, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with begin(tmp_path_factory.mktemp("consents"), **ENV) as service:
        yield service


@pytest.fixture
def provider(
    servers: MailServers, monkeypatch: pytest.MonkeyPatch
) -> Iterator[AuthorizationServer]:
    """An authorisation server, and mail servers that accept its tokens, in place of Google's."""
    with authorizing() as server:
        servers.inbox.access_tokens = server.access_tokens
        local = server.provider(servers.imaps_port, servers.smtps_port)
        monkeypatch.setitem(PROVIDERS, "google", local)
        own = server.application(servers.imaps_port, servers.smtps_port)
        monkeypatch.setitem(PROVIDERS, "microsoft_application", own)
        yield server


class Desk:
    """A tenant whose mailbox is connected by its administrator."""

    def __init__(self, tenant: Tenant) -> None:
        self.service = tenant.service
        self.tenant = tenant
        self.admin = tenant.admin()
        self.visitor = logged_in(tenant)
        self.id = made(self.admin, ADDRESS)["id"]
        self.page = f"/settings/email/{self.id}"

    def ask(self) -> str:
        """Press Connect; where the link leads."""
        form = self.visitor.get(self.page).form(f"{self.page}/connect")
        page = self.visitor.submit(form, provider="google")
        (link,) = [link for link in page.links if link.startswith("http://127")]
        return link

    def connect(self, provider: AuthorizationServer, account: str = ADDRESS) -> Page:
        return self.visitor.get(provider.consent(self.ask(), account))

    def connect_application(self, **typed: str) -> Page:
        """Send the form of an application of the mailbox's own."""
        form = self.visitor.get(f"{self.page}/application").form(f"{self.page}/application")
        own = {"directory": DIRECTORY, "client_id": OWN_ID, "client_secret": OWN_SECRET}
        return self.visitor.submit(form, **{**own, **typed})

    def shown(self) -> dict[str, Any]:
        found: dict[str, Any] = self.admin.get(f"{MAILBOXES}/{self.id}").json()["data"]
        return found

    def mailbox(self) -> Mailbox:
        found = self.service.read(lambda tx: mailboxes.find(tx, self.tenant.id, self.id))
        assert found is not None
        return found

    def test(self) -> dict[str, Any]:
        result: dict[str, Any] = self.admin.post(f"{MAILBOXES}/{self.id}/test").json()["data"]
        return result

    def failed_codes(self) -> list[str]:
        return [step["code"] for step in self.test()["steps"] if step["outcome"] == "failed"]


@pytest.fixture
def desk(tenant: Tenant, provider: AuthorizationServer) -> Iterator[Desk]:
    made_desk = Desk(tenant)
    yield made_desk
    made_desk.admin.delete(f"{MAILBOXES}/{made_desk.id}")
    made_desk.admin.delete(f"/api/v1/former-addresses/{ADDRESS}")


def test_a_connected_mailbox_sends_and_receives_without_a_password(
    desk: Desk, provider: AuthorizationServer, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    page = desk.connect(provider)
    assert page.status == 200 and "connected with Google, without a password" in page.text
    assert desk.visitor.at == desk.page
    shown = desk.shown()
    assert (shown["oauth_provider"], shown["receives"], shown["smtp_username"]) == (
        "google",
        "imap",
        ADDRESS,
    )
    assert (shown["has_imap_password"], shown["has_smtp_password"]) == (False, False)
    result = desk.test()
    assert result["is_working"], result
    assert {step["outcome"] for step in result["steps"]} == {"done"}
    secrets = [*provider.refresh_tokens, *provider.access_tokens]
    stored = desk.mailbox().sealed_refresh_token or b""
    for secret in secrets:
        assert secret not in caplog.text and secret not in page.answer.text
        assert secret.encode() not in stored and secret not in str(shown)


def test_one_access_token_serves_until_it_ends_soon(
    desk: Desk, provider: AuthorizationServer
) -> None:
    desk.connect(provider)
    assert desk.test()["is_working"] and desk.test()["is_working"]
    assert provider.refresh_count == 1


def test_an_access_token_is_refreshed_before_it_ends(
    desk: Desk, provider: AuthorizationServer
) -> None:
    provider.life_s = 0
    desk.connect(provider)
    assert desk.test()["is_working"]
    assert provider.refresh_count == 2


def test_a_new_refresh_token_takes_the_place_of_the_old_one(
    desk: Desk, provider: AuthorizationServer
) -> None:
    provider.rotates = True
    desk.connect(provider)
    before = desk.mailbox()
    assert desk.test()["is_working"]
    after = desk.mailbox()
    assert after.sealed_refresh_token != before.sealed_refresh_token
    assert after.version == before.version
    provider.access_tokens.clear()
    assert "login_refused" in desk.failed_codes()
    assert desk.test()["is_working"]


def test_a_withdrawn_consent_says_what_to_do(desk: Desk, provider: AuthorizationServer) -> None:
    desk.connect(provider)
    assert desk.test()["is_working"]
    provider.withdraw()
    # The access token that was cached is refused first.
    assert "login_refused" in desk.failed_codes()
    (step,) = desk.test()["steps"]
    assert step["code"] == "consent_withdrawn" and "Press Connect" in step["remedy"]
    desk.connect(provider)
    assert desk.test()["is_working"]


@pytest.mark.parametrize("account", ["eve@acme.test", ""])
def test_the_consent_of_another_account_changes_nothing(
    desk: Desk, provider: AuthorizationServer, account: str
) -> None:
    before = desk.mailbox()
    page = desk.connect(provider, account)
    assert page.status == 409 and f"but the mailbox is {ADDRESS}" in page.text
    assert desk.mailbox() == before


def test_the_case_of_an_account_does_not_matter(desk: Desk, provider: AuthorizationServer) -> None:
    assert desk.connect(provider, ADDRESS.upper()).status == 200


def test_an_answer_with_another_state_changes_nothing(
    desk: Desk, provider: AuthorizationServer
) -> None:
    before = desk.mailbox()
    desk.ask()
    stranger = provider.consent(desk.ask(), ADDRESS)
    desk.ask()  # the browser has asked again, so the state is another one
    page = desk.visitor.get(stranger)
    assert page.status == 409 and "belongs to no mailbox that this browser connects" in page.text
    assert desk.mailbox() == before


def test_an_answer_in_another_browser_changes_nothing(
    desk: Desk, provider: AuthorizationServer
) -> None:
    back = provider.consent(desk.ask(), ADDRESS)
    other = logged_in(desk.tenant)
    assert other.get(back).status == 409
    assert desk.mailbox().oauth_provider is None


def test_an_answer_is_taken_once(desk: Desk, provider: AuthorizationServer) -> None:
    back = provider.consent(desk.ask(), ADDRESS)
    assert desk.visitor.get(back).status == 200
    assert desk.visitor.get(back).status == 409


def test_a_refusal_is_shown_and_changes_nothing(desk: Desk, provider: AuthorizationServer) -> None:
    before, link = desk.mailbox(), desk.ask()
    state = provider.consent(link, ADDRESS).partition("state=")[2]
    page = desk.visitor.get(f"{CALLBACK}?error=access_denied&state={state}")
    assert page.status == 409 and "Google gave no log-in: access_denied" in page.text
    assert desk.mailbox() == before


def test_a_token_goes_to_no_server_that_the_tenant_chose(
    desk: Desk, provider: AuthorizationServer, servers: MailServers
) -> None:
    desk.connect(provider)
    change: dict[str, Any] = {"imap_port": servers.expired_port}
    refused = desk.admin.patch(f"{MAILBOXES}/{desk.id}", change)
    assert refused.status_code == 422 and "/imap_password" in refused.text
    changed = desk.admin.patch(f"{MAILBOXES}/{desk.id}", {**change, "imap_password": PASSWORD})
    assert changed.status_code == 200
    assert desk.shown()["oauth_provider"] == "google"  # it still sends with it
    change = {"smtp_password": PASSWORD}
    assert desk.admin.patch(f"{MAILBOXES}/{desk.id}", change).status_code == 200
    assert desk.shown()["oauth_provider"] is None
    assert desk.mailbox().sealed_refresh_token is None


def test_another_address_needs_another_consent(desk: Desk, provider: AuthorizationServer) -> None:
    desk.connect(provider)
    change = {"address": f"{uuid4().hex[:20]}@acme.test"}
    assert desk.admin.patch(f"{MAILBOXES}/{desk.id}", change).status_code == 422
    assert desk.shown()["oauth_provider"] == "google"


def test_without_a_client_nothing_can_be_connected(desk: Desk) -> None:
    page = desk.visitor.get(desk.page)
    assert "Connect with Google" in page.text and "Connect with Microsoft" not in page.text
    token = page.form(f"{desk.page}/connect").value("form_token")
    fields = [("form_token", token), ("provider", "microsoft")]
    assert desk.visitor.post(f"{desk.page}/connect", fields).status == 404


def test_secrets_have_no_repr(desk: Desk, provider: AuthorizationServer) -> None:
    desk.connect(provider)
    assert "client-secret" not in repr(desk.service.state.settings.mail)
    assert "client-secret" not in repr(desk.service.state.settings)


@for_each(
    ("host", "said"),
    [
        ("imap.gmail.com", "2-step verification"),
        ("outlook.office365.com", "Microsoft refuses passwords"),
        ("imap.mail.yahoo.com", "app password"),
        ("imap.web.de", "turned on in the settings"),
        ("imap.notgmail.com", "Check the user name"),
        (None, "Check the user name"),
    ],
)
def test_a_refused_log_in_says_what_the_provider_wants(host: str | None, said: str) -> None:
    assert said in problems.remedy("login_refused", host)


@pytest.mark.parametrize(
    ("failure", "code"),
    [
        (Reply(401, b'{"error":"invalid_client"}'), "oauth_client_refused"),
        (Reply(400, b'{"error":"invalid_grant"}'), "consent_withdrawn"),
        (Reply(400, b"not JSON"), "not_reachable"),
        (Reply(503, b'{"error":"invalid_grant"}'), "not_reachable"),
        (Reply(200, b'{"id_token":"no access token"}'), "not_reachable"),
    ],
)
def test_only_a_provider_that_says_so_ends_a_consent(
    desk: Desk, provider: AuthorizationServer, failure: Reply, code: str
) -> None:
    desk.connect(provider)
    before = desk.mailbox()
    provider.failure = failure
    assert desk.failed_codes() == [code]
    assert desk.mailbox() == before
    provider.failure = None
    assert desk.test()["is_working"]


def test_a_provider_that_fails_changes_nothing(desk: Desk, provider: AuthorizationServer) -> None:
    before, back = desk.mailbox(), provider.consent(desk.ask(), ADDRESS)
    provider.failure = Reply(500, b"down")
    page = desk.visitor.get(back)
    assert page.status == 409 and "Google gave no log-in" in page.text
    assert desk.mailbox() == before


def test_an_application_of_the_mailboxs_own_logs_in_without_a_person(
    desk: Desk, provider: AuthorizationServer, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    provider.application_of = ADDRESS
    page = desk.connect_application()
    assert page.status == 200 and "connected with" in page.text
    assert desk.shown()["oauth_provider"] == "microsoft_application"
    result = desk.test()
    assert result["is_working"], result
    assert provider.refresh_count == 0
    assert OWN_SECRET not in caplog.text + page.answer.text + str(desk.shown())
    assert OWN_SECRET.encode() not in (desk.mailbox().sealed_refresh_token or b"")


@pytest.mark.parametrize(
    "typed", [{"directory": "other.example"}, {"client_id": "x"}, {"client_secret": "x"}]
)
def test_a_refused_application_says_whose_secret_to_look_at(
    desk: Desk, provider: AuthorizationServer, typed: dict[str, str]
) -> None:
    desk.connect_application(**typed)
    (step,) = [step for step in desk.test()["steps"] if step["outcome"] == "failed"][:1]
    assert step["code"] == "oauth_client_refused" and "enter its secret again" in step["remedy"]


def test_a_directory_is_a_name_and_a_wrong_one_keeps_the_form(
    desk: Desk, provider: AuthorizationServer
) -> None:
    before = desk.mailbox()
    for wrong in ("", "acme.example/../common", "acme example", "https://acme.example", ".."):
        page = desk.connect_application(directory=wrong)
        assert page.status == 422 and "one of its domains" in page.text, wrong
        assert OWN_ID in page.answer.text and OWN_SECRET not in page.answer.text
    assert desk.mailbox() == before
