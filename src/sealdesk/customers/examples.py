"""An example customer for the API reference."""

from sealdesk.customers.types import CustomerResponse

CUSTOMER = CustomerResponse(
    id="0199c0de-1a2b-7c3d-8e4f-5a6b7c8d9e0f",
    email="maria.santos@example.com",
    name="Maria Santos",
    phone=None,
    company="Santos Ceramics",
    external_id="C-1042",
    metadata={"plan": "pro"},
    created_at="2026-03-02T09:14:07.102938Z",
    updated_at="2026-03-02T09:14:07.102938Z",
    version=1,
)
MERGED_CUSTOMER = CustomerResponse(
    id="0199c0de-0b1c-7d2e-9f30-415263748596",
    email="m.santos@work.example",
    name="M. Santos",
    phone=None,
    company=None,
    external_id=None,
    metadata={},
    merged_into_id="0199c0de-1a2b-7c3d-8e4f-5a6b7c8d9e0f",
    created_at="2026-03-02T09:20:11.482910Z",
    updated_at="2026-03-04T09:05:00.000000Z",
    version=2,
)
ERASED_CUSTOMER = CustomerResponse(
    id="0199c0de-1a2b-7c3d-8e4f-5a6b7c8d9e0f",
    email="0199c0de-1a2b-7c3d-8e4f-5a6b7c8d9e0f@erased.invalid",
    name=None,
    phone=None,
    company=None,
    external_id=None,
    metadata={},
    created_at="2026-03-02T09:14:07.102938Z",
    updated_at="2026-03-04T09:05:00.000000Z",
    version=3,
)
NEW_CUSTOMER = {
    "email": "maria.santos@example.com",
    "name": "Maria Santos",
    "company": "Santos Ceramics",
    "external_id": "C-1042",
    "metadata": {"plan": "pro"},
}
CUSTOMER_UPSERT = {"email": "maria.santos@example.com", "name": "Maria Santos"}
CUSTOMER_CHANGE = {"name": "Maria Santos-Lima", "metadata": {"plan": "enterprise"}}
