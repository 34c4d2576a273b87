"""New passwords that are easily guessed are refused with the reason."""

from typing import Any

from sealdesk.caller import SYSTEM
from sealdesk.identity import actions, rules
from sealdesk.identity.auth import passwords
from tests.support.client import Person
from tests.support.for_each import for_each
from tests.support.pages import Visitor, logged_in
from tests.support.service import PASSWORD, Service, Tenant

CHANGE, RESET = "/api/v1/auth/password", "/api/v1/auth/reset"
NEW = "another long passphrase"
COMMON = ("password1234", "Password1234", "PASSWORDPASSWORD", "qwertyuiop123", "1q2w3e4r5t6y")
OWN = rules.own_words("ada.lovelace@acme-pots.test", "Ada King", "Acme Ceramics")


def test_own_words_have_three_letters_or_more() -> None:
    words = rules.own_words("bo.lin@hill.test", "Bo Lin", "Pots")
    assert words == {"lin", "hill", "test", "pots", "sealdesk"}


def _fault(response: Any) -> tuple[int, str, str]:
    (error,) = response.json()["errors"]
    return response.status_code, error["pointer"], error["code"]


def _reset_token(tenant: Tenant) -> str:
    service = tenant.service

    async def work(tx: Any) -> str:
        user = await actions.get_user_by_email(tx, tenant.admin_email)
        return await actions.make_reset_token(tx, user, actor=SYSTEM, now_us=service.clock.now_us())

    return service.write(work)


def test_a_common_password_is_refused_and_the_old_one_stays(service: Service) -> None:
    tenant = service.tenant()
    admin = tenant.admin()
    found = {_fault(admin.post(CHANGE, {"current": PASSWORD, "new": each})) for each in COMMON}
    assert found == {(422, "/new", "common_password")}
    assert admin.get("/api/v1/auth/me").status_code == 200


def test_names_and_addresses_of_the_user_are_refused_as_passwords(service: Service) -> None:
    tenant = service.tenant("Teapots & Sons")
    tenant.user(email=f"bo.{tenant.id[-6:]}@hill-side.test", name="Bohdana Novák")
    person = service.log_in(f"bo.{tenant.id[-6:]}@hill-side.test")
    near = (
        "Bohdana Novák",
        "teapots-and-SONS",
        "hillside.2026!",
        "sealdesk-2026!",
        "bohdana 12345",
    )
    found = {_fault(person.post(CHANGE, {"current": PASSWORD, "new": each})) for each in near}
    assert found == {(422, "/new", "own_name")}
    assert person.post(CHANGE, {"current": PASSWORD, "new": "Novák likes blue teapots"}).is_success


def test_a_common_password_does_not_use_up_the_reset_token(tenant: Tenant) -> None:
    token, anyone = _reset_token(tenant), Person(tenant.service, "")
    refused = anyone.post(RESET, {"token": token, "new": COMMON[0]})
    assert _fault(refused) == (422, "/new", "common_password")
    assert anyone.post(RESET, {"token": token, "new": NEW}).status_code == 204


def test_pages_show_the_fault_at_the_field_in_their_language(tenant: Tenant) -> None:
    visitor, token = logged_in(tenant), _reset_token(tenant)
    page = visitor.submit(
        visitor.get("/account").form("/account/password"), current=PASSWORD, new=COMMON[0]
    )
    assert (page.status, "one of the common passwords" in page.text) == (422, True)
    assert 'id="new-fault"' in page.answer.text
    anyone = Visitor(tenant.service)
    form = anyone.get("/reset", accept_language="de").form("/reset")
    fields = [*((n, v) for n, v in form.fields if n not in ("token", "new")), ("token", token)]
    page = anyone.post("/reset", [*fields, ("new", "sealdesk-2026!")], accept_language="de")
    assert (page.status, "kaum mehr als ein Name" in page.text) == (422, True)


def test_a_user_with_a_common_password_can_still_log_in(tenant: Tenant) -> None:
    email = f"old.{tenant.id}@example.test"
    tenant.user(email=email, password_hash=passwords.hash_now(COMMON[0]))
    assert tenant.service.log_in(email, COMMON[0]).get("/api/v1/auth/me").status_code == 200


@for_each(
    "password",
    [
        "ada.lovelace@acme-pots.test", "AdaLovelace1815", "acme acme acme", "King of Ceramics!",
        "SealDesk12345", "\uff21da_lovelace_ADA", "l-o-v-e-l-a-c-e",
    ],
)  # fmt: skip
def test_own_words_are_recognised_in_any_combination(password: str) -> None:
    assert rules.is_own(password, OWN)


@for_each(
    "password",
    [
        "correct horse battery staple", "adamant gardeners sing", "the king buys teapots",
        "482910573829", "漢字漢字漢字漢字漢字漢字", "!!!!!!!!!!!!", "sealdesk wf83kq0z",
    ],
)  # fmt: skip
def test_a_password_with_enough_other_characters_is_not_own_words(password: str) -> None:
    assert not rules.is_own(password, OWN)
