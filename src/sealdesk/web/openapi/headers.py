"""The documented headers of requests and responses."""

from typing import Any

Header = dict[str, Any]


def _text(description: str, example: str, **schema: Any) -> Header:
    return {"description": description, "schema": {"type": "string", **schema}, "example": example}


def _number(description: str, example: int) -> Header:
    schema = {"type": "integer", "minimum": 0}
    return {"description": description, "schema": schema, "example": example}


# By the lower-case name that operations use: the public spelling, and a parameter object.
_REQUEST_HEADERS: dict[str, tuple[str, Header]] = {
    "idempotency-key": (
        "Idempotency-Key",
        _text(
            "Makes a retry safe: within 24 hours a repeated request gets the first response again.",
            "5f0c7a1e-order-7731",
            minLength=1,
            maxLength=255,
            pattern="^[ -~]+$",
        ),
    ),
    "if-match": (
        "If-Match",
        _text(
            "The ETag of the version that the change is based on; a different ETag results in 412.",
            '"1.1"',
        ),
    ),
    "if-none-match": (
        "If-None-Match",
        _text(
            "The ETag of a stored copy; if it is current, the response is 304 without a body.",
            '"1.1"',
        ),
    ),
    "prefer": (
        "Prefer",
        _text("`handling=strict` refuses unknown fields with 422.", "handling=strict"),
    ),
    "x-tenant-id": (
        "x-tenant-id",
        _text(
            "The tenant to act in. Only a super_admin may name a tenant other than their own.",
            "0199a110-0a1b-7c2d-8e3f-405162738495",
            format="uuid",
        ),
    ),
}

_ALWAYS = {"required": True}
# Of a delivery (standardwebhooks.com).
_OF_DELIVERIES: dict[str, Header] = {
    "webhook-id": _text("The id of the event.", "0199c0f2-6c3e-7a41-9d20-5b6c7d8e9f01"),
    "webhook-timestamp": _text("The Unix time of this attempt.", "1772443872"),
    "webhook-signature": _text(
        "`v1,` and the signature of the delivery; two of them while a secret is rotated.",
        "v1,3q2+7w1u0r4x8z6k5j9h7g6f5d4s3a2q1w0e9r8t7y8=",
    ),
}
RESPONSE_HEADERS: dict[str, Header] = {
    "x-request-id": _ALWAYS
    | _text("Identifies this request in the service's log.", "9f1c2b3a4d5e6f7081920a1b"),
    "etag": _ALWAYS
    | _text(
        "The version of the resource in this response; see If-Match and If-None-Match.", '"1.1"'
    ),
    "location": _ALWAYS
    | _text(
        "The path of what was created.",
        "/api/v1/external/tickets/0199c0df-7b10-7d52-9c11-2f6e5d4c3b2a",
    ),
    "cache-control": _ALWAYS
    | _text(
        "`private, no-store`, or `private, no-cache` with an ETag: never for a shared cache.",
        "private, no-store",
    ),
    "content-disposition": _ALWAYS
    | _text(
        "`attachment` with the name of the file (RFC 6266).",
        "attachment; filename=\"bowl.jpg\"; filename*=UTF-8''bowl.jpg",
    ),
    "idempotent-replayed": _text("`true` on a stored response that is sent again.", "true"),
    "x-warnings": _text(
        "Unknown fields, which were not stored, as percent-encoded JSON pointers.",
        "unknown_field=/prioritty",
    ),
    "ratelimit-policy": _text(
        "The rate limits of the key and of its tenant: q requests or units in w seconds.",
        '"key";q=1000;w=60, "tenant";q=5000;w=10',
    ),
    "ratelimit": _text(
        "What is left of each (r), and the seconds until all of it is available again (t).",
        '"key";r=742;t=16, "tenant";r=4310;t=2',
    ),
    "x-ratelimit-limit": _number("Requests per minute.", 1000),
    "x-ratelimit-remaining": _number("Requests that are left now.", 742),
    "x-ratelimit-reset": _number(
        "The Unix time when all requests are available again.", 1772442957
    ),
    "retry-after": _ALWAYS | _number("The number of seconds to wait before trying again.", 1),
    "www-authenticate": _ALWAYS
    | _text("How to authenticate: HMAC-SHA256 or Bearer.", "HMAC-SHA256"),
    "allow": _ALWAYS | _text("The methods of the path.", "GET, HEAD, PATCH"),
}
# In every response.
OF_ALL = ("x-request-id", "cache-control")
RATE_LIMIT = tuple(name for name in RESPONSE_HEADERS if "ratelimit" in name)


def parameter(name: str) -> Header:
    """The parameter object of a request header."""
    public_name, header = _REQUEST_HEADERS[name]
    return {"name": public_name, "in": "header", "required": False, **header}


def signature_headers() -> list[Header]:
    """The parameter objects of the headers of a delivery."""
    return [
        {"name": name, "in": "header", **_ALWAYS, **header}
        for name, header in _OF_DELIVERIES.items()
    ]


def response_headers(
    required: tuple[str, ...], optional: tuple[str, ...] = ()
) -> dict[str, Header]:
    """The `headers` of a response object."""
    always = {name: _header(name, is_required=True) for name in required}
    return always | {name: _header(name, is_required=False) for name in optional}


def _header(name: str, *, is_required: bool) -> Header:
    header = RESPONSE_HEADERS[name]
    if header.get("required", False) is is_required:
        return {"$ref": f"#/components/headers/{name}"}
    return header | {"required": is_required}
