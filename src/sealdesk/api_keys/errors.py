"""The error codes of API keys and of signed requests."""

from sealdesk.crypto.mistakes import MISTAKES
from sealdesk.errors import ProblemType, gettext_noop
from sealdesk.errors.general import STORAGE_UNAVAILABLE

_HMAC = {"www-authenticate": "HMAC-SHA256"}
# What is wrong and what to do, with a path to the explanation; all from the table of mistakes.
_NAMED = (
    "%(fault)s %(remedy)s See /docs/errors#%(diagnosis)s; /settings/api-keys/debug compares a"
    " request part by part."
)
_EMPTY_SHA256 = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"


def _values_of(diagnosis: str) -> dict[str, str]:
    mistake = MISTAKES[diagnosis]
    return {"diagnosis": diagnosis, "fault": mistake.fault, "remedy": mistake.remedy}


def _diagnoses_of(code: str) -> dict[str, tuple[str, ...]]:
    names = tuple(each.name for each in MISTAKES.values() if each.code == code)
    return {"diagnosis": names}


JOURNAL_UNWRITABLE = ProblemType(
    code="journal_unwritable",
    status=503,
    title="The key is revoked, but a restore could revive it",
    message=gettext_noop(
        "The key is revoked and refused from now on. The journal of keys could not be written, so"
        " after a restore of an older backup the key would work again. Ask the operator to run"
        " `sealdesk doctor`, then revoke the key again."
    ),
    meaning="The revocation is stored; `keys.journal` in the data directory cannot be written.",
    remedy="Let the operator run `sealdesk doctor`, then send the request again.",
)
MISSING_CREDENTIALS = ProblemType(
    code="missing_credentials",
    status=401,
    title="The request is not signed",
    message=(
        "The header %(header)s is missing; a signed request carries x-api-key, x-api-timestamp and"
        " x-api-signature."
    ),
    meaning="At least one of the three signature headers is missing.",
    remedy="Send x-api-key, x-api-timestamp and x-api-signature with every external request.",
    example={"header": "x-api-signature"},
    headers=_HMAC,
)
AUTHORIZATION_NOT_READ = MISSING_CREDENTIALS.variant(
    "Authorization is not read here, and the header %(header)s is missing; a signed request carries"
    " x-api-key, x-api-timestamp and x-api-signature."
)
MALFORMED_CREDENTIALS = ProblemType(
    code="malformed_credentials",
    status=401,
    title="The signature headers are not well formed",
    message=_NAMED,
    meaning=(
        "A signature header has the wrong format, or was sent twice. A key is tk_live_ or tk_test_"
        " and 40 lower-case hex characters, a signature is 64, and a timestamp is ten digits."
    ),
    remedy="See `detail`; `diagnosis` names a known mistake.",
    example=_values_of("uppercase_hex"),
    members=("diagnosis",),
    choices=_diagnoses_of("malformed_credentials"),
    headers=_HMAC,
)
MALFORMED_API_KEY = MALFORMED_CREDENTIALS.variant(
    "x-api-key must be tk_live_ or tk_test_ and 40 lower-case hex characters."
)
REPEATED_CREDENTIALS = MALFORMED_CREDENTIALS.variant(
    "The header %(header)s was sent more than once."
)
TIMESTAMP_NOT_SECONDS = ProblemType(
    code="timestamp_not_seconds",
    status=401,
    title="The timestamp is not in whole seconds",
    message=_NAMED,
    meaning="x-api-timestamp has 13 digits: it is in milliseconds.",
    remedy="Divide by 1000, round down, and sign the same text that you send.",
    example=_values_of("timestamp_milliseconds"),
    members=("diagnosis",),
    choices=_diagnoses_of("timestamp_not_seconds"),
    headers=_HMAC,
)
TIMESTAMP_OUT_OF_RANGE = ProblemType(
    code="timestamp_out_of_range",
    status=401,
    title="The timestamp is too far from the server's time",
    message=(
        "x-api-timestamp is %(skew_s)s s %(way)s the server's time; up to %(max_skew_seconds)s s is"
        " accepted. Set the clock, or ask GET /api/v1/time."
    ),
    meaning="The request was signed too long ago, or the clock of the client is wrong.",
    remedy="Sign every attempt again, and set the clock; see GET /api/v1/time.",
    example={"skew_s": 3600, "way": "behind", "server_time": 1772442941, "max_skew_seconds": 300},
    members=("server_time", "max_skew_seconds"),
    headers=_HMAC,
)
INVALID_API_KEY = ProblemType(
    code="invalid_api_key",
    status=401,
    title="The API key is not known",
    message="There is no such API key here. Check that the key was copied whole, and the URL.",
    meaning="This installation has never created such an API key.",
    remedy="Check that the key was copied whole and belongs to this installation.",
    headers=_HMAC,
)
API_KEY_REVOKED = ProblemType(
    code="api_key_revoked",
    status=401,
    title="The API key has been revoked",
    message="This API key was revoked at %(revoked_at)s.",
    meaning=(
        "The key was revoked. With status 409, the request was to change or rotate a revoked key."
    ),
    remedy="Create a new key; revocation cannot be undone.",
    example={"revoked_at": "2026-03-02T09:15:41.556301Z"},
    headers=_HMAC,
)
CHANGE_OF_REVOKED_KEY = API_KEY_REVOKED.variant(
    gettext_noop("The key is revoked for good. Create a new one."), status=409, headers={}
)
API_KEY_EXPIRED = ProblemType(
    code="api_key_expired",
    status=401,
    title="The API key has expired",
    message="This API key expired at %(expired_at)s.",
    meaning=(
        "The key's expires_at has passed. With status 409, the request was to change or rotate an"
        " expired key."
    ),
    remedy="Create a new key.",
    example={"expired_at": "2026-03-01T00:00:00.000000Z"},
    headers=_HMAC,
)
CHANGE_OF_EXPIRED_KEY = API_KEY_EXPIRED.variant(
    gettext_noop("The key has expired. Create a new one."), status=409, headers={}
)
API_KEY_UNCONFIRMED = ProblemType(
    code="api_key_unconfirmed",
    status=401,
    title="The API key waits for confirmation after a restore",
    message=(
        "The service was restored from a backup at %(unconfirmed_since)s, and this API key is off"
        " until an administrator confirms it under Settings → API keys."
    ),
    meaning=(
        "The service was restored from a backup. It does not know which keys were revoked or"
        " rotated after the backup, so each key is refused until an administrator confirms it."
    ),
    remedy="Ask an administrator to confirm the key, or to create a new one.",
    example={"unconfirmed_since": "2026-03-02T09:15:41.556301Z"},
    headers=_HMAC,
)
INVALID_SIGNATURE = ProblemType(
    code="invalid_signature",
    status=401,
    title="The signature does not fit the request",
    message=_NAMED,
    meaning=(
        "The signature does not match the request. `received` has what the server received, and"
        " `diagnosis` names the mistake; the expected signature is never shown. If"
        " x-api-signed-message has the message that was signed, `difference` shows its first part"
        " that is not the received one."
    ),
    remedy=(
        "Compare each part of `received` with what you signed. After a rotation, use the new"
        " secret."
    ),
    example={
        "received": {
            "method": "GET",
            "request_target": "/api/v1/external/tickets?status=open",
            "timestamp": "1772442941",
            "body_sha256": _EMPTY_SHA256,
            "body_bytes": 0,
        },
        **_values_of("query_string_not_signed"),
        "difference": {
            "part": "request_target",
            "signed": "/api/v1/external/tickets",
            "received": "/api/v1/external/tickets?status=open",
        },
    },
    members=("received", "diagnosis", "difference"),
    choices=_diagnoses_of("invalid_signature"),
    headers={**_HMAC, "x-api-diagnosis": "%(diagnosis)s"},
)
ROTATED = (
    "The secret of this key was rotated%(when)s: a program that was started before may still use"
    " the old one."
)
UNDIAGNOSED_SIGNATURE = INVALID_SIGNATURE.variant(
    "The signature does not fit what was received. Compare `received` with what you signed:"
    " timestamp + METHOD + path with query + hex SHA-256 of the body.",
    headers=_HMAC,
)
SIGNATURE_REPLAYED = ProblemType(
    code="signature_replayed",
    status=401,
    title="The signature has been used before",
    message=(
        "This signature has had its effect, and the key accepts each one once. Sign again with a"
        " new timestamp."
    ),
    meaning="The key has replay_protection on, and this signature was used by an earlier request.",
    remedy=(
        "Sign every attempt again, and send a POST with an `Idempotency-Key`: a retry with the same"
        " one gets the first response. Two equal requests need two timestamps."
    ),
    headers=_HMAC,
)
TOO_MANY_FAILURES = "Too many failed requests come from this address."

