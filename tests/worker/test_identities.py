"""After an upgrade of Python, stored identities become those that filters compute, in steps."""

import asyncio
from contextlib import suppress
from functools import partial
from itertools import chain
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

import pytest

from sealdesk.db.engine import Tx
from sealdesk.installation import checks
from sealdesk.installation.types import DOCUMENTS, Look
from sealdesk.mail.mailboxes.store import directory
from sealdesk.mail.receiving.authors import forms_of
from sealdesk.records.identities import ADDRESSES, IDENTITIES, NEXT, renew
from sealdesk.state import AppState
from sealdesk.telemetry.issues import Issue, Unknown
from sealdesk.worker import rewriter
from sealdesk.worker.rewriter import address_rewriter, forget_renamed, identity_rewriter
from tests.mail.support import Desk as MailDesk
from tests.mail.support import receiving
from tests.support.client import Key, Person
from tests.support.pages import Visitor
from tests.support.plans import plan
from tests.support.searching import find_tickets
from tests.support.service import Service, Tenant, wait_until
from tests.tickets.macros import made
from tests.tickets.test_views import save

# Python 3.10 did not know these letters of Unicode 14, so it stored the capital one as it is.
SMALL, CAPITAL = "\ua7d1", "\ua7d0"
_NOTE = f"SELECT note FROM installation_notes WHERE name = '{DOCUMENTS}' LIMIT 1"


class Desk(NamedTuple):
    """A desk with names in both letters, from an older Python."""

    tenant: Tenant
    key: Key
    admin: Person
    visitor: Visitor
    ticket_ids: list[str]
    customer_ids: list[str]
    team_id: str
    macro_id: str

    def found(self, letter: str) -> tuple[list[str], list[str]]:
        """The tickets with a tag, and the customers of an address, oldest first."""
        tickets = self.key.get(f"/api/v1/external/tickets?tag={quote(letter)}&sort=asc")
        first, further = (
            self.key.get(f"/api/v1/external/customers?email={quote(email)}&sort=asc").json()
            for email in (f"{letter}@example.test", f"2{letter}@example.test")
        )
        assert first == further
        return _ids(tickets.json()), _ids(first)

    def alike(self) -> str:
        return self.visitor.get("/settings/tags").text.partition("have become the same")[2]


def _ids(page: dict[str, list[dict[str, str]]]) -> list[str]:
    return [each["id"] for each in page["data"]]


def older_desk(service: Service) -> Desk:
    tenant = service.tenant()
    key, admin, visitor = tenant.key(), tenant.admin(), Visitor(service)
    visitor.log_in(tenant.admin_email)
    tickets = [key.ticket(tags=tags)["id"] for tags in (["qx"], [SMALL], ["qx", SMALL])]
    customers = [
        key.customer(f"{each}@example.test", other_emails=[f"2{each}@example.test"])["id"]
        for each in (SMALL, "qx")
    ]
    for name in (SMALL, "qx"):
        team = admin.post("/api/v1/teams", {"name": name}).json()["data"]
        macro = made(admin, shortcut=name, name=f"Macro {name}")
        save(visitor, name, owner="desk")
    _write_as_older_python(
        *("tickets.tags", "ticket_tags.tag", "teams.name", "teams.name_identity"),
        *("macros.shortcut", "macros.shortcut_identity", "views.name", "views.name_identity"),
        *("customers.email", "customers.email_identity", "customers.other_emails"),
        "customer_addresses.email_identity",
        tenant=tenant,
    )
    return Desk(tenant, key, admin, visitor, tickets, customers, team["id"], macro["id"])


def _write_as_older_python(*columns: str, tenant: Tenant) -> None:
    for column in columns:
        table, _, name = column.partition(".")
        tenant.service.run(
            f"UPDATE {table} SET {name} = replace({name}, 'qx', '{CAPITAL}')"
            f" WHERE tenant_id = '{tenant.id}'"
        )


def upgrade_python(service: Service) -> None:
    # The worker of the service has its own round: identities, then documents.
    wait_until(lambda: '"is_finished":true' in "".join(row["note"] for row in service.rows(_NOTE)))
    note = '{"shape": "1 13"}'
    names = f"'{IDENTITIES}', '{ADDRESSES}'"
    service.run(f"UPDATE installation_notes SET note = '{note}' WHERE name IN ({names})")


def is_searched(desk: Desk, letter: str) -> bool:
    return sorted(find_tickets(desk.tenant, "", letter)) == desk.ticket_ids


async def look(state: AppState) -> Issue | Unknown | None:
    now_us = state.clock.now_us()
    return await checks.names_alike(Look("worker", state.settings, state.database.read, now_us))


def test_names_of_an_older_python_are_found_however_often_the_worker_ends(
    own_service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rewriter, "_STEP_ROWS", 1)
    upgrade_python(own_service)
    desks = [older_desk(own_service) for _ in range(2)]

    async def work(state: AppState) -> None:
        for turns in range(60):
            step = asyncio.ensure_future(identity_rewriter().step(state))
            for _ in range(turns):
                await asyncio.sleep(0)
            step.cancel()
            with suppress(asyncio.CancelledError):
                await step
        await identity_rewriter().run(state)

    own_service.in_background(work)
    for desk in desks:
        for letter in (SMALL, CAPITAL):
            assert desk.found(letter) == (desk.ticket_ids, desk.customer_ids)
            wait_until(partial(is_searched, desk, letter))


