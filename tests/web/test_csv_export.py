"""Tickets and customers are exported as CSV files by administrators, in bounded parts."""

import asyncio
import csv
import io
import re
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest

from sealdesk.db import deadline
from sealdesk.errors import QueryTooSlow
from sealdesk.tickets.ticket.store import lists
from sealdesk.web import csv_export
from sealdesk.web.request import Request
from tests.support.client import Key
from tests.support.hostile import HOSTILE_TEXTS
from tests.support.page_security import assert_page_is_secure
from tests.support.pages import Visitor
from tests.support.service import Service, Tenant

TICKETS, CUSTOMERS = "/tickets/export", "/customers/export"


@pytest.fixture
def key(tenant: Tenant) -> Key:
    return tenant.key(name="Shop")


def _agent(tenant: Tenant) -> Visitor:
    tenant.user("agent", f"agent.of.{tenant.id}@example.test", "Agent")
    agent = Visitor(tenant.service)
    agent.log_in(f"agent.of.{tenant.id}@example.test")
    return agent


def _rows(visitor: Visitor, path: str) -> list[dict[str, str]]:
    response = visitor.once("GET", path)
    assert response.status_code == 200, response.text
    text = response.content.decode("utf-8-sig")
    return list(csv.DictReader(io.StringIO(text, newline="")))


def test_a_list_is_exported_with_its_filters(visitor: Visitor, key: Key, tenant: Tenant) -> None:
    ann = {"email": "ann@example.test", "name": "Ann"}
    wanted = key.ticket(
        subject="Cold", tags=["vip", "kiln"], customer=ann, custom_fields={"batch": 7},
        priority="urgent", external_id="o-1", description="One\r\nTwo",
    )  # fmt: skip
    key.ticket(tags=["vip"], priority="low")
    key.ticket(priority="urgent", status="pending")
    listing = visitor.get("/tickets?priority=urgent&tag=vip")
    (link,) = [v for _, n, v in listing.attributes if n == "href" and "/export" in v]
    page = visitor.get(link)
    assert "1 row" in page.text
    assert_page_is_secure(page)
    (file,) = [v for _, n, v in page.attributes if n == "href" and "/export/file" in v]
    (row,) = _rows(visitor, file)
    assert row == {
        "number": str(wanted["number"]), "subject": "Cold", "status": "open",
        "priority": "urgent", "customer_email": "ann@example.test", "customer_name": "Ann",
        "assignee": "", "tags": "vip, kiln", "source": "api", "external_id": "o-1",
        "reply_count": "0", "created_at": wanted["created_at"],
        "updated_at": wanted["updated_at"], "first_response_at": "", "resolved_at": "",
        "closed_at": "", "waiting_since": wanted["waiting_since"],
        "custom_fields": '{"batch":7}', "description": "One\nTwo", "id": wanted["id"],
    }  # fmt: skip


