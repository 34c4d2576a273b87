"""The page of one ticket for its customer, behind the link in the e-mails to them."""

import re
from collections.abc import Callable
from typing import Any
from urllib.parse import quote

import httpx

from tests.mail.contact_form.support import ANN, FormDesk, Stranger, refused_at
from tests.support.page_security import assert_page_is_secure
from tests.support.service import wait_until

BO = "bo@customer.example"
HOSTILE = "\"'></title></textarea><svg/onload=alert(1)>{{7**9}}"
_TICKET_LINK = re.compile(r"https://help\.example(/\S+/ticket/\S+)")


def link_in(text: str) -> str:
    found = _TICKET_LINK.search(text)
    assert found is not None, text
    return found[1]


def with_link(desk: FormDesk, **new: Any) -> tuple[dict[str, Any], str]:
    """A ticket of Ann's with a reply, and the path in the message with it."""
    desk.set_up(has_ticket_pages=True)
    ticket = desk.ticket(ANN, customer={"email": ANN, "name": "Ann"}, **new)
    desk.reply(ticket, "We look into it.")
    return ticket, link_in(desk.mails(1)[0])


def upload(
    ann: Stranger, path: str, body: str, *files: tuple[str, bytes]
) -> httpx.Response:  # fmt: skip
    """Send the form of the page as a browser does."""
    form = httpx.Request(
        "POST", "http://x", data={"body": body},
        files=[("files", (name, content, "application/octet-stream")) for name, content in files]
        or [("files", ("", b"", "application/octet-stream"))],
    )  # fmt: skip
    return ann.once(  # type: ignore[no-any-return]
        "POST", path, form.read(), content_type=form.headers["content-type"],
        sec_fetch_site="same-origin",
    )  # fmt: skip


def test_a_customer_reads_answers_and_attaches_until_the_ticket_closes(desk: FormDesk) -> None:
    ticket, link = with_link(desk, description="My bowl broke.", subject="Bowl")
    ann = Stranger(desk)
    page = ann.get(link)
    assert page.status == 200
    assert_page_is_secure(page, scripts=0)
    for text in ("Bowl", "My bowl broke.", "We look into it."):
        assert text in page.text
    assert page.answer.headers["cache-control"] == "private, no-store"
    assert page.answer.headers["x-robots-tag"] == "noindex, nofollow"
    assert page.answer.headers["referrer-policy"] == "same-origin"
    desk.change(ticket, status="pending")
    answer = upload(ann, link, "Here is a photo.", ("bowl.txt", b"\r\n--a photo\0--\r\n"))
    assert answer.status_code == 303, answer.text
    page = ann.get(answer.headers["location"].partition("#")[0])
    assert "Your reply has been sent." in page.text and "Here is a photo." in page.text
    _, reply = desk.replies(ticket)
    assert (reply["body"], reply["is_internal"]) == ("Here is a photo.", False)
    assert reply["author"]["type"] == "customer" and reply["author"]["name"] == "Ann"
    (file,) = reply["attachments"]
    got = ann.once("GET", f"{link}/files/{file['id']}")
    assert got.content == b"\r\n--a photo\0--\r\n"
    assert got.headers["content-disposition"].startswith("attachment")
    now = desk.reread(ticket)
    assert now["status"] == "open" and now["waiting_since"] is not None
    desk.reply(ticket, "A new one is on its way.")
    assert link_in(desk.mails(2)[1]) == link
    desk.change(ticket, status="closed")
    form = page.form(link)
    for path in (link, f"{link}/files/{file['id']}"):
        answer = ann.once("GET", path)
        assert answer.status_code in (404, 410)
    page = ann.get(link)
    assert page.status == 410 and f"Write to {desk.address}" in page.text
    assert ann.submit(form, body="More").status == 410
    assert len(desk.replies(ticket)) == 3


def test_quotes_and_signatures_of_customers_are_folded(desk: FormDesk) -> None:
    _, link = with_link(desk, description="My bowl broke.\n\n-- \nAnn Example")
    shown, details, folded = Stranger(desk).get(link).answer.text.partition("<details")
    assert details and "My bowl broke." in shown and "Ann Example" not in shown
    assert "Show quoted text" in folded and "Ann Example" in folded


