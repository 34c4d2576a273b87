"""What of a text pages fold: quotes of earlier messages, and signatures."""

import re
from itertools import product

from hypothesis import given
from hypothesis import strategies as st

from sealdesk.tickets.text.quotes import fold
from tests.support.for_each import for_each

_OUTLOOK = "From: Desk <desk@example.org>\nSent: Monday\nTo: Ann\nSubject: Re: x\n\nold"


@for_each(
    ("visible", "quoted"),
    [
        ("new", "> old\n> older"),
        ("new", "On Mon, 5 Jan 2026 at 10:00, Desk <desk@example.org> wrote:\n> old"),
        ("new", "On Mon, 5 Jan 2026 at 10:00, Desk\n<desk@example.org> wrote:\n\n> old\n"),
        ("new", "On Mon, 5 Jan 2026 at 10:00, Desk <d@x.org> wrote:\nold without marks"),
        ("new", f"{'_' * 32}\n\n---\n\nXa: Desk\nXb: Monday\nXc: Ann\nXd: x\n\nold"),
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
        ("new", "\u2010\u2010\u2010\u2010 Original Message \u2010\u2010\u2010\u2010\nold"),
        ("neu", "-----Ursprüngliche Nachricht-----\nVon: Desk\nalt"),
        ("new", "------------------ Original ------------------\nFrom: Desk\nold"),
        ("new", '-----"Desk" <desk@example.org> wrote: -----\nTo: Ann\nSubject: x\nold'),
        ("new", _OUTLOOK),
        ("new", ">>> Desk <desk@example.org> 05.01.2026 10:00 >>>\nold"),
        ("neu", "-----Original-Nachricht-----\nBetreff: x\nVon: Desk\nalt"),
        ("neu", f"---------- Egal was ----------\n{_OUTLOOK}"),
        ("neu", "Von: Desk\nGesendet: Montag\nAn: Ann\nBetreff: x\n\nalt"),
        ("new", "*From:* Desk\n\n*Sent:* Monday\n\n*To:* Ann\n\nold"),
        ("new", "-- \nAnn\nExample Ltd"),
        ("new", "> old\n-- \nAnn"),
        ("new", "  From: Desk <desk@example.org>\n To: Ann\n Sent: Monday\n Subject: x\n\nold"),
        ("new", "On 5 Jan 2026 at 10:00, Desk <\ndesk@example.org> wrote:\n\nold"),
        ("new", "On 5 Jan 2026 at 10:00, Desk <desk@example.org\n>:\n> old"),
        ("new", "On 5 Jan 2026 10:00:05 +0100 Desk <desk@example.org> wrote\n\nold"),
        (
            "neuf",
            "Message du : 12/12/2016 13:20\nDe : Desk <d@x.org>\nA : a@x.org\nSujet : x\n\nold",
        ),
        ("new", "---\n\n> From: Desk\n> old"),
        ("new", "-----BEGIN PGP SIGNATURE-----\nabc"),
        ("new", f"  Original Message\n{_OUTLOOK}"),
        ("On 5 points I wrote nothing", "> old"),
        ("new", "DS> old\nDS> older"),
        ("new", "DS> old\nAL>> older\nDS> old"),
        ("new", "AL>> older\nAL>> oldest"),
        ("new", "DSA> old\nDSA> older"),
        ("new", "Tuesday, November 24, 2026, 9:14:00 AM, you wrote:\n\nDS> old\nAL>> older"),
        ("нов", "Вы писали 24 ноября 2026 г., 9:14:00:\n\n DS> стар"),
        ("new", "Desk <desk@example.org> writes:\n\nDesk> old\nDesk>\nDesk> older"),
        ("new", '>>>>> "Desk" == Desk Lee writes:\n\n    Desk> old'),
        ("new", "Desk Lee writes:\n> old"),
        ("new", "Desk Lee <desk@example.org>:\n> old"),
        ("neu", "Bo via Shop Desk <desk@example.org> schrieb:\n> alt"),
        ("neuf", "Shop Desk <desk@example.org> a écrit :\n> vieux"),
        ("new", "05.01.2026, Desk Lee:\n> old"),
        ("new", "Desk Lee, 05.01.2026 09:14:\n> old"),
        ("new", "## Please reply above\nthis line ##\n\nold"),
        ("neu", "--- Bitte antworten Sie oberhalb dieser\nZeile, um zu helfen ---\nalt"),
        ("new", "Please type your reply above\nthis line\n\nold"),
        ("new\n\nHello", "## Reply above this line ##\nold"),
        ("new", "On 5 Jan 2026 at 10:00, Desk wrote:\n| old\n| older"),
        ("新", "\uff1e古い\n\uff1e古い"),
    ],
)
def test_a_quote_or_signature_is_folded(visible: str, quoted: str) -> None:
    assert fold(f"{visible}\n\n{quoted}")[0] == visible
    assert fold(f"{visible}\n\n{quoted}")[1].strip("\n") == quoted.strip("\n")


