"""What a received message does, sent by SMTP and seen through the API."""

from uuid import uuid4

import pytest

from sealdesk.mail.threads import rules as threads
from tests.mail.support import MX, Desk, Receiver, Ticket, message, message_id, with_files
from tests.support.service import wait_until

AUTOMATIC = {"Auto_Submitted": "auto-replied"}


@pytest.fixture
def ticket(desk: Desk) -> Ticket:
    """The ticket of a message by Ann."""
    desk.get_mail(message(Message_ID="<first@example.test>"))
    return desk.ticket()


def report(original: str, action: str = "failed") -> bytes:
    """A report of a mail server about a message (RFC 3464)."""
    return f"""\
From: MAILER-DAEMON@mx.example.test\r
To: desk@acme.test\r
Subject: Undelivered\r
Message-ID: {message_id()}\r
Auto-Submitted: auto-replied\r
MIME-Version: 1.0\r
Content-Type: multipart/report; report-type=delivery-status; boundary=b\r
\r
--b\r
Content-Type: text/plain\r
\r
It could not be delivered.\r
--b\r
Content-Type: message/delivery-status\r
\r
Reporting-MTA: dns; mx.example.test\r
\r
Final-Recipient: rfc822; ann@example.test\r
Action: {action}\r
Status: 5.1.1\r
Diagnostic-Code: smtp; 550 No such user\r
\r
--b\r
Content-Type: text/rfc822-headers\r
\r
Message-ID: {original}\r
From: desk@acme.test\r
\r
--b--\r
""".encode()


def test_a_message_opens_a_ticket_of_its_sender(desk: Desk) -> None:
    desk.get_mail(message())
    ticket = desk.ticket()
    assert (ticket["source"], ticket["status"]) == ("email", "open")
    assert (ticket["subject"], ticket["description"]) == ("A broken bowl", "The bowl is broken.")
    assert (ticket["customer"]["email"], ticket["customer"]["name"]) == ("ann@example.test", "Ann")
    assert desk.outcomes() == ["ticket"]


def test_a_ticket_of_a_message_is_told_like_any_other(desk: Desk) -> None:
    desk.get_mail(message())
    ticket = desk.ticket()
    desk.get_mail(message("Hello?"), to=desk.reply_address(ticket))
    types = {"ticket.created", "reply.created", "customer.created"}

    def are_told() -> bool:
        events = desk.key.get("/api/v1/external/events?per_page=100").json()["data"]
        return types <= {event["type"] for event in events}

    wait_until(are_told)


def test_a_ticket_has_the_team_of_its_mailbox(receiver: Receiver) -> None:
    desk = Desk(receiver)
    team_id = desk.add_team()
    mailbox = desk.add_mailbox(team_id=team_id)
    desk.get_mail(message(), to=mailbox.address)
    assert desk.ticket()["team_id"] == team_id


def test_an_answer_to_the_reply_address_is_a_reply_of_the_customer(
    desk: Desk, ticket: Ticket
) -> None:
    desk.change(ticket, status="resolved")
    desk.get_mail(message("Another one.", subject="Something else"), to=desk.reply_address(ticket))
    (reply,) = desk.replies(ticket)
    assert (reply["body"], reply["is_internal"]) == ("Another one.", False)
    assert reply["author"]["type"] == "customer"
    assert reply["author"]["id"] == ticket["customer"]["id"]
    assert desk.ticket()["status"] == "open"


def test_mail_of_a_merged_customer_is_of_the_one_who_stays(desk: Desk, ticket: Ticket) -> None:
    home = desk.key.customer("ann@home.example", name="Ann at home")
    path = f"/api/v1/external/customers/{ticket['customer']['id']}/merge"
    assert desk.key.post(path, {"into": home["id"]}).status_code == 200
    desk.get_mail(message("Another one."), to=desk.reply_address(ticket))
    desk.get_mail(message("The cup is broken too.", subject="A cup"))
    assert {each["customer"]["id"] for each in desk.tickets()} == {home["id"]}
    assert len(desk.tickets()) == 2
    (reply,) = desk.replies(ticket)
    assert (reply["body"], reply["author"]["id"]) == ("Another one.", home["id"])


@pytest.mark.parametrize("header", ["In_Reply_To", "References"])
def test_an_answer_is_found_by_the_message_that_it_answers(
    desk: Desk, ticket: Ticket, header: str
) -> None:
    desk.get_mail(message("Another one.", **{header: "<x@y.test> <first@example.test>"}))
    assert [reply["body"] for reply in desk.replies(ticket)] == ["Another one."]


