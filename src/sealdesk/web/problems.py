"""What documentation says of each error code: how it looks, what it means, what to do."""

from typing import Any

import msgspec


class Problem(msgspec.Struct, frozen=True):
    """A code explained.

    detail: an example of the document's `detail`. members: examples of its further members.
    headers: what the answer carries besides.
    """

    means: str
    remedy: str
    detail: str
    members: dict[str, Any] = {}
    headers: tuple[str, ...] = ()


_PROOF = ("www-authenticate",)
_WAIT = ("retry-after",)
_EMPTY_SHA256 = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
_FAULT = {"in": "body", "pointer": "/subject", "code": "required"}

# In the order of errors.CODES; a test holds the two to each other.
PROBLEMS: dict[str, Problem] = {
    "malformed_request": Problem(
        "The bytes that arrived are not an HTTP/1.1 request; the connection is closed.",
        "Use an HTTP library, and look at what a proxy in between may have changed.",
        "The request is not HTTP/1.1 that can be read.",
    ),
    "malformed_json": Problem(
        "There is no body where one is needed, or it is not strict JSON: UTF-8, at most 32 levels"
        " deep, no name twice in one object, no NaN or Infinity, whole numbers within 64 bits, no"
        " U+0000 and no half of a surrogate pair.",
        "Let a JSON library write the body, and sign exactly the bytes that it wrote.",
        "The body cannot be read as JSON: Expecting ',' delimiter: line 1 column 12 (char 11).",
    ),
    "invalid_parameter": Problem(
        "A query parameter has a value that it cannot take, or was sent twice.",
        "See the parameter's rule in the reference. In times, write + as %2B.",
        "The parameter per_page must be a whole number from 1, in ASCII digits.",
        {"parameter": "per_page"},
    ),
    "unknown_parameter": Problem(
        "The query names a parameter that this list does not have. It is refused because a filter"
        " that is silently dropped would return too much.",
        "Check the spelling; `detail` names the nearest one that exists.",
        "There is no parameter 'per-page' here. Did you mean per_page?",
        {"parameter": "per-page"},
    ),
    "invalid_header": Problem(
        "A header that the operation heeds has a value that it cannot take, or was sent twice.",
        "`detail` names the header and what it may hold.",
        'if-match must be entity tags in double quotes, as in "3.1".',
    ),
    "invalid_cursor": Problem(
        "The cursor is not one that this list gave out (`reason: malformed`), or it was made by a"
        " query with other filters or another order (`reason: query_changed`, `parameters`).",
        "Send `meta.next_cursor` unchanged and with otherwise the same query; only `per_page` may"
        " differ. Leave `cursor` out to begin again.",
        "The cursor was made by a query with another status. Go on with the filters and order of"
        " the first page, or leave `cursor` out to begin again.",
        {"reason": "query_changed", "parameters": ["status"]},
    ),
    "missing_credentials": Problem(
        "At least one of the three signature headers is missing.",
        "Send x-api-key, x-api-timestamp and x-api-signature with every external request.",
        "The header x-api-signature is missing; a signed request carries x-api-key,"
        " x-api-timestamp and x-api-signature.",
        headers=_PROOF,
    ),
    "malformed_credentials": Problem(
        "A signature header has the wrong shape, or was sent twice. A key is tk_live_ and 40"
        " lower-case hex characters, a signature 64 of them, a timestamp ten digits.",
        "Compare with `detail`; a known mistake is named in `diagnosis`.",
        "x-api-signature must be 64 lower-case hex characters. Yours is in upper case.",
        {"diagnosis": "uppercase_hex"},
        _PROOF,
    ),
    "timestamp_not_seconds": Problem(
        "x-api-timestamp has 13 digits: it is in milliseconds.",
        "Divide by 1000, round down, and sign the same text that you send.",
        "x-api-timestamp has 13 digits: it is in milliseconds. Send whole seconds, and sign the"
        " same text.",
        {"diagnosis": "timestamp_milliseconds"},
        _PROOF,
    ),
    "timestamp_out_of_range": Problem(
        "The request was signed too long ago, or its clock is off by more than is accepted.",
        "Sign each attempt anew, and set the clock; GET /api/v1/time tells the server's.",
        "x-api-timestamp is 3600 s behind the server's time; up to 300 s is accepted. Set the"
        " clock, or ask GET /api/v1/time.",
        {"server_time": 1772442941, "max_skew_seconds": 300},
        _PROOF,
    ),
    "invalid_api_key": Problem(
        "No API key like this was ever made here.",
        "Check that the key was copied whole and belongs to this installation.",
        "There is no such API key.",
        headers=_PROOF,
    ),
    "api_key_revoked": Problem(
        "The key was revoked. With status 409, a revoked key was to be changed or rotated.",
        "Create a new key; revocation cannot be undone.",
        "This API key was revoked at 2026-03-02T09:15:41.556301Z.",
        headers=_PROOF,
    ),
    "api_key_expired": Problem(
        "The key's expires_at has passed. With status 409, it was to be changed or rotated.",
        "Create a new key.",
        "This API key expired at 2026-03-01T00:00:00.000000Z.",
        headers=_PROOF,
    ),
    "invalid_signature": Problem(
        "The signature does not fit what arrived. `received` shows what the server saw, and a"
        " known mistake is named in `diagnosis`; the expected signature is never shown.",
        "Compare each part of `received` with what you signed. After a rotation, use the new"
        " secret.",
        "The signature does not fit what was received. Compare `received` with what you signed:"
        " timestamp + METHOD + path with query + hex SHA-256 of the body.",
        {
            "received": {
                "method": "GET",
                "request_target": "/api/v1/external/tickets?status=open",
                "timestamp": "1772442941",
                "body_sha256": _EMPTY_SHA256,
                "body_bytes": 0,
            },
            "diagnosis": "query_string_not_signed",
        },
        _PROOF,
    ),
    "signature_replayed": Problem(
        "The key has replay_protection on, and this signature has already had its effect.",
        "Sign every attempt anew. Two equal requests need two timestamps.",
        "This signature has had its effect, and the key accepts each one once. Sign again with a"
        " new timestamp.",
        headers=_PROOF,
    ),
    "jwt_required": Problem(
        "The operation is for people, and no access token came. Signature headers and cookies mean"
        " nothing here.",
        "Log in with POST /api/v1/auth/login and send Authorization: Bearer and the token.",
        "Log in with POST /api/v1/auth/login and send Authorization: Bearer …",
        headers=_PROOF,
    ),
    "invalid_token": Problem(
        "The token is not one of ours, or no longer holds: its user logged out, was deactivated, or"
        " has a new password or role. A reset link works once and for an hour.",
        "Log in again, or ask an administrator for a new link.",
        "The access token no longer holds. Log in again.",
        headers=_PROOF,
    ),
    "token_expired": Problem(
        "The access token is older than an hour.",
        "Log in again.",
        "The access token has expired. Log in again.",
        headers=_PROOF,
    ),
    "invalid_credentials": Problem(
        "The e-mail address or the password is wrong; the answer does not say which.",
        "Try again, or ask an administrator for a reset link. Failures are counted.",
        "The e-mail address or the password is wrong.",
    ),
    "insufficient_role": Problem(
        "The user's role does not allow this, or x-tenant-id names another tenant than their own.",
        "Ask an administrator of the tenant.",
        "This needs the role tenant_admin or super_admin; yours is agent.",
    ),
    "insufficient_permissions": Problem(
        "The request is signed well, and its key lacks the permission: one of `required`.",
        "An administrator can add it to the key; it holds from the next request on.",
        "This needs the permission tickets:write. An administrator can change the key.",
        {"required": ["tickets:write"], "granted": ["tickets:read"]},
    ),
    "ip_not_allowed": Problem(
        "The key has allowed_ips, and the request came from another address.",
        "Send from an allowed address, or have the key's allowed_ips changed.",
        "This API key may not be used from 203.0.113.7; see its allowed_ips.",
    ),
    "not_found": Problem(
        "There is no such path, or no such resource in this tenant. Another tenant's id, an unknown"
        " one and what is no id at all get the same answer.",
        "Check the path, the id, and that the key belongs to the tenant you mean.",
        "There is no such resource. Check the path and the id.",
    ),
    "method_not_allowed": Problem(
        "The path exists, with other methods: `Allow` lists them.",
        "Use one of those.",
        "PUT is not available here; GET, HEAD, PATCH is.",
        headers=("allow",),
    ),
    "request_timeout": Problem(
        "The headers took more than 10 s or the body more than 30 s; the connection is closed.",
        "Send it again, signed anew.",
        "The request did not arrive within 30 s. Send it again.",
    ),
    "user_email_taken": Problem(
        "A user of this installation already has the address, whatever its case.",
        "Use another address, or change the existing user.",
        "ada@acme.test is the address of another user.",
    ),
    "customer_email_taken": Problem(
        "A customer of the tenant already has the address, whatever its case: `existing_id`.",
        "Change that customer instead.",
        "A customer with this e-mail address exists; see existing_id.",
        {"existing_id": "0199c0de-1a2b-7c3d-8e4f-5a6b7c8d9e0f"},
    ),
    "invalid_transition": Problem(
        "A ticket that is closed can only be opened again; `allowed` lists the ways out.",
        "Set the status to open first.",
        "A ticket that is closed can only become open.",
        {"allowed": ["open"]},
    ),
    "ticket_closed": Problem(
        "A closed ticket takes no replies.",
        "Set its status to open first.",
        'A closed ticket takes no replies. Set its status to "open" first.',
    ),
    "idempotency_in_flight": Problem(
        "The first request with this Idempotency-Key is still being answered.",
        "Send the same again after `Retry-After`; the stored answer comes back.",
        "A request with this Idempotency-Key is being answered. Try again in a second.",
        headers=_WAIT,
    ),
    "version_mismatch": Problem(
        "Somebody changed the resource since the version that If-Match names: `current`.",
        "Read it again, apply the change to what it is now, and send the new ETag.",
        'It is "4.2" now, and If-Match says otherwise. Read it again and repeat the change.',
        {"current": '"4.2"'},
    ),
    "body_too_large": Problem(
        "The body is over 1 MiB; the rest of it is not read.",
        "Send less.",
        "The body is over 1048576 bytes.",
        {"max_bytes": 1048576},
    ),
    "unsupported_media_type": Problem(
        "The body is not declared as JSON, or is compressed.",
        "Send Content-Type: application/json (a PATCH may say application/merge-patch+json), and no"
        " Content-Encoding: the signature covers the bytes as they travel.",
        "Send the body with Content-Type: application/json.",
    ),
    "validation_failed": Problem(
        "The body can be read and breaks rules. `errors` names up to 100 of them, each with a JSON"
        " pointer to the field, a code and a sentence. Nothing was stored.",
        "Mend the named fields and send it again; the same Idempotency-Key may be used.",
        "One field breaks a rule; see `errors`. Nothing was stored.",
        {"errors": [{**_FAULT, "message": "This field is required."}]},
    ),
    "idempotency_key_reused": Problem(
        "The Idempotency-Key was used within 24 hours with another body.",
        "Use a new key for a new request, and the same body for a repeated one.",
        "This Idempotency-Key was used for another body within 24 hours. Use a new key for a new"
        " request, and the same body for a repeated one.",
    ),
    "rate_limit_exceeded": Problem(
        "The key has spent its requests of this minute.",
        "Wait for `Retry-After`, then go on; `RateLimit` on every answer tells what is left.",
        "The key may make 600 requests a minute. Wait 1 s.",
        headers=_WAIT,
    ),
    "too_many_attempts": Problem(
        "Too many log-ins failed for this account or from this address; for now even the right"
        " password is not looked at.",
        "Wait for `Retry-After`, or ask an administrator for a reset link.",
        "Too many log-ins failed. Try again in 240 s, or ask an administrator for a reset link.",
        headers=_WAIT,
    ),
    "headers_too_large": Problem(
        "The headers have more than 16 KiB or 100 lines; the connection is closed.",
        "Send fewer or shorter headers; cookies are not needed here.",
        "Headers may have 16384 bytes and 100 lines in all.",
        {"max_bytes": 16384, "max_headers": 100},
    ),
    "internal_error": Problem(
        "A fault of the service. It is in its log under `request_id`.",
        "Report the request_id. Repeat a POST only with the Idempotency-Key of the first try.",
        "The request failed for a reason that is ours. Tell us the request_id.",
    ),
    "storage_unavailable": Problem(
        "The storage is away or full, or the server is stopping. Nothing was changed.",
        "Try again after `Retry-After`.",
        "The storage cannot be used right now. Nothing was changed. Try again.",
        headers=_WAIT,
    ),
    "query_too_slow": Problem(
        "No index serves this combination of filters and order, and it took more than 2 s.",
        "Use one filter in the default order, or narrow the time range.",
        "The query took more than 2 s. No index serves this combination: use one filter, or narrow"
        " the time range.",
        headers=_WAIT,
    ),
}
