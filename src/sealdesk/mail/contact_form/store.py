"""The SQL of forms for customers, and of what they have sent."""

from collections.abc import Sequence

import msgspec

from sealdesk.db.column_lists import assignment_list, column_list, parameter_list
from sealdesk.db.engine import Row, Tx
from sealdesk.mail.contact_form.types import ContactForm, Submission

_FORM = ContactForm._fields
_CHANGED = tuple(name for name in _FORM if name != "tenant_id")
_STORED = Submission.__struct_fields__
_COLUMNS = column_list(_STORED, "s")
_FIND = f"SELECT {column_list(_FORM)} FROM contact_forms WHERE path_name = :path_name LIMIT 1"
_FIND_OF_TENANT = (
    f"SELECT {column_list(_FORM)} FROM contact_forms WHERE tenant_id = :tenant_id LIMIT 1"
)
_ADD_FORM = f"""
INSERT INTO contact_forms ({column_list(_FORM)}) VALUES ({parameter_list(_FORM)})
"""
_CHANGE_FORM = f"""
UPDATE contact_forms SET {assignment_list(_CHANGED)} WHERE tenant_id = :tenant_id
"""
_ADD = f"INSERT INTO form_submissions ({column_list(_STORED)}) VALUES ({parameter_list(_STORED)})"
_FIND_SUBMISSION = f"""
SELECT {_COLUMNS} FROM form_submissions s WHERE s.tenant_id = :tenant_id AND s.id = :id LIMIT 1
"""
_DELETE = "DELETE FROM form_submissions WHERE tenant_id = :tenant_id AND id = :id"
_COUNT = """
SELECT count(*) AS number FROM (
    SELECT 1 FROM form_submissions s WHERE s.tenant_id = :tenant_id LIMIT :limit) AS found
"""
# A message that nobody has confirmed is deleted with its submission.
_SET_TICKET = """
UPDATE outgoing_messages SET ticket_id = :ticket_id
WHERE tenant_id = :tenant_id AND about_id = :about_id AND address = :address
"""
_PRUNE_LIST = """
SELECT tenant_id, id, address FROM form_submissions
WHERE created_at < :before ORDER BY created_at, tenant_id, id LIMIT :limit
"""
_PRUNE_MESSAGE = """
DELETE FROM outgoing_messages
WHERE tenant_id = :tenant_id AND about_id = :about_id AND address = :address
"""
_PRUNE = "DELETE FROM form_submissions WHERE tenant_id = :tenant_id AND id = :id"


async def find_form(tx: Tx, path_name: str) -> ContactForm | None:
    """The form with this name, of any tenant."""
    row = await tx.fetch_one(_FIND, {"path_name": path_name})
    return None if row is None else _form(row)


async def find_form_of(tx: Tx, tenant_id: str) -> ContactForm | None:
    row = await tx.fetch_one(_FIND_OF_TENANT, {"tenant_id": tenant_id})
    return None if row is None else _form(row)


async def save_form(tx: Tx, form: ContactForm) -> None:
    """Store the form of a tenant, whose name nobody else has."""
    if not await tx.execute(_CHANGE_FORM, form._asdict()):
        await tx.execute_one(_ADD_FORM, form._asdict())


async def add(tx: Tx, submission: Submission) -> None:
    await tx.execute_one(_ADD, msgspec.structs.asdict(submission))


async def find(tx: Tx, tenant_id: str, submission_id: str) -> Submission | None:
    row = await tx.fetch_one(_FIND_SUBMISSION, {"tenant_id": tenant_id, "id": submission_id})
    return None if row is None else Submission(**{name: row[name] for name in _STORED})


async def delete(tx: Tx, tenant_id: str, submission_id: str) -> bool:
    """Delete a submission; False if another request was faster."""
    return await tx.execute(_DELETE, {"tenant_id": tenant_id, "id": submission_id}) == 1


async def count(tx: Tx, tenant_id: str, limit: int) -> int:
    """How many submissions of a tenant wait, at most the limit."""
    row = await tx.fetch_one(_COUNT, {"tenant_id": tenant_id, "limit": limit})
    return int(row["number"]) if row else 0


async def set_ticket(tx: Tx, submission: Submission, ticket_id: str) -> None:
    """Store which ticket the confirmed message is about."""
    await tx.execute(_SET_TICKET, _message_key(submission) | {"ticket_id": ticket_id})


async def prune(tx: Tx, before_us: int, limit: int) -> int:
    """Delete submissions of all tenants that nobody has confirmed, and their messages."""
    rows: Sequence[Row] = await tx.fetch_all(_PRUNE_LIST, {"before": before_us, "limit": limit})
    keys = [{"tenant_id": row["tenant_id"], "id": row["id"]} for row in rows]
    await tx.execute_many(
        _PRUNE_MESSAGE,
        [
            {"tenant_id": row["tenant_id"], "about_id": row["id"], "address": row["address"]}
            for row in rows
        ],
    )
    await tx.execute_many(_PRUNE, keys)
    return len(rows)


def _message_key(submission: Submission) -> dict[str, object]:
    return {
        "tenant_id": submission.tenant_id,
        "about_id": submission.id,
        "address": submission.address,
    }


def _form(row: Row) -> ContactForm:
    values = {name: row[name] for name in _FORM}
    flags = {name: bool(values[name]) for name in ("is_on", "has_ticket_pages")}
    return ContactForm(**values | flags)