def test_notes_and_other_peoples_secrets_are_not_on_the_page(desk: FormDesk) -> None:
    ticket, link = with_link(desk)
    note = desk.key.attachment("secret.txt")["id"]
    desk.reply(ticket, "They are difficult.", is_internal=True, attachment_ids=[note])
    desk.reply(ticket, f"> You wrote: https://help.example{link}\n\nYes.")
    wait_until(lambda: len(desk.mails(1)) == 2)
    (quoted,) = [text for text in desk.mails(2) if "You wrote" in text]
    assert quoted.count("/ticket/…") == 1 and quoted.count(link) == 1
    ann = Stranger(desk)
    page = ann.get(link)
    assert "difficult" not in page.text and "secret.txt" not in page.text
    assert "/ticket/…" in page.text
    body = page.answer.text.replace(f'action="{link}"', "")
    assert link not in body
    assert desk.tenant.admin_email not in body
    assert ann.once("GET", f"{link}/files/{note}").status_code == 404
    for content_type in ("message/rfc822", "application/octet-stream"):
        raw = desk.key.upload("message.eml", b"x", content_type).json()["data"]["id"]
        desk.reply(ticket, "See there.", attachment_ids=[raw])
        assert "message.eml" not in ann.get(link).text
        assert ann.once("GET", f"{link}/files/{raw}").status_code == 404


def test_a_rewritten_link_of_another_participant_is_on_no_page_and_in_no_mail(
    desk: FormDesk,
) -> None:
    ticket, link = with_link(desk)
    desk.join(ticket, BO)
    token = link.rpartition("/")[2]
    once = quote(f"https://help.example{link}", safe="")
    sql = "SELECT token FROM ticket_participants WHERE ticket_id = :id AND address = :ann LIMIT 1"
    (row,) = desk.service.rows(sql, id=ticket["id"], ann=ANN)
    broken = f"{token[:40]}=\n> {token[40:]}"
    text = (
        f"See https://x.safelinks.protection.outlook.com/?url={quote(once)}&data=1 or {broken}"
        f" or desk&#43;{row['token'].upper()}@acme.test."
    )
    desk.reply(ticket, text)
    desk.change(ticket, subject=f"Re: {once}")
    page = Stranger(desk).get(link_in(desk.mails(1, BO)[0]))
    assert "safelinks.protection" in page.text
    for shown in (page.answer.text, desk.mails(1, BO)[0].replace("\n> ", "").replace("=", "")):
        assert token not in shown.lower() and row["token"] not in shown.lower()
        assert token[40:] not in shown.lower()


def test_everything_on_the_page_is_text(desk: FormDesk) -> None:
    ticket, link = with_link(desk, subject=HOSTILE, description=HOSTILE)
    ann = Stranger(desk)
    assert upload(ann, link, HOSTILE, (f"{HOSTILE[:9]}.txt", b"x")).status_code == 303
    page = ann.get(link)
    assert_page_is_secure(page, scripts=0)
    assert "<svg" not in page.answer.text and str(7**9) not in page.text
    page = ann.submit(page.form(link), body=HOSTILE + "x" * 20_000)
    assert page.status == 422 and "<svg" not in page.answer.text
    assert len(desk.replies(ticket)) == 2


def test_who_joined_later_reads_what_came_after(desk: FormDesk) -> None:
    ticket, _ = with_link(desk, description="Only for you.")
    desk.service.clock.advance(60)
    desk.join(ticket, BO)
    desk.reply(ticket, "Bo is here now.")
    page = Stranger(desk).get(link_in(desk.mails(1, BO)[0]))
    assert "Bo is here now." in page.text
    assert "Only for you." not in page.text and "We look into it." not in page.text


