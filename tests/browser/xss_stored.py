"""Writes hostile texts into storage, past all rules, and finds columns that lack some."""

import json
from collections.abc import Iterator
from itertools import count
from typing import Any

from sqlalchemy import LargeBinary, Table, Text

from sealdesk.db.engine import Tx
from sealdesk.db.schema import metadata
from tests.browser.xss_texts import SUM, Texts
from tests.support.service import Tenant
from tests.support.tenant_rows import TENANT_TABLES

# Also values that the rules refuse or the service writes itself, as if a rule had failed.
_FORCED = {
    "tenants": "name = :text",
    "customers": "email = :text || id, other_emails = :list, other_phones = :list",
    "users": "name = :text, email = :text || id",
    "replies": "delivery_reason = :text",
    "endpoints": "url = :text",
    "mailboxes": "address = :text || id, aliases = :list, options = :list, unverified = :list,"
    " display_name = :text, signature = :text, imap_host = :text, imap_username = :text,"
    " imap_folder = :text, smtp_host = :text, smtp_username = :text, acknowledgement = :text",
    "received_messages": "from_identity = :text, reason = :text, subject = :text,"
    " outcome = 'blocked'",
    "rating_settings": "base_url = :text",
    "ticket_participants": "address = :text, name = :text",
    "mail_blocks": "pattern = :text, actor_name = :text",
    "audit": "actor_name = :text, address = :text, details = :json",
    "request_log": "method = :text, target = :text",
    "refusals": "method = :text, target = :text, timestamp = :text",
    "attempts": "url = :text, answer_body = :text, error = :text, status = NULL,"
    " request_headers = :json, answer_headers = :json",
}
# Texts that nobody types and no program sends: what the service calls and counts things by.
_OURS = {
    "envelope", "message_key", "outcome", "raw_sha256", "reason_code",
    "token",
    "action", "actor_kind", "address_identity", "clocks", "imap_security", "language", "receives",
    "oauth_provider", "sealed_imap_password", "sealed_refresh_token", "sealed_smtp_password",
    "smtp_security",
    "allowed_ips", "assignment", "author_type", "body_sha256", "code",
    "content_type", "delivery",
    "diagnosis", "disabled_reason", "email_identity", "event_type", "events", "hours", "key_prefix",
    "key", "kind",
    "measure", "name_identity", "password_hash", "permissions", "query", "reference",
    "last_reply_by", "priority", "replay_protection", "role", "shortcut_identity",
    "sealed_old_secret", "sealed_secret", "sha256", "signature", "source", "status", "type",
    "image_type", "snoozed_until", "topic", "uploader_kind", "value", "words",
}  # fmt: skip
# On no page: stored API responses, addresses of log-ins, hashes of recovery codes, events of
# PostgreSQL that wait for their position, names of consumers, identities of tags and addresses, and
# what is needed to undo a merge.
_UNSHOWN = {"idempotency", "user_addresses", "second_factors", "event_outbox", "reads",
            "consumer_positions", "ticket_merges", "ticket_followers", "erasures", "ticket_links",
            "ticket_message_ids", "ticket_tags", "outgoing_messages",
            "form_submissions", "customer_addresses", "saved_reports",
            # Shown as the API has filled it, within bounds that reading checks again.
            "automation_rules", "automation_tasks", "business_hours", "sla_policies",
            "sla_renewals", "customer_merges", "ticket_measures", "report_sums",
            "report_rebuilds"}  # fmt: skip


async def force(tx: Tx, tenant_id: str, texts: Texts) -> None:
    """Texts where the rules let none, and all of them where the rules let few."""
    text = texts.fit(255, 3)
    values = {"tenant": tenant_id, "text": text, "json": json.dumps({text: text})}
    values["list"] = json.dumps([text])
    for name, what in _FORCED.items():
        own = _own(metadata.tables[name])
        await tx.execute(f"UPDATE {name} SET {what} WHERE {own} = :tenant", values)
    turns = count()
    for table in _tables():
        sql = f"SELECT * FROM {table.name} WHERE {_own(table)} = :tenant LIMIT 1000"
        for row in await tx.fetch_all(sql, {"tenant": tenant_id}):
            await _fill(tx, table, dict(zip(row.keys(), row, strict=True)), texts, turns)


async def _fill(
    tx: Tx, table: Table, row: dict[str, Any], texts: Texts, turns: Iterator[int]
) -> None:
    filled = {
        name: _filled(value, texts, turns) for name, value in row.items() if SUM in _read(value)
    }
    if filled:
        to = ", ".join(f"{name} = :new_{name}" for name in filled)
        same = " AND ".join(f"{column.name} = :{column.name}" for column in table.primary_key)
        new = {f"new_{name}": value for name, value in filled.items()}
        await tx.execute(f"UPDATE {table.name} SET {to} WHERE {same}", {**row, **new})


def _filled(value: Any, texts: Texts, turns: Iterator[int]) -> Any:
    """The same with all texts wherever one of them stands; also within JSON."""
    if isinstance(value, bytes):
        return _filled(value.decode(), texts, turns).encode()
    if isinstance(value, dict):
        return {_filled(k, texts, turns): _filled(v, texts, turns) for k, v in value.items()}
    if isinstance(value, list):
        return [_filled(each, texts, turns) for each in value]
    if not isinstance(value, str) or SUM not in value:
        return value
    inner = _inner(value)
    if inner is not None:
        return json.dumps(_filled(inner, texts, turns), ensure_ascii=False)
    turn = next(turns)
    # Unique columns stay unique.
    return f"{texts.whole(turn)} {turn}"


def _inner(text: str) -> Any:
    """What a column of JSON holds, None if it is a text."""
    try:
        return json.loads(text) if text[:1] in ("{", "[") else None
    except ValueError:
        return None


def _read(value: Any) -> str:
    return value.decode(errors="replace") if isinstance(value, bytes) else str(value)


def _own(table: Table) -> str:
    return "id" if table.name == "tenants" else "tenant_id"


def _tables() -> list[Table]:
    """Those of which pages show something, and which are a tenant's."""
    shown = [table for table in TENANT_TABLES if table.name not in _UNSHOWN]
    return [metadata.tables["tenants"], *shown]


def columns() -> set[str]:
    """The columns, as in tickets.subject, for texts of somebody else that may be shown."""
    return {
        f"{table.name}.{column.name}"
        for table in _tables()
        for column in table.columns
        if isinstance(column.type, Text | LargeBinary)
        and not (column.name in _OURS or _is_id(column.name))
    }


def _is_id(name: str) -> bool:
    return name == "id" or (name.endswith("_id") and name != "external_id")


def lacking(tenant: Tenant, texts: Texts) -> list[str]:
    """The columns that lack a payload in all rows, with the payload."""
    missing = []
    for column in sorted(columns()):
        table, _, name = column.partition(".")
        own = _own(metadata.tables[table])
        sql = f"SELECT {name} FROM {table} WHERE {own} = :tenant LIMIT 1000"
        rows = tenant.service.rows(sql, tenant=tenant.id)
        said = "\n".join(_said(_read(row[0])) for row in rows)
        missing += [f"{column}: {each!r}" for each in texts.payloads if each not in said]
    return missing


def _said(text: str) -> str:
    """A text, or all texts in its JSON."""

    def walk(value: Any) -> Iterator[str]:
        if isinstance(value, dict):
            yield from value
            value = list(value.values())
        for each in value if isinstance(value, list) else ():
            yield from walk(each)
        if isinstance(value, str):
            yield value

    inner = _inner(text)
    return text if inner is None else "\n".join(walk(inner))