@for_each(
    "text",
    [
        "new", "", "> old", "-- \nAnn", _OUTLOOK, "> question\nanswer\n> question\nanswer",
        "Hi,\nOn 5 Jan 2026 Desk wrote:\n> old\nanswer below", "From: here to there", "a > b",
        "---------- Forwarded message ---------\nFrom: Bob\nDate: Monday\nSubject: x\n\nsee this",
        "On Monday Bob wrote:\nthe bowl is broken",
        "Hi,\nOn 5 Jan 2026 at 10:00 Bob <b@x.example> wrote\nthat the bowl is broken",
        "Hi,\n  From: Bo\n  To: Ann\n  Gift: a bowl\nThanks", "a -- b", "What he wrote:\nnothing",
        "I typed:\nPS> dir\nPS> exit", "See:\nmysql> select 1\nmysql> exit", "It says:\n\nSQL> 1",
        "Sizes:\n| a | b |\n| 1 | 2 |", "My answer is above this line.\nBye",
        "I wrote above this line\nwhat is wrong", "The box above this line is empty\nBye",
        "Reply above this line\n\nbelow", "Chat:\n\nDS> hi?\nDS> are you there?\nAL> one moment",
        "Hi,\nplease write the reply above this\nline\nthen call",
        "Hi,\nask Desk Lee <desk@example.org>:\nshe knows",
        "Hi\n\nYour mail says 'Type your reply above this line', which is wrong\n\nBye",
        "Hi\n\nWhy does it say reply above this line?\n\nBye",
        "Hi\n1. Open\n2. Reply above this line appears twice",
        "Hi\n--- Original message from your shop was: no stock\nIs it?",
        "Hi\n\nOn 24 Nov 2026 at 9:14 I wrote:\nWhere is it?",
        "Hi\n\nAm 24.11.2026 um 9:14 schrieb ich:\nWo ist sie?",
        "Hi\n\nPlease write the price above the line in the table.\n\nBye",
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


_SENDER = "Shop Help <help@shop.example>"
# How mailers introduce a quote, by language.
_ATTRIBUTIONS = (
    f"Am Di., 24. Nov. 2026 um 09:14 Uhr schrieb {_SENDER}:",
    f"Le mar. 24 nov. 2026 à 09:14, {_SENDER} a écrit :",
    "El mar, 24 nov 2026 a las 9:14, Shop Help (help@shop.example) escribió:",
    f"Il giorno mar 24 nov 2026 alle ore 09:14 {_SENDER} ha scritto:",
    f"Em ter., 24 de nov. de 2026 às 09:14, {_SENDER} escreveu:",
    f"Op di 24 nov 2026 om 09:14 schreef {_SENDER}:",
    "Shop Help schreef op 24-11-2026 09:14:",
    f"Den tis 24 nov. 2026 kl 09:14 skrev {_SENDER}:",
    f"tir. 24. nov. 2026 kl. 09:14 skrev {_SENDER}:",
    "W dniu 24.11.2026 o 09:14, Shop Help pisze:",
    f"wt., 24 lis 2026 o 09:14 {_SENDER} napisał(a):",
    "Dne 24. 11. 2026 v 9:14 Shop Help napsal(a):",
    f"ut 24. 11. 2026 o 9:14 {_SENDER} napísal(a):",
    f"вт, 24 нояб. 2026 г. в 09:14, {_SENDER}:",
    f"вт, 24 лист. 2026 р. о 09:14 {_SENDER} пише:",
    "ti 24. marrask. 2026 klo 9.14 Shop Help (help@shop.example) kirjoitti:",
    f"{_SENDER} ezt írta (időpont: 2026. nov. 24., K, 9:14):",
    f"{_SENDER}, 24 Kas 2026 Sal, 09:14 tarihinde şunu yazdı:",
    f"2026年11月24日(火) 9:14 {_SENDER}:",
    f"2026년 11월 24일 (화) 오전 9:14, {_SENDER}님이 작성:",
    f"{_SENDER} 于2026年11月24日周二 09:14写道：",
    f"Στις Τρί 24 Νοε 2026 στις 9:14 π.μ., ο/η {_SENDER} έγραψε:",
    "בתאריך 24 בנוב׳ 2026 ב-9:14 מאת \u202aShop\u202c <\u202ah@s.example\u202c\u200f>:\u202c",
    f"Vào Th 3, 24 thg 11, 2026 vào lúc 09:14 {_SENDER} đã viết:",
    f"Pada tanggal Sel, 24 Nov 2026 pukul 09.14 {_SENDER} menulis:",
    f"În mar., 24 nov. 2026 la 09:14, {_SENDER} a scris:",
    f"ในวันที่ อ. 24 พ.ย. 2569 เวลา 09:14 {_SENDER} เขียนว่า:",
    f"uto, 24. stu 2026. u 09:14 {_SENDER} napisao je:",
    f"2026-11-24, an, 09:14 {_SENDER} rašė:",
    "On Tue, Nov 24, 2026 at 9:14 AM Shop Help\n<help@shop.example> wrote:",
    f"{_SENDER} kirjutas 24.11.2026 09:14",
    f"{_SENDER}, 24 Kas 2026 Sal,\n09:14 tarihinde şunu yazdı:",
    f"Quoting {_SENDER}:",
    f"Zitat von {_SENDER}:",
    f"{_SENDER} writes:",
    " ---- On Tue, 24 Nov 2026 09:14:00 +0100 help@shop.example wrote ----",
    "On Tuesday, November 24,\n2026 at 9:14 AM Shop Help <help@shop.example> wrote:",
)
_PERSIAN = f"{_SENDER} \u06f1\u06f4\u06f0\u06f5/\u06f9/\u06f3 \u06f9:\u06f1\u06f4 \u0646:"
# Arabic, Persian, Hindi, Bengali, Thai and full-width.
_ZEROS = "\u0660\u06f0\u0966\u09e6\u0e50\uff10"
# Those without an address, of which each says when and who, and most with a verb.
_WITHOUT_ADDRESS = (
    "Shop Help wrote on 24.11.2026 09:14:",
    "On 11/24/26 9:14 AM, Shop Help wrote:",
    "Op 24 nov. 2026 om 09:14 heeft Shop Help het volgende geschreven:",
    "24 nov. 2026 kl. 09:14 skrev Shop Help:",
    "W dniu 24.11.2026 o 09:14, Shop Help pisze:",
    "Wiadomość napisana przez Shop Help w dniu 24 lis 2026, o godz. 09:14:",
    "No dia 24/11/2026, às 09:14, Shop Help escreveu:",
    "24.11.2026 09:14, Shop Help пишет:",
    "Вторник, 24 ноября 2026, 9:14 +03:00 от Shop Help:",
    "Shop Help kirjoitti 24.11.2026 kello 9.14:",
    "2026/11/24 9:14、Shop Helpのメール:",
    "2026年11月24日 9:14、Shop Helpさんのメール:",
    "2026/11/24 9:14、Shop Help さんが書きました:",
    "2026. 11. 24. 오전 9:14, Shop Help 작성:",
    "在 2026/11/24 9:14, Shop Help 写道:",
    "24.11.2026 09:14 tarihinde Shop Help yazdı:",
    "Στις 24/11/26 09:14, ο/η Shop Help έγραψε:",
    "في الثلاثاء، 24 نوفمبر 2026 في 9:14 ص تمت كتابة ما يلي بواسطة Shop Help:",
    "בתאריך יום ג׳, 24 בנוב׳ 2026, 9:14, מאת Shop Help:",
    "---- On Tue, 24 Nov 2026 09:14:00 +0100 Shop Help wrote ----",
    "Dne 24. 11. 2026 v 9:14 Shop Help napsal(a):",
    "Pe mar., 24 nov. 2026, 09:14 Ann a scris:",
    "На 24.11.2026 г. в 9:14 ч., Shop Help написа:",
    "Op 24/11/2026 om 09:14 het Shop Help geskryf:",
    "در ۲۰۲۶/۱۱/۲۴ ۹:۱۴، Shop Help نوشت:",
    "24/11/2026 09:14 کو Shop Help نے لکھا:",
    "24/11/26 को 9:14 बजे, Shop Help ने लिखा:",
    "24/11/26 তারিখে 9:14 টায়, Shop Help লিখেছেন:",
    "24/11/26 அன்று 9:14 மணிக்கு, Shop Help எழுதியது:",
)
# Lotus Notes, also from a menu of Domino's web mail.
_OF_NOTES = (
    f"Shop Help ---24.11.2026 09:14:05---Liebe Ann\n\nVon:\t{_SENDER}\nAn:\tAnn/Sales/Customer",
    "Inactive hide details for Shop Help ---11/24/2026 09:14:05 AM---Dear Ann",
    f"{_SENDER}\n24/11/2026 09:14\nTo\nann@customer.example\ncc\n\nSubject\nRe: Number",
    f"{_SENDER}\nSent by: Bo Lee\n24/11/2026 09:14 AM\n\n   To:   Ann\n   cc:\n   Subject:   Re: x",
    "Shop Help/Sales/Shop\n24.11.2026 09:14\n\nAn\nAnn\nKopie\n\nThema\nRe: Nummer",
    f"{_SENDER} on 24/11/2026 09:14:00\n\nTo: ann@customer.example\ncc:\nSubject: Re: Number",
)
# The names of From, Sent, To and Subject in Outlook.
_OUTLOOK_FIELDS = (
    ("From", "Sent", "To", "Subject"), ("Von", "Gesendet", "An", "Betreff"),
    ("De", "Envoyé", "À", "Objet"), ("De", "Enviado el", "Para", "Asunto"),
    ("Da", "Inviato", "A", "Oggetto"), ("De", "Enviada em", "Para", "Assunto"),
    ("Van", "Verzonden", "Aan", "Onderwerp"), ("Från", "Skickat", "Till", "Ämne"),
    ("Fra", "Sendt", "Til", "Emne"), ("Lähettäjä", "Lähetetty", "Vastaanottaja", "Aihe"),
    ("Od", "Wysłano", "Do", "Temat"), ("Od", "Odesláno", "Komu", "Předmět"),
    ("От", "Отправлено", "Кому", "Тема"), ("Feladó", "Elküldve", "Címzett", "Tárgy"),
    ("Kimden", "Gönderildi", "Kime", "Konu"), ("差出人", "送信日時", "宛先", "件名"),
    ("发件人", "发送时间", "收件人", "主题"), ("보낸 사람", "보낸 날짜", "받는 사람", "제목"),
    ("من", "تاريخ الإرسال", "إلى", "الموضوع"), ("Từ", "Đã gửi", "Đến", "Chủ đề"),
    ("От", "Изпратено", "До", "Относно"), ("Šalje", "Poslano", "Prima", "Predmet"),
    ("Saatja", "Saadetud", "Adressaat", "Teema"), ("No", "Nosūtīts", "Kam", "Tēma"),
    ("Nuo", "Išsiųsta", "Kam", "Tema"), ("จาก", "ส่ง", "ถึง", "เรื่อง"),
    ("Dari", "Dikirim", "Kepada", "Subjek"), ("De", "Enviat", "Per a", "Tema"),
    ("प्रेषक", "भेजा गया", "प्रति", "विषय"), ("از", "ارسال شده", "به", "موضوع"),
    ("থেকে", "পাঠানো হয়েছে", "প্রতি", "বিষয়"), ("Daripada", "Dihantar", "Kepada", "Subjek"),
    ("Nork", "Bidalia", "Nori", "Gaia"), ("Од", "Послато", "За", "Наслов"),
)  # fmt: skip


def test_a_quote_is_folded_with_its_attribution_in_every_language() -> None:
    kept = [
        attribution
        for attribution in _ATTRIBUTIONS
        if fold(f"My answer is 42.\n\n{attribution}\n> Dear customer")[0] != "My answer is 42."
    ]
    assert kept == []


def test_an_attribution_above_a_quote_needs_no_address() -> None:
    by_address = ("Quoting", "Zitat von", "writes:", "kirjutas", "wrote ----")
    kept = [
        bare
        for attribution in _ATTRIBUTIONS
        if (bare := re.sub(r"\s[<(]\S+@.*?[>)]", "", attribution))
        and not any(word in bare for word in by_address)
        and fold(f"My answer is 42.\n\n{bare}\n> Dear customer")[0] != "My answer is 42."
    ]
    assert kept == []


def test_an_attribution_that_says_when_and_who_needs_no_address_above_quote_marks() -> None:
    texts = [f"{each}\n> Dear" for each in _WITHOUT_ADDRESS]
    texts += [_in_digits(each, zero) for each in texts for zero in _ZEROS]
    colons = [f"24 X 2026 9:14 {_SENDER} Y{colon}" for colon in "\u055d\u1366\u17d6"]
    texts += [f"{each}\n\nDear" for each in (_PERSIAN, *colons, *_OF_NOTES)]
    texts += [f"  On Tue, Nov 24, 2026 at 9:14, {_SENDER} wrote:   Dear customer"]
    kept = [each for each in texts if fold(f"My answer is 42.\n\n{each}")[0] != "My answer is 42."]
    assert kept == []
    assert fold("Yes.\n\nShop Help wrote:\n> old")[0] == "Yes."
    for each in _WITHOUT_ADDRESS:
        text = f"My answer is 42.\n\n{each}\nDear\n\nnew"
        assert fold(text)[0] == ("My answer is 42." if each.startswith("----") else text)
    log = "The log says:\n\n2026-11-24 09:14:05 <a@b.example>:   refused"
    assert fold(log)[0] == log


def _in_digits(text: str, zero: str) -> str:
    return text.translate({ord("0") + digit: ord(zero) + digit for digit in range(10)})


def test_what_the_author_says_of_a_dated_message_is_shown() -> None:
    for sentence in (
        "In your mail of 24.11.2026 09:14 you wrote:", "Mail vom 24.11.2026 09:14, Sie schrieben:",
        "Dans le mail du 24/11/2026 à 09:14 vous a écrit :", "Log 24.11.2026 09:14, Shop Help:",
        "--- 24.11.2026 09:14 ---", "Am 24.11.2026 um 09:14 kam der Fahrer und schrieb:",
        "El 24/11/2026 a las 9:14 me escribió su compañero:", "On 24.11.2026 he and I wrote:",
        "Le 24/11/2026 à 09:14 votre collègue a écrit :", "24.11.2026 09:14 she wrote: no.\nSo:",
        "Your colleague wrote on 24.11.2026 09:14 that it is fine:",
        "On 5 May 2026 DHL wrote:", "On 5 May 2026 at 10:00 DHL wrote:",
        "Am 24.11.2026 um 09:14 Uhr schrieb DHL:", "Le 24/11/2026 à 09:14, DHL a écrit :",
        "On 5 May 2026 at 10:00 I got this of DHL <info@dhl.example>:",
        "Am 24.11.2026 um 09:14 habe ich von DHL <info@dhl.example> bekommen:",
        "24.11.2026 09:14, the lamp broke:", "Shop Help wrote:",
        "On 24 Nov 2026 at 09:14 the driver wrote:", "On 24.11.2026 somebody at your shop wrote:",
        "On page 12 Ann Lee wrote:", "Am 24.11.2026 um 09:14 Uhr schrieb die Fahrerin:",
        "Am 24.11.2026 hat eine Kollegin geschrieben:", "Am 24. November schrieb Ann Lee:",
        "Le 24/11/2026 à 09:14, le livreur a écrit :", "Il corriere numero 12 ha scritto:",
        "El 24/11/2026 a las 9:14 escribió el conductor:",
        "Den 24.11.2026 kl. 9:14 skrev chauffören:",
        "El 24/11/2026 a las 9:14 el conductor escribió:",
        "Op 24-11-2026 om 9:14 schreef de chauffeur:",
        "Il 24/11/2026 alle 9:14 l'autista ha scritto:",
        "Em 24/11/2026 às 9:14 o motorista escreveu:",
        "Dnia 24.11.2026 o 9:14 kierowca napisał:", "24.11.2026 в 9:14 водитель написал:",
    ):  # fmt: skip
        text = f"Hello,\n\n{sentence}\nit is sent.\n\nIt is not."
        assert fold(text) == (text, "")


def test_sentences_below_a_rule_are_no_signature() -> None:
    for words in (
        "The handle is broken too.", "also the plate", "Can you\nhelp?", "お皿も割れています。",
        "Ann Lee\n\nP.S. the plate is broken", "Das zweite Problem ist die Lieferung",
        "1. the cup has a crack\n2. the plate too", "\nthe second thing\n--\nand the third thing",
    ):  # fmt: skip
        text = f"The cup is broken.\n--\n{words}"
        assert fold(text) == (text, "")
    for signature in (
        "Ann Lee\nHead of Customer Support, Acme Ltd.\n1 High Street", "Sent from my iPhone",
        "Mit freundlichen Grüßen\nAnn Lee", "李安\n客服部", "https://acme.example/all-the-best-cups",
        "Ann Lee\n\nThis message is confidential and intended for its recipient only.",
    ):  # fmt: skip
        assert fold(f"The cup is broken.\n--\n{signature}")[0] == "The cup is broken."
    assert fold("The cup is broken.\n-- \nhave a nice day, all of you")[0] == "The cup is broken."


def test_a_date_and_words_of_the_author_stay_above_a_quote() -> None:
    assert fold("Hi,\n\n05.01.2026, my question:\n> old")[0] == "Hi,\n\n05.01.2026, my question:"


def test_a_sentence_with_a_time_stays_above_a_quote() -> None:
    for sentence in (
        "On 24.11.2026 at 09:14 the lamp exploded:",
        "We met in 2026, at 09:14, and this is what the lamp said to me:",
        "It broke at 09:14, look here:",
    ):
        assert fold(f"{sentence}\n\n> old")[0] == sentence


def test_an_attribution_may_go_on_in_the_next_line() -> None:
    kept = []
    for attribution in _ATTRIBUTIONS:
        name, bracket, rest = attribution.partition(" <")
        text = f"My answer is 42.\n\n{name}\n<{rest}\n> Dear customer"
        if bracket and "\n" not in attribution and fold(text)[0] != "My answer is 42.":
            kept.append(text)
    assert kept == []


def test_words_that_stand_on_an_attribution_stay() -> None:
    words = "Hello,\nOn my side it works\nMy answer is 42."
    hidden = {
        each: fold(f"{words}\n{each}\n\nDear customer")[0]
        for each in _ATTRIBUTIONS
        if "@" in each and each.endswith((":", "--")) and "2026" in each
    }
    assert set(hidden.values()) == {words}


# What other help desks write above the words that they send.
_REPLY_MARKERS = (
    "##- Please type your reply above this line -##", "Reply above this line.",
    "##- Bitte geben Sie Ihre Antwort oberhalb dieser Zeile ein -##",
    "##- Bitte antworten Sie oberhalb dieser Zeile -##", "--- Write ABOVE THIS LINE to reply ---",
    "=== Please reply above this line ===", "##- Veuillez répondre au-dessus de cette ligne -##",
    "##- Escriba su respuesta por encima de esta línea -##",
    "##- Rispondi sopra questa riga -##", "##- Por favor, responda acima desta linha -##",
    "##- Typ uw antwoord boven deze regel -##", "##- Skriv ditt svar ovanför denna rad -##",
    "##- Skriv dit svar over denne linje -##", "##- Skriv svaret ditt over denne linjen -##",
    "##- Kirjoita vastauksesi tämän rivin yläpuolelle -##",
    "##- Wpisz odpowiedź powyżej tej linii -##", "##- Odpovězte prosím nad tímto řádkem -##",
    "##- Введите ответ над этой строкой -##", "##- Введіть відповідь над цим рядком -##",
    "##- Yanıtınızı bu satırın üstüne yazın -##", "##- Kérjük, e sor fölé írja válaszát -##",
    "##- Scrieți răspunsul deasupra acestei linii -##",
    "##- Πληκτρολογήστε την απάντησή σας πάνω από αυτήν τη γραμμή -##",
    "##- この行より上に返信を入力してください -##", "##- 请在此行上方回复 -##",
    "##- 請在此行上方回覆 -##",
    "##- 이 줄 위에 회신을 입력하세요 -##", "##- اكتب ردك فوق هذا السطر -##",
    "##- נא להקליד את התגובה מעל שורה זו -##", "##- कृपया अपना उत्तर इस पंक्ति के ऊपर लिखें -##",
    "##- Vui lòng nhập trả lời phía trên dòng này -##", "##- กรุณาตอบกลับเหนือบรรทัดนี้ -##",
    "##- Irgendetwas -##", "Reply to this message above the line",
    "このラインより上に返信してください", "Отвечайте выше этой линии",
    "--- Merci de répondre au dessus de cette ligne ---", "Bu çizginin üzerine yanıt yazın",
    "##- Ketik balasan Anda di atas baris ini -##", "-- Do not write below this line --",
)  # fmt: skip


def test_below_the_line_above_which_a_help_desk_wants_the_answer_is_none() -> None:
    texts = [f"My answer is 42.\n\n{each}\n\nDear customer" for each in _REPLY_MARKERS]
    assert [text for text in texts if fold(text)[0] != "My answer is 42."] == []


def test_a_copied_header_begins_the_rest_in_every_language() -> None:
    kept = []
    senders = (_SENDER, "Shop Help")  # within a company Outlook shows no address
    for (sender, sent, to, subject), who in product(_OUTLOOK_FIELDS, senders):
        for colon in (":", "："):
            header = (
                f"{sender}{colon} {who}\n{sent}{colon} 24.11.2026 09:14\n"
                f"{to}{colon} Ann <ann@customer.example>\n{subject}{colon} Re: Number"
            )
            for rule in ("", "---\n\n", "_" * 32 + "\n"):
                if fold(f"My answer is 42.\n\n{rule}{header}\n\nDear")[0] != "My answer is 42.":
                    kept.append(header)
    assert kept == []


def test_a_copied_header_may_begin_with_its_time() -> None:
    for time in ("Gesendet: Dienstag, 24. November 2026 um 09:14 Uhr", "Date: 24.11.2026 09:14"):
        header = f"{time}\nVon: {_SENDER}\nAn: ann@customer.example\nBetreff: Re: Number"
        assert fold(f"My answer is 42.\n\n{header}\n\nDear")[0] == "My answer is 42."


def test_words_of_the_author_that_look_like_a_header_are_shown() -> None:
    texts = (
        "Hello,\n\nName: Ann\nEmail: ann@x.example\nPhone: 01.23 45 2026\nProblem: broken",
        "The chat:\n---24.11.2026 09:14---\nHello\n---24.11.2026 09:15---\nYes?",
        "Order: 77\nName: Ann <ann@x.example>\nTime: 24.11.2026 09:14\nProblem: broken",
        "Hello\nDelivery: today\nTime: 09:14\nDate: 24.11.2026\nbye",
        "Date: 24.11.2026 09:14\nTo: Vienna\nFrom: Rome\nA ticket, please.",
        "Hello,\n\nFrom: Berlin\nTo: Rome\nDate: 24.12.2026 14:30\n\nIs there a seat?",
        "Booking\nFrom: Berlin\nTo: Rome\nDate: 24.11.2026\nSubject: change my flight\nThanks",
        "On Monday I wrote:\nthe lamp is broken.\nFrom: the shop in town\nPlease help.",
        "Hello,\n\nThe driver/helper came\n24/11/2026 09:14\nTo: the wrong house\nDate: as above",
        f"See\n\n-- Forwarded by Bo/Shop on 24/11/2026 --\n\n{_OF_NOTES[-1]}\n\nIt broke.",
    )
    assert [text for text in texts if fold(text) != (text, "")] == []
    for line in (
        "See order 2026:",
        "Your colleague Bo <b@c.example> wrote:",
        "My address is a@b.example, order 2026.",
    ):
        assert fold(f"{line}\n> old") == (line, "> old")
