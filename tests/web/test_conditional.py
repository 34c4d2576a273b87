"""Conditional requests: ETags, 304 and 412 (spec decision 10)."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.support.client import Key

TICKETS = "/api/v1/external/tickets"
CUSTOMERS = "/api/v1/external/customers"


def test_a_tickets_etag_is_its_version_and_its_customers(key: Key) -> None:
    ticket = key.ticket()
    path = f"{TICKETS}/{ticket['id']}"
    assert key.get(path).headers["etag"] == '"1.1"'
    assert key.patch(path, {"subject": "other"}).headers["etag"] == '"2.1"'
    assert key.get(path).headers["etag"] == '"2.1"'


def test_creating_a_ticket_returns_the_same_etag_as_reading_it(key: Key) -> None:
    for target, body in (
        (TICKETS, {"subject": "s", "description": "d", "customer": {"email": "a@example.test"}}),
        (CUSTOMERS, {"email": "b@example.test"}),
    ):
        created = key.post(target, body)
        read = key.get(created.headers["location"])
        assert created.headers["etag"] == read.headers["etag"]
        assert created.json() == read.json()


def test_renaming_the_customer_changes_the_tickets_etag_but_not_its_updated_at(key: Key) -> None:
    ticket = key.ticket()
    renamed = key.patch(f"{CUSTOMERS}/{ticket['customer']['id']}", {"name": "Maria"})
    assert renamed.headers["etag"] == '"2"'
    response = key.get(f"{TICKETS}/{ticket['id']}", if_none_match='"1.1"')
    assert response.status_code == 200
    assert response.headers["etag"] == '"1.2"'
    assert response.json()["data"] == ticket | {"customer": ticket["customer"] | {"name": "Maria"}}


def test_a_reply_changes_the_tickets_etag(key: Key) -> None:
    path = f"{TICKETS}/{key.ticket()['id']}"
    key.post(f"{path}/replies", {"body": "Hello"})
    assert key.get(path).headers["etag"] == '"2.1"'


@pytest.mark.parametrize(
    ("header", "status"),
    [
        ('"1.1"', 304),
        ('W/"1.1"', 304),
        ("*", 304),
        ('"7.7", "1.1"', 304),
        ('"7.7" ,W/"1.1","8.8"', 304),
        (', ,"7.7",\t,"1.1",', 304),
        ('"1.2"', 200),
        ('"*"', 200),
        ('"a,b", "é"', 200),
        ('""', 200),
    ],
)
def test_if_none_match_with_the_current_tag_is_304_without_a_body(
    key: Key, header: str, status: int
) -> None:
    response = key.call(
        "GET",
        f"{TICKETS}/{key.ticket()['id']}",
        headers={"if-none-match": header},
    )
    assert response.status_code == status
    assert response.headers["etag"] == '"1.1"'
    assert bool(response.content) == (status == 200)


def test_a_customer_supports_if_none_match(key: Key) -> None:
    path = f"{CUSTOMERS}/{key.customer('a@example.test')['id']}"
    assert key.get(path, if_none_match='"1"').status_code == 304
    assert key.get(path, if_none_match='"1.1"').status_code == 200


@pytest.mark.parametrize(
    "header", ["1.1", ",", '"1.1",*', '"1.1', "", '"1.1" "1.2"', '"a"b"', "W/1.1", "*x"]
)
def test_an_invalid_entity_tag_is_refused(key: Key, header: str) -> None:
    path = f"{TICKETS}/{key.ticket()['id']}"
    for response in (
        key.get(path, if_none_match=header),
        key.patch(path, {"subject": "other"}, if_match=header),
    ):
        assert (response.status_code, response.json()["code"]) == (400, "invalid_header")


@pytest.mark.parametrize("header", ['"1.1"', "*", '"7.7", "1.1"'])
def test_if_match_with_the_current_tag_allows_the_write(key: Key, header: str) -> None:
    path = f"{TICKETS}/{key.ticket()['id']}"
    assert key.patch(path, {"subject": "other"}, if_match=header).status_code == 200


@pytest.mark.parametrize("header", ['"1.2"', 'W/"1.2"', '"1"', '"0.1", "2.1"'])
def test_if_match_with_another_tag_is_412_and_changes_nothing(key: Key, header: str) -> None:
    ticket = key.ticket()
    path = f"{TICKETS}/{ticket['id']}"
    response = key.patch(path, {"subject": "other"}, if_match=header)
    assert response.status_code == 412
    assert response.json()["code"] == "version_mismatch"
    assert response.json()["current"] == '"1.1"'
    assert key.get(path).json()["data"] == ticket


@pytest.mark.parametrize(
    "header",
    [
        'W/"1.1"',
        '"7.7", W/"1.1"',
        '"1.1-gzip"',
        '"1.1-br"',
        '"1.1--gzip"',
        '"1.1;gzip"',
        'W/"1.1-deflate"',
        '"1.1-gzip-gzip"',
        '"1.1/br"',
        '"1.1+gzip"',
        '"1.1:zstd"',
        '"1.1;gz"',
    ],
)
def test_a_weak_tag_in_if_match_is_compared_weakly_which_the_response_says(
    key: Key, header: str
) -> None:
    path = f"{TICKETS}/{key.ticket()['id']}"
    response = key.patch(path, {"subject": "other"}, if_match=header)
    assert response.status_code == 200
    assert response.headers["x-warnings"].startswith("if-match: a weak ETag")
    again = key.patch(path, {"subject": "third"}, if_match=header)
    assert again.status_code == 412
    assert "x-warnings" in again.headers


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("if-none-match", "*"),
        ("if-none-match", '"1.1"'),
        ("if-none-match", '"7.7"'),
        ("if-unmodified-since", "Mon, 30 Nov 2026 00:00:00 GMT"),
    ],
)
def test_a_change_with_another_condition_is_refused_and_changes_nothing(
    key: Key, name: str, value: str
) -> None:
    ticket = key.ticket()
    path = f"{TICKETS}/{ticket['id']}"
    for method, target, body in (
        ("PATCH", path, {"subject": "other"}),
        ("PUT", f"{CUSTOMERS}/by-external-id/7", {"email": ticket["customer"]["email"]}),
        ("POST", f"{path}/replies", {"body": "B"}),
    ):
        response = key.call(method, target, body, headers={name: value})
        assert (response.status_code, response.json()["code"]) == (400, "invalid_header"), target
    assert key.get(path).json()["data"] == ticket


def test_if_match_is_compared_even_when_nothing_would_change(key: Key) -> None:
    path = f"{TICKETS}/{key.ticket()['id']}"
    assert key.patch(path, {}, if_match='"9.9"').status_code == 412


def test_a_write_without_if_match_is_allowed(key: Key) -> None:
    path = f"{CUSTOMERS}/{key.customer('a@example.test')['id']}"
    assert key.patch(path, {"name": "A"}).status_code == 200
    assert key.patch(path, {"name": "B"}, if_match='"1"').status_code == 412
    assert key.patch(path, {"name": "B"}, if_match='"2"').headers["etag"] == '"3"'


@pytest.mark.parametrize("of", ["ticket", "customer"])
def test_one_of_concurrent_writes_with_one_if_match_succeeds(key: Key, of: str) -> None:
    ticket = key.ticket()
    path, tag, name = {
        "ticket": (f"{TICKETS}/{ticket['id']}", '"1.1"', "subject"),
        "customer": (f"{CUSTOMERS}/{ticket['customer']['id']}", '"1"', "name"),
    }[of]
    with ThreadPoolExecutor(8) as pool:
        responses = list(
            pool.map(lambda n: key.patch(path, {name: f"writer {n}"}, if_match=tag), range(8))
        )
    (won,) = [response for response in responses if response.status_code == 200]
    assert sorted(response.status_code for response in responses) == [200] + 7 * [412]
    assert key.get(path).json() == won.json()


def test_a_missing_resource_is_404_whatever_the_condition(key: Key) -> None:
    path = f"{TICKETS}/00000000-0000-7000-8000-000000000000"
    assert key.get(path, if_none_match="*").status_code == 404
    assert key.patch(path, {}, if_match="*").status_code == 404
