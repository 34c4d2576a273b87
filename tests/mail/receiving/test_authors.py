"""Who has written a message: From is not always the author."""

import msgspec
import pytest

from sealdesk.mail.parsing.types import Address, ParsedMessage
from sealdesk.mail.receiving.authors import UNKNOWN_SENDER, answers_to, author, typed_address
from sealdesk.resources.addresses import is_no_reply
from tests.mail.support import MX, Desk, message, message_id
from tests.support.for_each import for_each

OWN = {"help@shop.example", "billing@shop.example"}
DORA = Address("dora@strict.example", "Dora")


def _author(
    sender: str,
    name: str = "",
    *,
    is_of_list: bool = False,
    original_from: Address | None = None,
    reply_to: Address | None = None,
    is_of_website: bool = False,
    subject: str = "A bowl",
) -> str:
    parsed = ParsedMessage(
        sender=Address(sender, name),
        is_of_list=is_of_list,
        is_of_website=is_of_website,
        subject=subject,
        original_from=(original_from,) if original_from else (),
        reply_to=(reply_to,) if reply_to else (),
    )
    return author(parsed, OWN).address


def test_from_is_the_author_of_an_ordinary_message() -> None:
    assert _author("ann@customer.example") == "ann@customer.example"
    assert _author("ann@customer.example", reply_to=DORA) == "ann@customer.example"
    assert _author("ann@customer.example", original_from=DORA) == "ann@customer.example"
    assert _author("reply@customer.example", reply_to=DORA) == "reply@customer.example"


def test_what_a_list_has_replaced_is_the_author() -> None:
    via = "'Dora' via Shop Help"
    assert _author("help@shop.example", via, is_of_list=True, original_from=DORA) == DORA.address
    assert _author("list@other.example", via, is_of_list=True, reply_to=DORA) == DORA.address
    assert _author("list@other.example", "Flight via Rome", reply_to=DORA) == "list@other.example"
    assert (
        _author("list@other.example", "Dora", is_of_list=True, original_from=DORA) == DORA.address
    )


def test_reply_to_is_the_author_of_what_a_form_sends() -> None:
    senders = (
        "help@shop.example", "HELP+form@shop.example", "billing@shop.example",
        "noreply@forms.example", "no-reply+17@forms.example", "do_not_reply@forms.example",
        "nicht-antworten@forms.example", "wordpress.donotreply@forms.example",
        "no-contestar@forms.example", "no-responda@forms.example", "nu-raspunde@forms.example",
        "ne-otvechat@forms.example", "jangan-balas@forms.example", "unattended@forms.example",
    )  # fmt: skip
    found = {sender: _author(sender, reply_to=DORA) for sender in senders}
    assert {sender for sender, address in found.items() if address != DORA.address} == set()


@for_each(
    "form",
    [
        ("Name: Dora\nEmail: dora@strict.example\nMessage: Hi", DORA.address),
        ("Ihre E-Mail-Adresse:\n\n  dora@strict.example\n", DORA.address),
        ("이메일 주소: dora@strict.example\n电子邮箱: dora@strict.example", DORA.address),
        (
            "**E-mail (required):** dora@strict.example\nSähköposti: dora@strict.example",
            DORA.address,
        ),
        ("Mailadresse: dora@strict.example\nईमेल: dora@strict.example", DORA.address),
        ("Correo electrónico | dora@strict.example <mailto:dora@strict.example>", DORA.address),
        ("Email *\ndora@strict.example\nWhat is your email?\ndora@strict.example", DORA.address),
        ("Write an email to dora@strict.example", None),
        ("Email: dora@strict.example\nEmail: bo@strict.example", None),
        ("Email: help@shop.example", None),
        ("Email: noreply@strict.example", None),
    ],
)
def test_the_one_address_that_a_form_names_is_told(form: tuple[str, str | None]) -> None:
    text, wanted = form
    sent = ParsedMessage(sender=Address("noreply@forms.example"), text=text)
    assert typed_address(sent, OWN) == wanted
    for other in ({"sender": Address("ann@customer.example")}, {"reply_to": (DORA,)}):
        assert typed_address(msgspec.structs.replace(sent, **other), OWN) is None


def test_whom_a_form_names_in_its_text_gets_no_answers_before_an_agent_wants_it(
    desk: Desk,
) -> None:
    desk.get_mail(message("Email: dora@strict.example", sender="wordpress@shop.test"))
    ticket = desk.ticket()
    (note,) = desk.replies(ticket)
    assert note["is_internal"] and DORA.address in note["body"]
    assert DORA.address not in desk.tokens(ticket)


