"""The fields of an earlier message that mail programs copy above its text, in many languages."""

import re

from sealdesk.tickets.text.patterns import (
    ADDRESS,
    IN_BRACKETS,
    MARKS,
    SEPARATOR,
    TIME,
    YEAR,
    phrases,
)

FIELD = re.compile(r"\*{0,2}([^\W\d_][^\d:：*<>@]{0,24}?)\*{0,2}[ \xa0]?[:：]\*{0,2}[ \xa0]*(.*)")
# The first field of a copied header, for senders that are shown without their address.
_FROM = phrases("""
    from, von, de, da, van, från, fra, od, от, від, lähettäjä, feladó, kimden, gönderen, de la, από,
    מאת, من, 差出人, 送信者, 发件人, 寄件者, 보낸 사람, từ, dari, จาก, nuo, no, saatja,
    pošiljatelj, frá, šalje, प्रेषक, از, فرستنده, প্রেরক, থেকে, daripada, nork, од, منجانب
""")
_OTHER_FIELDS = phrases("""
    sent, date, to, cc, subject, gesendet, datum, an, betreff, envoyé, à, objet, enviado, para,
    asunto, inviato, a, oggetto, verzonden, aan, onderwerp, skickat, till, ämne, sendt, dato, til,
    emne, wysłano, do, temat, data, odesláno, komu, předmět, odoslané, predmet, poslano, za,
    отправлено, кому, тема, дата, надіслано, lähetetty, vastaanottaja, aihe, elküldve, címzett,
    tárgy, gönderildi, gönderme tarihi, tarih, kime, alıcı, konu, trimis, către, subiect, στάλθηκε,
    προς, θέμα, נשלח, אל, נושא, 送信日時, 日時, 宛先, 件名, 发送时间, 收件人, 主题, 寄件日期,
    收件者, 主旨, 보낸 날짜, 받는 사람, 제목, assunto, enviada em, data de envio, enviada,
    تم الإرسال, تاريخ الإرسال, إلى, الموضوع, đã gửi, đến, chủ đề, изпратено, до, относно, prima,
    zadeva, saadetud, adressaat, teema, nosūtīts, kam, tēma, išsiųsta, tema, ส่ง, ถึง, เรื่อง,
    dikirim, kepada, subjek, enviat, per a, efni, küldve, kopie, thema,
    envoyé le, sujet, message du, copie à, भेजा गया, प्रति, विषय, ارسال شده, تاریخ, به, موضوع,
    পাঠানো হয়েছে, প্রতি, বিষয়, dihantar, bidalia, nori, gaia, послато, за, наслов, بھیجا گیا, بنام
""")
_MAX_FIELD_LINES = 9  # with blank lines and folded lines between the fields
MIN_FIELDS = 2  # after the first
# Of Lotus Notes: `Ann Lee ---24.11.2026 09:14:05---Dear Bo`, and the line below the sender.
_TIME = r"\d{1,4}([./-])\d{1,2}\1\d{2,4} \d{1,2}[:.]\d\d(?:[:.]\d\d)?(?: ?[AP]M)?"
_BETWEEN_RULES = re.compile(rf"[^\s-] ?---{_TIME}---\S")
_TIMED = re.compile(rf"(?:.{{0,200}} )?{_TIME}")
_MAX_NAME_WORDS = 5
_MAX_SENDER_LINES = 4  # with `Sent by:`
_FORWARDED = (
    "forwarded message", "weitergeleitete nachricht", "message transféré", "forwarded by",
    "weitergeleitet von",
)  # fmt: skip


def list_fields(lines: list[str], at: int) -> list[tuple[str, str]]:
    """The names, in lower case, and values of the fields that begin here."""
    found: list[tuple[str, str]] = []
    for line in lines[at : at + _MAX_FIELD_LINES]:
        field = FIELD.match(MARKS.sub("", line[:1_000]).strip())
        if field is not None:
            found.append((field[1].lower(), field[2].strip()))
        elif line.strip() and not (found and ADDRESS.search(line)):
            break  # only a list of addresses goes on in the next line
    return found


