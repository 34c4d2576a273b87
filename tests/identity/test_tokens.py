"""Access tokens: forged, changed and expired ones are refused."""

import base64
import hashlib
import hmac
import json
from collections.abc import Callable
from typing import Any, NamedTuple

import jwt
import pytest

from sealdesk import ids
from sealdesk.routes import ROUTES
from tests.support.client import Key, Person
from tests.support.combinations import Combine, in_turn_or_all
from tests.support.service import Service, Tenant

ME = "/api/v1/auth/me"
JWT_ROUTES = [route for route in ROUTES if route.guard.scheme == "jwt"]
Json = dict[str, Any]


class Real(NamedTuple):
    """A valid token, decoded, and the secret that signed it."""

    token: str
    header: Json
    claims: Json
    secret: bytes

    def signed(self, header: Json | None = None, **claims: Any) -> str:
        """A token with changed claims, signed with the real secret."""
        changed = {name: value for name, value in (self.claims | claims).items() if value != LEFT}
        return _token(self.header | (header or {}), changed, self.secret)

    def unsigned(self, header: Json, signature: str = "") -> str:
        head, body = _part(header), _part(self.claims)
        return f"{head}.{body}.{signature}"


LEFT = "left out"


def _part(value: object) -> str:
    text = value if isinstance(value, str) else json.dumps(value)
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def _token(header: object, claims: object, secret: bytes, kind: str = "sha256") -> str:
    message = f"{_part(header)}.{_part(claims)}"
    digest = hmac.digest(secret, message.encode(), kind)
    return f"{message}.{base64.urlsafe_b64encode(digest).decode().rstrip('=')}"