def test_a_list_is_never_the_author_nor_gets_the_answer() -> None:
    group = Address("main@lists.example"), DORA
    parsed = ParsedMessage(
        sender=Address("dora=strict.example@lists.example", "Dora via Main"),
        reply_to=group,
        is_of_list=True,
        list_id="main.lists.example",
    )
    assert author(parsed, OWN).address == answers_to(parsed, OWN).address == DORA.address
    by_cc = msgspec.structs.replace(
        parsed, reply_to=group[:1], cc=(*group, Address("bob@c.example"))
    )
    assert author(by_cc, OWN).address == answers_to(by_cc, OWN).address == DORA.address
    for address in ("main@lists.example", "0017-dmarc-request@lists.example"):
        rewritten = msgspec.structs.replace(parsed, sender=Address(address, "Dora"))
        assert author(rewritten, OWN).address == DORA.address
    encoded = msgspec.structs.replace(
        parsed, sender=Address("dora=strict.example@mail.lists.example", "Dora"), reply_to=(DORA,)
    )
    for each in (encoded, msgspec.structs.replace(encoded, reply_to=group[:1])):
        assert author(each, OWN).address == DORA.address
    plain = msgspec.structs.replace(parsed, sender=DORA, reply_to=group[:1])
    assert answers_to(plain, OWN).address == DORA.address


def test_programs_and_the_desks_own_domain_write_for_whom_reply_to_names() -> None:
    for sender in ("www-data@web.example", "wordpress@web.example", "info@shop.example",
                   "notifications@forms.example", "form_submission@forms.example",
                   "root@web.example", "kontakt-formular@web.example",
                   "formresponses@web.example", "nie-odpowiadaj@web.example",
                   "no-response@web.example", "robot@web.example", "typo3@web.example",
                   "automated@web.example", "woocommerce@web.example", "contacto-web@web.example",
                   "modulo-contatti@web.example", "webkontakt@web.example",
                   "store+77@t.shopifyemail.com", "site-mail@wix-forms.com", "info@getform.io",
                   "microsoft@powerapps.com",
                   ):  # fmt: skip
        assert _author(sender, "Website", reply_to=DORA) == DORA.address
    for name in ("Contact form", "Shop (Kontaktformular)", "Shop Website"):
        assert _author("info@web.example", name, reply_to=DORA) == DORA.address
    # People who give another address of theirs, and colleagues at the same domain.
    assert _author("eve@shop.example", "Dora", reply_to=DORA) == "eve@shop.example"
    colleague = Address("office@shop.example", "Office")
    assert _author("eve@shop.example", "Eve", reply_to=colleague) == "eve@shop.example"
    for person in ("forma@firm.example", "platform@firm.example", "mail@firm.example",
                   "eve@platform.example", "eve@format.example"):  # fmt: skip
        assert _author(person, "Eve", reply_to=DORA) == person


def test_a_website_with_an_ordinary_address_writes_for_whom_reply_to_names() -> None:
    office = "office@web.example"
    assert _author(office, reply_to=DORA, is_of_website=True) == DORA.address
    for subject in ("Contact form: bowl", "[Shop] Contact form", "New submission from Contact form",
                    "Neue Nachricht über das Kontaktformular"):  # fmt: skip
        assert _author(office, reply_to=DORA, subject=subject) == DORA.address
    for subject in ("Re: Contact form: bowl", "Your contact form is broken"):
        assert _author(office, reply_to=DORA, subject=subject) == office
    boss = Address("boss@web.example")
    assert _author(office, reply_to=boss, is_of_website=True) == office


def test_x_original_from_counts_only_in_a_message_of_a_list() -> None:
    eve = Address("eve@evil.example", "Eve")
    assert _author("help@shop.example", original_from=eve, reply_to=DORA) == DORA.address


def test_neither_the_desk_nor_nobody_is_chosen_instead() -> None:
    for other in ("billing+x@shop.example", "noreply@forms.example", "dora@sender.invalid"):
        assert _author("help@shop.example", reply_to=Address(other)) == "help@shop.example"


def test_a_message_without_a_sender_has_an_author_whom_nothing_reaches() -> None:
    assert author(ParsedMessage(), OWN).address == UNKNOWN_SENDER
    assert not author(ParsedMessage(sender=Address("root@localhost")), OWN).is_known
    # `From: Ann </O=SHOP/OU=EXCHANGE/CN=ANN>`
    assert author(ParsedMessage(reply_to=(DORA,)), OWN).address == DORA.address


