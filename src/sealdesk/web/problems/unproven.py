"""Who asks is not proven, or may not."""

from sealdesk.web.problems.problem import Problem

_PROOF = ("www-authenticate",)
_EMPTY_SHA256 = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

UNPROVEN: dict[str, Problem] = {
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
    "foreign_form": Problem(
        "A form of the pages was sent from another site, or from a page of an earlier log-in.",
        "Open the page again and send its form.",
        "This form was not sent from a page of your present log-in. Nothing was changed.",
    ),
}
