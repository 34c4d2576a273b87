"""Request bodies: strict JSON, and all faults at once (spec decisions 6 and 10)."""

import string
from typing import Any

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sealdesk.routes import ROUTES
from tests.support.client import Key, Person
from tests.support.for_each import for_each
from tests.support.service import Tenant

CUSTOMERS = "/api/v1/external/customers"
TICKETS = "/api/v1/external/tickets"
STRICT = {"prefer": "handling=strict"}
_CALENDAR = {"counts": "calendar"}
NEW = {"subject": "s", "description": "d", "customer": {"email": "c@example.test"}}


def faults(response: httpx.Response) -> set[tuple[str, str]]:
    """(pointer, code) of every fault in a 422 response."""
    assert response.status_code == 422, response.text
    problem = response.json()
    assert problem["code"] == "validation_failed"
    assert all(fault["in"] == "body" and fault["message"] for fault in problem["errors"])
    return {(fault["pointer"], fault["code"]) for fault in problem["errors"]}


def nested(depth: int) -> bytes:
    """A new customer whose metadata are nested this deep."""
    inner = "[" * (depth - 2) + "]" * (depth - 2)
    return f'{{"email": "deep@example.test", "metadata": {{"x": {inner}}}}}'.encode()


def holding(value: str) -> bytes:
    """A new customer with this JSON text in its metadata."""
    return f'{{"email": "v@example.test", "metadata": {{"v": {value}}}}}'.encode()


UNREADABLE = {
    "empty": b"",
    "white space": b"  ",
    "not json": b"email=a@example.test",
    "single quotes": b"{'email': 'a@example.test'}",
    "trailing comma": b'{"email": "a@example.test",}',
    "trailing garbage": b'{"email": "a@example.test"} x',
    "two documents": b'{"email": "a@example.test"}{}',
    "cut off": b'{"email": "a@example.test"',
    "comment": b'{"email": "a@example.test" /* me */}',
    "NaN": holding("NaN"),
    "Infinity": holding("Infinity"),
    "minus Infinity": holding("-Infinity"),
    "1e999": holding("1e999"),
    "-1e999": holding("-1e999"),
    "leading zero": holding("01"),
    "2^63": holding(str(2**63)),
    "-2^63 - 1": holding(str(-(2**63) - 1)),
    "a number of 5,000 digits": holding("9" * 5000),
    "a real of 5,000 digits": holding("9" * 5000 + ".5"),
    "duplicate name": b'{"email": "a@example.test", "email": "b@example.test"}',
    "duplicate name within": holding('{"a": 1, "b": 2, "a": 1}'),
    "duplicate name by escape": holding(r'{"a": 1, "\u0061": 1}'),
    "U+0000 raw": holding('"a\0b"'),
    "U+0000 escaped": holding(r'"a\u0000b"'),
    "U+0000 in a name": holding(r'{"a\u0000": 1}'),
    "U+0000 in a list": holding(r'[["\u0000"]]'),
    "raw line break in a text": holding('"a\nb"'),
    "high surrogate alone": holding(r'"\ud83d"'),
    "low surrogate alone": holding(r'"\ude00"'),
    "surrogates in the wrong order": holding(r'"\ude00\ud83d"'),
    "surrogate in a name": holding(r'{"\ud83d": 1}'),
    "byte order mark": b'\xef\xbb\xbf{"email": "a@example.test"}',
    "UTF-16": '{"email": "a@example.test"}'.encode("utf-16"),
    "UTF-16 without mark": '{"email": "a@example.test"}'.encode("utf-16-le"),
    "Latin-1": '{"email": "a@example.test", "name": "José"}'.encode("latin-1"),
    "overlong UTF-8": b'{"email": "a@example.test", "name": "\xc0\xaf"}',
    "a surrogate in UTF-8": b'{"email": "a@example.test", "name": "\xed\xa0\xbd"}',
    "10,001 values": holding("[" + "1," * 9_997 + "1]"),
    "10,001 values of objects": holding("[" + ",".join(['{"a":1}'] * 4_999) + ",1,1]"),
    "1 MiB of values": holding("[" + ",".join(['{"a":["\\u00e9",[""]]}'] * 47_000) + "]"),
    "1 MiB of texts": holding("[" + '"",' * 340_000 + '""]'),
    "1 MiB of quotes": holding('"' * 1_000_000),
    "33 deep": nested(33),
    "100,000 deep": b"[" * 100_000,
    "100,000 deep and closed": b"[" * 100_000 + b"]" * 100_000,
    "100,000 objects deep": b'{"a":' * 100_000,
}