def test_answers_go_to_reply_to_but_never_to_the_desk() -> None:
    ann = Address("ann@customer.example", "Ann")
    group = (Address("help+x@shop.example"), Address("not an address"), DORA)
    assert answers_to(ParsedMessage(sender=ann, reply_to=group), OWN).address == DORA.address
    assert answers_to(ParsedMessage(sender=ann, reply_to=group[:1]), OWN).address == ann.address
    nobody = (Address("noreply@customer.example"),)
    assert answers_to(ParsedMessage(sender=ann, reply_to=nobody), OWN).address == ann.address


def test_what_only_delivered_to_names_is_treated_as_an_address_of_the_desk() -> None:
    sales = Address("sales@other.example", "Sales"), Address("sales+x@other.example")
    passed = ParsedMessage(delivered_to=sales[:1], sender=sales[0], reply_to=(DORA,))
    assert author(passed, OWN).address == DORA.address
    for alias in sales:
        answered = msgspec.structs.replace(passed, sender=DORA, reply_to=(alias,))
        assert answers_to(answered, OWN).address == DORA.address
    # Whoever forwards their own message is its author, and their domain is not that of a website.
    alone = msgspec.structs.replace(passed, reply_to=())
    assert author(alone, OWN).address == answers_to(alone, OWN).address == sales[0].address
    neighbour = msgspec.structs.replace(passed, sender=Address("eve@other.example", "Eve"))
    assert author(neighbour, OWN).address == "eve@other.example"


def test_addresses_of_people_are_read_by_somebody() -> None:
    people = "noreen@b.example nora.reply@b.example reply@b.example answer.me@noreply-fans.example"
    assert [each for each in people.split() if is_no_reply(each)] == []


def test_whole_domains_and_accounts_may_be_read_by_nobody() -> None:
    nobody = "repo@noreply.git.example i@users.no-reply.git.example dev-null@b.example"
    nobody += (
        " bitte-nicht-beantworten@b.example bittenichtantworten@b.example ala-vastaa@b.example"
    )
    nobody += " neodpovedat@b.example nieodpowiadac@b.example cevaplamayin@b.example"
    assert [each for each in nobody.split() if not is_no_reply(each)] == []


def test_the_answer_to_a_form_reaches_whom_it_names(desk: Desk) -> None:
    ida = "Ida <ida@example.test>"
    desk.get_mail(message(sender=f"Website <{desk.address}>", to=desk.address, Reply_To=ida))
    ticket = desk.ticket()
    assert ticket["customer"]["email"] == "ida@example.test"
    assert list(desk.tokens(ticket)) == ["ida@example.test"]


def test_each_of_two_authors_takes_part(desk: Desk) -> None:
    both = "Ann <ann@example.test>, Bob <bob@example.test>"
    sent_by = b"sender: Bob <bob@example.test>\r\n"
    desk.get_mail(sent_by + message(sender=both, to=desk.address))
    ticket = desk.ticket()
    assert ticket["customer"]["email"] == "bob@example.test"
    assert list(desk.tokens(ticket)) == ["ann@example.test", "bob@example.test"]


def test_all_of_reply_to_get_the_answers_except_of_a_list(desk: Desk) -> None:
    group = f"Desk: bo@example.test, {desk.address}, noreply@b.example, cy@example.test;"
    desk.get_mail(message(to=desk.address, Reply_To=group))
    assert list(desk.tokens(desk.ticket())) == ["bo@example.test", "cy@example.test"]
    desk.get_mail(message("By a list.", to=desk.address, Reply_To=group, List_Id="<x.test>"))
    assert list(desk.tokens(desk.tickets()[0])) == ["bo@example.test"]


@pytest.mark.parametrize("place", ["To", "Cc"])
def test_no_form_of_a_desks_address_becomes_a_participant(desk: Desk, place: str) -> None:
    second = desk.add_mailbox().address
    local, _, domain = desk.address.partition("@")
    nobody = "no-reply@acme.test, MAILER-DAEMON@acme.test"
    names = f"{local}+orders@{domain}, {second.upper()}, {nobody}, bob@example.test"
    others = {"to": names} if place == "To" else {"to": desk.address, "Cc": names}
    desk.get_mail(message(**others))
    assert list(desk.tokens(desk.ticket())) == ["ann@example.test", "bob@example.test"]


def test_what_forwards_a_message_to_the_desk_is_no_participant(desk: Desk) -> None:
    names = "sales@acme.test, info+orders@acme.test, bob@example.test"
    passed = {"Delivered_To": "sales@acme.test", "X_Original_To": "Info@acme.test"}
    desk.get_mail(message(to=names, **passed))
    assert list(desk.tokens(desk.ticket())) == ["ann@example.test", "bob@example.test"]