# What somebody without the secret can make.
STRANGERS: dict[str, Callable[[Real], str]] = {
    "no algorithm": lambda real: real.unsigned({"alg": "none", "typ": "JWT"}),
    "no algorithm, capital": lambda real: real.unsigned({"alg": "None"}),
    "no algorithm, shouted": lambda real: real.unsigned({"alg": "NONE"}),
    "no algorithm, with a signature": lambda real: real.unsigned({"alg": "none"}, "AAAA"),
    "empty algorithm": lambda real: real.unsigned({"alg": ""}),
    "null algorithm": lambda real: real.unsigned({"alg": None}),
    "list of algorithms": lambda real: real.unsigned({"alg": ["HS256"]}),
    "no header field": lambda real: real.unsigned({}),
    "empty signature": lambda real: real.unsigned(real.header),
    "short signature": lambda real: real.token[:-4],
    "long signature": lambda real: real.token + "AAAA",
    "signature of zeroes": lambda real: real.unsigned(real.header, "A" * 43),
    "digest without a key": lambda real: real.unsigned(
        real.header, _part(hashlib.sha256(real.token.encode()).hexdigest())
    ),
    "another secret": lambda real: _token(real.header, real.claims, b"x" * 32),
    "empty secret": lambda real: _token(real.header, real.claims, b""),
    "secret that is a public key": lambda real: _token(
        {"alg": "HS256"}, real.claims, b"-----BEGIN PUBLIC KEY-----\nMIIB"
    ),
    "RS256": lambda real: real.unsigned({"alg": "RS256"}, "A" * 342),
    "ES256": lambda real: real.unsigned({"alg": "ES256"}, "A" * 86),
    "key id that is a file": lambda real: _token(
        {"alg": "HS256", "kid": "/dev/null"}, real.claims, b""
    ),
    "key id that is SQL": lambda real: _token(
        {"alg": "HS256", "kid": "' OR 1=1 --"}, real.claims, b"x"
    ),
    "key of its own": lambda real: _token(
        {"alg": "HS256", "jwk": {"kty": "oct", "k": "eA"}}, real.claims, b"x"
    ),
    "address of its own keys": lambda real: _token(
        {"alg": "HS256", "jku": "http://127.0.0.1:1/keys"}, real.claims, b"x"
    ),
    "changed role": lambda real: _swap(real, role="super_admin"),
    "changed tenant": lambda real: _swap(real, tenant_id=ids.NONE),
    "changed expiry": lambda real: _swap(real, exp=2**33),
    "truncated": lambda real: real.token.rpartition(".")[0],
    "one part": lambda real: "abc",
    "four parts": lambda real: real.token + ".abc",
    "only dots": lambda real: "..",
    "not base64": lambda real: "!!!.???.***",
    "not JSON": lambda real: f"{_part('{')}.{_part('{')}.AAAA",
    "header that is a list": lambda real: f"{_part([1])}.{_part(real.claims)}.AAAA",
    "header nested too deeply": lambda real: f"{_part('[' * 9000)}.{_part({})}.AAAA",
    "encrypted": lambda real: f"{_part({'alg': 'dir', 'enc': 'A256GCM'})}.a.b.c.d",
    "not ASCII": lambda real: real.token + "é",
}
# The valid token, spelled differently.
SPELLINGS: dict[str, Callable[[str], str]] = {
    "padding": lambda token: token + "=",
    "padded header": lambda token: token.replace(".", "=.", 1),
    "unused bits": lambda token: token[:-1] + chr(ord(token[-1]) + 1),
    "space before the signature": lambda token: ". ".join(token.rsplit(".", 1)),
    "ignored character": lambda token: token + "!",
    "no-break space": lambda token: token + "\xa0",
}
# What our own secret might have signed for something else.
MISUSED: dict[str, Callable[[Real], str]] = {
    "other audience": lambda real: real.signed(aud="elsewhere"),
    "other issuer": lambda real: real.signed(iss="elsewhere"),
    "HS384": lambda real: _token({"alg": "HS384"}, real.claims, real.secret, "sha384"),
    "HS512": lambda real: _token({"alg": "HS512"}, real.claims, real.secret, "sha512"),
    "critical extension": lambda real: real.signed({"crit": ["b64"], "b64": False}),
    "unknown critical extension": lambda real: real.signed({"crit": ["exp"]}),
    "claims that are a list": lambda real: _token(real.header, [1], real.secret),
    "claims nested too deeply": lambda real: _token(real.header, "[" * 9000, real.secret),
    "expiry as text": lambda real: real.signed(exp="9999999999"),
    "expiry as a list": lambda real: real.signed(exp=[9999999999]),
    "expiry without end": lambda real: real.signed(exp=float("inf")),
    "expiry that is no number": lambda real: real.signed(exp=float("nan")),
    "issue as text": lambda real: real.signed(iat="1"),
    "issue before the epoch": lambda real: real.signed(iat=-1),
    "version before the password": lambda real: real.signed(version=-1),
    "version as text": lambda real: real.signed(version="0"),
    "version as a bool": lambda real: real.signed(version=False),
    "user as a number": lambda real: real.signed(sub=1),
    "user who is not there": lambda real: real.signed(sub=ids.NONE),
    "tenant that is not there": lambda real: real.signed(tenant_id=ids.NONE),
    "tenant as a list": lambda real: real.signed(tenant_id=["t"]),
    "role of somebody else": lambda real: real.signed(role="super_admin"),
    "role as a list": lambda real: real.signed(role=["tenant_admin"]),
    "id as an object": lambda real: real.signed(jti={}),
    "not yet": lambda real: real.signed(nbf=2**33),
    **{
        f"without {claim}": lambda real, claim=claim: real.signed(**{claim: LEFT})  # type: ignore[misc]
        for claim in ("iss", "aud", "sub", "jti", "iat", "exp", "tenant_id", "role", "version")
    },
}


def _swap(real: Real, **claims: Any) -> str:
    head, _, signature = real.token.split(".")
    return f"{head}.{_part(real.claims | claims)}.{signature}"


@pytest.fixture
def real(service: Service, admin: Person) -> Real:
    return _taken_apart(service, admin)


