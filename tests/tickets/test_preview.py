"""The preview of a reply: the same HTML as when it is sent, and bounded."""

from tests.support.pages import logged_in
from tests.support.service import Tenant


def test_a_preview_is_what_the_reply_will_look_like(tenant: Tenant) -> None:
    visitor = logged_in(tenant)
    token = visitor.get("/account").form("/account/name").value("form_token")
    text = "**Bold** <script>alert(1)</script>\n\n- one\n- #1"
    answer = visitor.post("/tickets/preview", [("form_token", token), ("body", text)])
    assert answer.status == 200
    for part in ("<strong>Bold</strong>", "&lt;script&gt;", "<li>", 'href="/tickets/1"'):
        assert part in answer.answer.text
    answer = visitor.post("/tickets/preview", [("form_token", token), ("body", "x" * 70_000)])
    assert answer.answer.text.count("x") < 65_536 + 500