def test_the_subject_never_finds_a_ticket(desk: Desk, ticket: Ticket) -> None:
    desk.get_mail(message(subject=f"Re: A broken bowl [#{ticket['number']}]"))
    assert len(desk.tickets()) == 2


def test_people_in_copy_are_participants_and_mailboxes_are_not(desk: Desk) -> None:
    other = desk.add_mailbox().address
    desk.get_mail(message(to=desk.address, Cc=f"Bob <bob@example.test>, {other}, c@localhost"))
    ticket = desk.ticket()
    assert {*desk.tokens(ticket)} == {"ann@example.test", "bob@example.test"}
    to = desk.reply_address(ticket, "bob@example.test")
    desk.get_mail(message("I am Bob.", sender="Bob <bob@example.test>"), to=to)
    (reply,) = desk.replies(ticket)
    assert (reply["is_internal"], reply["author"]["name"]) == (False, "Bob")
    assert reply["author"]["id"] != ticket["customer"]["id"]


def test_a_ticket_has_at_most_50_participants(desk: Desk) -> None:
    people = ", ".join(f"person{number}@example.test" for number in range(49))
    desk.get_mail(message(Cc=people))
    ticket = desk.ticket()
    assert len(desk.tokens(ticket)) == 50
    desk.get_mail(message(Cc="one@example.test, more@example.test"), to=desk.reply_address(ticket))
    assert len(desk.tokens(ticket)) == 50


def test_a_stranger_gets_into_a_note(desk: Desk, ticket: Ticket) -> None:
    desk.change(ticket, status="pending")
    raw = message("Close it.", sender="Eve <eve@example.test>")
    desk.get_mail(raw, to=desk.reply_address(ticket))
    (note,) = desk.replies(ticket)
    assert note["is_internal"]
    assert "Eve <eve@example.test>, who is no participant" in note["body"]
    assert note["body"].endswith("Close it.")
    assert desk.ticket()["status"] == "pending"
    assert "eve@example.test" not in desk.tokens(ticket)
    assert desk.outcomes() == ["ticket", "note"]


def test_an_answer_to_a_closed_ticket_opens_one_that_follows_it(desk: Desk, ticket: Ticket) -> None:
    desk.change(ticket, status="closed")
    desk.get_mail(message("Once more."), to=desk.reply_address(ticket))
    new, old = desk.tickets()
    assert (new["description"], old["status"]) == ("Once more.", "closed")
    (note,), (old_note,) = desk.replies(new), desk.replies(old)
    assert f"#{old['number']}," in note["body"] and note["is_internal"]
    assert f"#{new['number']}." in old_note["body"] and old_note["is_internal"]


def test_an_answer_goes_to_the_ticket_that_its_own_was_merged_into(
    desk: Desk, ticket: Ticket
) -> None:
    target = desk.key.ticket()
    path = f"/api/v1/external/tickets/{ticket['id']}/merge"
    answer = desk.key.post(path, {"into": target["id"]})
    assert answer.status_code == 200, answer.text
    desk.get_mail(message("Another one."), to=desk.reply_address(ticket))
    assert desk.replies(target)[-1]["body"] == "Another one."


def test_a_message_that_comes_twice_has_one_effect(desk: Desk) -> None:
    raw = message()
    for _ in range(2):
        desk.get_mail(raw)
    desk.get_mail(b"Received: by another way\r\n" + raw)
    assert len(desk.tickets()) == 1


def test_a_message_without_message_id_that_comes_twice_has_one_effect(desk: Desk) -> None:
    raw = b"From: ann@example.test\r\nSubject: Bowl\r\n\r\nBroken.\r\n"
    for _ in range(2):
        desk.get_mail(raw)
    assert len(desk.tickets()) == 1


def test_a_message_by_two_relays_with_other_ids_has_one_effect(desk: Desk) -> None:
    sent = desk.now()
    plain = b"From: ann@example.test\r\nSubject: Cup\r\nDate: " + sent.encode() + b"\r\n"
    for relay in (
        b"Received: by a\r\n",
        b"Message-ID: <b@b.test>\r\n",
        b"Message-ID: <c@c.test>\r\n",
    ):
        desk.get_mail(relay + plain + b"\r\nBroken.\r\n")
    assert desk.outcomes() == ["ticket", "ignored", "ignored"]
    for other in (
        message("Broken.", subject="Cup", sender="Bob <bob@example.test>", Date=sent),
        message("Broken.", subject="Cup", sender="ann@example.test"),
        message("Lost.", subject="Cup", sender="ann@example.test", Date=sent),
        message("Broken.", subject="Cups", sender="ann@example.test", Date=sent),
    ):
        desk.get_mail(other)
    assert desk.outcomes()[3:] == ["ticket"] * 4


