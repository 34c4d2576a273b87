"""The SQL of forms for customers, and of what they have sent."""

from sealdesk.db.column_lists import column_list, delete_row, insert_into, select_row, update_row
from sealdesk.db.engine import StructRows, Tx
from sealdesk.mail.contact_form.types import ContactForm, Submission

_FORMS = StructRows(ContactForm)
_FORM = column_list(_FORMS.columns)
_SUBMISSIONS = StructRows(Submission)
_FIND = select_row("contact_forms", _FORM, "path_name")
_FIND_OF_TENANT = select_row("contact_forms", _FORM, "tenant_id")
_ADD_FORM = insert_into("contact_forms", _FORMS.columns)
_CHANGE_FORM = update_row(
    "contact_forms", [name for name in _FORMS.columns if name != "tenant_id"], "tenant_id"
)
_ADD = insert_into("form_submissions", _SUBMISSIONS.columns)
_FIND_SUBMISSION = select_row("form_submissions", column_list(_SUBMISSIONS.columns))
_DELETE = delete_row("form_submissions")
_COUNT = """
SELECT count(*) AS number FROM (
    SELECT 1 FROM form_submissions s WHERE s.tenant_id = :tenant_id LIMIT :limit) AS found
"""
# A message that nobody has confirmed is deleted with its submission.
_SET_TICKET = update_row("outgoing_messages", "ticket_id", "tenant_id about_id address")
_PRUNE_LIST = """
SELECT tenant_id, id, address FROM form_submissions
WHERE created_at < :before ORDER BY created_at, tenant_id, id LIMIT :limit
"""
_PRUNE_MESSAGE = """
DELETE FROM outgoing_messages
WHERE tenant_id = :tenant_id AND about_id = :id AND address = :address
"""


async def find_form(tx: Tx, path_name: str) -> ContactForm | None:
    """The form with this name, of any tenant."""
    return await _FORMS.find(tx, _FIND, {"path_name": path_name})


async def find_form_of(tx: Tx, tenant_id: str) -> ContactForm | None:
    return await _FORMS.find(tx, _FIND_OF_TENANT, {"tenant_id": tenant_id})


async def save_form(tx: Tx, form: ContactForm) -> None:
    """Store the form of a tenant, whose name nobody else has."""
    params = _FORMS.params(form)
    if not await tx.execute(_CHANGE_FORM, params):
        await tx.execute_one(_ADD_FORM, params)


async def add(tx: Tx, submission: Submission) -> None:
    await tx.execute_one(_ADD, _SUBMISSIONS.params(submission))


async def find(tx: Tx, tenant_id: str, submission_id: str) -> Submission | None:
    return await _SUBMISSIONS.find(
        tx, _FIND_SUBMISSION, {"tenant_id": tenant_id, "id": submission_id}
    )


async def delete(tx: Tx, tenant_id: str, submission_id: str) -> bool:
    """Delete a submission; False if another request was faster."""
    return await tx.execute(_DELETE, {"tenant_id": tenant_id, "id": submission_id}) == 1


async def count(tx: Tx, tenant_id: str, limit: int) -> int:
    """How many submissions of a tenant wait, at most the limit."""
    row = await tx.fetch_one(_COUNT, {"tenant_id": tenant_id, "limit": limit})
    return int(row["number"]) if row else 0


async def set_ticket(tx: Tx, submission: Submission, ticket_id: str) -> None:
    """Store which ticket the confirmed message is about."""
    key = {"tenant_id": submission.tenant_id, "about_id": submission.id}
    await tx.execute(_SET_TICKET, key | {"address": submission.address, "ticket_id": ticket_id})


async def prune(tx: Tx, before_us: int, limit: int) -> int:
    """Delete submissions of all tenants that nobody has confirmed, and their messages."""
    rows = await tx.fetch_all(_PRUNE_LIST, {"before": before_us, "limit": limit})
    keys = [dict(row) for row in rows]
    await tx.execute_many(_PRUNE_MESSAGE, keys)
    await tx.execute_many(_DELETE, keys)
    return len(rows)