def test_a_byte_order_mark_is_named(key: Key) -> None:
    response = key.call("POST", CUSTOMERS, content=b'\xef\xbb\xbf{"email": "a@b.test"}')
    assert (response.status_code, response.json()["code"]) == (400, "malformed_json")
    assert "byte order mark" in response.json()["detail"]


@pytest.mark.parametrize(
    "encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le", "utf-32-be"]
)
def test_another_encoding_than_utf_8_is_named(key: Key, encoding: str) -> None:
    response = key.call("POST", CUSTOMERS, content='{"email": "a@b.test"}'.encode(encoding))
    assert "it is UTF-16 or UTF-32; send UTF-8" in response.json()["detail"]
    assert "Extra data" in key.call("POST", CUSTOMERS, content=b"{}\0").json()["detail"]


@for_each("content", UNREADABLE.values())
def test_a_body_that_is_not_strict_json_is_refused_and_stores_nothing(
    key: Key, content: bytes
) -> None:
    response = key.call("POST", CUSTOMERS, content=content)
    assert response.status_code == 400
    assert response.headers["content-type"] == "application/problem+json"
    assert response.json()["code"] == "malformed_json"
    assert key.walk(CUSTOMERS) == []


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (str(2**63 - 1), 2**63 - 1),
        (str(-(2**63)), -(2**63)),
        ("-0", 0),
        ("1.5e300", 1.5e300),
        ("1e-999", 0.0),
        ("true", True),
        (r'"\ud83d\ude00"', "😀"),
        ('"😀 e\u0301 \u2028"', "😀 e\u0301 \u2028"),
        (r'"\u0001\n"', "\x01\n"),
        ("[null, {}, []]", [None, {}, []]),
    ],
)
def test_json_values_are_returned_as_they_were_sent(key: Key, text: str, value: Any) -> None:
    response = key.call("POST", CUSTOMERS, content=holding(text))
    assert response.status_code == 201
    kept = response.json()["data"]["metadata"]["v"]
    assert kept == value and type(kept) is type(value)


def test_a_body_may_be_32_deep(key: Key) -> None:
    assert key.call("POST", CUSTOMERS, content=nested(32)).status_code == 201


@pytest.mark.parametrize("content", [b"[]", b'"text"', b"null", b"1", b"true", b"[[]]"])
def test_json_that_is_not_an_object_is_a_fault_of_the_whole_body(key: Key, content: bytes) -> None:
    assert faults(key.call("POST", CUSTOMERS, content=content)) == {("", "invalid_type")}


def test_every_fault_of_a_new_ticket_is_named_at_once(key: Key) -> None:
    response = key.post(
        TICKETS,
        {
            "subject": "x" * 256,
            "description": " \t\u3000",
            "customer": {"email": "nobody", "name": "x" * 256},
            "priority": "asap",
            "status": "closed",
            "assignee_id": 5,
            "tags": ["fine", "", 5, " ", None, "x" * 65],
            "custom_fields": [],
            "external_id": "x" * 256,
        },
    )
    assert faults(response) == {
        ("/subject", "too_long"),
        ("/description", "too_short"),
        ("/customer/email", "invalid_email"),
        ("/customer/name", "too_long"),
        ("/priority", "invalid_value"),
        ("/status", "invalid_value"),
        ("/assignee_id", "invalid_type"),
        ("/tags/1", "too_short"),
        ("/tags/2", "invalid_type"),
        ("/tags/3", "too_short"),
        ("/tags/4", "null_not_allowed"),
        ("/tags/5", "too_long"),
        ("/custom_fields", "invalid_type"),
        ("/external_id", "too_long"),
    }


def test_every_missing_field_is_named_at_once(key: Key) -> None:
    required = {("/subject", "required"), ("/description", "required"), ("/customer", "required")}
    assert faults(key.post(TICKETS, {})) == required
    without_email = faults(key.post(TICKETS, {**NEW, "customer": {"name": "x"}}))
    assert without_email == {("/customer/email", "required")}