def test_what_has_become_the_same_is_listed_until_it_is_renamed(own_service: Service) -> None:
    upgrade_python(own_service)
    desk = older_desk(own_service)
    assert isinstance(own_service.in_background(look), Unknown)
    own_service.in_background(identity_rewriter().run)
    own_service.in_serving(address_rewriter().run)
    issue = own_service.in_background(look)
    assert isinstance(issue, Issue) and desk.tenant.id in issue.what
    for kind in ("Customer", "Team", "Macro", "View"):
        assert f"{kind} {CAPITAL}" in desk.alike()
    # Other fields of both can be changed, and their names be given up.
    customer = f"/api/v1/external/customers/{desk.customer_ids[1]}"
    third = desk.key.customer("third@example.test")["id"]
    refused = desk.key.post(f"{customer}/merge", {"into": third})
    assert (refused.status_code, refused.json()["existing_id"]) == (409, desk.customer_ids[0])
    assert desk.key.patch(customer, {"name": "B"}).status_code == 200
    assert desk.key.patch(customer, {"email": "b@example.test"}).status_code == 200
    assert desk.key.patch(customer, {"other_emails": []}).status_code == 200
    macro = f"/api/v1/macros/{desk.macro_id}"
    assert desk.admin.patch(macro, {"body": "B"}).status_code == 200
    team = f"/api/v1/teams/{desk.team_id}"
    assert desk.admin.patch(team, {"capacity": 3}).status_code == 200
    assert desk.admin.patch(team, {"name": "B"}).status_code == 200
    assert "Customer" not in desk.alike() and "Team" not in desk.alike()
    forget = partial(forget_renamed, IDENTITIES)
    assert own_service.in_background(forget) == 3
    assert isinstance(own_service.in_background(look), Issue)
    own_service.run("DELETE FROM macros")
    own_service.run("DELETE FROM views")
    assert own_service.in_background(forget) == 2
    assert own_service.in_background(look) is None and not desk.alike()
    assert desk.found(CAPITAL)[1] == desk.customer_ids[:1]


def test_tags_of_an_older_python_can_be_changed_before_the_worker_has_come(
    own_service: Service,
) -> None:
    upgrade_python(own_service)
    desk = older_desk(own_service)
    kept, dropped = desk.ticket_ids[0], desk.ticket_ids[2]
    for ticket_id, tags in ((kept, [CAPITAL, "x"]), (dropped, [])):
        answer = desk.key.patch(f"/api/v1/external/tickets/{ticket_id}", {"tags": tags})
        assert answer.status_code == 200, answer.text
    own_service.in_background(identity_rewriter().run)
    assert desk.found(SMALL)[0] == desk.ticket_ids[:2]


def test_users_and_mailboxes_of_an_older_python_are_found(own_service: Service) -> None:
    names = (SMALL, "qx", "1qx")
    with receiving(own_service) as receiver:
        desk = MailDesk(receiver)
        mailbox_ids = [desk.add_mailbox(address=f"{each}@acme.test").id for each in names]
    tenant, ticket = desk.tenant, desk.key.ticket()
    user_ids = [tenant.user(email=f"{each}@example.test") for each in names]
    people = f"/api/v1/external/tickets/{ticket['id']}/participants"
    desk.key.call("PUT", people, {"participants": [{"email": "1qx@example.test"}]})
    _write_as_older_python(
        *("users.email", "users.email_identity"),
        *("mailboxes.address", "mailboxes.address_identity", "mailbox_directory.address_identity"),
        *("ticket_participants.address", "ticket_participants.address_identity"),
        tenant=tenant,
    )
    # Citus does not change what decides where a row is.
    older = f"replace(email_identity, 'qx', '{CAPITAL}'), tenant_id, user_id FROM user_directory"
    condition = f"WHERE tenant_id = '{tenant.id}' AND email_identity LIKE '%qx@%'"
    own_service.run(f"INSERT INTO user_directory SELECT {older} {condition}")
    own_service.run(f"DELETE FROM user_directory {condition}")
    upgrade_python(own_service)

    def found(*names: str) -> list[tuple[str, str]]:
        return [(_logged_in(own_service, each), _receives(own_service, each)) for each in names]

    wanted = [*zip(user_ids, mailbox_ids, strict=True)]
    written = (SMALL, CAPITAL, f"1{CAPITAL}")
    assert found(*written) == wanted  # also before anything is renewed
    own_service.in_serving(address_rewriter().run)
    assert found(*written, f"1{SMALL}") == [*wanted, wanted[2]]
    (person,) = own_service.rows("SELECT address_identity FROM ticket_participants LIMIT 9")
    assert person["address_identity"] == f"1{SMALL}@example.test"
    visitor = Visitor(own_service)
    visitor.log_in(tenant.admin_email)
    listed = visitor.get("/settings/tags").text.partition("have become the same")[2]
    assert f"Person {CAPITAL}@" in listed and f"Mailbox {CAPITAL}@" in listed
    assert own_service.in_serving(partial(forget_renamed, ADDRESSES)) == 0


def test_a_step_visits_no_more_rows_of_a_large_tenant(template: Path) -> None:
    for table in filter(None, chain(*NEXT.values())):
        steps = plan(template, partial(_take_step, table))
        assert steps and not [each for each in steps if "SCAN" in each or "id<?" in each], table


async def _take_step(table: str, tx: Tx) -> None:
    await renew(tx, "tenant", table, (), 200)


def _logged_in(service: Service, name: str) -> str:
    me = service.log_in(f"{name}@example.test").get("/api/v1/auth/me")
    return str(me.json()["data"]["id"])


def _receives(service: Service, name: str) -> str:
    async def work(tx: Tx) -> str:
        places = [await directory.find(tx, each) for each in forms_of(f"{name}@acme.test")]
        return next(each.mailbox_id for each in places if each)

    return service.read(work)
