"""Tenants cannot meet: every key, index and statement of a tenant's table names the tenant.

It is also what a PostgreSQL that spreads tenants over nodes asks for (Citus): each statement of a
request finds its node by `tenant_id`, and the global directories stand on every node.
"""

import re
from functools import cache
from pathlib import Path

from sqlalchemy import Table

from sealdesk.db import schema
from sealdesk.db.schema import metadata
from tests.support.for_each import for_each
from tests.support.statements import SOURCE, Statement, statements
from tests.support.tenant_rows import TENANT_TABLES

GLOBAL = {
    "epochs",
    "tenants",
    "user_directory",
    "login_failures",
    "ended_tokens",
    "reset_links",
    "api_key_directory",
    "log_positions",
    "search_rebuilds",
    "presence_counters",
    "mailbox_directory",
    "test_tenants",
    "contact_forms",
    "installation_notes",
}
_RUN_CONSUMERS = ("worker/indexer.py", "worker/log_tasks.py", "../sealdesk_citus/tenant_logs.py")
_REBUILDING = "../sealdesk_citus/tenant_logs.py"
_INDEX = ("search/indexing.py", "tickets/erasing/steps/indexes.py", _REBUILDING)
# Statements of the worker: a call that leads to each, and the modules that call it.
ACROSS_TENANTS = {
    "event_log/sequencer.py _OLDEST": ("sequencer.find_oldest_pending(", "worker/log_tasks.py"),
    "event_log/sequencer.py _OLDEST_OF_FEW": (
        "sequencer.find_oldest_pending(",
        "worker/log_tasks.py",
    ),
    "event_log/sequencer.py _COUNT": ("sequencer.place_pending(", "worker/log_tasks.py"),
    "sealdesk_citus/store.py _OLDEST": (
        "store.find_oldest_pending",
        "../sealdesk_citus/tenant_logs.py",
    ),
    "sealdesk_citus/store.py LIST_TENANTS": (
        "store.list_pending_tenants(",
        "../sealdesk_citus/tenant_logs.py",
    ),
    "sealdesk_citus/store.py _LIST_BEHIND": (
        "store.list_behind(",
        "../sealdesk_citus/tenant_logs.py",
    ),
    "event_log/consumers.py _NEXT": ("consumers.run_step(", *_RUN_CONSUMERS),
    "event_log/consumers.py _NEXT_WITH_OBJECTS": ("consumers.run_step(", *_RUN_CONSUMERS),
    "event_log/consumers.py _NEXT_ID": (
        "consumers.find_oldest_unhandled(",
        "worker/log_tasks.py",
    ),
    "installation/store/tenants.py _FAILING_ENDPOINTS": (
        "tenants.list_failing_endpoints(",
        "installation/checks.py",
    ),
    "installation/store/tenants.py _MAILBOXES": (
        "tenants.list_stuck_mailboxes(",
        "installation/checks.py",
    ),
    "installation/store/tenants.py _CONTENTS": (
        "tenants.list_contents(",
        "installation/attachments.py",
    ),
    "mail/sending/store.py _LIST_SENDING": (
        "store.list_sending(",
        "mail/sending/queueing.py",
        "worker/mail.py",
    ),
    "mail/sending/store.py LIST_DUE": ("store.list_due_mailboxes(", "mail/sending/deliverer.py"),
    "mail/sending/store.py _END_ALL_LEASES": ("write(store.end_all_leases)", "worker/mail.py"),
    "tickets/attachments/store.py _PRUNE_LIST": (
        "store.delete_unused(",
        "tickets/attachments/pruning.py",
    ),
    "automation/steps/store.py _IS_USED": ("automation.is_used", "worker/one_log.py"),
    "automation/steps/store.py _LIST_STAMPS": (
        "store.list_stamps(",
        "automation/steps/queueing.py",
    ),
    "automation/steps/store.py _LIST_TENANTS": (
        "automation_store.list_due_tenants",
        "worker/stepper.py",
    ),
    "tickets/promises/steps/store.py _LIST_TENANTS": (
        "promise_store.list_due_tenants",
        "worker/stepper.py",
    ),
    "mail/weekly_reports/steps/store.py _LIST_TENANTS": (
        "weekly_store.list_due_tenants",
        "worker/stepper.py",
    ),
    "reports/steps/store.py _LIST_TENANTS": (
        "report_store.list_due_tenants",
        "worker/stepper.py",
    ),
    "reports/steps/store.py _BEGIN_ALL": (
        "store.begin_all(",
        "reports/steps/counting.py",
    ),
    "tickets/tags/steps/store.py _LIST_TENANTS": (
        "renamings.list_due_tenants",
        "worker/stepper.py",
    ),
    "tickets/erasing/steps/store.py _LIST_TENANTS": (
        "erasures.list_due_tenants",
        "worker/stepper.py",
    ),
    "tickets/snoozing/store.py PRUNE_ENDED": ("store.list_ended(", "tickets/snoozing/waking.py"),
    "tickets/held_replies/store.py _PRUNE_DUE": (
        "store.list_due_replies(",
        "tickets/held_replies/releasing.py",
    ),
    "search/store/tickets.py _LIST_AFTER": (
        "documents.list_after(",
        "search/indexing.py",
        _REBUILDING,
    ),
    "search/store/tickets.py _LAST_NUMBER": ("documents.update(", *_INDEX),
    "search/store/tickets.py _MERGE": ("indexing.merge(", "worker/indexer.py"),
    "search/store/customers.py _LIST_AFTER": (
        "documents.list_after(",
        "search/indexing.py",
        _REBUILDING,
    ),
    "search/store/customers.py _LAST_NUMBER": ("documents.update(", *_INDEX),
    "search/store/customers.py _MERGE": ("indexing.merge(", "worker/indexer.py"),
    "webhooks/store/fan_out.py _SUBSCRIPTIONS": (
        "fan_out_store.list_subscriptions(",
        "webhooks/delivery/fan_out.py",
    ),
    "webhooks/store/fan_out.py _BACKLOGS": (
        "fan_out_store.list_backlogs(",
        "webhooks/delivery/fan_out.py",
    ),
    "mail/receiving/store.py _PRUNE_LIST": (
        "store.list_expired(",
        "mail/receiving/raw_messages.py",
    ),
    "mail/contact_form/store.py _PRUNE_LIST": ("submissions.prune(", "worker/retention.py"),
    "webhooks/store/fan_out.py _CLAIM_REPLAYS": (
        "fan_out_store.claim_replays(",
        "webhooks/delivery/fan_out.py",
    ),
    "webhooks/store/deliveries.py FIND_BACKLOG": (
        "delivery_store.find_backlog(",
        "worker/loop.py",
    ),
    "webhooks/store/deliveries.py _CLAIM_HEALTHY": (
        "delivery_store.lease_endpoints(",
        "webhooks/delivery/deliverer.py",
    ),
    "webhooks/store/deliveries.py _CLAIM_FAILING": (
        "delivery_store.lease_endpoints(",
        "webhooks/delivery/deliverer.py",
    ),
    "webhooks/store/deliveries.py _END_ALL_LEASES": (
        "delivery_store.end_all_leases",
        "worker/loop.py",
    ),
    "webhooks/store/deliveries.py _DELETED": (
        "delivery_store.prune_deleted(",
        "worker/retention.py",
    ),
}
STATEMENTS = statements()
OF_ONE_TENANT = [
    found for found in STATEMENTS if found.is_of_tenants and found.name not in ACROSS_TENANTS
]
WHOLE = [found for found in OF_ONE_TENANT if not found.function]


