"""The OpenAPI document: valid, complete, and with examples that match their schemas."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from sealdesk.routes import PROBLEM_TYPES, ROUTES
from sealdesk.web.openapi.problems import MEMBERS_BY_TYPE
from tests.support.client import Person
from tests.support.closed_document import close, example_of, responses, taken_by_requests
from tests.support.openapi import check_document, validator
from tests.support.service import Service

Json = dict[str, Any]
_DOCUMENTATION = ("/openapi", "/docs", "/llms")
_METHODS = ("get", "post", "put", "patch", "delete")
# A known path with another method is no operation; only the command line and pages create users and
# have forms.
_OF_NO_OPERATION = {
    "method_not_allowed",
    "unknown_transfer_coding",
    "last_administrator",
    "user_inactive",
    "too_many_invitations",
    "foreign_form",
    # Of the page on which a provider's consent is given.
    "consent_unknown",
    "consent_not_given",
    "consent_of_other_account",
}
_INTERFACE = {
    ("get", "/api/v1/api-keys"),
    ("post", "/api/v1/api-keys"),
    ("delete", "/api/v1/api-keys/{id}"),
    ("post", "/api/v1/api-keys/{id}/rotate"),
    ("get", "/api/v1/external/tickets"),
    ("post", "/api/v1/external/tickets"),
    ("get", "/api/v1/external/tickets/{id}"),
    ("patch", "/api/v1/external/tickets/{id}"),
    ("get", "/api/v1/external/tickets/{ticket_id}/replies"),
    ("post", "/api/v1/external/tickets/{ticket_id}/replies"),
    ("get", "/api/v1/external/customers"),
    ("post", "/api/v1/external/customers"),
    ("get", "/api/v1/external/customers/{id}"),
    ("patch", "/api/v1/external/customers/{id}"),
}


@pytest.fixture
def document(service: Service) -> Json:
    response = Person(service, "").get("/openapi.json")
    assert response.headers["content-type"] == "application/json"
    return dict(response.json())


def _operations(document: Json) -> Iterator[tuple[str, str, Json]]:
    for path, item in document["paths"].items():
        for method in _METHODS:
            if method in item:
                yield method, path, item[method]


def _media_types(document: Json) -> Iterator[tuple[str, Json]]:
    """(place, media type object) of every documented body."""
    for method, path, operation in _operations(document):
        for media_type in operation.get("requestBody", {"content": {}})["content"].values():
            yield f"{method} {path}", media_type
        for status, response in operation["responses"].items():
            for media_type in response.get("content", {}).values():
                yield f"{method} {path} {status}", media_type


def _examples(document: Json) -> Iterator[tuple[str, Json, Any]]:
    """(place, schema, example) of every example."""
    for where, media_type in _media_types(document):
        if "example" in media_type:
            yield where, media_type["schema"], media_type["example"]
        for code, example in media_type.get("examples", {}).items():
            value = example_of(document, example)
            yield f"{where} {code}", media_type["schema"], value
    for method, path, operation in _operations(document):
        for parameter in operation["parameters"]:
            where = f"{method} {path} {parameter['name']}"
            yield where, parameter["schema"], parameter["example"]
    for name, header in document["components"]["headers"].items():
        yield name, header["schema"], header["example"]


@pytest.mark.prove  # 4 s; the documents of the tags have all of it but what no operation names
def test_the_document_is_valid_openapi_3_1(document: Json) -> None:
    assert document["openapi"].startswith("3.1")
    check_document(document)


def test_every_route_is_an_operation(document: Json) -> None:
    rows = {(row.method.lower(), row.path) for row in ROUTES if not _is_documentation(row.path)}
    assert {(method, path) for method, path, _ in _operations(document)} == rows


def test_paths_are_written_as_in_the_interface(document: Json) -> None:
    documented = {(method, path) for method, path, _ in _operations(document)}
    assert documented >= _INTERFACE


def test_operation_ids_are_unique(document: Json) -> None:
    ids = [operation["operationId"] for _, _, operation in _operations(document)]
    assert len(ids) == len(set(ids))


def test_every_operation_has_a_tag_a_summary_and_a_description(document: Json) -> None:
    described = {tag["name"] for tag in document["tags"] if tag["description"]}
    for method, path, operation in _operations(document):
        assert set(operation["tags"]) <= described, f"{method} {path}"
        assert operation["summary"] and operation["description"], f"{method} {path}"


def test_every_example_fits_its_schema_of_today(document: Json) -> None:
    wrong, closed = [], close(document)
    for where, schema, example in _examples(closed):
        root = {**schema, "components": closed["components"]}
        errors = validator(root).iter_errors(example)
        wrong += [f"{where}: {error.message}" for error in errors]
    assert wrong == []


def test_every_json_body_has_an_example(document: Json) -> None:
    bare = [
        where
        for where, media_type in _media_types(document)
        if media_type["schema"].get("type") != "string"
        and not media_type.keys() & {"example", "examples"}
    ]
    assert bare == []


def test_examples_of_problems_name_the_path_of_an_operation(document: Json) -> None:
    stems = {path.partition("{")[0] for path in document["paths"]}
    for method, path, operation in _operations(document):
        for status, response in operation["responses"].items():
            problems = response.get("content", {}).get("application/problem+json")
            for code, example in (problems or {"examples": {}})["examples"].items():
                value = example_of(document, example)
                assert (value["code"], value["status"]) == (code, int(status)), f"{method} {path}"
                assert value["instance"].startswith(tuple(stems))


def test_every_code_is_documented_on_an_operation(document: Json) -> None:
    codes = {
        code for _, media_type in _media_types(document) for code in media_type.get("examples", {})
    }
    assert codes == {each.code for each in PROBLEM_TYPES} - _OF_NO_OPERATION


def test_responses_may_get_new_members_and_values(document: Json) -> None:
    taken = taken_by_requests(document)
    schemas = document["components"]["schemas"]
    given = [
        schema
        for name, schema in schemas.items()
        if name not in taken and not name.endswith("Problem")  # those tell types apart
    ]
    written = json.dumps([given, [response.get("content") for response in responses(document)]])
    for closing in ('"enum"', '"const"', '"additionalProperties": false', '"oneOf"', '"default"'):
        assert closing not in written


def test_requests_name_their_values_and_say_their_defaults_in_words(document: Json) -> None:
    new = document["components"]["schemas"]["NewTicket"]
    priority = new["properties"]["priority"]
    assert priority["enum"] == ["low", "medium", "high", "urgent"]
    assert priority["description"].endswith("By default `medium`.")
    for name in taken_by_requests(document):
        schema = document["components"]["schemas"][name]
        assert schema.get("additionalProperties", True) is True, name
        assert '"default"' not in json.dumps(schema), name


def test_free_objects_say_that_they_are_free(document: Json) -> None:
    schemas = document["components"]["schemas"]
    for struct, field in (("Ticket", "custom_fields"), ("EventData", "object")):
        assert schemas[struct]["properties"][field]["additionalProperties"] is True


def test_each_list_has_one_schema_of_errors(document: Json) -> None:
    for _, path, operation in _operations(document):
        schemas = [
            response["content"]["application/problem+json"]["schema"]
            for response in operation["responses"].values()
            if "application/problem+json" in response.get("content", {})
        ]
        assert schemas == [{"$ref": "#/components/schemas/Problem"}] * len(schemas), path


def test_the_type_of_a_problem_tells_which_members_it_has(document: Json) -> None:
    schemas = document["components"]["schemas"]
    special = schemas["Problem"][MEMBERS_BY_TYPE]
    for each in PROBLEM_TYPES:
        kind, members = f"/docs/errors#{each.code}", each.members_of(each.example)
        assert (kind in special) == bool(members), each.code
        if members:
            own = schemas[special[kind].rpartition("/")[2]]["allOf"][1]["properties"]
            assert own["type"]["enum"] == [kind]
            assert own.keys() - {"type"} == members.keys()


def test_operations_name_their_authentication_and_permissions(document: Json) -> None:
    for row in ROUTES:
        if _is_documentation(row.path):
            continue
        operation = document["paths"][row.path][row.method.lower()]
        schemes = {name for option in operation["security"] for name in option}
        expected = {
            "hmac": {"apiKey", "apiTimestamp", "apiSignature"},
            "jwt": {"accessToken"},
            "none": set[str](),
        }[row.guard.scheme]
        assert schemes == expected, row.path
        assert operation.get("x-required-permissions", []) == list(row.guard.needs)
        for need in row.guard.needs:
            assert f"`{need}`" in operation["description"]


def test_signed_operations_need_all_three_headers_together(document: Json) -> None:
    (option,) = document["paths"]["/api/v1/external/tickets"]["get"]["security"]
    schemes = document["components"]["securitySchemes"]
    headers = {schemes[name]["name"] for name in option}
    assert headers == {"x-api-key", "x-api-timestamp", "x-api-signature"}


def _is_documentation(path: str) -> bool:
    return path.startswith(_DOCUMENTATION)
