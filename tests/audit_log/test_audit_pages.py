"""Settings → Audit log: entries are shown, filtered and exported as CSV."""

import csv
import io
import re
from pathlib import Path
from typing import Any

import msgspec
import pytest

import sealdesk
from sealdesk import clock, ids
from sealdesk.api_keys import labels as api_keys
from sealdesk.audit_log import labels as audit_log
from sealdesk.caller import Actor, without_rights
from sealdesk.db.engine import Tx
from sealdesk.errors import QueryTooSlow
from sealdesk.identity import labels as identity
from sealdesk.mail.blocks import labels as mail_blocks
from sealdesk.mail.contact_form import labels as contact_form
from sealdesk.mail.mailboxes import labels as mailboxes
from sealdesk.mail.received_messages import labels as received
from sealdesk.records import audit
from sealdesk.tickets.macros import labels as macros
from sealdesk.webhooks import labels as webhooks
from tests.support.hostile import HOSTILE_TEXTS
from tests.support.page_security import assert_page_is_secure
from tests.support.pages import Page, Visitor, logged_in
from tests.support.service import Service, Tenant

HOME = "/settings/audit"
EXPORT = f"{HOME}/export"
ADA = Actor("user", ids.mint(1), "Ada")
BO = Actor("api_key", ids.mint(2), "Bo's key")
KEY_ID = ids.mint(3)
_ACTION = re.compile(
    r"\"((?:tenant|user|super_admin|api_key|test_clock|webhook|macro|audit|mailbox|mailbox_address|mailbox_domain"
    r"|mail_block|contact_form|received_message)\.[a-z_]+)\""
)


class AuditEntry(msgspec.Struct):
    action: str
    actor: Actor
    address: str
    object_id: str | None = None
    details: dict[str, Any] = {}


def _record(tenant: Tenant, *entries: AuditEntry, at_us: int | None = None) -> int:
    """Record entries a microsecond apart; the time of the first."""
    start_us = at_us or tenant.service.clock.now_us()

    async def work(tx: Tx) -> None:
        for number, entry in enumerate(entries):
            caller = without_rights(tenant.id, entry.actor, entry.address)
            await audit.record(
                tx, caller, entry.action, entry.object_id, entry.details, start_us + number
            )

    tenant.service.write(work)
    return start_us


def _named(name: str, action: str = "api_key.created", actor: Actor = ADA) -> AuditEntry:
    return AuditEntry(action, actor, "192.0.2.7", ids.mint(3), {"name": name})


def _numbers(page: Page) -> list[int]:
    return [int(number) for number in re.findall(r"entry-(\d+)", page.text)]


def _table(visitor: Visitor, query: str = "") -> list[list[str]]:
    response = visitor.once("GET", f"{EXPORT}?{query}")
    assert response.status_code == 200
    return list(csv.reader(io.StringIO(response.content.decode("utf-8-sig"), newline="")))


def test_an_entry_is_shown_with_its_actor_and_address(visitor: Visitor, tenant: Tenant) -> None:
    changes = {"rate_limit": [1000, 50], "revoked_at": [None, "2027"]}
    details = {"name": "The shop", "changes": changes}
    _record(tenant, AuditEntry("api_key.updated", ADA, "192.0.2.7", KEY_ID, details))
    role = {"role": ["agent", "tenant_admin"]}
    _record(tenant, AuditEntry("user.role_changed", ADA, "192.0.2.7", ids.mint(4), role))
    page = visitor.get(HOME)
    shown = ("API key changed", "The shop", "by Ada", "192.0.2.7", "1000 → 50", "Revoked:")
    for words in (*shown, "Agent → Administrator"):
        assert words in page.text
    assert page.text.rindex("API key changed") < page.text.rindex("User added"), "newest first"
    assert f"/settings/api-keys/{KEY_ID}" in page.links
    assert_page_is_secure(page)


def test_a_custom_field_is_named_by_its_label(visitor: Visitor, tenant: Tenant) -> None:
    field = {"key": "carrier", "label": "Who carries it", "type": "text"}
    made = tenant.admin().post("/api/v1/custom-fields", field).json()["data"]
    page = visitor.get("/settings/audit")
    assert "Who carries it" in page.text and made["id"] not in page.text