def test_what_a_device_repeats_whose_clock_has_stopped_is_not_lost(desk: Desk) -> None:
    for _ in range(2):
        desk.get_mail(message("Door 2 is open.", Date="Thu, 1 Jan 1970 00:00:00 +0000"))
    assert desk.outcomes() == ["ticket", "ticket"]


def test_a_message_that_comes_by_a_list_too_has_one_effect(desk: Desk) -> None:
    fields = {"Message_ID": "<list@example.test>", "Date": desk.now()}
    by_list = {"subject": "[all] A broken bowl", "List_Id": "<all.lists.test>", **fields}
    direct, other = message(**fields), message("The cup is lost.", **by_list)
    for raw in (direct, message("The bowl is\nbroken.\n\n___\nAll", **by_list), other):
        desk.get_mail(raw)
    assert desk.outcomes() == ["ticket", "ignored", "ticket"]


def test_a_message_with_a_file_that_a_list_has_passed_on_before_has_one_effect(desk: Desk) -> None:
    fields = {"Message_ID": "<file@example.test>", "Date": desk.now()}
    photo, plan = ("a.jpg", b"photo"), ("b.pdf", b"a plan")
    by_list = {"subject": "[all] A broken bowl", "List_Id": "<all.lists.test>", **fields}
    desk.get_mail(with_files((photo,), "The bowl is broken.\n\n___\nAll", **by_list))
    for files in ((photo,), (photo, plan)):
        desk.get_mail(with_files(files, **fields))
    assert desk.outcomes() == ["ticket", "ignored", "note"]
    (note,) = desk.replies(desk.ticket())
    assert [each["name"] for each in note["attachments"]] == ["b.pdf"]


def test_two_messages_with_the_same_message_id_are_both_taken(desk: Desk) -> None:
    for subject in ("A bowl", "A cup", "A cup"):
        desk.get_mail(message(subject=subject, Message_ID="<1@localhost>"))
    assert [ticket["subject"] for ticket in desk.tickets()] == ["A cup", "A bowl"]


def test_a_message_to_two_mailboxes_is_taken_for_each(receiver: Receiver, desk: Desk) -> None:
    other = Desk(receiver)
    receiver.send(message(), desk.address, other.address)
    assert desk.ticket()["subject"] == other.ticket()["subject"]


def test_files_are_attached(desk: Desk) -> None:
    desk.get_mail(with_files((("bowl.txt", b"broken"), ("a\u202e.txt", b"x"))))
    files = desk.ticket()["attachments"]
    assert all("\u202e" not in each["name"] for each in files)
    (first,) = (each for each in files if each["name"] == "bowl.txt")
    sql = "SELECT ticket_id, size_bytes FROM attachments WHERE id = :id LIMIT 1"
    (row,) = desk.receiver.service.rows(sql, id=first["id"])
    assert (row["ticket_id"], row["size_bytes"]) == (desk.ticket()["id"], 6)


def test_a_file_that_may_not_be_attached_is_named(desk: Desk) -> None:
    desk.get_mail(with_files((("run.exe", b"x"), ("a.txt", b"x"))))
    ticket = desk.ticket()
    assert [each["name"] for each in ticket["attachments"]] == ["a.txt"]
    assert ticket["description"].endswith("[Not attached: run.exe]")


def test_a_file_over_the_quota_is_named_and_the_ticket_opens(desk: Desk) -> None:
    quota = desk.receiver.service.settings.attachment_quota_bytes
    sql = "INSERT INTO attachment_usage (tenant_id, used_bytes) VALUES (:tenant, :used)"
    desk.execute(sql, used=quota - 4)
    desk.get_mail(with_files((("large.txt", b"12345"), ("small.txt", b"1234"))))
    ticket = desk.ticket()
    assert [each["name"] for each in ticket["attachments"]] == ["small.txt"]
    assert ticket["description"].endswith("[Not attached: large.txt]")


