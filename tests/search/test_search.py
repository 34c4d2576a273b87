"""The search finds what stands in a tenant's tickets now, on both databases."""

import secrets
from typing import Any
from urllib.parse import quote

import pytest

from sealdesk.db.engine import Tx
from sealdesk.errors import ServiceUnavailable
from sealdesk.event_log.consumers import LogEvent
from sealdesk.search import actions as search
from sealdesk.search import rules
from sealdesk.search.indexing import BESIDE_REQUESTS, Indexer
from sealdesk.search.store import documents, rebuilds
from sealdesk.search.store.documents import ObjectKey, Written
from sealdesk.search.store.tickets import TICKETS
from sealdesk.worker.indexer import IndexerLoop, update_indexes
from tests.support.client import Key
from tests.support.databases import ONE_LOG, POSTGRESQL_ONLY, SQLITE_ONLY
from tests.support.hostile import HOSTILE_QUERIES
from tests.support.pages import logged_in
from tests.support.searching import find_tickets, restart_rebuild, wait_until_tickets
from tests.support.service import Service, Tenant, wait_until
from tests.tickets.factories import PlannedTicket, create_tickets

_FORGET = "DELETE FROM search_documents WHERE tenant_id = :tenant_id"
_DOCUMENTS = """
SELECT ticket_id FROM search_documents WHERE tenant_id = :tenant_id ORDER BY ticket_id
"""
_REPLIES = "/api/v1/external/tickets/{}/replies"


def word() -> str:
    """A word that stands nowhere else."""
    return f"x{secrets.token_hex(6)}"


_PASTED = {
    "Re:Order 77": "Re:Order", "log Error:timeout": "Error:timeout", "urn:isbn:123": "urn:isbn:123",
    "Rechnungs\u00adnummer": "Rechnungsnummer", "pass\u200bword": "password", "ลืมรหัสผ่าน": "รหัส",
    "\U0001f525 broken": "\U0001f525", "mailto:zz@yy.test": "mailto:zz@yy.test",
    "나는한국어공부중": "한국어",
}  # fmt: skip


_DIALLED = {
    "Call me at +49 (30) 998-7766, please.": [
        "0309987766",
        "030 9987766",
        "+49309987766",
        "9987766",
    ],
    "Ring 212.555.0142": ["+1 212 555 0142", "2125550142", "(212) 555-0142"],
}


class Seen(Exception):
    """What a transaction saw that is to leave nothing behind."""


def reply(key: Key, ticket_id: str, body: str) -> None:
    answer = key.post(_REPLIES.format(ticket_id), {"body": body})
    assert answer.status_code == 201, answer.text


def test_a_ticket_is_found_by_whatever_stands_in_it(tenant: Tenant, key: Key) -> None:
    customer = {"email": "jo.doe@pottery.example", "name": "Zoë Grünwald"}
    ticket = key.ticket(subject="Cracked bowl", description="It broke.", customer=customer)
    key.ticket(customer={"email": "else@where.example"}, subject="Other")
    reply(key, ticket["id"], "We send a courier tomorrow.")
    wait_until_tickets(tenant, "courier", ticket["id"])
    for question in (
        "cracked", "BOWL", "broke", "zoe", "grünwald", "Grunwald", "jo.doe@pottery.example",
        "pottery", f"#{ticket['number']} bowl", "cracked courier zoe", '"send a courier"',
        "cra", "jo.doe@pot", "bowl -vase", '"cracked bowl"',
    ):  # fmt: skip
        assert find_tickets(tenant, question) == [ticket["id"]], question
    for question in ("cracked vase", "racked", '"bowl cracked"', '"crack"', "bowl -courier", ""):
        assert find_tickets(tenant, question) == [], question


def test_what_people_paste_is_found_in_any_script(tenant: Tenant, key: Key) -> None:
    tickets = {subject: key.ticket(subject=subject)["id"] for subject in _PASTED}
    last = key.ticket(subject="Order 7012345")["id"]
    wait_until_tickets(tenant, "7012345", last)
    for subject, typed in _PASTED.items():
        found = key.get(f"/api/v1/external/search?q={quote(typed)}").json()["data"]
        assert tickets[subject] in {each["ticket"]["id"] for each in found}, typed


def test_a_phone_number_in_a_text_is_found_as_people_dial_it(tenant: Tenant, key: Key) -> None:
    tickets = {text: key.ticket(description=text)["id"] for text in _DIALLED}
    wait_until_tickets(tenant, "ring", [*tickets.values()][-1])
    for text, dialled in _DIALLED.items():
        for typed in dialled:
            assert find_tickets(tenant, typed) == [tickets[text]], typed
    assert find_tickets(tenant, "0309987767") == []
    same = key.ticket(subject="030 9987766 again")["id"]
    wait_until_tickets(tenant, "again", same)
    for typed in ("030 9987766", "9987766", "+49 30 9987766"):
        assert find_tickets(tenant, typed) == [same, next(iter(tickets.values()))], typed


