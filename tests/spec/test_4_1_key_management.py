"""Interface section 4.1: the endpoints that manage keys."""

from tests.support.client import Key, Person

KEYS = "/api/v1/api-keys"


def test_4_1_get_lists_the_keys(key: Key, admin: Person) -> None:
    response = admin.get(KEYS)
    assert response.status_code == 200
    assert [one["id"] for one in response.json()["data"]] == [key.id]


def test_4_1_get_shows_no_api_key_and_no_api_secret(key: Key, admin: Person) -> None:
    text = admin.get(KEYS).text
    assert '"api_key"' not in text
    assert '"api_secret"' not in text
    assert key.api_key not in text


def test_4_1_post_returns_201_with_api_key_and_api_secret(admin: Person) -> None:
    response = admin.post(KEYS, {"name": "Shop"})
    assert response.status_code == 201
    assert {"id", "api_key", "api_secret"} <= response.json()["data"].keys()


def test_4_1_post_takes_permissions_rate_limit_and_expires_at(admin: Person) -> None:
    wanted = {
        "name": "Shop",
        "permissions": ["tickets:read"],
        "rate_limit": 60,
        "expires_at": "2100-01-01T00:00:00Z",
    }
    made = admin.post(KEYS, wanted).json()["data"]
    assert {name: made[name] for name in ("name", "permissions", "rate_limit")} == {
        "name": "Shop",
        "permissions": ["tickets:read"],
        "rate_limit": 60,
    }
    assert made["expires_at"] == "2100-01-01T00:00:00.000000Z"


def test_4_1_delete_returns_204(key: Key, admin: Person) -> None:
    assert admin.delete(f"{KEYS}/{key.id}").status_code == 204


def test_4_1_rotate_returns_key_data_with_a_new_api_secret(key: Key, admin: Person) -> None:
    rotated = admin.post(f"{KEYS}/{key.id}/rotate").json()["data"]
    assert rotated["id"] == key.id
    assert rotated["api_secret"] != key.api_secret


def test_4_1_key_management_is_not_available_through_a_signature(key: Key) -> None:
    assert key.get(KEYS).status_code == 401
    assert key.post(KEYS, {"name": "Shop"}).status_code == 401
    assert key.call("DELETE", f"{KEYS}/{key.id}").status_code == 401
    assert key.post(f"{KEYS}/{key.id}/rotate", {}).status_code == 401