@pytest.mark.parametrize(
    ("content_type", "says"),
    [
        ("application/pkcs7-mime; smime-type=enveloped-data; name=smime.p7m", "[Encrypted (S/MIME"),
        ("application/pkcs7-mime; smime-type=compressed-data", "[Compressed (S/MIME)"),
        ("application/pkcs7-mime; smime-type=certs-only; name=smime.p7c", "[Certificates of the"),
        ("application/ms-tnef; name=winmail.dat", "[winmail.dat holds files"),
    ],
)
def test_what_cannot_be_read_is_named_in_the_text(desk: Desk, content_type: str, says: str) -> None:
    head = message("-").decode().partition("Content-Type")[0]
    encoding = "Content-Transfer-Encoding: base64\r\nMIME-Version: 1.0"
    raw = f"{head}Content-Type: {content_type}\r\n{encoding}\r\n\r\nMIAGCSqGSIb3DQEHA6CA\r\n"
    desk.get_mail(raw.encode())
    assert desk.ticket()["description"].startswith(says)


def test_a_message_with_more_files_than_a_ticket_may_have_is_attached_itself(desk: Desk) -> None:
    raw = with_files(tuple((f"{number}.txt", b"x") for number in range(21)))
    desk.get_mail(raw)
    first, *others = desk.ticket()["attachments"]
    assert (first["name"], first["content_type"]) == ("message.eml", "message/rfc822")
    assert first["size_bytes"] == len(raw)
    assert [each["name"] for each in others] == [f"{number}.txt" for number in range(19)]


def test_a_long_text_is_cut_and_the_message_attached(desk: Desk) -> None:
    desk.get_mail(message("All of it.\n" * 20_000))
    ticket = desk.ticket()
    assert len(ticket["description"]) <= 65_536
    assert [each["name"] for each in ticket["attachments"]] == ["message.eml"]


def test_what_cannot_be_understood_becomes_a_ticket(desk: Desk) -> None:
    messages = (
        b"\r\n",
        b"no header at all",
        b"From: nobody\r\n\r\n",
        b"From: =?utf-8?q?=00=ff?= <a\x00@b.test>\r\nSubject: \x00\xff\r\n\r\n\x00\xed\xa0\x80",
        "Subject: \u200b\r\n\r\nx".encode(),
        b"Subject: " + b"s" * 5000 + b"\r\n\r\n" + b"\xff" * 100,
    )
    for raw in messages:
        desk.get_mail(raw)
    assert desk.outcomes() == ["ticket"] * len(messages)
    assert all(each["subject"].strip("\u200b") for each in desk.tickets())


def test_a_message_without_sender_is_of_the_unknown_customer(desk: Desk) -> None:
    desk.get_mail(b"Subject: Bowl\r\n\r\nBroken.\r\n")
    assert desk.ticket()["customer"]["email"] == "unknown@sender.invalid"
    assert desk.tokens(desk.ticket()) == {}


@pytest.mark.parametrize("pattern", ["ann@example.test", "@example.test"])
def test_a_message_of_a_blocked_sender_waits(desk: Desk, pattern: str) -> None:
    desk.block(pattern)
    desk.get_mail(message(sender="ANN@Example.test"))
    assert (desk.outcomes(), desk.tickets()) == (["blocked"], [])


def test_a_message_marked_as_spam_waits_until_it_is_released(desk: Desk) -> None:
    desk.get_mail(with_files((("a.txt", b"x"),), X_Spam_Flag="YES"))
    assert (desk.outcomes(), desk.tickets()) == (["spam"], [])
    desk.release()
    assert desk.outcomes() == ["ticket"]
    assert [each["name"] for each in desk.ticket()["attachments"]] == ["a.txt"]


def test_the_eleventh_new_ticket_of_a_sender_in_10_minutes_waits(desk: Desk) -> None:
    for number in range(12):
        desk.get_mail(message(subject=f"Number {number}"))
    desk.get_mail(message(sender="bob@example.test"))
    assert desk.outcomes() == ["ticket"] * 10 + ["held"] * 2 + ["ticket"]
    desk.release()
    assert len(desk.tickets()) == 12
    first = desk.tickets()[-1]
    desk.get_mail(message("Still me."), to=desk.reply_address(first))
    assert desk.outcomes()[-1] == "reply"


def test_an_automatic_answer_is_a_note_and_reopens_nothing(desk: Desk, ticket: Ticket) -> None:
    desk.change(ticket, status="resolved")
    desk.get_mail(message("I am away.", **AUTOMATIC), to=desk.reply_address(ticket))
    (note,) = desk.replies(ticket)
    assert (note["is_internal"], note["body"]) == (True, "I am away.")
    assert desk.ticket()["status"] == "resolved"


