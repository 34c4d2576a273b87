"""Whose account an ID token names."""

import base64
from typing import Any

import msgspec

from sealdesk.oauth.providers import PROVIDERS
from sealdesk.oauth.tokens import Tokens, account_of
from tests.support.for_each import for_each

OURS: dict[str, Any] = {"aud": "ours", "email": "desk@acme.test", "email_verified": True}


def _account(provider: str, claims: object, cut: int = 3) -> str:
    payload = base64.urlsafe_b64encode(msgspec.json.encode(claims)).decode().rstrip("=")
    id_token = ".".join(["e30", payload, "signature"][:cut])
    found = {str(name): each for name, each in PROVIDERS.items()}[provider]
    return account_of(found, Tokens("token", id_token=id_token), "ours")


def test_google_names_the_verified_address() -> None:
    assert _account("google", OURS) == "desk@acme.test"


def test_microsoft_names_the_user_and_not_the_email_that_any_directory_can_claim() -> None:
    claims = {**OURS, "preferred_username": "eve@evil.test"}
    assert _account("microsoft", claims) == "eve@evil.test"
    assert _account("microsoft", OURS) == ""


@for_each(
    "claims",
    [
        {**OURS, "aud": "another client"},
        {**OURS, "email_verified": False},
        {**OURS, "email_verified": "yes"},
        {**OURS, "email": ["desk@acme.test"]},
        {"aud": "ours"},
        [],
        "text",
    ],
)
def test_any_other_id_token_names_nobody(claims: object) -> None:
    assert _account("google", claims) == ""


def test_a_cut_id_token_names_nobody() -> None:
    assert _account("google", OURS, cut=1) == ""
    assert account_of(PROVIDERS["google"], Tokens("token"), "ours") == ""


def test_tokens_have_no_repr() -> None:
    assert "secret" not in repr(Tokens("secret", refresh_token="secret", id_token="secret"))