def test_a_number_is_not_corrected_to_another_number(tenant: Tenant, key: Key) -> None:
    wait_until_tickets(tenant, "712345", key.ticket(subject="Order 712345")["id"])
    assert key.get("/api/v1/external/search?q=7123458").json()["data"] == []


def test_tags_and_custom_fields_find_their_ticket(tenant: Tenant, key: Key) -> None:
    fields = {"order": {"ref": "ACME-7731", "parts": ["gasket", 4711, True, None]}, "plan": "Gold"}
    ticket = key.ticket(tags=["VIP", "über uns"], custom_fields=fields)
    other = key.ticket(subject="No vip at all", tags=["vip2"])
    wait_until_tickets(tenant, "vip2", other["id"])
    for question in ("gasket", "4711", "acme-7731", "gold", "uber uns"):
        assert find_tickets(tenant, question) == [ticket["id"]], question
    assert find_tickets(tenant, "vip") == [other["id"], ticket["id"]]
    for tag in ("vip", "ViP", "VIP"):
        assert find_tickets(tenant, "", tag) == [ticket["id"]]
    assert find_tickets(tenant, "", "über UNS") == [ticket["id"]]
    assert find_tickets(tenant, "", "vi") == find_tickets(tenant, "all", "vip") == []


def test_one_wrong_letter_finds_what_was_meant(tenant: Tenant, key: Key) -> None:
    ticket = key.ticket(subject="A cracked kettle", description="Zoë wrote.")
    wait_until_tickets(tenant, "kettle", ticket["id"])
    for wrong, meant in {
        "ketle": "kettle", "kettel": "kettle", "kettlle": "kettle", "cracced kettle":
        "cracked kettle", "-vase krettle": "-vase kettle", "xketle": "", "zo": "", "kettle": "",
    }.items():  # fmt: skip
        assert corrected(tenant, wrong) == (meant, [ticket["id"]] if meant else []), wrong


def test_another_tenants_words_correct_nothing(service: Service, tenant: Tenant, key: Key) -> None:
    theirs, other = service.tenant(), word()
    wait_until_tickets(theirs, other, theirs.key().ticket(subject=other)["id"])
    ours = key.ticket(subject="Something")
    wait_until_tickets(tenant, "something", ours["id"])
    assert corrected(tenant, f"{other}x") == ("", [])


def corrected(tenant: Tenant, question: str) -> tuple[str, list[str]]:
    """The corrected question, and what it finds."""
    found = tenant.service.in_serving(
        lambda state: search.find_corrected(state, tenant.id, question, limit=9)
    )
    return found.corrected, found.ticket_ids


def test_what_was_changed_is_found_by_the_new_words_alone(tenant: Tenant, key: Key) -> None:
    old, new = word(), word()
    ticket = key.ticket(subject=old, description="Still the same.")
    wait_until_tickets(tenant, old, ticket["id"])
    answer = key.patch(f"/api/v1/external/tickets/{ticket['id']}", {"subject": new})
    assert answer.status_code == 200, answer.text
    wait_until_tickets(tenant, new, ticket["id"])
    assert find_tickets(tenant, old) == []
    assert find_tickets(tenant, "same") == [ticket["id"]]


def test_a_renamed_customer_is_found_by_the_new_name_alone(tenant: Tenant, key: Key) -> None:
    old, new = word(), word()
    customer = {"email": "ann@example.test", "name": old}
    tickets = [key.ticket(customer=customer)["id"] for _ in range(3)]
    wait_until_tickets(tenant, old, *reversed(tickets))
    customer_id = key.get(f"/api/v1/external/tickets/{tickets[0]}").json()["data"]["customer"]["id"]
    answer = key.patch(f"/api/v1/external/customers/{customer_id}", {"name": new})
    assert answer.status_code == 200, answer.text
    wait_until_tickets(tenant, new, *reversed(tickets))
    assert find_tickets(tenant, old) == []


def test_another_tenants_tickets_are_not_found(service: Service, tenant: Tenant, key: Key) -> None:
    other, shared_word = service.tenant(), word()
    ours = key.ticket(subject=shared_word, description=other.id.replace("-", ""))
    theirs = other.key().ticket(subject=shared_word, description=f"{tenant.id} secret")
    wait_until_tickets(tenant, shared_word, ours["id"])
    wait_until_tickets(other, shared_word, theirs["id"])
    assert find_tickets(tenant, f"{shared_word} secret") == []
    assert find_tickets(tenant, tenant.id) == []


