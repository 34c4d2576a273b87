"""The OpenAPI document: links, webhooks, its parts by tag, its compressed form, its examples."""

import json
import re
from typing import Any
from urllib.parse import urlencode

import pytest

from sealdesk.event_log import events
from sealdesk.web.openapi.tags import TAGS, path_of_tag
from tests.support.client import Key, Person
from tests.support.closed_document import close, operations, responses
from tests.support.openapi import check_document, validator
from tests.support.service import Service, Tenant

Json = dict[str, Any]


@pytest.fixture
def document(service: Service) -> Json:
    return dict(Person(service, "").get("/openapi.json").json())


@pytest.fixture
def parts(service: Service) -> dict[str, Json]:
    """The document of each tag."""
    return {tag: Person(service, "").get(path_of_tag(tag)).json() for tag in TAGS}


def test_what_creates_links_to_what_takes_the_new_id(document: Json) -> None:
    created = document["paths"]["/api/v1/external/tickets"]["post"]["responses"]["201"]
    taken = {name: link["parameters"] for name, link in created["links"].items()}
    assert taken["get_ticket"] == {"id": "$response.body#/data/id"}
    assert taken["list_replies"] == {"ticket_id": "$response.body#/data/id"}


def test_a_list_links_to_its_next_page(document: Json) -> None:
    paths = document["paths"]
    replies = paths["/api/v1/external/tickets/{ticket_id}/replies"]["get"]["responses"]["200"]
    assert replies["links"]["next_page"]["parameters"] == {
        "ticket_id": "$request.path.ticket_id",
        "query.cursor": "$response.body#/meta/next_cursor",
    }
    feed = paths["/api/v1/external/events"]["get"]["responses"]["200"]["links"]["next_page"]
    assert feed["parameters"] == {"query.cursor": "$response.body#/meta/resume_cursor"}


def test_every_event_type_is_a_webhook_with_an_example_that_fits(document: Json) -> None:
    assert list(document["webhooks"]) == list(events.TYPES)
    closed = close(document)
    for item in closed["webhooks"].values():
        content = item["post"]["requestBody"]["content"]["application/json"]
        root = {**content["schema"], "components": closed["components"]}
        validator(root).validate(content["example"])


@pytest.mark.parametrize(
    "checked", [["Macros"], pytest.param([*TAGS], marks=pytest.mark.prove)], ids=["one", "all"]
)
def test_the_document_of_each_tag_is_valid_by_itself(
    document: Json, parts: Any, checked: list[str]
) -> None:
    # The document is valid, so what its parts may lack is what they refer to.
    found: set[str] = set()
    for tag in checked:
        check_document(parts[tag])
    for tag, part in parts.items():
        assert _references(part) <= _components(part), tag
        names = {operation["operationId"] for operation in operations(part)}
        linked = [
            link["operationId"]
            for response in responses(part)
            for link in response.get("links", {}).values()
        ]
        assert names.issuperset(linked), tag
        found |= names
    assert found == {operation["operationId"] for operation in operations(document)}
    assert list(parts["Webhooks"]["webhooks"]) == list(document["webhooks"])
    assert len(json.dumps(parts["Tickets"])) < len(json.dumps(document)) / 3


def _references(part: Json) -> set[str]:
    return {*re.findall(r'"\$ref": "([^"]*)"', json.dumps(part))}


def _components(part: Json) -> set[str]:
    return {f"#/components/{kind}/{name}" for kind, of in part["components"].items() for name in of}


def test_the_document_names_those_of_its_tags(document: Json) -> None:
    addresses = [tag["externalDocs"]["url"] for tag in document["tags"]]
    assert addresses == [path_of_tag(tag) for tag in TAGS]


def test_the_document_is_sent_compressed(service: Service) -> None:
    anyone = Person(service, "")
    plain = anyone.get("/openapi.json", accept_encoding="identity")
    packed = anyone.get("/openapi.json", accept_encoding="gzip")
    assert packed.content == plain.content
    assert packed.headers["content-encoding"] == "gzip"
    assert int(packed.headers["content-length"]) < int(plain.headers["content-length"]) / 10
    assert {packed.headers["vary"], plain.headers["vary"]} == {"accept-encoding"}
    assert packed.headers["etag"] != plain.headers["etag"]
    etag = packed.headers["etag"]
    again = anyone.get("/openapi.json", accept_encoding="gzip", if_none_match=etag)
    assert (again.status_code, again.headers["vary"]) == (304, "accept-encoding")


def test_the_examples_of_parameters_are_accepted(document: Json, tenant: Tenant) -> None:
    key, admin = tenant.key(), tenant.admin()
    for path, item in document["paths"].items():
        if "get" not in item or "{" in path:
            continue
        operation = item["get"]
        caller: Key | Person = key if "apiKey" in str(operation["security"]) else admin
        for param in operation["parameters"]:
            if param["in"] != "query":
                continue
            example = param["example"]
            text = str(example).lower() if isinstance(example, bool) else example
            others = {"figure": "unfinished"} if param["name"] == "age_days" else {}
            target = f"{path}?{urlencode({param['name']: text, **others}, doseq=True)}"
            sent = caller.get(target)
            if param["name"] == "cursor":  # well formed, and of no tenant
                assert sent.json()["code"] == "invalid_cursor", target
            elif param["name"] == "starts_at":  # well formed, and of no step of this month
                assert "must be that of a day" in sent.json()["detail"], target
            else:
                assert sent.status_code == 200, target


def test_the_example_of_a_cursor_has_the_form_of_real_ones(document: Json, tenant: Tenant) -> None:
    key, path = tenant.key(), "/api/v1/external/tickets"
    (cursor,) = (
        param for param in document["paths"][path]["get"]["parameters"] if param["name"] == "cursor"
    )
    for _ in range(2):
        key.ticket(status="open")
    real = key.get(f"{path}?per_page=1&status=open").json()["meta"]["next_cursor"]
    for text in (real, cursor["example"]):
        validator(cursor["schema"]).validate(text)
    assert abs(len(real) - len(cursor["example"])) < 16