def _taken_apart(service: Service, person: Person) -> Real:
    claims = jwt.decode(person.token, options={"verify_signature": False})
    header = jwt.get_unverified_header(person.token)
    return Real(person.token, dict(header), claims, service.settings.jwt_secret)


def test_unchanged_claims_signed_by_the_test_are_accepted(service: Service, real: Real) -> None:
    assert Person(service, real.signed()).get(ME).status_code == 200


@in_turn_or_all
def test_forged_token_is_refused(service: Service, real: Real, combine: Combine) -> None:
    tokens = {name: forge(real) for name, forge in {**STRANGERS, **MISUSED}.items()}
    for route, name in combine(JWT_ROUTES, [*tokens]):
        target = route.path.replace("{id}", ids.NONE)
        header = {"authorization": f"Bearer {tokens[name]}"}
        response = Person(service, "").call(route.method, target, headers=header)
        refusal = response.status_code, response.json()["code"]
        assert refusal == (401, "invalid_token"), (target, name)
        assert response.headers["www-authenticate"] == "Bearer"


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_a_token_has_one_spelling(service: Service, real: Real, spelling: str) -> None:
    header = {"authorization": f"Bearer {SPELLINGS[spelling](real.token)}"}
    response = Person(service, "").call("GET", ME, headers=header)
    assert (response.status_code, response.json()["code"]) == (401, "invalid_token")


def test_expired_token_has_its_own_code(service: Service, real: Real) -> None:
    now_s = service.clock.now_us() // 1_000_000
    codes = [
        Person(service, real.signed(exp=at)).get(ME).json().get("code")
        for at in (now_s - 1, now_s - 0.5, now_s + 60)
    ]
    assert codes == ["token_expired", "token_expired", None]


def test_token_lasts_an_hour_and_no_longer(own_service: Service) -> None:
    admin = own_service.tenant().admin()
    own_service.clock.advance(3000)
    assert admin.get(ME).status_code == 200
    own_service.clock.advance(601)
    refused = admin.get(ME)
    assert (refused.status_code, refused.json()["code"]) == (401, "token_expired")
    assert refused.headers["www-authenticate"] == "Bearer"


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"cookie": "access_token=x; session=x"},
        {"authorization": "Basic YTpi"},
        {"authorization": ""},
    ],
)
def test_without_a_bearer_token_a_log_in_is_required(
    service: Service, headers: dict[str, str]
) -> None:
    response = Person(service, "").call("GET", ME, headers=headers)
    assert (response.status_code, response.json()["code"]) == (401, "jwt_required")
    assert response.headers["www-authenticate"] == "Bearer"
    assert "POST /api/v1/auth/login" in response.json()["detail"]


def test_a_signed_request_is_told_that_no_signature_is_accepted(key: Key) -> None:
    for path in (ME, "/api/v1/api-keys"):
        assert "Signed requests are never accepted" in key.get(path).json()["detail"]


def test_cookie_is_not_accepted_by_the_api(service: Service, real: Real) -> None:
    cookies = {"cookie": f"access_token={real.token}; session={real.token}"}
    assert Person(service, "").call("GET", ME, headers=cookies).json()["code"] == "jwt_required"


def test_scheme_is_read_in_any_case(service: Service, real: Real) -> None:
    response = Person(service, "").call(
        "GET", ME, headers={"authorization": f"bEaReR {real.token}"}
    )
    assert response.status_code == 200


def test_token_of_another_installation_is_refused(start: Any, real: Real) -> None:
    assert Person(start(), real.token).get(ME).json()["code"] == "invalid_token"


def test_token_of_a_tenant_names_no_user_of_another(service: Service, real: Real) -> None:
    foreign = Person(service, real.signed(tenant_id=service.tenant().id))
    assert foreign.get("/api/v1/api-keys").json()["code"] == "invalid_token"


def test_tokens_of_one_user_differ(tenant: Tenant) -> None:
    assert tenant.admin().token != tenant.admin().token