def test_an_automatic_answer_to_a_closed_ticket_opens_none(desk: Desk, ticket: Ticket) -> None:
    desk.change(ticket, status="closed")
    desk.get_mail(message("I am away.", **AUTOMATIC), to=desk.reply_address(ticket))
    assert desk.ticket()["status"] == "closed"
    assert [note["body"] for note in desk.replies(ticket)] == ["I am away."]


def test_an_automatic_message_opens_a_ticket_that_says_so(desk: Desk) -> None:
    desk.get_mail(message("The disk is full.", Auto_Submitted="auto-generated"))
    (row,) = desk.messages()
    assert row["outcome"] == "ticket" and row["reason"]


def test_a_message_without_envelope_sender_is_automatic(desk: Desk, ticket: Ticket) -> None:
    desk.get_mail(message("Away."), to=desk.reply_address(ticket), sender="<>")
    assert [note["is_internal"] for note in desk.replies(ticket)] == [True]


def test_an_automatic_message_of_a_mailbox_opens_no_ticket(receiver: Receiver, desk: Desk) -> None:
    other = Desk(receiver)
    desk.get_mail(message(sender=other.address, **AUTOMATIC))
    assert (desk.outcomes(), desk.tickets()) == (["ignored"], [])


def test_a_message_that_the_mailbox_has_sent_to_itself_waits(desk: Desk) -> None:
    desk.get_mail(message(sender=desk.address))
    assert (desk.outcomes(), desk.tickets()) == (["held"], [])


def test_a_report_about_a_message_that_was_received_waits(desk: Desk, ticket: Ticket) -> None:
    desk.get_mail(report("<first@example.test>"), sender="<>")
    assert desk.replies(ticket) == []
    assert desk.outcomes() == ["ticket", "held"]


def test_a_report_about_a_delay_changes_nothing(desk: Desk, ticket: Ticket) -> None:
    desk.get_mail(report("<first@example.test>", "delayed"), sender="<>")
    assert desk.replies(ticket) == []
    assert desk.outcomes() == ["ticket", "ignored"]


def test_a_report_about_an_unknown_message_waits(desk: Desk) -> None:
    desk.get_mail(report("<unknown@example.test>"), sender="<>")
    assert (desk.outcomes(), desk.tickets()) == (["held"], [])


def test_a_receipt_is_a_note_or_waits(desk: Desk, ticket: Ticket) -> None:
    for to in (desk.reply_address(ticket), desk.address):
        receipt = report("<first@example.test>").replace(b"MAILER-DAEMON@mx.", b"ann@")
        desk.get_mail(receipt.replace(b"delivery-status", b"disposition-notification"), to=to)
    assert desk.outcomes() == ["ticket", "note", "held"]


FAILED = "dkim=pass header.d=example.test; dmarc=fail header.from=example.test"


@pytest.mark.parametrize(("server", "is_told"), [(MX, True), ("mx.evil.test", False)])
def test_a_failing_dmarc_of_a_known_server_is_a_note(
    desk: Desk, server: str, is_told: bool
) -> None:
    desk.get_mail(message(Authentication_Results=f"{server}; {FAILED}"))
    notes = desk.replies(desk.ticket())
    assert [("dmarc=fail" in note["body"], note["is_internal"]) for note in notes] == (
        [(True, True)] * is_told
    )


def test_a_message_that_fails_dmarc_by_one_of_two_ways_is_an_answer(
    desk: Desk, ticket: Ticket
) -> None:
    desk.change(ticket, status="resolved")
    raw = message("Mine.", Date=desk.now())
    for each in (f"Authentication-Results: {MX}; {FAILED}\r\n".encode() + raw, b"", b""):
        desk.get_mail(
            each or raw.replace(b"Message-ID: <", b"Message-ID: <2"), to=desk.reply_address(ticket)
        )
    assert desk.outcomes() == ["ticket", "note", "reply"]
    assert desk.ticket()["status"] == "open"


def test_answers_to_a_message_that_fails_dmarc_go_to_its_sender_alone(desk: Desk) -> None:
    others = {"Reply_To": "Ann <ann@evil.test>", "Cc": "eve@evil.test"}
    desk.get_mail(message(Authentication_Results=f"{MX}; {FAILED}", **others))
    assert list(desk.tokens(desk.ticket())) == ["ann@example.test"]