def test_a_list_is_no_participant_of_what_it_passes_on(desk: Desk) -> None:
    names = "team@lists.test, bob@example.test"
    desk.get_mail(message(to=names, List_Id="<team.lists.test>"))
    assert list(desk.tokens(desk.ticket())) == ["ann@example.test", "bob@example.test"]


def test_a_reply_address_counts_where_only_the_server_names_it(desk: Desk) -> None:
    desk.get_mail(message())
    ticket = desk.ticket()
    for name in ("Delivered_To", "X_Original_To", "X_Forwarded_To", "Envelope_To"):
        passed = {name: desk.reply_address(ticket)}
        desk.get_mail(message(f"By {name}.", to="undisclosed-recipients:;", **passed))
        assert desk.replies(ticket)[-1]["body"] == f"By {name}."


def test_a_message_of_the_desk_that_comes_back_changes_nothing(desk: Desk) -> None:
    desk.get_mail(message())
    ticket, sent = desk.ticket(), f"<{message_id().strip('<>').partition('@')[0]}.x@acme.test>"
    desk.execute(
        "INSERT INTO outgoing_messages (tenant_id, id, mailbox_id, ticket_id, about_id, kind,"
        " address, message_id, state, attempt_count, created_at) VALUES (:tenant, :id, :mailbox,"
        " :ticket, :id, 'reply', 'ann@example.test', :message_id, 'sent', 1, 0)",
        id=ticket["id"], mailbox=desk.mailbox.id, ticket=ticket["id"], message_id=sent,
    )  # fmt: skip
    desk.get_mail(message("Ours.", sender=f"Desk <{desk.address}>", Message_ID=sent))
    assert desk.replies(ticket) == []
    row = desk.messages()[-1]
    assert (row["outcome"], row["reason"]) == ("ignored", "a message of this desk that came back")


def test_an_agent_who_answers_to_their_reply_address_is_that_agent(desk: Desk) -> None:
    agent = desk.tenant.admin_email
    desk.get_mail(message(Cc=f"Maya <{agent}>"))
    ticket = desk.ticket()
    raw = message("I answer.", sender=f"Maya <{agent}>")
    desk.get_mail(raw, to=desk.reply_address(ticket, agent))
    (reply,) = desk.replies(ticket)
    assert (reply["author"]["type"], reply["is_internal"]) == ("agent", False)


def test_an_agent_whose_domain_vouches_for_the_message_is_that_agent(desk: Desk) -> None:
    agent = desk.tenant.admin_email
    desk.get_mail(message(Message_ID="<passed@example.test>"))
    ticket = desk.ticket()
    of_evil = "pass header.from=evil.test"
    for result, sender, is_internal in (
        ("pass", agent, False), ("none", agent, True), (of_evil, "noreply@evil.test", True)
    ):  # fmt: skip
        headers = {
            "Reply_To": agent,
            "In_Reply_To": "<passed@example.test>",
            "Authentication_Results": f"{MX}; dmarc={result}",
        }
        desk.get_mail(message(f"It says {result}.", sender=sender, **headers))
        (reply,) = [each for each in desk.replies(ticket) if f"says {result}." in each["body"]]
        assert reply["is_internal"] is is_internal


_MARKS_OF_LISTS = {
    "list": {"List_Id": "<team.customer.example>", "Precedence": "list"},
    "bulk": {"Precedence": "bulk", "List_Unsubscribe": "<https://crm.example/u/1>"},
    "suppressed": {"X_Auto_Response_Suppress": "DR, OOF, AutoReply"},
    "loop": {"X_Loop": "desk"},
    "generated": {"Auto_Submitted": "auto-generated"},
}


def test_what_a_person_writes_is_a_public_reply_whatever_marks_it_carries(desk: Desk) -> None:
    desk.get_mail(message())
    ticket = desk.ticket()
    failed = []
    for name, headers in _MARKS_OF_LISTS.items():
        desk.change(ticket, status="resolved")
        desk.get_mail(message(f"By {name}.", **headers), to=desk.reply_address(ticket))
        is_public = desk.replies(ticket)[-1]["is_internal"] is False
        if not (is_public and desk.reread(ticket)["status"] == "open"):
            failed.append(name)
    assert failed == []