def test_only_the_listed_tables_are_global() -> None:
    assert set(schema.GLOBAL) == GLOBAL
    assert set(metadata.tables) >= GLOBAL


@for_each("table", TENANT_TABLES, ids=str)
def test_primary_key_begins_with_the_tenant(table: Table) -> None:
    assert next(iter(table.primary_key.columns)).name == "tenant_id"


@for_each("table", TENANT_TABLES, ids=str)
def test_unique_indexes_begin_with_the_tenant(table: Table) -> None:
    leading = {next(iter(index.columns)).name for index in table.indexes if index.unique}
    assert leading <= {"tenant_id"}


@for_each("table", TENANT_TABLES, ids=str)
def test_foreign_keys_begin_with_the_tenant(table: Table) -> None:
    for constraint in table.foreign_key_constraints:
        first = constraint.elements[0]
        assert first.parent.name == "tenant_id"
        assert first.target_fullname.endswith((".tenant_id", "tenants.id"))


def test_only_tables_from_which_the_worker_may_delete_expire() -> None:
    expiring = [table for table in schema.TABLES.values() if table.expiry is not None]
    assert len(expiring) > 8
    for table in expiring:
        assert table.expiry is not None
        assert "DELETE" in table.worker
        assert table.expiry.column in {column.name for column in table.columns}


@for_each("name", sorted(GLOBAL))
def test_a_global_table_is_bound_to_no_tenants_table(name: str) -> None:
    assert not metadata.tables[name].foreign_key_constraints


def test_each_statement_is_bound_to_one_tenant() -> None:
    assert len(OF_ONE_TENANT) > 250
    assert {found.name: found.sql for found in OF_ONE_TENANT if not _is_bound(found)} == {}


def _is_bound(statement: Statement) -> bool:
    bound = ":tenant_id" if statement.verb == "INSERT" else "tenant_id = :tenant_id"
    return bound in statement.sql + statement.function


def test_each_statement_names_the_tenant_for_each_of_its_tables() -> None:
    assert {found.name: found.sql for found in WHOLE if not _names_each_tenant(found)} == {}


def _names_each_tenant(statement: Statement) -> bool:
    of_tenants = [name for name in statement.tables if name not in schema.GLOBAL]
    return statement.verb == "INSERT" or statement.sql.count("tenant_id = ") >= len(of_tenants)


@cache
def _texts() -> dict[Path, str]:
    return {path: path.read_text() for path in SOURCE.parent.rglob("*.py")}


@for_each("name", ACROSS_TENANTS)
def test_only_the_worker_runs_statements_across_tenants(name: str) -> None:
    assert name in {statement.name for statement in STATEMENTS}
    call, *only_in = ACROSS_TENANTS[name]
    sources = [path for path, text in _texts().items() if call in text]
    assert sorted(sources) == [(SOURCE / path).resolve() for path in only_in]


_INDEXED = ("audit", "customers", "events", "idempotency", "replies", "ticket_changes",
            "ticket_numbers", "ticket_tags", "tickets")  # fmt: skip


def test_every_index_of_what_requests_write_is_documented_with_its_query() -> None:
    text = Path("docs/architecture.md").read_text()
    documented = re.findall(r"^\| `(\w+)` \| \S", text[text.index("## Indexes") :], re.MULTILINE)
    indexes = [index.name for name in _INDEXED for index in metadata.tables[name].indexes]
    assert sorted(documented) == sorted(map(str, indexes))


@for_each("table", metadata.sorted_tables, ids=str)
def test_no_index_is_the_beginning_of_another(table: Table) -> None:
    complete = [
        index for index in table.indexes if index.dialect_kwargs.get("sqlite_where") is None
    ]
    keys = [list(index.columns.keys()) for index in complete]
    keys.append(list(table.primary_key.columns.keys()))
    for key in keys:
        assert [other for other in keys if other[: len(key)] == key] == [key]
