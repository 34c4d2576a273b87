"""Saving one field of a ticket, with undo: what a script or a form without scripts is answered."""

import re
from typing import Any
from urllib.parse import parse_qsl

import pytest

from tests.support.client import Key
from tests.support.for_each import for_each
from tests.support.pages import Page, Visitor
from tests.support.service import Service, Tenant
from tests.webhooks.stored import stored_endpoint

Fields = list[tuple[str, str]]
_SCRIPT = {"accept": "*/*"}


@pytest.fixture
def visitor(tenant: Tenant) -> Visitor:
    return _colleague(tenant, "Ada")


@pytest.fixture
def at(key: Key) -> str:
    return f"/tickets/{key.ticket(tags=['refund'])['id']}"


def _colleague(tenant: Tenant, name: str) -> Visitor:
    email = f"{name.lower()}.of.{tenant.id}@example.test"
    tenant.user("agent", email, name)
    visitor = Visitor(tenant.service)
    visitor.log_in(email)
    return visitor


def _now(key: Key, at: str) -> dict[str, Any]:
    return dict(key.get(f"/api/v1/external{at}").json()["data"])


def _save(visitor: Visitor, at: str, fields: Fields, **headers: str) -> Page:
    token = visitor.get(at).form("/log-out").value("form_token")
    return visitor.post(f"{at}/fields", [("form_token", token), *fields], **_SCRIPT | headers)


def _field(field: str, was: str, value: str) -> Fields:
    return [("field", field), ("was", was), ("value", value)]


def _undo(page: Page) -> Fields:
    """What the button "Undo" of an answer sends."""
    (sent,) = [value for _, name, value in page.attributes if name == "data-save"]
    return parse_qsl(sent, keep_blank_values=True)


@for_each(
    ("field", "was", "value"),
    [
        ("status", "open", "on_hold"),
        ("priority", "medium", "urgent"),
        ("subject", "A subject", "Another"),
    ],
)
def test_a_field_is_saved_and_undone(
    visitor: Visitor, key: Key, at: str, field: str, was: str, value: str
) -> None:
    was = _now(key, at)[field]
    saved = _save(visitor, at, _field(field, was, value))
    assert (saved.status, _now(key, at)[field]) == (200, value)
    assert "Saved" in saved.text and "Undo" in saved.text
    assert "html" not in saved.tags
    undone = _save(visitor, at, _undo(saved))
    assert (undone.status, _now(key, at)[field]) == (200, was)
    assert "Undone" in undone.text and "Undo " not in undone.text


def test_tags_and_the_assignee_are_saved_and_undone(visitor: Visitor, key: Key, at: str) -> None:
    tags = [("field", "tags"), ("was", "refund"), ("value", "refund"), ("value", " a, b ")]
    saved = _save(visitor, at, tags)
    assert _now(key, at)["tags"] == ["refund", "a, b"]
    _save(visitor, at, _undo(saved))
    assert _now(key, at)["tags"] == ["refund"]
    saved = _save(visitor, at, _field("assignee_id", "", "me"))
    assert _now(key, at)["assignee_id"] is not None
    _save(visitor, at, _undo(saved))
    assert _now(key, at)["assignee_id"] is None
    emptied = _save(visitor, at, [("field", "tags"), ("was", "refund")])
    assert _now(key, at)["tags"] == []
    _save(visitor, at, _undo(emptied))
    assert _now(key, at)["tags"] == ["refund"]


def test_a_subject_is_refused_as_in_the_api(visitor: Visitor, key: Key, at: str) -> None:
    for wrong in ("", " ", "s" * 256):
        refused = _save(visitor, at, _field("subject", "A subject", wrong))
        assert refused.status == 422 and "Not saved." in refused.text
        assert key.patch(f"/api/v1/external{at}", {"subject": wrong}).status_code == 422
    assert _now(key, at)["version"] == 1


def test_changes_of_two_fields_do_not_conflict(visitor: Visitor, key: Key, at: str) -> None:
    key.patch(f"/api/v1/external{at}", {"priority": "high"})
    assert _save(visitor, at, _field("status", "open", "pending")).status == 200
    assert (_now(key, at)["status"], _now(key, at)["priority"]) == ("pending", "high")


def test_a_field_that_somebody_has_changed_is_not_overwritten(
    visitor: Visitor, key: Key, at: str, tenant: Tenant
) -> None:
    eve = _colleague(tenant, "Eve")
    _save(eve, at, _field("status", "open", "on_hold"))
    refused = _save(visitor, at, _field("status", "open", "resolved"))
    assert (refused.status, _now(key, at)["status"]) == (412, "on_hold")
    assert "Eve : On hold" in refused.text and "Save mine" in refused.text
    assert _save(visitor, at, _undo(refused)).status == 200
    assert _now(key, at)["status"] == "resolved"


def test_the_same_choice_of_two_is_no_conflict(visitor: Visitor, key: Key, at: str) -> None:
    key.patch(f"/api/v1/external{at}", {"status": "pending"})
    saved = _save(visitor, at, _field("status", "open", "pending"))
    assert saved.status == 200
    assert "Undo" not in saved.text.split()


def test_an_undo_never_overwrites_a_later_change(visitor: Visitor, key: Key, at: str) -> None:
    undo = _undo(_save(visitor, at, _field("priority", "medium", "urgent")))
    key.patch(f"/api/v1/external{at}", {"priority": "low"})
    refused = _save(visitor, at, undo)
    assert (refused.status, _now(key, at)["priority"]) == (412, "low")
    assert "Not undone" in refused.text
    # Also if the later change has led back to the same value.
    key.patch(f"/api/v1/external{at}", {"priority": "urgent"})
    assert _save(visitor, at, undo).status == 412
    assert _now(key, at)["priority"] == "urgent"