def test_a_rule_is_checked_beside_a_wrong_type(key: Key) -> None:
    response = key.post(CUSTOMERS, {"email": "nobody", "name": 5, "metadata": {"x": "y" * 16384}})
    assert faults(response) == {
        ("/email", "invalid_email"),
        ("/name", "invalid_type"),
        ("/metadata", "too_large"),
    }


def test_the_message_of_an_invalid_value_names_the_valid_ones_only(key: Key) -> None:
    response = key.post(TICKETS, {**NEW, "priority": "z" * 1000})
    (fault,) = response.json()["errors"]
    assert fault["message"] == "This must be one of low, medium, high, urgent."


def test_a_response_names_at_most_100_faults(key: Key) -> None:
    many = {f"field{n}": n for n in range(5000)}
    response = key.post(CUSTOMERS, {"email": "a@example.test", **many}, **STRICT)
    assert len(faults(response)) == 100


def test_unknown_fields_are_named_in_a_warning_and_not_stored(key: Key) -> None:
    sent = {**NEW, "subjct": 1, "a/b~c": 2, "größe, \n": 3}
    sent["customer"] = {"email": "c@example.test", "vip": True}
    response = key.post(TICKETS, sent)
    assert response.status_code == 201
    assert response.headers["x-warnings"].split(", ") == [
        "unknown_field=/subjct",
        "unknown_field=/a~1b~0c",
        "unknown_field=/gr%C3%B6%C3%9Fe%2C%20%0A",
        "unknown_field=/customer/vip",
    ]
    assert "subjct" not in response.text


def test_unknown_fields_are_found_in_lists_of_objects(tenant: Tenant) -> None:
    condition = {"field": "status", "operator": "is", "values": ["open"], "vallues": []}
    rule = {"name": "R", "trigger": "created", "conditions": [condition], "actions": {"note": "N"}}
    admin = tenant.admin()
    (fault,) = admin.post("/api/v1/rules", rule).json()["errors"]
    assert (fault["pointer"], "`values`" in fault["message"]) == ("/conditions/0/vallues", True)


def test_members_that_an_operation_without_a_body_ignores_are_named(tenant: Tenant) -> None:
    key = tenant.key(permissions=["customers:write", "customers:erase"])
    at = f"{CUSTOMERS}/{key.customer('dry@example.test')['id']}/erase"
    wanted = {"dry_run": True}
    assert faults(key.post(at, wanted, **STRICT)) == {("/dry_run", "unknown_field")}
    assert key.get(at.replace("erase", "erasure")).status_code == 404
    assert key.post(at, wanted).headers["x-warnings"] == "unknown_field=/dry_run"


def test_a_body_without_unknown_fields_gets_no_warning(key: Key) -> None:
    assert "x-warnings" not in key.post(TICKETS, NEW).headers


def test_free_objects_have_no_unknown_fields(key: Key) -> None:
    response = key.post(TICKETS, {**NEW, "custom_fields": {"anything": {"goes": 1}}}, **STRICT)
    assert response.status_code == 201


def test_warnings_name_at_most_ten_fields(key: Key) -> None:
    many = {f"field{n}": n for n in range(30)}
    warnings = key.post(TICKETS, {**NEW, **many}).headers["x-warnings"]
    assert warnings.split(", ") == [f"unknown_field=/field{n}" for n in range(10)]


def test_a_very_long_unknown_name_is_shortened_in_its_warning(key: Key) -> None:
    warnings = key.post(TICKETS, {**NEW, "x" * 5000: 1, "y": 2}).headers["x-warnings"]
    assert warnings == f"unknown_field=/{'x' * 63}%E2%80%A6, unknown_field=/y"


