"""Mutants of the OpenAPI document."""

from tests.mutants.mutant import Mutant

_OPENAPI = "tests/web/test_openapi.py"
_PARTS = "tests/web/test_openapi_parts.py"
_CLIENTS = "tests/generated_clients/test_generated_clients.py"

MUTANTS: tuple[Mutant, ...] = (
    Mutant(
        "an enumeration in responses is closed",
        "web/openapi/schemas.py",
        "        opened[KNOWN_VALUES] = [value",
        '        opened["enum"] = [value',
        (
            f"{_OPENAPI}::test_responses_may_get_new_members_and_values",
            f"{_CLIENTS}::test_an_older_client_survives_what_a_later_version_adds",
        ),
    ),
    Mutant(
        "generators require the fields that have a default",
        "web/openapi/schemas.py",
        '    described = _without(field, "default")\n',
        "    described = dict(field)\n",
        (f"{_OPENAPI}::test_requests_name_their_values_and_say_their_defaults_in_words",),
    ),
    Mutant(
        "free objects have no members for generators",
        "web/openapi/schemas.py",
        "_tidy(members) if members else True}",
        "_tidy(members)} if members else {}",
        (f"{_OPENAPI}::test_free_objects_say_that_they_are_free",),
    ),
    Mutant(
        "the document of a tag links to operations of others",
        "web/openapi/by_tag.py",
        '            if link["operationId"] in names\n',
        "",
        (f"{_PARTS}::test_the_document_of_each_tag_is_valid_by_itself",),
    ),
    Mutant(
        "the compressed document has the entity tag of the plain one",
        "web/openapi/endpoints.py",
        'f"{found.version}-gzip"',
        "found.version",
        (f"{_PARTS}::test_the_document_is_sent_compressed",),
    ),
    Mutant(
        "a repeated list has only its last value",
        "web/query.py",
        "values.get(name, [])",
        "[]",
        ("tests/web/test_query.py::test_a_repeated_list_means_its_values_with_commas",),
    ),
)