def test_an_undo_does_not_mind_changes_of_other_fields(visitor: Visitor, key: Key, at: str) -> None:
    undo = _undo(_save(visitor, at, _field("priority", "medium", "urgent")))
    key.patch(f"/api/v1/external{at}", {"tags": ["vip"]})
    assert _save(visitor, at, undo).status == 200
    assert (_now(key, at)["priority"], _now(key, at)["tags"]) == ("medium", ["vip"])


def test_an_undo_of_an_unknown_change_is_refused(visitor: Visitor, key: Key, at: str) -> None:
    undo = [*_field("priority", "medium", "low"), ("undone", at.rpartition("/")[2])]
    assert _save(visitor, at, undo).status == 412
    assert _now(key, at)["priority"] == "medium"


@for_each(
    "fields",
    [
        _field("number", "1", "2"),
        _field("status", "open", "gone"),
        _field("priority", "medium", ""),
        _field("assignee_id", "", "0199c0de-1a2b-7c3d-8e4f-5a6b7c8d9e0f"),
        _field("tags", "refund", "t" * 65),
        _field("subject", "A subject", "  "),
        [],
    ],
)
def test_an_invalid_value_is_named(visitor: Visitor, key: Key, at: str, fields: Fields) -> None:
    before = _now(key, at)
    page = _save(visitor, at, fields)
    assert (page.status, "Not saved." in page.text) == (422, True)
    assert _now(key, at) == before


def test_a_closed_ticket_can_only_be_reopened(visitor: Visitor, key: Key, at: str) -> None:
    key.patch(f"/api/v1/external{at}", {"status": "closed"})
    page = _save(visitor, at, _field("status", "closed", "pending"))
    assert (page.status, "can only be reopened" in page.text) == (409, True)
    assert _save(visitor, at, _field("status", "closed", "open")).status == 200


def test_a_ticket_of_another_tenant_is_not_found(
    visitor: Visitor, service: Service, at: str
) -> None:
    key = service.tenant().key()
    foreign = f"/tickets/{key.ticket()['id']}"
    token = visitor.get(at).form(at).value("form_token")
    fields = [("form_token", token), *_field("status", "open", "pending")]
    assert visitor.post(f"{foreign}/fields", fields).status == 404
    assert _now(key, foreign)["status"] == "open"


def test_a_form_without_scripts_leads_to_the_ticket(visitor: Visitor, key: Key, at: str) -> None:
    saved = _save(visitor, at, _field("status", "open", "pending"), accept="text/html")
    assert (saved.status, visitor.at) == (200, at)
    assert "html" in saved.tags
    refused = _save(visitor, at, _field("status", "open", "resolved"), accept="text/html")
    assert refused.status == 412
    assert "nothing was saved" in refused.text
    assert refused.form(at).value("status") == "resolved"
    assert _now(key, at)["status"] == "pending"


def test_the_version_of_the_page_follows_its_own_change(
    visitor: Visitor, key: Key, at: str
) -> None:
    before = visitor.get(at).form(at).value("etag")
    saved = _save(visitor, at, _field("status", "open", "pending"))
    named = dict(re.findall(r'data-(etag|before)="([^"]*)"', saved.answer.text))
    assert named["before"] == before.replace('"', "&#34;")
    assert named["etag"] == visitor.get(at).form(at).value("etag").replace('"', "&#34;")


def test_fields_that_were_not_saved_go_along_with_a_reply(
    visitor: Visitor, key: Key, at: str
) -> None:
    form = visitor.get(at).form(f"{at}/reply")
    unsaved: dict[str, str | list[str]] = {
        "was_set_priority": "medium", "set_priority": "high",
        "was_set_tags": ["", "refund"], "set_tags": ["refund", "vip"],
    }  # fmt: skip
    assert visitor.submit(form, body="On its way", **unsaved).status == 200
    assert (_now(key, at)["priority"], _now(key, at)["tags"]) == ("high", ["refund", "vip"])


def test_a_reply_is_not_sent_past_a_change_of_a_field_that_goes_along(
    visitor: Visitor, key: Key, at: str
) -> None:
    form = visitor.get(at).form(f"{at}/reply")
    key.patch(f"/api/v1/external{at}", {"priority": "urgent"})
    unsaved = {"was_set_priority": "medium", "set_priority": "low"}
    page = visitor.submit(form, body="On its way", **unsaved)
    assert page.status == 412
    assert "a field that goes along with your reply" in page.text
    assert page.form(f"{at}/reply").value("body").strip() == "On its way"
    assert page.form(at).value("priority") == "low"
    assert (_now(key, at)["priority"], _now(key, at)["reply_count"]) == ("urgent", 0)


def test_the_composer_names_the_webhook_that_a_reply_is_handed_to(
    visitor: Visitor, tenant: Tenant, at: str
) -> None:
    assert "This reply is not e-mailed" in visitor.get(at).text
    stored_endpoint(tenant, "ticket.created", description="Not for replies")
    stored_endpoint(tenant, "reply.created")
    stored_endpoint(tenant, "reply.created", description="The shop")
    page = visitor.get(at)
    assert "It is handed to 2 webhooks: hooks.example.test , The shop ." in page.text
    assert "secret" not in page.text and "Not for replies" not in page.text