def test_a_link_that_was_guessed_or_of_another_desk_leads_nowhere(
    desk: FormDesk, service_tenant: Callable[[], FormDesk]
) -> None:
    ticket, link = with_link(desk)
    other = service_tenant()
    other.set_up(has_ticket_pages=True)
    token = link.rpartition("/")[2]
    changed = token[:40] + ("a" if token[40] != "a" else "b") + token[41:]
    confirmation = f"/{desk.name}/confirm/{token}"
    tried = [
        f"/{other.name}/ticket/{token}", f"/{desk.name}/ticket/{changed}", confirmation,
        f"/{desk.name}/ticket/{'a' * len(token)}", f"/{desk.name}/ticket/{token[:-2]}",
        f"/{desk.name}/ticket/{token}/files/{ticket['id']}", f"/nobody/ticket/{token}",
        f"/{desk.name}/ticket/{token}/files/..%2F..", f"/{desk.name}/ticket/%C3%A9",
    ]  # fmt: skip
    for path in tried:
        assert Stranger(desk).once("GET", path).status_code == 404, path
        if "files" not in path:
            assert Stranger(desk).post(path, [("body", "Forged")]).status == 404, path
    assert len(desk.replies(ticket)) == 1
    sql = "DELETE FROM ticket_participants WHERE tenant_id = :tenant AND ticket_id = :ticket"
    params = {"tenant": desk.tenant.id, "ticket": ticket["id"]}
    desk.service.write(lambda tx: tx.execute(sql, params))
    assert Stranger(desk).get(link).status == 404, "as after the customer was erased"


def test_a_merged_ticket_and_a_desk_without_pages_end_the_link(desk: FormDesk) -> None:
    ticket, link = with_link(desk)
    desk.set_up(has_ticket_pages=False)
    assert Stranger(desk).get(link).status == 404
    desk.reply(ticket, "Without a link.")
    assert "/ticket/" not in desk.mails(2)[1]
    desk.set_up(has_ticket_pages=True, is_on=False)
    assert Stranger(desk).get(link).status == 200
    into = desk.ticket(BO)
    path = f"/api/v1/external/tickets/{ticket['id']}/merge"
    answer = desk.key.post(path, {"into": into["id"]})
    assert answer.status_code in (200, 201), answer.text
    assert Stranger(desk).get(link).status == 410


def test_what_is_too_much_is_refused_and_stays_in_the_form(desk: FormDesk) -> None:
    ticket, link = with_link(desk)
    ann = Stranger(desk)
    many = [(f"{n}.txt", b"x") for n in range(6)]
    for files, words in (
        (many, "at most 5"), ([("a.exe", b"MZ")], "a.exe is"),
        ([("empty.txt", b"")], "empty.txt is"),
    ):  # fmt: skip
        answer = upload(ann, link, "Keep this", *files)
        assert answer.status_code == 422 and words in answer.text and "Keep this" in answer.text
    assert upload(ann, link, " \n").status_code == 422
    assert upload(ann, link, "x", ("big.bin", b"x" * (10 * 2**20))).status_code == 413
    desk.service.clock.advance(60)
    other = Stranger(desk)
    assert upload(other, link, "a\0b").status_code == 400
    assert upload(other, link, "x", *[("a", b"")] * 1100).status_code in (400, 413)
    for body in (
        b"",
        b"--x",
        b"--b\r\n\r\n",
        b"--b\r\nContent-Disposition: form-data\r\n\r\nx\r\n",
    ):
        answer = other.once("POST", link, body, content_type="multipart/form-data; boundary=b",
                            sec_fetch_site="same-origin")  # fmt: skip
        assert answer.status_code in (400, 422)
    assert len(desk.replies(ticket)) == 1


def test_a_form_of_another_site_and_one_sent_twice_write_nothing(desk: FormDesk) -> None:
    ticket, link = with_link(desk)
    ann = Stranger(desk)
    foreign = ann.post(link, [("body", "Forged")], sec_fetch_site="cross-site")
    assert foreign.status == 403
    for _ in range(2):
        assert upload(ann, link, "Once").status_code == 303
    assert [each["body"] for each in desk.replies(ticket)] == ["We look into it.", "Once"]


def test_a_participant_who_writes_too_much_waits(desk: FormDesk) -> None:
    ticket, link = with_link(desk)
    numbers = iter(range(100))
    sent = refused_at(lambda: upload(Stranger(desk), link, f"Reply {next(numbers)}").status_code)
    assert 6 <= sent < 20
    desk.service.clock.advance(60)
    assert upload(Stranger(desk), link, "Later").status_code == 303
    assert len(desk.replies(ticket)) == sent + 2
