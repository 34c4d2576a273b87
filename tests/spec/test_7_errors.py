"""Interface section 7: errors, and the success statuses beside them."""

from tests.support.client import Key, Person

KEYS = "/api/v1/api-keys"
TICKETS = "/api/v1/external/tickets"


def test_7_a_request_with_a_revoked_key_is_401_unauthorized(key: Key, admin: Person) -> None:
    admin.delete(f"{KEYS}/{key.id}")
    response = key.get(TICKETS)
    assert (response.status_code, response.reason_phrase) == (401, "Unauthorized")


def test_7_a_request_signed_with_a_rotated_away_secret_is_401(key: Key, admin: Person) -> None:
    admin.post(f"{KEYS}/{key.id}/rotate")
    assert key.get(TICKETS).status_code == 401


def test_7_key_management_called_with_a_signature_is_rejected(key: Key) -> None:
    assert key.post(KEYS, {"name": "Shop"}).is_client_error


def test_7_key_creation_is_201(admin: Person) -> None:
    assert admin.post(KEYS, {"name": "Shop"}).status_code == 201


def test_7_key_revocation_is_204(key: Key, admin: Person) -> None:
    assert admin.delete(f"{KEYS}/{key.id}").status_code == 204
