"""Settings → API keys in a browser without scripts."""

import html
import os
import re
import subprocess
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from sealdesk import clock
from sealdesk.api_keys.permissions import DEFAULT_PERMISSIONS
from sealdesk.api_keys.usage import recorder as usage
from sealdesk.errors import QueryTooSlow
from sealdesk.telemetry.counters import KeyUse
from sealdesk.web.snippets import SNIPPETS
from tests.support.client import Key, Person
from tests.support.hostile import HOSTILE_TEXTS
from tests.support.page_security import assert_page_is_secure
from tests.support.pages import Page, Visitor, logged_in
from tests.support.service import Service, Tenant

HOME = "/settings/api-keys"
API = "/api/v1/api-keys"
DAY_S = 24 * 3600
_SECRET = re.compile(r'id="secret"[^>]*>([0-9a-f]{64})<')
WHOAMI = "/api/v1/external/whoami"


@pytest.fixture
def admin(visitor: Visitor) -> Person:
    """The same user in the API."""
    return Person(visitor.service, visitor.cookies["sealdesk"])


def _create(visitor: Visitor, **fields: Any) -> Page:
    form = visitor.get(f"{HOME}/new").form(f"{HOME}/new")
    return visitor.submit(form, **{"name": "Shop", **fields})


def _only(admin: Person) -> dict[str, Any]:
    (key,) = admin.get(API).json()["data"]
    return dict(key)


def _pasted(page: Page, block: str = "curl") -> str:
    (text,) = re.findall(rf'<pre id="{block}"[^>]*>(.*?)</pre>', page.answer.text, re.DOTALL)
    return html.unescape(text)


def test_a_desk_without_keys_explains_the_next_step(visitor: Visitor) -> None:
    page = visitor.get(HOME)
    assert "No keys yet" in page.text
    assert f"{HOME}/new" in page.links
    assert_page_is_secure(page)


def test_a_new_key_shows_its_secret_once(visitor: Visitor, admin: Person) -> None:
    page = _create(visitor, name=" Shop ")
    assert page.status == 201
    assert_page_is_secure(page)
    (secret,) = _SECRET.findall(page.answer.text)
    assert "they are shown only this once" in page.text
    key = _only(admin)
    assert (key["name"], key["permissions"]) == ("Shop", list(DEFAULT_PERMISSIONS))
    assert (key["rate_limit"], key["replay_protection"]) == (1000, "writes")
    at = f"{HOME}/{key['id']}"
    behind = (at, f"{at}?span=month", f"{at}/edit", f"{at}/rotate", f"{at}/revoke")
    for path in (HOME, *behind, f"{HOME}/debug", f"{HOME}/debug?key={key['id']}"):
        shown = visitor.get(path)
        assert shown.status == 200, path
        assert_page_is_secure(shown)
        assert secret not in shown.answer.text, path


