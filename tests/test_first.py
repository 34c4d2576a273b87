from tests.support.client import Key, Person


def test_a_created_ticket_is_listed(key: Key) -> None:
    ticket = key.ticket(subject="Hello")
    assert key.walk("/api/v1/external/tickets") == [ticket]


def test_a_revoked_key_gets_401(key: Key, admin: Person) -> None:
    assert admin.delete(f"/api/v1/api-keys/{key.id}").status_code == 204
    assert key.get("/api/v1/external/tickets").json()["code"] == "api_key_revoked"
