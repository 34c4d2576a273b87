"""`html=true`: the API also gives the text of tickets and replies as safe HTML, within bounds."""

import re
from typing import Any

import pytest

from sealdesk.resources.identity import is_visible
from tests.browser.xss_texts import CHOSEN
from tests.support.client import Key
from tests.support.hostile import HOSTILE_TEXTS
from tests.support.service import Tenant

TICKETS = "/api/v1/external/tickets"
_SAFE_TAG = re.compile(
    r"</?(?:a|blockquote|br|code|em|h[1-6]|hr|li|ol|p|pre|strong|ul)"
    r'(?: (?:href="(?i:https?)://[^"<>]*"|(?:title|rel|target|start)="[^"<>]*"))*>'
)
# Nearly as many steps as one text may take.
_COSTLY = "*a_ " * 1500


@pytest.fixture
def key(tenant: Tenant) -> Key:
    return tenant.key(name="Shop")


def _replies(key: Key, at: str, query: str) -> dict[str, Any]:
    return dict(key.get(f"{at}/replies?{query}").json())


def test_a_ticket_has_its_description_as_html_when_asked_for(key: Key) -> None:
    at = f"{TICKETS}/{key.ticket(description='*Cold* kiln')['id']}"
    plain, asked = key.get(at), key.get(f"{at}?html=true")
    assert "description_html" not in plain.json()["data"]
    assert asked.json()["data"] == plain.json()["data"] | {
        "description_html": "<p><em>Cold</em> kiln</p>\n"
    }
    assert asked.headers["etag"] == plain.headers["etag"]
    assert key.get(f"{at}?html=false").content == plain.content
    unchanged = key.get(f"{at}?html=true", **{"if-none-match": plain.headers["etag"]})
    assert unchanged.status_code == 304


def test_replies_have_their_body_as_html_when_asked_for(key: Key) -> None:
    at = f"{TICKETS}/{key.ticket()['id']}"
    for body in ("**one**", "#12 @Ada", "three"):
        key.post(f"{at}/replies", {"body": body})
    plain, asked = _replies(key, at, "sort=asc"), _replies(key, at, "sort=asc&html=true")
    assert all("body_html" not in each for each in plain["data"])
    assert [each.pop("body_html") for each in asked["data"]] == [
        "<p><strong>one</strong></p>\n",
        "<p>#12 @Ada</p>\n",
        "<p>three</p>\n",
    ]
    assert asked == plain


def test_a_wrong_value_or_parameter_is_named(key: Key) -> None:
    at = f"{TICKETS}/{key.ticket()['id']}"
    for target in (f"{at}?html=yes", f"{at}/replies?html=1"):
        refused = key.get(target)
        assert (refused.status_code, refused.json()["code"]) == (400, "invalid_parameter")
    assert key.get(f"{at}?htlm=true").json()["code"] == "unknown_parameter"


@pytest.mark.parametrize(
    "text",
    [
        "[a](javascript:alert(1))",
        "[a](JaVaScRiPt&colon;alert(1))",
        "<javascript:alert(1)>",
        "[a](data:text/html,<script>alert(1)</script>)",
        "![a](javascript:alert(1))",
        "<script>alert(1)</script>",
        '<a href="javascript:alert(1)">a</a>',
        '[a](https://a.test "\\" onclick=alert(1)")',
    ],
)
def test_no_html_is_active(key: Key, text: str) -> None:
    at = f"{TICKETS}/{key.ticket(description=text)['id']}"
    key.post(f"{at}/replies", {"body": text})
    described = key.get(f"{at}?html=true").json()["data"]
    (reply,) = _replies(key, at, "html=true")["data"]
    assert described["description"] == reply["body"] == text
    assert described["description_html"] == reply["body_html"]
    assert "<" not in _SAFE_TAG.sub("", reply["body_html"])


def test_hostile_texts_are_safe_in_html(key: Key) -> None:
    at = f"{TICKETS}/{key.ticket()['id']}"
    texts = [text for text in (*CHOSEN, *HOSTILE_TEXTS[::9]) if is_visible(text)][:90]
    for text in texts:
        key.post(f"{at}/replies", {"body": text})
    shown = key.walk(f"{at}/replies?html=true&sort=asc", per_page=100)
    assert len(shown) == len(texts)
    for reply in shown:
        assert "<" not in _SAFE_TAG.sub("", reply["body_html"]), reply["body"]


def test_a_page_ends_early_when_rendering_takes_long(key: Key) -> None:
    at = f"{TICKETS}/{key.ticket()['id']}"
    written = [key.post(f"{at}/replies", {"body": f"{n} {_COSTLY}"}) for n in range(12)]
    page = _replies(key, at, "html=true&sort=asc")
    assert 1 <= len(page["data"]) < 12 and page["meta"]["has_more"]
    assert page["meta"]["per_page"] == 25
    walked = key.walk(f"{at}/replies?html=true&sort=asc", per_page=25)
    assert [each["id"] for each in walked] == [each.json()["data"]["id"] for each in written]
    assert all(each["body_html"] for each in walked)
    assert len(_replies(key, at, "sort=asc")["data"]) == 12