def test_the_newest_fifty_are_found_and_that_there_are_more(tenant: Tenant) -> None:
    same = word()
    made = create_tickets(
        tenant, [PlannedTicket({"subject": same}, 1_790_000_000_000_000 + n) for n in range(52)]
    )
    wait_until_tickets(tenant, same, *made[:1:-1])
    service = tenant.service
    found = service.in_serving(lambda state: search.find_tickets(state, tenant.id, same))
    assert found.has_more
    assert len(found.ticket_ids) == rules.MAX_RESULTS


def test_the_background_loop_keeps_the_index_by_itself(tenant: Tenant, key: Key) -> None:
    ticket = key.ticket(subject="Cracked bowl")
    wait_until(lambda: find_tickets(tenant, "cracked") == [ticket["id"]])


def test_existing_tickets_are_indexed_in_steps(tenant: Tenant) -> None:
    before = word()
    made = create_tickets(
        tenant, [PlannedTicket({"subject": before}, 1_790_000_000_000_000 + n) for n in range(45)]
    )
    wait_until_tickets(tenant, before, *reversed(made))
    after = word()
    tenant.service.run(f"UPDATE tickets SET subject = '{after}' WHERE tenant_id = '{tenant.id}'")
    restart_rebuild(tenant, TICKETS)
    wait_until_tickets(tenant, after, *reversed(made))
    assert find_tickets(tenant, before) == []


def test_during_a_rebuild_new_tickets_are_indexed_after_older_ones(
    tenant: Tenant, key: Key
) -> None:
    same = word()
    tickets = [key.ticket(subject=same)["id"] for _ in range(4)]
    wait_until_tickets(tenant, same, *reversed(tickets))
    indexer = Indexer(TICKETS, BESIDE_REQUESTS)
    log = [
        LogEvent(
            place, tenant.id, place, "", "ticket.updated", 0, b'{"id": "%s"}' % ticket_id.encode()
        )
        for place, ticket_id in enumerate(reversed(tickets), 1)
    ]

    async def documents_during_rebuild(tx: Tx) -> list[str]:
        await rebuilds.store_rebuild(tx, TICKETS.name, ObjectKey(tenant.id, tickets[1]))
        await tx.execute(_FORGET, {"tenant_id": tenant.id})
        assert await indexer.handle(tx, log, 0) == len(log)
        rows = await tx.fetch_all(_DOCUMENTS, {"tenant_id": tenant.id})
        raise Seen([row["ticket_id"] for row in rows])

    with pytest.raises(Seen) as seen:
        tenant.service.write(documents_during_rebuild)
    assert seen.value.args == ([tickets[0], tickets[1]],)


@ONE_LOG
def test_events_that_are_pruned_before_they_are_read_lead_to_a_rebuild(
    tenant: Tenant, key: Key
) -> None:
    old, new = word(), word()
    ticket = key.ticket(subject=old)
    wait_until_tickets(tenant, old, ticket["id"])
    service = tenant.service
    service.settle()
    service.run(f"UPDATE tickets SET subject = '{new}' WHERE id = '{ticket['id']}'")
    service.run("UPDATE log_positions SET position = position + 9 WHERE name = 'sequencer'")
    wait_until_tickets(tenant, new, ticket["id"])
    assert find_tickets(tenant, old) == []


def test_whatever_is_asked_is_answered(tenant: Tenant) -> None:
    visitor = logged_in(tenant)
    for question in HOSTILE_QUERIES:
        page = visitor.get(f"/tickets?q={quote(question, errors='surrogatepass')}")
        is_text = not {"\0", "\ud800"} & set(question)
        assert page.status == (200 if is_text else 400), question
        assert "data-ticket" not in page.text, question


def test_words_of_every_script_are_found(tenant: Tenant, key: Key) -> None:
    ticket = key.ticket(subject="退款 עזרה שלום مرحبا тест 😀 \U0001e900\U0001e901")
    key.ticket(subject="款退")
    wait_until_tickets(tenant, "退款", ticket["id"])
    for question in ("שלום", "مرح", "\u0422\u0415\u0421\u0422", "\U0001e922\U0001e923", "שלום 😀"):
        assert find_tickets(tenant, question) == [ticket["id"]], question
    assert find_tickets(tenant, "退 שלומ") == []


