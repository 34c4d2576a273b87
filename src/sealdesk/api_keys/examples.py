"""Example values of API keys for the API documentation; the secrets are not real."""

import msgspec

from sealdesk.api_keys.types import ApiKeyResponse, CreatedApiKey, RefusalResponse, RotatedApiKey

KEY = ApiKeyResponse(
    id="0199b000-4c5d-7e6f-8a9b-0c1d2e3f4a5b",
    name="Shop integration",
    key_prefix="tk_live_0123abcd",
    mode="live",
    permissions=("tickets:read", "tickets:write"),
    rate_limit=600,
    allowed_ips=None,
    replay_protection="off",
    is_active=True,
    last_used_at=None,
    expires_at="2029-12-31T23:59:59.000000Z",
    revoked_at=None,
    created_at="2026-03-01T08:00:00.000000Z",
    unconfirmed_since=None,
)
_SECRET = "0123456789abcdef" * 4
CREATED_KEY = CreatedApiKey(
    **msgspec.structs.asdict(KEY), api_key="tk_live_" + "0123abcd" * 5, api_secret=_SECRET
)
ROTATED_KEY = RotatedApiKey(**msgspec.structs.asdict(KEY), api_secret=_SECRET)
NEW_KEY = {
    "name": "Shop integration",
    "permissions": ["tickets:read", "tickets:write"],
    "rate_limit": 600,
    "expires_at": "2029-12-31T23:59:59Z",
}
KEY_CHANGE = {"name": "Shop integration (EU)", "rate_limit": 2000}
REFUSAL = RefusalResponse(
    id="0199c0f1-88aa-7b3c-9d4e-5f60718293a4",
    code="invalid_signature",
    diagnosis="query_string_not_signed",
    method="GET",
    target="/api/v1/external/tickets?status=open",
    timestamp="1772442941",
    body_sha256="e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    body_bytes=0,
    refused_at="2026-03-02T09:15:41.556301Z",
)
