"""What administrators do with field definitions, and the check of values by them."""

from sealdesk import ids
from sealdesk.caller import Caller
from sealdesk.db.engine import Tx
from sealdesk.errors import Conflict, Fault, gettext_noop, must_exist, raise_any
from sealdesk.records import audit
from sealdesk.resources import merge_patch
from sealdesk.resources.identity import is_among
from sealdesk.resources.representation import check_seen
from sealdesk.tickets.custom_fields import rules, store
from sealdesk.tickets.custom_fields.errors import NO_KEYS_LEFT, TOO_MANY_FIELDS
from sealdesk.tickets.custom_fields.rules import Values
from sealdesk.tickets.custom_fields.types import (
    MAX_ACTIVE,
    MAX_FIELDS,
    Field,
    FieldChange,
    NewField,
)

_TAKEN = gettext_noop("There is already a custom field with this key.")
_LABEL_TAKEN = gettext_noop("There is already a custom field with this label.")
_AUDITED = ("label", "choices", "required_on_resolve", "is_active", "place")


async def define_field(tx: Tx, caller: Caller, new: NewField, *, now_us: int) -> Field:
    """Raises ValidationFailed, Conflict above the limits."""
    fields = await _lock(tx, caller.tenant_id)
    if new.is_active:
        _check_active(fields)
    _check_count(fields)
    field = Field(
        tenant_id=caller.tenant_id,
        id=ids.mint(now_us),
        key=new.key,
        label=new.label,
        type=new.type,
        choices=tuple(new.choices or ()),
        required_on_resolve=new.required_on_resolve,
        place=len(fields),
        is_active=new.is_active,
        created_at=now_us,
        updated_at=now_us,
    )
    faults = rules.choice_faults(field) + _label_faults(field, fields)
    if field.key.lower() in {each.key.lower() for each in fields}:
        faults.append(Fault("/key", "taken", _TAKEN))
    raise_any(faults)
    await store.add(tx, field)
    if new.position is not None:
        field = await _move(tx, [*fields, field], field, new.position)
    details = {"key": field.key, "label": field.label, "type": field.type}
    await audit.record(tx, caller, "custom_field.created", field.id, details, now_us)
    return field


async def change_field(
    tx: Tx, caller: Caller, field_id: str, change: FieldChange, *, now_us: int, seen: str = ""
) -> Field:
    """The field after the change. seen: the `updated_at` that the caller has seen, "" for any.

    Raises NotFound, PreconditionFailed, ValidationFailed, Conflict above the limit.
    """
    fields = await _lock(tx, caller.tenant_id)
    field = await get_field(tx, caller.tenant_id, field_id)
    check_seen(seen, str(field.updated_at))
    after = rules.changed(field, change, now_us)
    faults = rules.choice_faults(after)
    if after.label != field.label:
        faults += _label_faults(after, fields)
    raise_any(faults)
    if after.is_active and not field.is_active:
        _check_active(fields)
    if after != field:
        await store.replace(tx, after)
    if isinstance(change.position, int) and change.position != field.place + 1:
        after = await _move(tx, fields, after, change.position)
    changes = merge_patch.differences(field, after, _AUDITED)
    if changes:
        details = {"key": field.key, "changes": changes}
        await audit.record(tx, caller, "custom_field.updated", after.id, details, now_us)
    return after


async def delete_field(tx: Tx, caller: Caller, field_id: str, *, now_us: int) -> None:
    """The values of tickets stay, as values of a free key. Raises NotFound."""
    fields = await _lock(tx, caller.tenant_id)
    field = await get_field(tx, caller.tenant_id, field_id)
    await store.delete(tx, caller.tenant_id, field_id)
    others = [each.id for each in fields if each.id != field_id]
    await store.set_order(tx, caller.tenant_id, others)
    details = {"key": field.key, "label": field.label, "type": field.type}
    await audit.record(tx, caller, "custom_field.deleted", field.id, details, now_us)


async def get_field(tx: Tx, tenant_id: str, field_id: str) -> Field:
    """Raises NotFound."""
    return must_exist(await store.find(tx, tenant_id, field_id))


async def list_active(tx: Tx, tenant_id: str) -> list[Field]:
    """The fields that tickets have, in their order."""
    return [field for field in await store.list_fields(tx, tenant_id) if field.is_active]


async def check_values(tx: Tx, tenant_id: str, values: Values) -> None:
    """Check what a change of a ticket writes. Raises ValidationFailed."""
    if merge_patch.is_same(values.before, values.after) and not values.is_resolved:
        return
    raise_any(rules.find_faults(await list_active(tx, tenant_id), values))


async def _lock(tx: Tx, tenant_id: str) -> list[Field]:
    """All definitions, with changes of them by others locked."""
    await tx.lock("custom fields", tenant_id)
    return await store.list_fields(tx, tenant_id)


def _check_count(fields: list[Field]) -> None:
    if len(fields) >= MAX_FIELDS:
        raise Conflict(NO_KEYS_LEFT, limit=MAX_FIELDS)


def _label_faults(field: Field, fields: list[Field]) -> list[Fault]:
    others = (each.label for each in fields if each.id != field.id)
    is_taken = is_among(field.label, others)
    return [Fault("/label", "taken", _LABEL_TAKEN)] if is_taken else []


def _check_active(fields: list[Field]) -> None:
    if sum(field.is_active for field in fields) >= MAX_ACTIVE:
        raise Conflict(TOO_MANY_FIELDS, limit=MAX_ACTIVE)


async def _move(tx: Tx, fields: list[Field], field: Field, position: int) -> Field:
    ordered = rules.moved(fields, field.id, position)
    await store.set_order(tx, field.tenant_id, ordered)
    return await get_field(tx, field.tenant_id, field.id)
