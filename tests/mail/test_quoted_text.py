"""The page of a ticket shows what a message says; quotes and the signature are folded."""

import re
from urllib.parse import quote

from sealdesk.mail.parsing.html_text import html_to_text
from sealdesk.tickets.text.quotes import fold
from tests.mail.support import Desk, message
from tests.support.for_each import for_each
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


_ABOVE = "Ni bezongo 24.11., Shop:"  # of no language
_FIELDS = "<b>Xa:</b> Shop<br><b>Xb:</b> Lu<br><b>Xc:</b> Ann<br><b>Xd:</b> Re: x"


@for_each(
    "quote",
    [
        '<div class="gmail_quote gmail_quote_container"><div class="gmail_attr">{above}</div>{old}',
        '<div class="gmail_quote">{above}<br>old</div>',
        '<div class="x_gmail_quote">{above}<br>old',
        '<div class="yahoo_quoted" id="yahoo_quoted_12"><div>{above}</div><div>old</div></div>',
        "<div id=yahoo_quoted_12><div>{above}</div><div>old</div></div>",
        '<div class="moz-cite-prefix">{above}</div>{old}',
        '<div class="protonmail_quote">{above}<br>old</div>',
        '<div name="messageReplySection">{above}<br>old</div>',
        '<p id="reply-intro">{above}<p>{old}',
        '<div class="zmail_extra"><div>{above}</div>{old}</div>',
        '<div id="mail-editor-reference-message-container"><b>Xa:</b> Shop<br>old</div>',
        '<div id="appendonsend"></div><hr><div id="divRplyFwdMsg">{fields}</div>old',
        '<div id="appendonsend"></div><hr><div>{fields}</div>old',
        "<div class=OutlookMessageHeader><hr tabindex=-1><font>{fields}</font></div>old",
        '<hr id="zwchr" data-marker="__DIVIDER__"><div>{fields}</div>old',
        '<hr><div data-marker="__QUOTED_TEXT__">old</div>',
    ],
)
def test_what_a_mail_program_marks_in_html_is_a_quote_in_every_language(quote: str) -> None:
    rest = quote.format(above=_ABOVE, fields=_FIELDS, old="<blockquote>old</blockquote>")
    text, _ = html_to_text(f"<div>My answer is 42.</div><br>{rest}", 1_000)
    assert fold(text)[0] == "My answer is 42."


@for_each(
    "source",
    [
        "See<div class=gmail_quote><div>---------- Forwarded message ---------<br>From: Bo</div>x",
        "Hi<div class=gmail_quote>{above}<blockquote>Which?</blockquote>Blue.</div>",
        "Hi<div class=moz-cite-prefix>{above}</div><blockquote>Which?</blockquote>Blue.",
        "Hi<div class=quote>Ten cups: 20</div>", "Hi<p class=reply-intro>{above}</p><p>Blue.</p>",
    ],
)  # fmt: skip
def test_words_of_the_author_beside_a_quote_are_shown(source: str) -> None:
    text, _ = html_to_text(source.format(above=_ABOVE), 1_000)
    assert fold(text) == (text, "")


def test_secrets_in_quotes_are_stored_in_no_ticket_but_in_the_raw_message(desk: Desk) -> None:
    desk.get_mail(message("Broken."))
    ticket = desk.ticket()
    secret, own = desk.reply_address(ticket), desk.tokens(ticket)["ann@example.test"]
    quoted = f"On Monday, Desk <mailto:{quote(secret)}> wrote:\n> Write to {secret.upper()}"
    desk.get_mail(message(f"It works.\n\n{quoted}", subject=f"Re: {secret}"), to=secret)
    (reply,) = desk.replies(ticket)
    assert "It works." in reply["body"] and "Write to" in reply["body"]
    desk.block("ann@example.test")
    desk.get_mail(message(f"Blocked. {quoted}", to=secret), to=secret)
    held = desk.messages()[-1]["id"]
    desk.receiver.service.settle()
    feed = desk.key.get("/api/v1/external/events").text
    assert "reply.created" in feed
    pages = logged_in(desk.tenant)
    shown = (
        reply["body"], feed, pages.get("/held-messages").answer.text,
        pages.get(f"/held-messages/{held}").answer.text,
    )  # fmt: skip
    assert "Blocked." in shown[-1]
    assert not [each for each in shown if own in each.lower()]
    assert desk.messages()[0]["size_bytes"] > 0


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
