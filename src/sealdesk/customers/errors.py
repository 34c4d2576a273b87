"""The error codes of customers."""

from sealdesk.errors import ProblemType

EXTERNAL_ID_NOT_UNIQUE = ProblemType(
    code="external_id_not_unique",
    status=409,
    title="Several customers have this external_id",
    message="Several customers have this external_id, so none of them was changed.",
    meaning="An external_id need not be unique, and several customers have the one in the path.",
    remedy="List them by `external_id`, and change the one that you mean by its id.",
)
CUSTOMER_HAS_TICKETS = ProblemType(
    code="customer_has_tickets",
    status=409,
    title="The customer has tickets",
    message="A customer with tickets cannot be deleted.",
    meaning="Tickets need their customer, so only a customer without tickets can be deleted.",
    remedy="Change the customer instead, or erase them: `POST …/customers/{id}/erase`.",
)
CUSTOMER_MERGED = ProblemType(
    code="customer_merged",
    status=409,
    title="The customer is merged into another one",
    message="The customer %(customer_id)s is merged into %(merged_into_id)s. Use that one.",
    meaning="A merged customer takes no changes, is not erased by itself, and is not merged again.",
    remedy="Use the customer that `merged_into_id` names, or undo the merge.",
    example={
        "customer_id": "0199c0de-0b1c-7d2e-9f30-415263748596",
        "merged_into_id": "0199c0de-1a2b-7c3d-8e4f-5a6b7c8d9e0f",
    },
    members=("customer_id", "merged_into_id"),
)
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