def test_an_export_of_several_reads_has_every_row_once(
    visitor: Visitor, key: Key, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(csv_export, "_ROWS_AT_ONCE", 2)
    tickets = [key.ticket(customer={"email": f"c{n}@example.test"}) for n in range(7)]
    ids = [each["id"] for each in reversed(tickets)]
    for query in ("", "?status=all", "?view=unassigned", "?status=open&waiting=yes&sort=waiting"):
        assert [row["id"] for row in _rows(visitor, f"{TICKETS}/file{query}")] == ids
    shown = [row["email"] for row in _rows(visitor, f"{CUSTOMERS}/file")]
    assert shown == [f"c{n}@example.test" for n in reversed(range(7))]


def test_rows_that_are_read_in_few_bytes_are_all_exported(
    visitor: Visitor, key: Key, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(5):
        key.customer(f"c{number}@example.test", metadata={"note": "n" * 500})
        key.ticket(customer={"email": f"c{number}@example.test"}, description="d" * 500)
    for bytes_at_once in (1, 1_100):
        monkeypatch.setattr(csv_export, "_BYTES_AT_ONCE", bytes_at_once)
        for path in (f"{TICKETS}/file", f"{CUSTOMERS}/file"):
            rows = _rows(visitor, path)
            assert len(rows) == len({row["id"] for row in rows}) == 5, path


def test_an_export_ends_at_its_bound_and_can_be_continued(
    visitor: Visitor, key: Key, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(csv_export, "_ROWS_AT_ONCE", 2)
    monkeypatch.setattr(csv_export, "MAX_ROWS", 4)
    for n in range(6):
        key.ticket(customer={"email": f"c{n}@example.test"})
    assert "more than 4 rows" in visitor.get(TICKETS).text
    for path in (f"{TICKETS}/file", f"{CUSTOMERS}/file"):
        *rows, last = _rows(visitor, path)
        column = next(iter(last))
        assert last[column] == f"More than 4 rows; export the rest with after={rows[-1]['id']}"
        rest = _rows(visitor, f"{path}?after={rows[-1]['id']}")
        assert (len(rows), len(rest)) == (4, 2)
        assert not {row["id"] for row in rows} & {row["id"] for row in rest}


def test_a_spreadsheet_evaluates_no_cell_of_a_ticket(visitor: Visitor, key: Key) -> None:
    texts = [text for text in ("=1+1", "\t=1", "a;=1", *HOSTILE_TEXTS[::11]) if text.strip()]
    for text in texts:
        key.ticket(subject=text[:255], description=text, tags=[text[:60]])
    response = visitor.once("GET", f"{TICKETS}/file")
    assert response.content.startswith(b"\xef\xbb\xbf")
    assert response.headers["content-type"] == "text/csv; charset=utf-8"
    assert re.fullmatch(
        r'attachment; filename="tickets-[0-9-]{10}\.csv"', response.headers["content-disposition"]
    )
    assert response.headers["cache-control"] == "private, no-store"
    assert "sandbox" in response.headers["content-security-policy"]
    assert response.content.count(b"\r") == len(texts) + 1, "only rows end with a CR"
    rows = _rows(visitor, f"{TICKETS}/file")
    assert len(rows) == len(texts)
    for row in rows:
        assert not any(re.match(r"[\s;|\"]*[=+\-@]", cell) for cell in row.values())


def test_only_administrators_export(tenant: Tenant, key: Key) -> None:
    key.ticket()
    agent = _agent(tenant)
    for path in (TICKETS, CUSTOMERS):
        assert agent.get(path).status == agent.get(f"{path}/file").status == 403
    assert "Export" not in agent.get("/tickets").text
    assert "Export" not in agent.get("/customers").text


def test_an_export_has_no_rows_of_other_tenants(
    visitor: Visitor, key: Key, service: Service
) -> None:
    other = service.tenant("Other")
    other.key(name="Theirs").ticket(subject="Theirs")
    key.ticket(subject="Ours")
    assert [row["subject"] for row in _rows(visitor, f"{TICKETS}/file")] == ["Ours"]
    assert len(_rows(visitor, f"{CUSTOMERS}/file")) == 1


def test_exports_are_in_the_audit_log(visitor: Visitor, key: Key) -> None:
    key.ticket()
    _rows(visitor, f"{TICKETS}/file?priority=urgent")
    _rows(visitor, f"{CUSTOMERS}/file")
    page = visitor.get("/settings/audit")
    assert "Customers exported" in page.text and "Tickets exported" in page.text
    assert "priority=urgent" in page.text


def test_a_tenant_has_two_exports_at_a_time(
    visitor: Visitor, key: Key, monkeypatch: pytest.MonkeyPatch
) -> None:
    key.ticket()
    monkeypatch.setattr(csv_export, "MAX_EXPORTS_OF_TENANT", 0)
    for path in (f"{TICKETS}/file", f"{CUSTOMERS}/file"):
        page = visitor.get(path)
        assert (page.status, "Two exports" in page.text) == (429, True)


def test_exports_that_begin_at_once_see_each_other(
    visitor: Visitor, key: Key, monkeypatch: pytest.MonkeyPatch
) -> None:
    key.ticket()
    asked, has_room, list_tickets = [], csv_export.has_room, lists.list_tickets
    everybody = csv_export.MAX_EXPORTS_OF_TENANT + 2

    def counted(request: Request) -> bool:
        asked.append(request)
        return has_room(request)

    async def late(*of: Any) -> Any:
        while len(asked) < everybody:  # noqa: ASYNC110 - a list
            await asyncio.sleep(0.01)
        return await list_tickets(*of)

    monkeypatch.setattr(csv_export, "has_room", counted)
    monkeypatch.setattr(lists, "list_tickets", late)
    with ThreadPoolExecutor(everybody) as pool:
        paths = [f"{TICKETS}/file"] * everybody
        statuses = Counter(pool.map(lambda path: visitor.once("GET", path).status_code, paths))
    assert statuses == {200: csv_export.MAX_EXPORTS_OF_TENANT, 429: 2}


def test_an_export_that_does_not_begin_makes_room(
    visitor: Visitor, key: Key, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    key.ticket()
    assert visitor.once("HEAD", f"{TICKETS}/file").status_code == 200

    async def slow(*_: object) -> object:
        raise QueryTooSlow

    monkeypatch.setattr(lists, "list_tickets", slow)
    for _ in range(csv_export.MAX_EXPORTS_OF_TENANT + 1):
        assert visitor.get(f"{TICKETS}/file").status not in (200, 429)
    assert not service.state.limits.exports


def test_ended_exports_make_room(visitor: Visitor, key: Key, service: Service) -> None:
    key.ticket()
    for _ in range(csv_export.MAX_EXPORTS_OF_TENANT + 1):
        assert len(_rows(visitor, f"{TICKETS}/file")) == 1


def test_an_export_that_takes_too_long_is_no_whole_file(
    visitor: Visitor, key: Key, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(csv_export, "_ROWS_AT_ONCE", 1)
    monkeypatch.setattr(csv_export, "_MAX_S", -1.0)
    for _ in range(3):
        key.ticket()
    with pytest.raises(httpx.RemoteProtocolError):
        visitor.once("GET", f"{TICKETS}/file")


def test_a_long_export_has_time_for_each_read_and_is_charged_for_it(
    visitor: Visitor, key: Key, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(csv_export, "_ROWS_AT_ONCE", 1)
    for _ in range(6):
        key.ticket()
    list_tickets, charged = lists.list_tickets, []

    async def slow(*of: Any) -> Any:
        waits = deadline.current()
        waits.total_s -= deadline.REQUEST_S / 3
        waits.unindexed_reads += 1
        return await list_tickets(*of)

    monkeypatch.setattr(lists, "list_tickets", slow)
    limiter = service.state.limits.limiter
    monkeypatch.setattr(limiter, "charge", lambda _, units, *__: charged.append(units))
    assert len(_rows(visitor, f"{TICKETS}/file")) == 6
    assert sum(charged) >= 6 * deadline.UNINDEXED_READ_UNITS


def test_an_export_ends_with_the_session(
    visitor: Visitor, key: Key, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(csv_export, "_ROWS_AT_ONCE", 1)
    for _ in range(3):
        key.ticket()

    async def refused(self: object) -> None:
        raise QueryTooSlow

    monkeypatch.setattr("sealdesk.web.request.Request.prove_again", refused)
    with pytest.raises(httpx.RemoteProtocolError):
        visitor.once("GET", f"{TICKETS}/file")


def test_a_count_that_takes_too_long_is_left_out(
    visitor: Visitor, key: Key, monkeypatch: pytest.MonkeyPatch
) -> None:
    key.ticket()

    async def slow(*_: object) -> int:
        raise QueryTooSlow

    monkeypatch.setattr("sealdesk.tickets.ticket.store.lists.count_tickets", slow)
    page = visitor.get(TICKETS)
    assert (page.status, "not known" in page.text) == (200, True)


@pytest.mark.parametrize("query", ["q=kiln", "field=batch:7"])
def test_a_search_is_not_exported(visitor: Visitor, key: Key, query: str) -> None:
    key.ticket()
    assert visitor.once("GET", f"{TICKETS}?{query}").status_code == 303
    assert visitor.once("GET", f"{TICKETS}/file?{query}").status_code == 303
    assert "Export as CSV" not in visitor.get(f"/tickets?{query}").text