IP_NOT_ALLOWED = ProblemType(
    code="ip_not_allowed",
    status=403,
    title="The API key may not be used from this address",
    message="This API key may not be used from %(address)s; see its allowed_ips.",
    meaning="The key has allowed_ips, and the request came from another address.",
    remedy="Send from an allowed address, or have the key's allowed_ips changed.",
    example={"address": "203.0.113.7"},
)
RATE_LIMIT_EXCEEDED = ProblemType(
    code="rate_limit_exceeded",
    status=429,
    title="The API key has used up its rate limit",
    message="The key may make %(limit)s requests a minute. Wait %(wait_s)s s.",
    meaning="The key has used up its requests of this minute.",
    remedy="Wait for `Retry-After`; `RateLimit` on every response shows what is left.",
    example={"limit": 600, "wait_s": 1},
    headers={"retry-after": "%(wait_s)s"},
)
TEST_KEY_REQUIRED = ProblemType(
    code="test_key_required",
    status=403,
    title="Only test keys may do this",
    message="The clock of live data cannot be set; sign with a key that begins with tk_test_.",
    meaning="The request was signed with a live key, and it is one for test keys.",
    remedy="Create a test key: Settings → API keys, or `sealdesk keys create --test`.",
)
TOO_MANY_API_KEYS = ProblemType(
    code="too_many_api_keys",
    status=409,
    title="The tenant has the maximum number of active API keys",
    message=gettext_noop(
        "There are %(limit)s active keys, as many as there may be. Revoke one that is not used."
    ),
    meaning="A tenant may have at most 100 keys that are neither revoked nor expired.",
    remedy="Revoke a key that is not used: `last_used_at` says which. One key serves any load.",
    example={"limit": 100},
    members=("limit",),
)
TOO_MANY_NEW_API_KEYS = ProblemType(
    code="too_many_new_api_keys",
    status=429,
    title="The tenant has created too many API keys in an hour",
    message=gettext_noop(
        "%(limit)s keys were created in the last hour, as many as may be. Wait %(wait_s)s s."
    ),
    meaning="A tenant may create at most 100 keys in an hour, revoked ones included.",
    remedy="Wait for `Retry-After`. To replace a secret, rotate it instead of creating a key.",
    example={"limit": 100, "wait_s": 60},
    members=("limit",),
    headers={"retry-after": "%(wait_s)s"},
)
SECRET_UNREADABLE = STORAGE_UNAVAILABLE.variant("The key's secret cannot be read by this server.")
