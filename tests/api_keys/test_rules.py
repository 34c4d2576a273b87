"""API keys are minted, hashed and bound to their rows (spec decision 2)."""

import re

import msgspec
import pytest

from sealdesk.api_keys import rules
from sealdesk.api_keys.permissions import DEFAULT_PERMISSIONS
from sealdesk.api_keys.types import ApiKey
from tests.support.for_each import for_each

NOW = 1_767_225_600_000_000
KEY = ApiKey(
    tenant_id="tenant",
    id="key",
    name="Shop",
    key_prefix="tk_live_2cf24dba",
    permissions=DEFAULT_PERMISSIONS,
    rate_limit=1000,
    allowed_ips=None,
    replay_protection="off",
    expires_at=None,
    revoked_at=None,
    last_used_at=None,
    sealed_secret=b"sealed",
    secret_version=1,
    created_at=NOW,
)


def test_minted_keys_are_unique() -> None:
    keys = {rules.mint_key("live") for _ in range(1000)}
    assert len(keys) == 1000
    assert all(re.fullmatch(r"tk_live_[0-9a-f]{40}", key) for key in keys)


def test_a_key_of_the_test_mode_has_another_prefix() -> None:
    assert re.fullmatch(r"tk_test_[0-9a-f]{40}", rules.mint_key("test"))


def test_minted_secrets_are_unique() -> None:
    secrets = {rules.mint_secret() for _ in range(1000)}
    assert len(secrets) == 1000
    assert all(re.fullmatch(r"[0-9a-f]{64}", secret) for secret in secrets)


@for_each(
    ("expires_at", "revoked_at", "is_active"),
    [
        (None, None, True),
        (NOW + 1, None, True),
        (NOW, None, False),
        (NOW - 1, None, False),
        (None, NOW, False),
        (NOW + 1, NOW, False),
    ],
)
def test_a_key_is_active_until_revoked_or_expired(
    expires_at: int | None, revoked_at: int | None, is_active: bool
) -> None:
    key = msgspec.structs.replace(KEY, expires_at=expires_at, revoked_at=revoked_at)
    assert rules.is_active(key, NOW) == is_active


@pytest.mark.parametrize(
    ("last_used_at", "is_due"),
    [(None, True), (NOW, False), (NOW - 59_999_999, False), (NOW - 60_000_000, True)],
)
def test_a_use_is_recorded_at_first_and_then_once_a_minute(
    last_used_at: int | None, is_due: bool
) -> None:
    assert (rules.next_recorded_use(last_used_at) <= NOW) == is_due


@pytest.mark.parametrize("changed", [{"tenant_id": "b"}, {"id": "b"}, {"secret_version": 2}])
def test_a_secret_is_bound_to_its_tenant_key_and_version(changed: dict[str, str | int]) -> None:
    assert rules.seal_context(msgspec.structs.replace(KEY, **changed)) != rules.seal_context(KEY)
