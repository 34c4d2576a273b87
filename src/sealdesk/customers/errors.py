"""The error codes of customers."""

from sealdesk.errors import ProblemType

CUSTOMER_EMAIL_TAKEN = ProblemType(
    code="customer_email_taken",
    status=409,
    title="Another customer has this e-mail address",
    message="A customer with this e-mail address exists; see existing_id.",
    meaning=("Another customer of the tenant has this address (case is ignored): `existing_id`."),
    remedy="Change that customer instead.",
    example={"existing_id": "0199c0de-1a2b-7c3d-8e4f-5a6b7c8d9e0f"},
    members=("existing_id",),
)