@settings(max_examples=50)
@given(names=st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\0")), min_size=1))
def test_warnings_can_always_be_sent(shared_key: Key, names: list[str]) -> None:
    unknown = {f"?{name}": 1 for name in names}
    response = shared_key.post(TICKETS, unknown)
    warnings = response.headers["x-warnings"]
    assert warnings.startswith("unknown_field=/%3F")
    assert set(warnings) <= set(string.ascii_letters + string.digits + "_=/~%-., ")
    assert len(warnings) <= 1024
    assert warnings.count("unknown_field=") <= 10


@pytest.fixture(scope="module")
def shared_key(shared_service: Any) -> Key:
    key: Key = shared_service.tenant().key()
    return key


@pytest.mark.parametrize(
    "prefer", ["handling=strict", 'respond-async, Handling="strict"', "handling = strict; x=1"]
)
def test_unknown_fields_are_faults_when_the_client_prefers_strict_handling(
    key: Key, prefer: str
) -> None:
    sent = {**NEW, "subjct": 1, "customer": {"email": "c@example.test", "vip": True}}
    response = key.post(TICKETS, sent, prefer=prefer)
    assert faults(response) == {("/subjct", "unknown_field"), ("/customer/vip", "unknown_field")}
    assert key.walk(TICKETS) == []


@pytest.mark.parametrize(
    "prefer",
    ["handling=lenient, handling=strict", "wait=9; handling=strict", 'x="a, handling=strict"'],
)
def test_unknown_fields_are_warnings_when_something_else_is_preferred(
    key: Key, prefer: str
) -> None:
    response = key.post(TICKETS, {**NEW, "subjct": 1}, prefer=prefer)
    assert (response.status_code, "subjct" in response.headers["x-warnings"]) == (201, True)


def test_strict_handling_names_unknown_fields_beside_other_faults(key: Key) -> None:
    response = key.post(TICKETS, {"subjct": "x"}, **STRICT)
    assert faults(response) == {
        ("/subjct", "unknown_field"),
        ("/subject", "required"),
        ("/description", "required"),
        ("/customer", "required"),
    }


def test_with_other_preferences_unknown_fields_are_a_warning(key: Key) -> None:
    response = key.post(TICKETS, {**NEW, "x": 1}, prefer="handling=lenient")
    assert response.status_code == 201


@pytest.mark.parametrize(
    ("method", "content_type", "status"),
    [
        ("POST", "application/json", 201),
        ("POST", "application/json; charset=utf-8", 201),
        ("POST", "Application/JSON ;x=y", 201),
        ("POST", "application/merge-patch+json", 415),
        ("POST", "text/plain", 415),
        ("POST", "application/jsonx", 415),
        ("POST", "application/x-www-form-urlencoded", 415),
        ("POST", "", 415),
        ("PATCH", "application/json", 200),
        ("PATCH", "application/merge-patch+json", 200),
        ("PATCH", "application/merge-patch+json; charset=utf-8", 200),
        ("PATCH", "application/json-patch+json", 415),
    ],
)
def test_only_json_is_accepted_and_merge_patch_only_with_patch(
    key: Key, method: str, content_type: str, status: int
) -> None:
    target = (
        f"{CUSTOMERS}/{key.customer('a@example.test')['id']}" if method == "PATCH" else CUSTOMERS
    )
    response = key.call(
        method, target, {"email": "b@example.test"}, headers={"content-type": content_type}
    )
    assert response.status_code == status
    if status == 415:
        assert response.json()["code"] == "unsupported_media_type"


def test_a_read_only_field_may_be_sent_back_and_not_changed(tenant: Tenant, key: Key) -> None:
    admin = tenant.admin()
    made: dict[str, tuple[Key | Person, dict[str, Any]]] = {
        TICKETS: (key, key.ticket()),
        CUSTOMERS: (key, key.customer("read-only@example.test")),
        "/api/v1/macros": (admin, {"name": "m", "shortcut": "m", "body": "Hi"}),
        "/api/v1/teams": (admin, {"name": "t"}),
        "/api/v1/custom-fields": (admin, {"key": "k", "label": "K", "type": "text"}),
        "/api/v1/api-keys": (admin, {"name": "k"}),
        "/api/v1/rules": (
            admin,
            {"name": "r", "trigger": "created", "actions": {"priority": "high"}},
        ),
        "/api/v1/sla-policies": (admin, {"name": "s", "resolution_minutes": 9, **_CALENDAR}),
        "/api/v1/mailboxes": (admin, {"address": f"help@{tenant.id[-12:]}.test"}),
    }
    patched = {each.path for each in ROUTES if each.method == "PATCH"}
    # Webhooks need a receiver: tests/webhooks/test_endpoints.py. A key changes rules by the
    # handler of administrators.
    others = ("/bulk", "/webhooks/{id}", "/external/rules/{id}")
    elsewhere = {path for path in patched if path.endswith(others)}
    assert {f"{path}/{{id}}" for path in made} == patched - elsewhere
    for path, (caller, new) in made.items():
        shown = new if "id" in new else caller.post(path, new).json()["data"]
        at = f"{path}/{shown['id']}"
        shown = caller.get(at).json()["data"]
        again = caller.patch(at, shown, **STRICT)
        assert again.status_code == 200, again.text
        at_ms = f"{shown['created_at'][:23]}Z"
        for same in (
            {"id": shown["id"].upper(), "created_at": at_ms},
            {"created_at": shown["created_at"].replace("Z", "+00:00")},
        ):
            assert caller.patch(at, same).status_code == 200, path
        # What has no ETag refuses the condition; nothing is changed in spite of it.
        assert caller.patch(at, {}, if_match='"0"').status_code in (400, 412), path
        for wrong in ({"created_at": "2020-01-01T00:00:00Z"}, {"id": key.id}):
            refused = caller.patch(at, wrong)
            assert refused.status_code == 422, path
            assert refused.json()["errors"][0]["code"] == "read_only"


def test_a_ticket_that_was_read_with_more_may_be_sent_back(key: Key) -> None:
    key.ticket()
    (listed,) = key.get(f"{TICKETS}?include=customer,replies").json()["data"]
    read = key.get(f"{TICKETS}/{listed['id']}?html=true").json()["data"]
    for shown in (listed, read):
        again = key.patch(f"{TICKETS}/{listed['id']}", shown, **STRICT)
        assert again.status_code == 200, again.text


def test_a_key_is_refused_with_a_field_that_does_not_exist(tenant: Tenant) -> None:
    admin = tenant.admin()
    for name, right in (
        ("permission", "permissions"), ("roles", "permissions"), ("ttl", "expires_at"),
        ("expires", "expires_at"), ("ip_whitelist", "allowed_ips"), ("is_test", "mode"),
        ("is_active", "expires_at"),
    ):  # fmt: skip
        refused = admin.post("/api/v1/api-keys", {"name": "k", name: None})
        assert refused.status_code == 422
        assert f"`{right}`" in refused.json()["errors"][0]["message"]


@for_each(
    ("name", "value", "advice"),
    [
        ("is_active", False, "DELETE revokes it permanently"),
        ("isActive", False, "DELETE revokes it permanently"),
        ("disabled", True, "DELETE revokes it permanently"),
        ("revoked_at", "2026-01-01T00:00:00Z", "DELETE revokes it permanently"),
        ("unconfirmed_since", "2026-01-01T00:00:00Z", "/confirm"),
        ("api_secret", "0" * 64, "/rotate"),
        ("mode", "test", "POST creates a key of the other one"),
        ("is_test", True, "POST creates a key of the other one"),
        ("key_prefix", "tk_live_00000000", "/rotate"),
    ],
)
def test_what_another_request_does_to_a_key_is_named(
    tenant: Tenant, name: str, value: Any, advice: str
) -> None:
    at = f"/api/v1/api-keys/{tenant.key().id}"
    refused = tenant.admin().patch(at, {name: value})
    assert refused.status_code == 422
    assert advice in refused.json()["errors"][0]["message"]


def test_a_note_by_another_name_is_not_sent_to_the_customer(key: Key) -> None:
    at = f"{TICKETS}/{key.ticket()['id']}/replies"
    for name in (
        "public", "private", "internal", "is_public", "isInternal", "Is-Internal", "type",
        "visibility", "note", "is_note", "internal_note", "privateNote", "message_type",
        "staff_only", "publicly", "visibleToCustomer", "customer_visible", "whisper", "send",
        "is_public_reply", "is_interal", "Intenral", "privte_note", "kind", "draft", "send_email",
        "publish", "privacy", "channel", "is_external", "shared", "restricted", "agent_note",
        "suppress_email", "hide", "via_email", "mode", "access", "email", "cc", "to", "mailTo",
        "recipients", "cc_emails", "is_email",
    ):  # fmt: skip
        refused = key.post(at, {"body": "Only for us.", name: True})
        assert refused.status_code == 422
        assert "`is_internal" in refused.json()["errors"][0]["message"]
    assert key.get(at).json()["data"] == []


def test_a_switch_by_another_name_is_refused(tenant: Tenant) -> None:
    admin = tenant.admin()
    field = admin.post("/api/v1/custom-fields", {"key": "k", "label": "K", "type": "text"})
    rule = {"name": "r", "trigger": "created", "actions": {"priority": "high"}}
    address = {"address": f"help@{tenant.id[-12:]}.test"}
    for made, right in (
        (field, "is_active"),
        (admin.post("/api/v1/rules", rule), "is_enabled"),
        (admin.post("/api/v1/mailboxes", address), "is_paused"),
    ):
        for name in ("active", "enabled", "disabled", "paused", "is_actve", "Enabeld"):
            refused = admin.patch(made.headers["location"], {name: False})
            assert refused.status_code == 422, name
            assert f"`{right}`" in refused.json()["errors"][0]["message"]
    for name in ("required", "isRequired", "mandatory"):
        new_field = {"key": "k2", "label": "K", "type": "text", name: True}
        assert faults(admin.post("/api/v1/custom-fields", new_field)) == {
            (f"/{name}", "unknown_field")
        }
    for name in ("is_active", "status", "suspended"):
        new = {"url": "https://a.test/", "events": ["*"], name: False}
        refused = admin.post("/api/v1/webhooks", new)
        assert faults(refused) == {(f"/{name}", "unknown_field")}
        assert "PATCH `is_active`" in refused.json()["errors"][0]["message"]


def test_a_condition_by_another_name_is_refused(tenant: Tenant, key: Key) -> None:
    """Without it a rule or policy is for every ticket, and a change loses that of another."""
    admin, ticket = tenant.admin(), key.ticket()
    rule = {"name": "r", "trigger": "created", "actions": {"priority": "high"}}
    policy = {"name": "p", "first_response_minutes": 60, **_CALENDAR}
    address = {"address": f"dmarc@{tenant.id[-12:]}.test"}
    for path, new, name, right in (
        ("/api/v1/rules", rule, "condition", "conditions"),
        ("/api/v1/sla-policies", policy, "priority", "priorities"),
        ("/api/v1/sla-policies", policy, "customer", "customers"),
        ("/api/v1/mailboxes", address, "option", "options"),
    ):
        made = admin.post(path, new)
        for refused in (
            admin.post(path, {**new, name: ["x"]}),
            admin.patch(made.headers["location"], {name: ["x"]}),
        ):
            assert faults(refused) == {(f"/{name}", "unknown_field")}
            assert f"`{right}`" in refused.json()["errors"][0]["message"]
        assert admin.delete(made.headers["location"]).status_code == 204
    for name in ("ifMatch", "If-Match", "etag"):
        item = {"id": ticket["id"], name: '"0.0"'}
        refused = key.patch(f"{TICKETS}/bulk", {"tickets": [item]})
        assert "`if_match`" in refused.json()["errors"][0]["message"]
        for at in (f"{TICKETS}/{ticket['id']}", f"{CUSTOMERS}/{ticket['customer']['id']}"):
            refused = key.patch(at, {name: '"0.0"'})
            assert "header If-Match" in refused.json()["errors"][0]["message"]


def test_what_would_make_a_macro_or_a_rule_internal_is_refused(tenant: Tenant) -> None:
    admin = tenant.admin()
    for name in ("is_internal", "private", "public", "visibility"):
        macro = {"name": "M", "shortcut": "m", "body": "Only for us.", name: True}
        assert faults(admin.post("/api/v1/macros", macro)) == {(f"/{name}", "unknown_field")}
        rule = {"name": "R", "trigger": "created", "actions": {"reply": "R", name: True}}
        assert faults(admin.post("/api/v1/rules", rule)) == {(f"/actions/{name}", "unknown_field")}


def test_a_note_by_a_name_within_its_author_is_not_sent_to_the_customer(key: Key) -> None:
    at = f"{TICKETS}/{key.ticket()['id']}/replies"
    author = {"type": "customer", "is_internal": True}
    refused = key.post(at, {"body": "Only for us.", "author": author})
    assert (refused.status_code, key.get(at).json()["data"]) == (422, [])


def test_an_id_in_upper_case_is_found_in_a_body(key: Key) -> None:
    source, target = key.ticket(), key.ticket()
    merged = key.post(f"{TICKETS}/{source['id']}/merge", {"into": target["id"].upper()})
    assert (merged.status_code, merged.json()["data"]["id"]) == (200, target["id"])
