"""Files in the composer of a ticket: the upload of a page, sending them, and their bytes."""

import re
from typing import Any

import httpx
import pytest

from tests.support.pages import Page, Visitor
from tests.support.service import Service, Tenant
from tests.tickets.test_uploads import PNG, rows_of


@pytest.fixture
def at(tenant: Tenant) -> str:
    return f"/tickets/{tenant.key().ticket()['id']}"


def token_of(visitor: Visitor, at: str) -> str:
    return visitor.get(at).form(f"{at}/reply").value("form_token")


def upload(visitor: Visitor, at: str, name: str, content: bytes, **headers: str) -> httpx.Response:
    given = {"x_form_token": token_of(visitor, at), "sec_fetch_site": "same-origin", **headers}
    return visitor.once("POST", f"/attachments?name={name}", content, **given)


def uploaded_id(answer: httpx.Response) -> str:
    assert answer.status_code == 201, answer.text
    found = re.search(r'name="attachment_ids" value="([^"]+)"', answer.text)
    assert found is not None
    return found[1]


def sources(page: Page) -> list[str]:
    return [value for tag, name, value in page.attributes if (tag, name) == ("img", "src")]


def test_a_file_of_the_composer_is_sent_with_the_reply(
    tenant: Tenant, visitor: Visitor, at: str
) -> None:
    image = uploaded_id(upload(visitor, at, "bowl.png", PNG))
    text = uploaded_id(upload(visitor, at, "%3Cb%3E.txt", b"text"))
    form = visitor.get(at).form(f"{at}/reply")
    page = visitor.submit(form, body="See", attachment_ids=[image, text])
    assert f"/attachments/{image}/content" in sources(page)
    assert f"/attachments/{text}/content" not in sources(page)
    assert "<b>.txt" in page.text
    assert [row["reply_id"] is not None for row in rows_of(tenant)] == [True, True]
    answer = visitor.once("GET", f"/attachments/{image}/content")
    assert (answer.content, answer.headers["content-type"]) == (PNG, "image/png")
    assert answer.headers["content-security-policy"] == "default-src 'none'; sandbox"
    assert answer.headers["content-disposition"].startswith("attachment; ")


@pytest.mark.parametrize(
    "headers",
    [{"x_form_token": ""}, {"x_form_token": "0" * 64}, {"sec_fetch_site": "cross-site"},
     {"sec_fetch_site": "same-site"}],
)  # fmt: skip
def test_another_site_cannot_upload(
    tenant: Tenant, visitor: Visitor, at: str, headers: dict[str, Any]
) -> None:
    assert upload(visitor, at, "a.txt", b"x", **headers).status_code == 403
    assert rows_of(tenant) == []


def test_an_upload_needs_a_session(service: Service, tenant: Tenant) -> None:
    assert Visitor(service).once("POST", "/attachments?name=a", b"x").status_code == 303


@pytest.mark.parametrize(
    ("name", "content", "status", "reason"),
    [("a.exe", b"MZ", 415, "ends in .exe"), ("a.txt", b"", 400, "empty"),
     ("a%2Fb", b"x", 400, "Rename")],
)  # fmt: skip
def test_the_composer_says_what_is_wrong_with_a_file(
    visitor: Visitor, at: str, name: str, content: bytes, status: int, reason: str
) -> None:
    answer = upload(visitor, at, name, content)
    assert (answer.status_code, answer.headers["x-fragment"]) == (status, "file")
    assert reason in answer.text


def test_files_are_kept_when_a_reply_is_not_accepted(visitor: Visitor, at: str) -> None:
    file = uploaded_id(upload(visitor, at, "a.txt", b"x"))
    form = visitor.get(at).form(f"{at}/reply")
    visitor.submit(form, body="First")
    page = visitor.submit(form, body="Second", attachment_ids=file)
    assert page.status == 412
    assert page.form(f"{at}/reply").value("attachment_ids") == file
    assert "a.txt" in visitor.submit(page.form(f"{at}/reply")).text


def test_another_tenants_bytes_are_not_found(
    service: Service, tenant: Tenant, visitor: Visitor
) -> None:
    theirs = service.tenant().key().attachment()["id"]
    ours = tenant.key().attachment()["id"]
    assert visitor.once("GET", f"/attachments/{ours}/content").status_code == 200
    assert visitor.once("GET", f"/attachments/{theirs}/content").status_code == 404
    assert Visitor(service).once("GET", f"/attachments/{ours}/content").status_code == 303