def end_of_fields(lines: list[str], at: int) -> int:
    """Behind the fields that begin here, `at` without any."""
    end, count = at, 0
    for place, line in enumerate(lines[at : at + _MAX_FIELD_LINES], at):
        plain = MARKS.sub("", line[:1_000]).strip()
        if FIELD.match(plain):
            end, count = place + 1, count + 1
        elif count and ADDRESS.search(plain):
            end = place + 1
        elif plain or count == 0 or count > MIN_FIELDS:
            break
    return end


def find_sender(fields: list[tuple[str, str]]) -> str | None:
    """The sender in the fields of a copied header, None if they are none."""
    has_time = any(YEAR.search(value) or TIME.search(value) for _, value in fields)
    known = sum(name in _OTHER_FIELDS for name, _ in fields)
    if len(fields) <= MIN_FIELDS or not (has_time or known >= MIN_FIELDS):
        return None
    with_address = [(name, value) for name, value in fields if "@" in value]
    named = next((value for name, value in fields if name in _FROM), None)
    return named or next((value for _, value in with_address), None)


def is_header(lines: list[str], at: int) -> bool:
    """Whether the copied header of an earlier message begins here, as Outlook writes it."""
    if _is_forwarded(lines, at):
        return False
    (name, sender), *others = list_fields(lines, at) or [("", "")]
    known = sum(other in _OTHER_FIELDS for other, _ in others)
    addresses = [value for value in (sender, *(value for _, value in others)) if "@" in value]
    if name in _FROM and known >= MIN_FIELDS:
        # Without an address it may be of a journey: `From: Berlin`, `To: Rome`, `Date: 3 May`.
        is_marked = known > MIN_FIELDS or lines[at].startswith("*")
        return bool(addresses) or (is_marked and _is_first_below(lines, at))
    # GMX and Lotus begin with the time.
    if name in _OTHER_FIELDS and known and YEAR.search(sender) and TIME.search(sender):
        return any(other in _FROM and ADDRESS.search(value) for other, value in others)
    return (
        len(others) >= MIN_FIELDS
        and ADDRESS.search(sender) is not None
        and any(TIME.search(value) and YEAR.search(value) for _, value in others[:3])
        and (IN_BRACKETS.search(sender) is not None or len(addresses) > 1)
        # Below a quoted header is its text.
        and any(map(str.strip, lines[end_of_fields(lines, at) :]))
    )


def _is_first_below(lines: list[str], at: int) -> bool:
    """Whether a blank line or a rule is above."""
    above = lines[at - 1].strip() if at > 0 else ""
    return not above or SEPARATOR.fullmatch(above) is not None


def is_header_of_notes(lines: list[str], at: int) -> bool:
    """Whether Lotus Notes names sender and time here, perhaps above fields without colons."""
    if _BETWEEN_RULES.search(lines[at][:1_000]):
        return True
    if at == 0 or lines[at - 1].strip() or _is_forwarded(lines, at):
        return False
    part = [line[:1_000].strip() for line in lines[at : at + _MAX_SENDER_LINES + _MAX_FIELD_LINES]]
    if IN_BRACKETS.search(part[0]) is None and not _is_of_directory(part[0]):
        return False
    timed = (place for place, line in enumerate(part) if _TIMED.fullmatch(line))
    start = next(timed, len(part)) + 1
    below = [line.partition(":")[0].strip().lower() for line in part[start:]]
    return start <= _MAX_SENDER_LINES and sum(map(_OTHER_FIELDS.__contains__, below)) >= MIN_FIELDS


def _is_of_directory(name: str) -> bool:
    """Whether it is `Ann Lee/Sales/Shop`."""
    words = name.split("/")
    return 1 < len(words) <= _MAX_NAME_WORDS and all(word[:1].isupper() for word in words)


def _is_forwarded(lines: list[str], at: int) -> bool:
    before = " ".join(lines[max(at - 2, 0) : at]).lower()
    return any(each in before for each in _FORWARDED)
