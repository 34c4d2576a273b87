"""What of a text pages fold: quotes of earlier messages, and signatures."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sealdesk.tickets.text.quotes import fold

_OUTLOOK = "From: Desk <desk@example.org>\nSent: Monday\nTo: Ann\nSubject: Re: x\n\nold"


@pytest.mark.parametrize(
    ("visible", "quoted"),
    [
        ("new", "> old\n> older"),
        ("new", "On Mon, 5 Jan 2026 at 10:00, Desk <desk@example.org> wrote:\n> old"),
        ("new", "On Mon, 5 Jan 2026 at 10:00, Desk\n<desk@example.org> wrote:\n\n> old\n"),
        ("new", "On Mon, 5 Jan 2026 at 10:00, Desk wrote:\nold without marks"),
        ("neu", "Am 05.01.2026 um 10:00 schrieb Desk <desk@example.org>:\n> alt"),
        ("neu", "Desk schrieb am 05.01.2026 um 10:00:\n> alt"),
        ("nouveau", "Le lun. 5 janv. 2026 à 10:00, Desk a écrit :\n> vieux"),
        ("new", "On Monday Desk wrote:\n> old"),
        ("new", "On Monday,\nDesk <desk@example.org> wrote:\n\n> old"),
        ("neu", "Am Montag schrieb Desk:\n> alt"),
        ("neu", "Desk schrieb am Sonntag:\n> alt"),
        ("nouveau", "Le mardi, Desk a écrit :\n> vieux"),
        ("nuevo", "El miércoles, Desk escribió:\n> viejo"),
        ("nuovo", "Il giovedì Desk ha scritto:\n> vecchio"),
        ("nieuw", "Op vrijdag schreef Desk:\n> oud"),
        ("nytt", "Den lördag skrev Desk:\n> gammalt"),
        ("novo", "Em segunda-feira, Desk escreveu:\n> velho"),
        ("new", "-----Original Message-----\nFrom: Desk\nold"),
        ("neu", "-----Ursprüngliche Nachricht-----\nVon: Desk\nalt"),
        ("new", _OUTLOOK),
        ("neu", "Von: Desk\nGesendet: Montag\nAn: Ann\nBetreff: x\n\nalt"),
        ("new", "*From:* Desk\n\n*Sent:* Monday\n\n*To:* Ann\n\nold"),
        ("new", "-- \nAnn\nExample Ltd"),
        ("new", "> old\n-- \nAnn"),
        ("On 5 points I wrote nothing", "> old"),
    ],
)
def test_a_quote_or_signature_is_folded(visible: str, quoted: str) -> None:
    assert fold(f"{visible}\n\n{quoted}")[0] == visible
    assert fold(f"{visible}\n\n{quoted}")[1].strip("\n") == quoted.strip("\n")


@pytest.mark.parametrize(
    "text",
    [
        "new", "", "> old", "-- \nAnn", _OUTLOOK, "> question\nanswer\n> question\nanswer",
        "Hi,\nOn 5 Jan 2026 Desk wrote:\n> old\nanswer below", "From: here to there", "a > b",
        "---------- Forwarded message ---------\nFrom: Bob\nDate: Monday\nSubject: x\n\nsee this",
        "On Monday Bob wrote:\nthe bowl is broken", "a -- b", "What he wrote:\nnothing",
    ],
)  # fmt: skip
def test_a_text_without_an_end_that_is_quoted_is_shown_whole(text: str) -> None:
    assert fold(text) == (text, "")


@given(
    st.lists(st.sampled_from(["a", "> b", "", "-- ", "On 1 x wrote:", "From: a", "To: b", "Sent:"]))
)
def test_nothing_of_a_text_is_lost(lines: list[str]) -> None:
    text = "\n".join(lines)
    visible, quoted = fold(text)
    assert text.startswith(visible)
    assert text.endswith(quoted)
    assert not text[len(visible) : len(text) - len(quoted)].strip()


def test_a_sentence_about_what_was_written_stays_above_a_quote() -> None:
    text = "On paper he wrote:\n\n> old"
    assert fold(text) == ("On paper he wrote:", "\n> old")
