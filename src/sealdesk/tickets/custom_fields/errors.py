"""The error codes of field definitions."""

from sealdesk.errors import ProblemType, gettext_noop

TOO_MANY_FIELDS = ProblemType(
    code="too_many_custom_fields",
    status=409,
    title="The tenant has the maximum number of custom fields",
    message=gettext_noop(
        "There are %(limit)s active custom fields, as many as there may be. Deactivate one first."
    ),
    meaning="A tenant may have at most 50 active custom fields, and 200 with the inactive ones.",
    remedy=(
        "Deactivate a custom field that is no longer used. Of 200, delete one, which leaves the"
        " values in tickets, or activate an inactive one again."
    ),
    example={"limit": 50},
    members=("limit",),
)
NO_KEYS_LEFT = TOO_MANY_FIELDS.variant(
    gettext_noop(
        "There are %(limit)s custom fields with the inactive ones. Use an inactive one again."
    )
)
