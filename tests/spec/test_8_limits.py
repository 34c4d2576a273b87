"""Interface section 8: limits."""

from tests.support.client import Key, Person

KEYS = "/api/v1/api-keys"
TICKETS = "/api/v1/external/tickets"


def test_8_per_page_default_is_25(key: Key) -> None:
    assert key.get(TICKETS).json()["meta"]["per_page"] == 25


def test_8_per_page_maximum_is_100(key: Key) -> None:
    assert key.get(f"{TICKETS}?per_page=1000").json()["meta"]["per_page"] == 100


def test_8_an_api_key_is_40_hex_characters_behind_its_prefix(admin: Person) -> None:
    api_key = admin.post(KEYS, {"name": "Shop"}).json()["data"]["api_key"]
    assert len(bytes.fromhex(api_key.removeprefix("tk_live_"))) == 20


def test_8_an_api_secret_is_64_hex_characters(admin: Person) -> None:
    api_secret = admin.post(KEYS, {"name": "Shop"}).json()["data"]["api_secret"]
    assert len(bytes.fromhex(api_secret)) == 32


def test_8_rate_limit_is_an_integer_set_at_creation(admin: Person) -> None:
    made = admin.post(KEYS, {"name": "Shop", "rate_limit": 7}).json()["data"]
    assert admin.get(f"{KEYS}/{made['id']}").json()["data"]["rate_limit"] == 7


def test_8_rate_limit_is_refused_unless_it_is_an_integer(admin: Person) -> None:
    for wrong in ("7", 7.5, True):
        assert admin.post(KEYS, {"name": "Shop", "rate_limit": wrong}).status_code == 422
