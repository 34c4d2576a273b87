"""Example values of field definitions for the documentation."""

from sealdesk.tickets.custom_fields.types import FieldResponse

FIELD = FieldResponse(
    id="0199b0d1-4a5b-7c6d-8e7f-901a2b3c4d5e",
    key="carrier",
    label="Carrier",
    type="choice",
    choices=("DHL", "UPS", "Pick-up"),
    required_on_resolve=True,
    position=1,
    is_active=True,
    created_at="2026-03-01T08:30:00.000000Z",
    updated_at="2026-03-01T08:30:00.000000Z",
)
NEW_FIELD = {
    "key": FIELD.key,
    "label": FIELD.label,
    "type": FIELD.type,
    "choices": [*FIELD.choices],
    "required_on_resolve": True,
}
FIELD_CHANGE = {"label": "Carrier of the parcel", "required_on_resolve": False}