def test_a_strict_mailbox_believes_only_what_passes_dmarc(receiver: Receiver) -> None:
    desk = Desk(receiver, options=["strict_dmarc"])
    for result in ("none", "pass header.from=example.test"):
        results = f"{MX}; dmarc={result}"
        raw = message(result, to=desk.address, Cc="bo@b.example", Authentication_Results=results)
        desk.get_mail(raw)
    passed, doubtful = desk.tickets()
    assert list(desk.tokens(doubtful)) == ["ann@example.test"]
    assert "strict" in desk.replies(doubtful)[0]["body"]
    assert len(desk.tokens(passed)) == 2 and desk.replies(passed) == []


def test_a_message_that_fails_dmarc_is_a_strangers_note(desk: Desk, ticket: Ticket) -> None:
    desk.change(ticket, status="resolved")
    raw = message("Mine.", Cc="Eve <eve@evil.test>", Authentication_Results=f"{MX}; {FAILED}")
    desk.get_mail(raw, to=desk.reply_address(ticket))
    assert [reply["is_internal"] for reply in desk.replies(ticket)] == [True]
    assert desk.ticket()["status"] == "resolved"
    assert "eve@evil.test" not in desk.tokens(ticket)


def test_mail_to_an_alias_comes_in_and_makes_no_participant_of_it(receiver: Receiver) -> None:
    alias = f"sales{uuid4().hex[:20]}@acme.test"
    desk = Desk(receiver, aliases=[alias])
    desk.get_mail(message(to=alias, Cc=f"{alias}, carl@example.test"), to=alias)
    ticket = desk.ticket()
    assert sorted(desk.tokens(ticket)) == ["ann@example.test", "carl@example.test"]
    token = desk.tokens(ticket)["ann@example.test"]
    desk.get_mail(message("Thanks."), to=threads.reply_address(alias, token))
    assert [each["body"] for each in desk.replies(ticket)] == ["Thanks."]
    forwarded = message(sender=f"Ann via Sales <{alias}>", Reply_To="ann@example.test")
    desk.get_mail(forwarded)
    assert desk.tickets()[0]["customer"]["email"] == "ann@example.test"


def test_a_message_to_two_mailboxes_opens_one_ticket_that_names_the_other(desk: Desk) -> None:
    other = desk.add_mailbox().address
    raw = message(to=f"{desk.address}, {other}", Message_ID="<both@example.test>")
    desk.receiver.send(raw, desk.address, other)
    ticket = desk.ticket()
    (note,) = desk.replies(ticket)
    assert note["is_internal"] and other in note["body"]
    assert desk.outcomes() == ["ticket", "note"]
    assert sorted(desk.tokens(ticket)) == ["ann@example.test"]
    desk.change(ticket, status="resolved")
    answer = message("Thanks.", to=f"{other}, {desk.address}", In_Reply_To="<both@example.test>")
    desk.receiver.send(answer, other, desk.address)
    public = [each["body"] for each in desk.replies(ticket) if not each["is_internal"]]
    assert public == ["Thanks."]


def test_a_mailbox_in_bcc_gets_no_ticket_of_its_own(desk: Desk) -> None:
    other, third = desk.add_mailbox().address, desk.add_mailbox().address
    for address in (other, desk.address, third):
        raw = message(to=desk.address, Message_ID="<both@example.test>")
        desk.get_mail(raw, to=address)
    notes = desk.replies(desk.ticket())
    assert [desk.address in notes[0]["body"], third in notes[1]["body"]] == [True, True]


def test_an_answer_to_two_tickets_is_added_to_both(desk: Desk, ticket: Ticket) -> None:
    other = desk.add_mailbox().address
    desk.get_mail(message("The cup too.", to=other), to=other)
    second = desk.tickets()[0]
    places = (
        desk.reply_address(ticket),
        threads.reply_address(other, desk.tokens(second)["ann@example.test"]),
    )
    for place in places:
        desk.get_mail(message("Solved.", to=", ".join(places), Message_ID="<b@b.test>"), to=place)
    assert [[each["body"] for each in desk.replies(of)] for of in (ticket, second)] == [
        ["Solved."]
    ] * 2


def test_another_message_with_the_same_id_is_no_copy(desk: Desk) -> None:
    other = desk.add_mailbox().address
    fields = {"Message_ID": "<constant@example.test>", "Date": "Thu, 1 Jan 2026 08:00:00 +0000"}
    for to, text in ((desk.address, "The bowl is broken."), (other, "The cup is broken.")):
        desk.get_mail(message(text, to=f"{desk.address}, {other}", **fields), to=to)
    assert "The cup is broken." in str([desk.replies(each) for each in desk.tickets()]) + str(
        desk.tickets()
    )
