"""The page of a ticket shows what a message says; quotes and the signature are folded."""

import re

from tests.mail.support import Desk, message
from tests.support.pages import logged_in

ANSWER = "It works.\n\nOn Mon, 5 Jan 2026 at 10:00, Desk wrote:\n> Did it work?\n\n-- \nAnn Example"
TRACKER = "https://tracker.example.test/pixel.gif"
PICTURE = "https://pictures.example.test/bowl.png"


def html_message(body: str) -> bytes:
    made = message("-").decode()
    return made.replace("text/plain", "text/html").replace("\r\n\r\n-", f"\r\n\r\n{body}").encode()


def articles(desk: Desk, path: str) -> list[str]:
    page = logged_in(desk.tenant).get(path)
    return re.findall(r"<article.*?</article>", page.answer.text, re.DOTALL)


def test_quotes_and_signatures_are_folded_and_kept(desk: Desk) -> None:
    desk.get_mail(message("Broken.\n\n-- \nAnn Example"))
    ticket = desk.ticket()
    desk.get_mail(message(ANSWER), to=desk.reply_address(ticket))
    opened, answered = articles(desk, f"/tickets/{ticket['id']}")
    for article, shown, folded in (
        (opened, "Broken.", "Ann Example"),
        (answered, "It works.", "Did it work?"),
    ):
        before, details, after = article.partition('<details class="quoted">')
        assert details and shown in before and folded not in before
        assert "Show quoted text" in after and folded in after
    assert desk.replies(ticket)[0]["body"] == ANSWER
    assert ticket["description"].endswith("Ann Example")


def test_what_agents_write_is_folded_only_if_it_came_by_email(desk: Desk) -> None:
    text = "See below.\n\n-- \nThe desk"
    ticket = desk.key.ticket(description=text)
    answer = desk.key.post(f"/api/v1/external/tickets/{ticket['id']}/replies", {"body": text})
    assert answer.status_code == 201
    shown = articles(desk, f"/tickets/{ticket['id']}")
    assert ["The desk" in each and "<details" not in each for each in shown] == [True, True]


def test_pictures_elsewhere_are_links_and_nothing_is_fetched(desk: Desk) -> None:
    body = (
        f'<p>See <img src="{PICTURE}" alt="the bowl"><img src="{TRACKER}" width="1" height="1"></p>'
    )
    desk.get_mail(html_message(body))
    ticket = desk.ticket()
    (article,) = articles(desk, f"/tickets/{ticket['id']}")
    assert "<img" not in article and TRACKER not in article
    assert f'href="{PICTURE}"' in article and "the bowl" in article