def test_ids_in_details_are_names(visitor: Visitor, tenant: Tenant) -> None:
    admin, ticket = tenant.admin(), tenant.key().ticket(customer={"email": "eve@example.com"})
    bo = tenant.user("agent", name="Bo Berg")
    team = admin.post("/api/v1/teams", {"name": "Orders"}).json()["data"]["id"]
    admin.post(f"/api/v1/teams/{team}/members", {"user_id": bo})
    changes = {"actions": [{}, {"assignee_id": bo, "is_on": True}], "team_ids": [[], [team, bo]]}
    details = {"name": "Rota", "version": 2, "ticket_id": ticket["id"], "changes": changes}
    customer = ticket["customer"]["id"]
    _record(
        tenant,
        AuditEntry("rule.updated", ADA, "", ids.mint(4), details),
        AuditEntry("customer.erased", ADA, "", customer, {"tickets": 1}),
    )
    page = visitor.get(HOME)
    for words in ("Member: Bo Berg", f"Ticket: #{ticket['number']}", "→ Orders, Bo Berg",
                  "→ Assigned to: Bo Berg", "Version: 2", "eve@example.com"):  # fmt: skip
        assert words in page.text
    assert not re.search(r"[0-9a-f]{8}-[0-9a-f]{4}-", page.text)


def test_every_audit_action_of_the_source_has_a_label() -> None:
    source = Path(sealdesk.__file__).parent
    found = {
        action
        for path in source.rglob("*.py")
        if path.name != "labels.py"
        for action in _ACTION.findall(path.read_text())
    }
    rooms = (
        identity, api_keys, webhooks, macros, audit_log, mailboxes, mail_blocks, contact_form,
        received,
    )  # fmt: skip
    found -= {"webhook.test", "webhook.disabled"}  # types of events
    found -= {"mailbox.failing", "mailbox.recovered"}
    assert found == {action for room in rooms for action in room.ACTION_LABELS}


def test_the_audit_log_has_pages_of_50_entries(visitor: Visitor, tenant: Tenant) -> None:
    _record(tenant, *(_named(f"entry-{number}") for number in range(120)))
    first = visitor.get(HOME)
    seen, page = [_numbers(first)], first
    for _ in range(2):
        page = visitor.get(max((link for link in page.links if "before=" in link), key=len))
        seen.append(_numbers(page))
    assert [len(each) for each in seen] == [50, 50, 20]
    assert [number for each in seen for number in each] == [*reversed(range(120))]
    newer = [link for link in page.links if "before=" in link]
    assert _numbers(visitor.get(newer[0])) == seen[1]


def test_the_audit_log_is_filtered_by_actor_action_and_time(
    visitor: Visitor, tenant: Tenant
) -> None:
    hour_us = 3600 * 1_000_000
    long_ago = _record(
        tenant,
        _named("entry-1"),
        _named("entry-2", "api_key.revoked"),
        _named("entry-3", "api_key.revoked", BO),
        at_us=tenant.service.clock.now_us() - 48 * hour_us,
    )
    _record(tenant, _named("entry-4"))
    since, until = clock.iso(long_ago + 1), clock.iso(long_ago + 2)
    for query, numbers in {
        "": [4, 3, 2, 1],
        f"actor={ADA.id}": [4, 2, 1],
        f"actor={BO.id}&action=api_key.revoked": [3],
        "action=api_key.revoked": [3, 2],
        "action=no.such": [],
        "actor=nobody": [],
        "actor=system": [],
        f"since={since}": [4, 3, 2],
        f"until={until}": [3, 2, 1],
        f"since={since}&until={since}": [2],
        f"until={clock.iso(long_ago)[:16]}": [],
        f"actor={ADA.id}&since={since}&until={until}": [2],
    }.items():
        assert _numbers(visitor.get(f"{HOME}?{query}")) == numbers, query
        rows = [row for row in _table(visitor, query)[1:] if "entry-" in row[7]]
        assert [int(re.findall(r"entry-(\d+)", row[7])[0]) for row in rows] == numbers, query
    assert "User added" in visitor.get(f"{HOME}?actor=system").text


def test_further_pages_and_the_export_keep_the_filters(visitor: Visitor, tenant: Tenant) -> None:
    _record(
        tenant, *(_named(f"entry-{n}", "api_key.revoked", (ADA, BO)[n % 2]) for n in range(110))
    )
    page = visitor.get(f"{HOME}?actor={ADA.id}&action=api_key.revoked")
    assert page.form(HOME).value("actor") == ADA.id
    assert page.form(HOME).value("action") == "api_key.revoked"
    (older,) = [link for link in page.links if "before=" in link]
    assert _numbers(visitor.get(older)) == [8, 6, 4, 2, 0]
    (export,) = [link for link in page.links if link.startswith(EXPORT)]
    assert len(_table(visitor, export.partition("?")[2])) == 56


def test_an_invalid_time_is_named_beside_its_field(visitor: Visitor) -> None:
    page = visitor.get(f"{HOME}?since=yesterday&until=2026-02-30T00:00")
    assert page.status == 400
    assert page.text.count("not a date and time") == 2
    page = visitor.get(f"{HOME}?since=2026-02-02T00:00&until=2026-02-01T00:00")
    assert (page.status, "before the start" in page.text) == (400, True)
    assert visitor.once("GET", f"{EXPORT}?since=yesterday").status_code == 303
    assert_page_is_secure(page)