@SQLITE_ONLY
def test_a_step_ends_when_enough_is_written_and_the_next_continues(
    tenant: Tenant, key: Key
) -> None:
    old, new = word(), word()
    tickets = [key.ticket(subject=old)["id"] for _ in range(3)]
    wait_until_tickets(tenant, old, *reversed(tickets))
    service = tenant.service
    service.run(f"UPDATE tickets SET subject = '{new}' WHERE tenant_id = '{tenant.id}'")

    keys = [ObjectKey(tenant.id, ticket_id) for ticket_id in tickets]

    async def step(tx: Tx) -> Written:
        return await documents.update(tx, TICKETS, keys, max_chars=1)

    steps = [service.write(step) for _ in range(4)]
    assert [written.documents for written in steps] == [1, 2, 3, 3]
    assert steps[-1].chars == 0
    assert (find_tickets(tenant, new), find_tickets(tenant, old)) == (tickets[::-1], [])


@SQLITE_ONLY
def test_segments_are_merged_after_writes(tenant: Tenant, key: Key) -> None:
    ticket = key.ticket(subject="now")
    wait_until_tickets(tenant, "now", ticket["id"])
    service, keys = tenant.service, [ObjectKey(tenant.id, ticket["id"])]
    for number in range(40):
        service.run(f"UPDATE tickets SET subject = 'now {number}' WHERE id = '{ticket['id']}'")
        service.write(lambda tx: documents.update(tx, TICKETS, keys, 1))

    indexer = IndexerLoop(service.state, update_indexes)
    wait_until(lambda: not service.in_background(indexer.run_step))
    segments = "SELECT count(DISTINCT segid) AS segments FROM search_index_idx"
    assert service.rows(segments)[0]["segments"] < 32
    assert find_tickets(tenant, '"now 39"') == [ticket["id"]]


def test_hostile_texts_are_indexed(tenant: Tenant, key: Key) -> None:
    same = word()
    kept = [text for text in HOSTILE_QUERIES if "\0" not in text and "\ud800" not in text]
    tickets = [key.ticket(subject=same, description=f"{text}.")["id"] for text in kept]
    wait_until_tickets(tenant, same, *reversed(tickets))


@POSTGRESQL_ONLY
def test_tickets_older_than_the_newest_are_found(tenant: Tenant, key: Key) -> None:
    rare = word()
    ticket = key.ticket(subject=rare)
    wait_until_tickets(tenant, rare, ticket["id"])
    newer = f"'ffff' || lpad(n::text, 32, '0'), n, CASE n WHEN 9 THEN '{rare}' ELSE 'other' END"
    tenant.service.run(
        "INSERT INTO search_documents (tenant_id, ticket_id, number, words)"
        f" SELECT '{tenant.id}', id, n, word::tsvector FROM ("
        f" SELECT {newer} FROM generate_series(1, 5100) n) made (id, n, word)"
    )
    assert find_tickets(tenant, rare) == [f"ffff{9:032}", ticket["id"]]
    assert find_tickets(tenant, f"{rare} -other") == [f"ffff{9:032}", ticket["id"]]
    assert len(find_tickets(tenant, "other")) == rules.MAX_RESULTS


@POSTGRESQL_ONLY
def test_search_function_refuses_another_tenant(service: Service, tenant: Tenant) -> None:
    other = service.tenant()
    sql = "SELECT ticket_id FROM search_tickets(:of, 'x', 'g', 9) LIMIT 9"

    async def ask(state: Any) -> None:
        await state.database.read(lambda tx: tx.fetch_all(sql, {"of": other.id}), tenant.id)

    with pytest.raises(ServiceUnavailable) as refusal:
        service.in_serving(ask)
    assert "of another tenant" in str(refusal.value.__cause__)


@POSTGRESQL_ONLY
def test_who_names_no_tenant_may_not_search(service: Service, tenant: Tenant) -> None:
    sql = "SELECT ticket_id FROM search_tickets(:of, 'x', 'g', 9) LIMIT 9"

    async def ask(state: Any) -> None:
        await state.database.read(lambda tx: tx.fetch_all(sql, {"of": tenant.id}))

    with pytest.raises(ServiceUnavailable):
        service.in_serving(ask)


@POSTGRESQL_ONLY
def test_only_the_role_that_serves_may_search(service: Service) -> None:
    sql = """
    SELECT count(*) AS others FROM pg_proc p, aclexplode(p.proacl) a
    WHERE p.proname IN ('search_tickets', 'search_customers') AND a.grantee <> p.proowner
        AND a.grantee <> (SELECT oid FROM pg_roles WHERE rolname = :runtime)
    """
    runtime = service.settings.database_url.partition("://")[2].partition(":")[0]
    assert service.rows(sql, runtime=runtime)[0]["others"] == 0