def test_what_an_absent_persons_program_writes_is_a_note(desk: Desk) -> None:
    desk.get_mail(message())
    ticket = desk.ticket()
    subjects = (
        "Automatic reply: bowl", "Out of office", "Abwesenheitsnotiz: Schale",
        "Réponse automatique : bol", "Respuesta automática: taza", "Risposta automatica: tazza",
        "Resposta automática: tigela", "Automatisch antwoord: kom", "Автоответ: чаша",
        "自动回复: 碗", "自動返信: 茶碗",
    )  # fmt: skip
    desk.change(ticket, status="resolved")
    for subject in subjects:
        desk.get_mail(message("Away.", subject=subject), to=desk.reply_address(ticket))
    assert [each["is_internal"] for each in desk.replies(ticket)] == [True] * len(subjects)
    assert desk.reread(ticket)["status"] == "resolved"
    desk.get_mail(message("Me.", subject=f"Re: {subjects[0]}"), to=desk.reply_address(ticket))
    assert not desk.replies(ticket)[-1]["is_internal"]


def test_a_message_id_that_a_device_always_uses_loses_no_message(desk: Desk) -> None:
    same = {"Message_ID": "<scan@device.example>", "subject": "Scan"}
    for text, date in (("One", "10:00:00"), ("Two", "10:01:00"), ("Three", "10:01:00")):
        dated = message(text, **same, Date=f"Tue, 24 Nov 2026 {date} +0000")
        for _ in range(2):  # the same message twice is one
            desk.get_mail(b"Received: by a relay\r\n" + dated)
    assert sorted(each["description"] for each in desk.tickets()) == ["One", "Three", "Two"]


def test_every_address_that_mail_reaches_may_write(desk: Desk) -> None:
    addresses = (
        "a..b.@docomo.example", "pump@server3.local", "us@my_host.example", "root@[192.0.2.1]",
        "root@[IPv6:2001:db8::1]",
    )  # fmt: skip
    for address in addresses:
        desk.get_mail(message(sender=f"Pump <{address}>"))
    assert {each["customer"]["email"] for each in desk.tickets()} == set(addresses)


def test_machines_of_a_network_are_different_customers_whom_nobody_can_answer(desk: Desk) -> None:
    for address in ("backup@server3", "backup@server4", "scan@printer"):
        desk.get_mail(message(sender=f"Backup <{address}>"))
    found = desk.tickets()
    addresses = {"backup@server3", "backup@server4", "scan@printer"}
    assert {each["customer"]["email"] for each in found} == addresses
    answer = desk.key.post(
        f"/api/v1/external/tickets/{found[0]['id']}/replies", {"body": "Thank you"}
    )
    assert answer.status_code == 201, answer.text
    assert answer.json()["data"]["delivery"] is None


def test_both_forms_of_a_domain_are_one_address(desk: Desk) -> None:
    desk.get_mail(message(sender="Jo <jo@xn--bcher-kva.example>"))
    raw = message(sender="Jo <jo@placeholder>").replace(b"placeholder", "bücher.example".encode())
    desk.get_mail(raw)
    assert len({each["customer"]["id"] for each in desk.tickets()}) == 1


def test_the_absence_of_an_agent_is_a_note(desk: Desk) -> None:
    agent = desk.tenant.admin_email
    desk.get_mail(message(Cc=f"Maya <{agent}>"))
    ticket = desk.ticket()
    raw = message("Away.", sender=f"Maya <{agent}>", Auto_Submitted="auto-replied")
    desk.get_mail(raw, to=desk.reply_address(ticket, agent))
    (note,) = desk.replies(ticket)
    assert (note["author"]["type"], note["is_internal"]) == ("agent", True)


def test_what_an_agent_writes_to_a_closed_ticket_waits_until_it_is_open(desk: Desk) -> None:
    agent = desk.tenant.admin_email
    desk.get_mail(message(Cc=f"Maya <{agent}>"))
    ticket = desk.ticket()
    desk.change(ticket, status="closed")
    raw = message("One thing more.", sender=f"Maya <{agent}>")
    desk.get_mail(raw, to=desk.reply_address(ticket, agent))
    assert desk.messages()[-1]["reason"] == "an answer of an agent to a closed ticket"
    desk.change(ticket, status="open")
    desk.release()
    (reply,) = desk.replies(ticket)
    assert (reply["author"]["type"], reply["is_internal"]) == ("agent", False)


def test_two_ids_that_a_device_repeats_lose_no_message_with_one_content(desk: Desk) -> None:
    for name in ("<one@device.example>", "<two@device.example>"):
        for text in ("First", "The same"):
            desk.get_mail(message(text, Message_ID=name, subject="Scan"))
    assert sorted(each["description"] for each in desk.tickets()) == [
        "First",
        "First",
        "The same",
        "The same",
    ]