def test_a_spreadsheet_evaluates_no_cell_of_the_export(visitor: Visitor, tenant: Tenant) -> None:
    dangerous = ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", " =1", "\uff1d1"]
    # To a spreadsheet whose lists are divided otherwise, a formula may begin within a cell of ours.
    within = {'"; =1': "\"; '=1", 'a;"=1': "a;\"'=1", "a\n=1": "a\n'=1", "a\t+1|-1": "a\t'+1|'-1"}
    names = [*dangerous, *within, "'", "Ünï", "a;b - c", "a=b", *HOSTILE_TEXTS]
    _record(
        tenant, *(AuditEntry("x.y", Actor("user", ids.mint(1), name), "", None) for name in names)
    )
    response = visitor.once("GET", EXPORT)
    assert response.content.startswith(b"\xef\xbb\xbf")
    headers = response.headers
    assert headers["content-type"] == "text/csv; charset=utf-8"
    assert re.fullmatch(
        r'attachment; filename="audit-[0-9-]{10}\.csv"', headers["content-disposition"]
    )
    assert (headers["cache-control"], headers["x-content-type-options"]) == (
        "private, no-store",
        "nosniff",
    )
    rows = _table(visitor)
    assert rows[0][:4] == ["time", "action", "actor_kind", "actor"]
    assert {len(row) for row in rows} == {8}
    shown = [row[3] for row in reversed(rows[1:]) if row[1] == "x.y"]
    for name, safe in zip(names, shown, strict=True):
        if name in dangerous:
            assert safe.lstrip().startswith("'") and safe.replace("'", "") == name
        else:
            assert safe == within.get(name, name)


@pytest.mark.parametrize(("bound", "most"), [("_MAX_EXPORTED", 5), ("_MAX_EXPORTED_CHARS", 4_500)])
def test_an_export_says_that_there_are_more_rows(
    visitor: Visitor, tenant: Tenant, monkeypatch: pytest.MonkeyPatch, bound: str, most: int
) -> None:
    monkeypatch.setattr(f"sealdesk.audit_log.pages.{bound}", most)
    _record(tenant, *(_named(f"entry-{number}" + 900 * "x") for number in range(8)))
    rows = _table(visitor)
    assert len(rows) == 7
    assert rows[-1][0] == f"More than 5 rows; export the rest with until={rows[-2][0]}"
    rest = _table(visitor, f"until={rows[-2][0]}")
    assert rest[1] == rows[-2], "no entry of that instant is lost"


def test_an_export_of_several_reads_has_every_entry_once(
    visitor: Visitor, tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sealdesk.audit_log.pages._READ_AT_ONCE", 3)
    _record(tenant, *(_named(f"entry-{number}", "x.y") for number in range(9)))
    rows = _table(visitor, "action=x.y")
    assert [row[-1] for row in rows[1:]] == [f'{{"name":"entry-{n}"}}' for n in reversed(range(9))]


def test_hostile_text_is_escaped(visitor: Visitor, tenant: Tenant) -> None:
    entries = [
        AuditEntry(
            "x.y",
            Actor("user", "<script>", text),
            text,
            None,
            {"name": text, text: [text], "role": [{}]},
        )
        for text in HOSTILE_TEXTS
    ]
    _record(tenant, *entries)
    page = visitor.get(HOME)
    assert "<script>alert(1)</script>" in page.text
    assert_page_is_secure(page)
    for text in HOSTILE_TEXTS[:5]:
        assert_page_is_secure(visitor.get(f"{HOME}?actor={_quoted(text)}&action={_quoted(text)}"))


def _quoted(text: str) -> str:
    return "".join(f"%{byte:02x}" for byte in text.encode())


def test_entries_of_another_desk_are_not_shown(visitor: Visitor, tenant: Tenant) -> None:
    other = tenant.service.tenant()
    _record(other, _named("entry-7"))
    assert "entry-7" not in visitor.get(HOME).text
    assert "entry-7" not in visitor.get(f"{HOME}?actor={ADA.id}").text
    assert "entry-7" not in str(_table(visitor))


def test_a_query_that_takes_too_long_gets_a_page_that_says_what_to_do(
    own_service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    visitor = logged_in(own_service.tenant())

    async def slow(*_: object) -> None:
        raise QueryTooSlow

    monkeypatch.setattr(own_service.state.database, "read_unindexed", slow)
    assert visitor.get(HOME).status == 200, "the primary key serves the newest entries"
    page = visitor.get(f"{HOME}?actor={ADA.id}")
    assert (page.status, "a shorter time" in page.text) == (503, True)
    assert ("meta", "http-equiv", "refresh") not in page.attributes