def test_the_curl_command_of_a_new_key_works_unchanged(visitor: Visitor) -> None:
    page = _create(visitor, name="Pasted")
    done = subprocess.run(
        ["sh"],
        input=_pasted(page),
        env={"PATH": os.environ["PATH"]},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert '"name":"Pasted"' in done.stdout, done.stderr


def test_the_programs_of_a_new_key_are_the_documented_ones(visitor: Visitor) -> None:
    page = _create(visitor, name="Pasted")
    for snippet in SNIPPETS[1:]:
        assert _pasted(page, f"program-{snippet.name}") == snippet.text


def test_the_host_in_the_curl_command_is_safe_for_a_shell(visitor: Visitor) -> None:
    form = visitor.get(f"{HOME}/new").form(f"{HOME}/new")
    fields = [(n, v) for n, v in form.fields if n != "name"] + [("name", "Shop")]
    taken = 0
    for host in ("a'; touch x; '", "$(id)", "evil.test\\", "a b", "`id`"):
        page = visitor.post(f"{HOME}/new", fields, host=host)
        if page.status == 201:
            taken += 1
            assert "SEALDESK_API_URL='http://desk.example.com'" in _pasted(page), host
    assert taken


def test_a_new_key_that_does_not_allow_the_own_address_shows_a_warning(visitor: Visitor) -> None:
    words = "Requests from here get a 403 response."
    assert words in _create(visitor, allowed_ips="192.0.2.0/24").text
    assert words not in _create(visitor, name="Local", allowed_ips="127.0.0.0/8").text


def test_a_form_that_is_submitted_twice_creates_one_key(visitor: Visitor, admin: Person) -> None:
    form = visitor.get(f"{HOME}/new").form(f"{HOME}/new")
    assert visitor.submit(form, name="Shop").status == 201
    page = visitor.submit(form, name=" Shop ", rate_limit="7")
    key = _only(admin)
    assert page.status == 409 and f"{HOME}/{key['id']}" in page.links
    assert "created a moment ago" in page.text
    again = page.form(f"{HOME}/new")
    assert (again.value("name"), again.value("rate_limit")) == (" Shop ", "7")
    assert visitor.submit(again).status == 201, "a second one of this name, on purpose"
    with ThreadPoolExecutor(2) as pool:
        at_once = pool.map(lambda _: visitor.submit(form, name="Another").status, "12")
        assert sorted(at_once) == [201, 409]
    assert len(admin.get(API).json()["data"]) == 3


@pytest.mark.parametrize(
    ("fields", "permissions"),
    [
        ({"grant": "everything", "permissions": ["tickets:read"]}, DEFAULT_PERMISSIONS),
        ({"grant": "read"}, ("tickets:read", "replies:read", "customers:read")),
        ({"grant": "chosen", "permissions": ["tickets:write"]}, ("tickets:write",)),
        ({"grant": "chosen"}, ()),
        ({"grant": []}, ()),
    ],
    ids=["everything", "read only", "ticked", "nothing", "not said"],
)
def test_a_new_key_has_the_selected_permissions(
    visitor: Visitor, admin: Person, fields: dict[str, Any], permissions: tuple[str, ...]
) -> None:
    assert _create(visitor, **fields).status == 201
    key = _only(admin)
    assert tuple(key["permissions"]) == permissions
    form = visitor.get(f"{HOME}/{key['id']}/edit").form(f"{HOME}/{key['id']}/edit")
    visitor.submit(form, name="Renamed")
    assert tuple(_only(admin)["permissions"]) == permissions


def test_an_expiry_is_the_selected_number_of_days_away(visitor: Visitor, admin: Person) -> None:
    for days in (30, 90, 365):
        _create(visitor, expiry=str(days), expires_at="2020-01-01T00:00")
        at_us = clock.parse_instant(admin.get(API).json()["data"][0]["expires_at"])
        assert at_us is not None
        away_s = (at_us - visitor.service.clock.now_us()) / 1e6
        assert days * DAY_S - 60 < away_s <= days * DAY_S


def test_a_new_key_is_protected_from_replays_unless_the_box_is_cleared(
    visitor: Visitor, admin: Person
) -> None:
    page = visitor.get(f"{HOME}/new")
    assert page.form(f"{HOME}/new").value("replay_protection") == "writes"
    assert "Otherwise a copy of a recorded request changes data once more" in page.text
    _create(visitor, replay_protection=[])
    assert _only(admin)["replay_protection"] == "off"


def test_an_expiry_is_never_a_date_or_unchanged(visitor: Visitor, admin: Person) -> None:
    _create(visitor, expiry="never")
    key = _only(admin)
    assert key["expires_at"] is None
    at = f"{HOME}/{key['id']}/edit"
    visitor.submit(visitor.get(at).form(at), expiry="date", expires_at="2099-12-31T23:59")
    assert _only(admin)["expires_at"] == "2099-12-31T23:59:00.000000Z"
    visitor.submit(visitor.get(at).form(at), name="Kept")
    key = _only(admin)
    assert (key["name"], key["expires_at"]) == ("Kept", "2099-12-31T23:59:00.000000Z")


def test_all_settings_of_a_key_can_be_edited(visitor: Visitor, admin: Person) -> None:
    _create(visitor, replay_protection=[])
    at = f"{HOME}/{_only(admin)['id']}/edit"
    assert "replay_protection" not in dict(visitor.get(at).form(at).fields)
    visitor.submit(
        visitor.get(at).form(at),
        rate_limit="7",
        allowed_ips="192.0.2.1\n 2001:db8::/32 \n\n",
        replay_protection="writes",
    )
    key = _only(admin)
    assert (key["rate_limit"], key["replay_protection"]) == (7, "writes")
    assert key["allowed_ips"] == ["192.0.2.1", "2001:db8::/32"]
    again = dict(visitor.get(at).form(at).fields)
    assert again["allowed_ips"].strip() == "192.0.2.1\n2001:db8::/32"
    assert again["replay_protection"] == "writes"


def test_a_stale_form_does_not_restore_a_permission(visitor: Visitor, admin: Person) -> None:
    _create(visitor)
    key = _only(admin)
    at = f"{HOME}/{key['id']}/edit"
    opened = visitor.get(at).form(at)
    admin.patch(f"{API}/{key['id']}", {"permissions": ["tickets:read"], "rate_limit": 7})
    page = visitor.submit(opened, name="Renamed")
    assert page.status == 412 and "has changed since you opened the form" in page.text
    assert "Current values: Shop · tickets:read · 7 requests a minute" in page.text
    assert _only(admin)["permissions"] == ["tickets:read"]
    again = page.form(at)
    assert (again.value("name"), again.value("grant")) == ("Renamed", "everything")
    visitor.submit(again, grant="read")
    saved = _only(admin)
    assert (saved["name"], len(saved["permissions"])) == ("Renamed", 3)


_WRONG: tuple[tuple[str, dict[str, Any]], ...] = (
    ("name", {"name": "  "}),
    ("name", {"name": "n" * 101}),
    ("rate_limit", {"rate_limit": "0"}),
    ("rate_limit", {"rate_limit": "100001"}),
    ("rate_limit", {"rate_limit": "١٢"}),
    ("rate_limit", {"rate_limit": "many"}),
    ("expires_at", {"expiry": "date", "expires_at": "2020-01-01T00:00"}),
    ("expires_at", {"expiry": "date", "expires_at": ""}),
    ("expires_at", {"expiry": "date", "expires_at": "soon"}),
    ("allowed_ips", {"allowed_ips": "192.0.2.0/24\nnowhere"}),
    ("allowed_ips", {"allowed_ips": "\n".join(f"192.0.2.{n}" for n in range(21))}),
    ("permissions", {"grant": "chosen", "permissions": ["tickets:burn"]}),
)


def test_a_form_keeps_what_was_typed_and_says_beside_the_field_what_is_wrong(
    visitor: Visitor, admin: Person
) -> None:
    for field, fields in _WRONG:
        page = _create(visitor, **{"allowed_ips": "192.0.2.7", **fields})
        assert page.status == 422, fields
        assert ("p", "id", f"{field}-fault") in page.attributes, fields
        again = dict(page.form(f"{HOME}/new").fields)
        for name, value in fields.items():
            if name not in ("permissions", "grant"):
                assert again[name].strip() == value.strip(), fields
        assert_page_is_secure(page)
    assert admin.get(API).json()["data"] == []
    reported = _create(visitor, allowed_ips="192.0.2.7\nnowhere\n1.2.3", expiry="date").text
    assert "(nowhere, 1.2.3)" in reported and "Choose a date and a time." in reported


def test_the_list_shows_the_state_of_each_key(own_service: Service) -> None:
    tenant = own_service.tenant()
    now_us = own_service.clock.now_us()

    def key(name: str, days: float) -> Key:
        return tenant.key(name=name, expires_at=clock.iso(now_us + int(days * DAY_S) * 1_000_000))

    key("long", 400), key("late", 15.1).get(WHOAMI), key("soon", 13.5), key("over", 0.001)
    gone = tenant.key(name="gone")
    visitor = logged_in(tenant)
    visitor.submit(visitor.get(f"{HOME}/{gone.id}/revoke").form(f"{HOME}/{gone.id}/revoke"))
    own_service.clock.advance(600)
    items = visitor.get(HOME).text.split("tk_live_")[1:]
    states = ("Revoked", "Expired", "Expires in 13 days Never used", "Active", "Never used")
    assert len(items) == 5
    for item, state in zip(items, states, strict=True):
        assert state in item


def test_the_list_shows_how_much_each_key_was_used(own_service: Service) -> None:
    tenant = own_service.tenant()
    used, _unused = tenant.key(name="used"), tenant.key(name="unused")
    for day in (0, 1, 10):
        own_service.clock.advance(day * DAY_S)
        for _ in range(4):
            used.get(WHOAMI)
        own_service.in_serving(usage.write_counts)
    page = logged_in(tenant).get(HOME)
    rows = page.answer.text.split("tk_live_")[1:]
    assert ['<td class="extra number">4</td>' in row for row in rows] == [False, True]
    assert [row.count('<rect class="good"') for row in rows] == [0, 3]


def test_older_keys_are_on_the_next_page(
    visitor: Visitor, tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sealdesk.api_keys.pages.keys._PER_PAGE", 2)
    made = [tenant.make_key().id for _ in range(5)]
    seen, path = [], HOME
    for _ in range(3):
        page = visitor.get(path)
        seen += [link.rpartition("/")[2] for link in page.links if _is_key(link)]
        older = [link for link in page.links if "before=" in link]
        path = older[-1] if older else ""
    assert seen == made[::-1]
    newer = next(link for link in page.links if "before=" in link)
    assert f"{HOME}/{made[2]}" in visitor.get(newer).links


def _is_key(link: str) -> bool:
    return re.fullmatch(f"{HOME}/[0-9a-f-]{{36}}", link) is not None


def test_revoking_needs_confirmation_and_shows_the_usage(
    visitor: Visitor, admin: Person, key: Key
) -> None:
    at = f"{HOME}/{key.id}/revoke"
    assert "never used" in visitor.get(at).text
    for _ in range(3):
        key.get(WHOAMI)
    key.service.in_serving(usage.write_counts)
    page = visitor.get(at)
    assert "This key is in use." in page.text
    assert "3 requests in the last 24 hours, 3 in the last 30 days" in page.text
    assert "127.0.0.1" in page.text
    assert key.get(WHOAMI).status_code == 200
    page = visitor.submit(page.form(at))
    assert "Revoked" in page.text
    assert key.get(WHOAMI).json()["code"] == "api_key_revoked"
    links = {link.rpartition("/")[2] for link in page.links}
    assert not {"edit", "rotate", "revoke"} & links
    events = admin.service.rows(
        "SELECT action FROM audit WHERE object_id = :id ORDER BY id LIMIT 9", id=key.id
    )
    assert [row[0] for row in events] == ["api_key.created", "api_key.revoked"]


def test_rotating_needs_confirmation_and_shows_the_new_secret_once(
    visitor: Visitor, key: Key
) -> None:
    key.get(WHOAMI)
    at = f"{HOME}/{key.id}/rotate"
    page = visitor.get(at)
    assert "Last used" in page.text
    assert key.get(WHOAMI).status_code == 200
    shown = visitor.submit(page.form(at))
    (secret,) = _SECRET.findall(shown.answer.text)
    assert key.get(WHOAMI).json()["code"] == "invalid_signature"
    key.api_secret = secret
    assert key.get(WHOAMI).status_code == 200
    twice = visitor.submit(page.form(at))
    assert twice.status == 412 and "has been rotated since" in twice.text
    assert key.get(WHOAMI).status_code == 200, "whoever rotated first keeps the secret"
    assert visitor.submit(twice.form(at)).status == 200
    assert key.get(WHOAMI).json()["code"] == "invalid_signature"
    events = key.service.rows(
        "SELECT action FROM audit WHERE object_id = :id ORDER BY id LIMIT 9", id=key.id
    )
    assert [row[0] for row in events] == ["api_key.created", *["api_key.rotated"] * 2]


def test_an_inactive_key_is_neither_changed_nor_rotated(visitor: Visitor, key: Key) -> None:
    at = f"{HOME}/{key.id}"
    edit, rotate = (visitor.get(f"{at}/{way}").form(f"{at}/{way}") for way in ("edit", "rotate"))
    visitor.submit(visitor.get(f"{at}/revoke").form(f"{at}/revoke"))
    page = visitor.submit(edit, name="Too late")
    assert (page.status, page.form(f"{at}/edit").value("name")) == (409, "Too late")
    assert "revoked for good" in page.text
    assert visitor.submit(rotate).status == 409


def test_the_page_of_a_key_shows_its_usage(visitor: Visitor, tenant: Tenant) -> None:
    key = tenant.key(rate_limit=4, permissions=["tickets:read", "customers:read"])
    page = visitor.get(f"{HOME}/{key.id}")
    assert "This key was never used. How requests are signed" in page.text
    assert [key.get("/api/v1/external/tickets").status_code for _ in range(3)] == [200] * 3
    assert key.call("POST", "/api/v1/external/tickets", {}).status_code == 403
    assert key.get(WHOAMI).status_code == 429
    key.service.in_serving(usage.write_counts)
    for span in ("", "?span=month"):
        page = visitor.get(f"{HOME}/{key.id}{span}")
        assert_page_is_secure(page)
        caption = page.text.partition("As a table")[0]
        assert "5 requests: 3 answered , 1 refused , 1 too many (429) , 0 server errors" in caption
        bars = [value for tag, name, value in page.attributes if (tag, name) == ("rect", "class")]
        assert {"good", "refused", "slow"} <= {*bars} and "failed" not in bars
        assert page.tags.count("svg") >= 1 and "caption" in page.tags
        for words in ("GET /tickets 3", "127.0.0.1 5", "200 3", "403 1", "429 1"):
            assert words in page.text, words
        unused = page.text.partition("Permissions not used in 30 days")[2].partition("Remove")[0]
        assert unused.split() == ["customers:read"]
    _used_before(key, "customers:read", 2 * DAY_S)
    assert "None: the key uses all its permissions." in visitor.get(f"{HOME}/{key.id}").text


def _used_before(key: Key, permission: str, ago_s: int) -> None:
    at_us = key.service.clock.now_us() - ago_s * 1_000_000
    (row,) = key.service.rows("SELECT tenant_id FROM api_keys WHERE id = :id LIMIT 2", id=key.id)
    use = KeyUse(row[0], key.id, permission)
    key.service.state.key_usage.note(use, at_us, 200, f"GET {WHOAMI}", "192.0.2.1")
    key.service.in_serving(usage.write_counts)


def test_a_key_is_revoked_even_when_its_usage_is_not_available(
    visitor: Visitor, key: Key, monkeypatch: pytest.MonkeyPatch
) -> None:
    key.get(WHOAMI)

    async def busy(*_: object) -> None:
        raise QueryTooSlow

    monkeypatch.setattr(key.service.state.database, "read_unindexed", busy)
    at = f"{HOME}/{key.id}"
    assert "is not available right now" in visitor.get(at).text
    page = visitor.get(f"{at}/revoke")
    assert "is not available right now" in page.text and "Last used" in page.text
    assert "Revoked" in visitor.submit(page.form(f"{at}/revoke")).text


def test_foreign_and_unknown_keys_get_the_same_error_page(
    visitor: Visitor, service: Service
) -> None:
    foreign = service.tenant().key()
    for path in (foreign.id, "0199c0de-1a2b-7c3d-8e4f-5a6b7c8d9e0f", "nothing"):
        for way in ("", "/edit", "/rotate", "/revoke"):
            page = visitor.get(f"{HOME}/{path}{way}")
            assert (page.status, "Page not found" in page.text) == (404, True), path
    token = visitor.get(HOME).form("/log-out").fields
    for way in ("edit", "rotate", "revoke"):
        assert visitor.post(f"{HOME}/{foreign.id}/{way}", token).status == 404
    assert foreign.get(WHOAMI).status_code == 200


def test_hostile_names_are_shown_as_text(visitor: Visitor, admin: Person) -> None:
    name = "".join(HOSTILE_TEXTS)
    for part in (name[:100], name[100:200]):
        page = _create(visitor, name=part)
        assert page.status == 201
        assert_page_is_secure(page)
    for key in admin.get(API).json()["data"]:
        for way in ("", "/edit", "/rotate", "/revoke"):
            page = visitor.get(f"{HOME}/{key['id']}{way}")
            assert_page_is_secure(page)
            assert "svg" not in page.tags and page.tags.count("img") == 1
    assert_page_is_secure(visitor.get(HOME))
    assert_page_is_secure(visitor.get(f"{HOME}/debug"))
