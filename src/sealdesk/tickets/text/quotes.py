"""Which lines of a message quote an earlier one or are a signature, so that pages can fold them.

A quote is found by its structure first, which is alike in all languages: marks at the beginning of
lines, fields of a header, an address beside a time. Words decide where the structure does not.
"""

import re
from typing import NamedTuple

_ADDRESS = re.compile(r"[^\s<>@:()\[\]]{1,64}@[^\s<>@:()\[\]]{1,255}")
_IN_BRACKETS = re.compile(r"[<\[(](?:mailto:)?[^\s<>@]{1,64}@[^\s<>@]{1,255}[>\])]")
_TIME = re.compile(r"(?<!\d)\d{1,2}[:.]\d{2}(?!\d)")
_CLOCK = re.compile(r"\d:\d\d")
_YEAR = re.compile(r"(?<!\d)(?:19|20|25)\d\d(?!\d)")  # 25: the calendar of Thailand
_SHORT_DATE = re.compile(r"(?<!\d)\d{1,2}([./-])\d{1,2}\1\d\d(?!\d)")
# Invisible marks that mailers put around names and addresses between texts of two directions.
_MARKS = re.compile("[\u200b-\u200f\u202a-\u202e\u2066-\u2069\ufeff]")
_COLONS = (":", "：")


def _phrases(text: str) -> frozenset[str]:
    return frozenset(phrase.strip() for phrase in text.split(","))


_BEGINNINGS = ("on ", "am ", "le ", "el ", "il ", "op ", "den ", "em ")
_QUOTING = ("quoting ", "zitat von ", "citando ", "citat från ", "citerar ")  # Horde's
# Where there is no verb: in Hebrew, Japanese and Russian.
_NAMES_AFTER_TIME = re.compile(
    r"בתאריך .{0,40}\d:\d\d,? מאת .{1,60}:"
    r"|\d{4}[年/]\d{1,2}[月/]\d{1,2}日? \d{1,2}:\d\d、.{1,60}のメール[:：]"
    r"|.{0,40}\d:\d\d (?:[+-]\d\d:\d\d )?от \S+(?: \S+){0,3}:"
)
_TIME_AND_NAME = re.compile(
    r".{0,40}\d[:.]\d\d(?: ?[ap]m)?, \S+(?: \S+){0,3}[:：]"
    r"|\d{4}年\d{1,2}月\d{1,2}日.{0,12}\d:\d\d \S+(?: \S+){0,3}[:：]"
)
_WRITES = " writes:"  # Emacs, without a time
_VERBS = _phrases("""
    wrote, schrieb, a écrit, escribió, ha scritto, schreef, skrev, escreveu, napisał, pisze, napsal,
    napísal, написал, пишет, пише, написав, kirjoitti, írta, yazdı, έγραψε, כתב, كتب, 写道, 寫道,
    작성, 書きました, viết, menulis, เขียน, a scris, napisao, napisal, rašė, rakstīja, kirjutas,
    skrifaði, va escriure, het volgende geschreven, napisana przez, تمت كتابة ما يلي
""")
# Who wrote is somebody whom the author speaks of, and does not quote.
_PRONOUNS = _phrases("""
    i, you, he, she, we, they, ich, sie, er, wir, ihr, tu, vous, nous, elle, yo, usted, ustedes,
    ella, io, lei, lui, voi, eu, você, ela, ik, jij, hij, jag, du, han, hon, jeg, hun, ja, pan,
    pani, ty, вы, ты, он, она, мы
""")
_OF_SENTENCES = _phrases("""
    my, your, our, their, and, that, mein, ihre, unser, der, das, und, dass, votre, notre, et, que,
    nuestro, me, mio, suo, vostro, nostro, che, mijn, uw, onze, meu, seu, nosso
""")
# In the languages of the first eight verbs, in lower case.
_DAYS = _phrases("""
    monday, tuesday, wednesday, thursday, friday, saturday, sunday, mon, tue, wed, thu, fri, sat,
    sun, montag, dienstag, mittwoch, donnerstag, freitag, samstag, sonnabend, sonntag, lundi, mardi,
    mercredi, jeudi, vendredi, samedi, dimanche, lunes, martes, miércoles, jueves, viernes, sábado,
    domingo, lunedì, martedì, mercoledì, giovedì, venerdì, sabato, domenica, maandag, dinsdag,
    woensdag, donderdag, vrijdag, zaterdag, zondag, måndag, tisdag, onsdag, torsdag, fredag, lördag,
    söndag, mandag, tirsdag, lørdag, søndag, segunda, terça, quarta, quinta, sexta
""")
_WORD = re.compile(r"[^\W\d_]+")
_MAX_ATTRIBUTION_LINES = 3
_MAX_ATTRIBUTION_LENGTH = 400
_MAX_NAME_LENGTH, _MAX_NAME_WORDS = 60, 4

_FIELD = re.compile(r"\*{0,2}([^\W\d_][^\d:：*<>@]{0,24}?)\*{0,2}[ \xa0]?[:：]\*{0,2}[ \xa0]*(.*)")
# The first field of a copied header, for senders that are shown without their address.
_FROM = _phrases("""
    from, von, de, da, van, från, fra, od, от, від, lähettäjä, feladó, kimden, gönderen, de la, από,
    מאת, من, 差出人, 送信者, 发件人, 寄件者, 보낸 사람, từ, dari, จาก, nuo, no, saatja,
    pošiljatelj, frá, šalje
""")
_OTHER_FIELDS = _phrases("""
    sent, date, to, cc, subject, gesendet, datum, an, betreff, envoyé, à, objet, enviado, para,
    asunto, inviato, a, oggetto, verzonden, aan, onderwerp, skickat, till, ämne, sendt, dato, til,
    emne, wysłano, do, temat, data, odesláno, komu, předmět, odoslané, predmet, poslano, za,
    отправлено, кому, тема, дата, надіслано, lähetetty, vastaanottaja, aihe, elküldve, címzett,
    tárgy, gönderildi, gönderme tarihi, tarih, kime, alıcı, konu, trimis, către, subiect, στάλθηκε,
    προς, θέμα, נשלח, אל, נושא, 送信日時, 日時, 宛先, 件名, 发送时间, 收件人, 主题, 寄件日期,
    收件者, 主旨, 보낸 날짜, 받는 사람, 제목, assunto, enviada em, data de envio, enviada,
    تم الإرسال, تاريخ الإرسال, إلى, الموضوع, đã gửi, đến, chủ đề, изпратено, до, относно, prima,
    zadeva, saadetud, adressaat, teema, nosūtīts, kam, tēma, išsiųsta, tema, ส่ง, ถึง, เรื่อง,
    dikirim, kepada, subjek, enviat, per a, efni, küldve
""")
_MAX_FIELD_LINES = 9  # with blank lines and folded lines between the fields
_MIN_FIELDS = 2  # after the first
_ORIGINAL = _phrases("""
    original message, ursprüngliche nachricht, originalnachricht, message d'origine,
    mensaje original, messaggio originale, oorspronkelijk bericht, mensagem original,
    oprindelig meddelelse, ursprungligt meddelande, opprinnelig melding, oryginalna wiadomość,
    wiadomość oryginalna, původní zpráva, alkuperäinen viesti, исходное сообщение, eredeti üzenet,
    özgün ileti, - original -, 元のメッセージ, 原始邮件, 郵件原件, 원본 메시지,
    original appointment, original-nachricht, originalmeddelande, oprindelig besked
""")
_FORWARDED = ("forwarded message", "weitergeleitete nachricht", "message transféré")
_SEPARATOR = re.compile(r"[-_=*](?:[ ]?[-_=*]){2,}")
_MAX_BEFORE = 200  # lines of the one who forwards
# What mail programs put before the subject of a forwarded message, in their languages.
_FORWARD = re.compile(
    r"\s*(?:\[(?:ext|external)\]\s*)?\[?"
    r"(?:fwd?|wg|tr|rv|i|vs|vb|enc|doorst|doorsturen|doorgestuurd|pd|vl|fs|ilt|ynt|rm|videresendt|"
    r"vidarebefordrat|továbbítás|пересл|пер|πρθ|προώθ|הועבר|إعادة توجيه|转发|轉寄|轉發|転送|전달|"
    r"ส่งต่อ|chuyển tiếp|edasi|prosl|posredovano)"
    r"\s*[:：]\s*",
    re.IGNORECASE,
)
# Outlook's line above the copied header, and what a message in HTML has there.
_RULE = "_" * 10


def fold(text: str) -> tuple[str, str]:
    """The lines that the author wrote now, and the quotes and the signature after them.

    A text that answers between the lines of a quote is not folded, nor one that would be empty.
    """
    lines = text.split("\n")
    end = next((at for at in range(len(lines)) if _is_beginning_of_rest(lines, at)), len(lines))
    start = _start_of_quote(lines, end)
    start = _with_attribution(lines, start) if start < end else _without_separator(lines, start)
    visible = "\n".join(lines[:start]).rstrip()
    return (visible, "\n".join(lines[start:])) if visible.strip() else (text, "")


class Forward(NamedTuple):
    """A forwarded message. before: what was written above it. name: "" for none."""

    before: str
    name: str
    address: str
    subject: str
    text: str


def is_forward(subject: str) -> bool:
    """Whether a subject says that the message forwards another one."""
    return _FORWARD.match(subject) is not None


def read_forward(subject: str, text: str) -> Forward | None:
    """The message that a text forwards: by its subject, or by a copied header at its top.

    None for a header without an address, as nobody can be answered then.
    """
    marked, lines = _FORWARD.match(subject), text.split("\n")
    bare = subject[marked.end() :] if marked else subject
    bare = bare if "[" in bare else bare.removesuffix("]")  # `[Fwd: …]`
    for each in (lines, [line.removeprefix(">").removeprefix(" ") for line in lines]):
        found = _find_forward(each, bare, is_marked=marked is not None)
        if found is not None:
            return found
    return None


def _find_forward(lines: list[str], subject: str, *, is_marked: bool) -> Forward | None:
    for at in range(min(len(lines), _MAX_BEFORE)):
        end = _end_of_fields(lines, at)
        sender = _sender_in(_fields(lines[:end], at)) if end > at else None
        if sender is not None and (found := _ADDRESS.search(sender)):
            name = sender[: found.start()].replace("mailto:", "").strip(" \"'<([*|")
            before = _without_marks("\n".join(lines[:at]))
            text = _forwarded_text(lines[end:])
            return Forward(before, name, found[0].strip("*>"), subject, text)
        if not is_marked and not _is_above_forward(lines[at]):
            return None
    return None


def _forwarded_text(lines: list[str]) -> str:
    """Without Zoho's rule below the fields, and the quote marks of Proton before each line."""
    first = next((at for at, line in enumerate(lines) if line.strip()), 0)
    if lines and _SEPARATOR.match(lines[first]):
        lines = lines[first + 1 :]
    if all(line.startswith(">") for line in lines if line.strip()):
        lines = [line.removeprefix(">").removeprefix(" ") for line in lines]
    return "\n".join(lines).strip()


def _end_of_fields(lines: list[str], at: int) -> int:
    """Behind the fields that begin here, `at` without any."""
    end, count = at, 0
    for place, line in enumerate(lines[at : at + _MAX_FIELD_LINES], at):
        plain = _MARKS.sub("", line[:1_000]).strip()
        if _FIELD.match(plain):
            end, count = place + 1, count + 1
        elif count and _ADDRESS.search(plain):
            end = place + 1
        elif plain or count == 0 or count > _MIN_FIELDS:
            break
    return end


def _sender_in(fields: list[tuple[str, str]]) -> str | None:
    """The sender in the fields of a copied header, None if they are none."""
    has_time = any(_YEAR.search(value) or _TIME.search(value) for _, value in fields)
    known = sum(name in _OTHER_FIELDS for name, _ in fields)
    if len(fields) <= _MIN_FIELDS or not (has_time or known >= _MIN_FIELDS):
        return None
    with_address = [(name, value) for name, value in fields if "@" in value]
    named = next((value for name, value in fields if name in _FROM), None)
    return named or next((value for _, value in with_address), None)


def _is_above_forward(line: str) -> bool:
    """Whether a line says nothing but that a forwarded message follows."""
    plain = line.strip()
    return not plain or _SEPARATOR.match(plain) is not None or plain.endswith(_COLONS)


def _without_marks(before: str) -> str:
    """Without the lines that mail programs put above a forwarded message."""
    lines = before.rstrip().split("\n")
    if lines and lines[-1].strip() and _is_above_forward(lines[-1]):
        lines.pop()
    return "\n".join(lines).strip()


def _is_beginning_of_rest(lines: list[str], at: int) -> bool:
    """Whether nothing after this line was written for this message."""
    line = lines[at]
    if not line or line.startswith(">"):
        return _is_of_groupwise(line)
    if line.rstrip(" ") == "--" or _is_original(line):
        return True
    if line.startswith(_RULE):
        return _is_header_below(lines, at)
    if _FIELD.match(line):
        return _is_header(lines, at)
    count = _attribution_lines(lines, at)
    following = (each for each in lines[at + count : at + count + 3] if each.strip())
    return count > 0 and not next(following, "").startswith(">")


def _is_of_groupwise(line: str) -> bool:
    """Whether it is `>>> Ann <a@example.com> 12.11.2026 09:14 >>>`."""
    is_marked = line.startswith(">>> ") and line.rstrip().endswith(">>>")
    return is_marked and None not in (_ADDRESS.search(line), _TIME.search(line))


def _is_original(line: str) -> bool:
    return line.startswith(("--", "__")) and any(each in line[:200].lower() for each in _ORIGINAL)


def _is_header_below(lines: list[str], at: int) -> bool:
    """Whether a rule stands above fields, as nobody writes it."""
    fields = _fields(lines, at + 1)
    return len(fields) > _MIN_FIELDS and not _SEPARATOR.fullmatch(fields[0][1])


def _fields(lines: list[str], at: int) -> list[tuple[str, str]]:
    """The names, in lower case, and values of the fields that begin here."""
    found: list[tuple[str, str]] = []
    for line in lines[at : at + _MAX_FIELD_LINES]:
        field = _FIELD.match(_MARKS.sub("", line[:1_000]).strip())
        if field is not None:
            found.append((field[1].lower(), field[2].strip()))
        elif line.strip() and not (found and _ADDRESS.search(line)):
            break  # only a list of addresses goes on in the next line
    return found


def _is_header(lines: list[str], at: int) -> bool:
    """Whether the copied header of an earlier message begins here, as Outlook writes it."""
    before = " ".join(lines[max(at - 2, 0) : at]).lower()
    if any(each in before for each in _FORWARDED):
        return False
    (name, sender), *others = _fields(lines, at) or [("", "")]
    known = sum(other in _OTHER_FIELDS for other, _ in others)
    addresses = [value for value in (sender, *(value for _, value in others)) if "@" in value]
    if name in _FROM and known >= _MIN_FIELDS:
        # Without an address it may be of a journey: `From: Berlin`, `To: Rome`.
        return bool(addresses) or _is_first_below(lines, at)
    # GMX and Lotus begin with the time.
    if name in _OTHER_FIELDS and known and _YEAR.search(sender) and _TIME.search(sender):
        return any(other in _FROM and _ADDRESS.search(value) for other, value in others)
    return (
        len(others) >= _MIN_FIELDS
        and _ADDRESS.search(sender) is not None
        and any(_TIME.search(value) and _YEAR.search(value) for _, value in others[:3])
        and (_IN_BRACKETS.search(sender) is not None or len(addresses) > 1)
    )


def _is_first_below(lines: list[str], at: int) -> bool:
    """Whether a blank line or a rule is above."""
    above = lines[at - 1].strip() if at > 0 else ""
    return not above or _SEPARATOR.fullmatch(above) is not None


def _attribution_lines(lines: list[str], at: int) -> int:
    """How many lines `On …, … wrote:` takes here, 0 if there is none.

    The author may have written what stands after `On Monday he wrote:`, so a day is not enough.
    """
    for count in range(1, _MAX_ATTRIBUTION_LINES + 1):
        joined = _joined(lines, at, count)
        if not joined:
            return 0
        if joined.endswith(_COLONS) or _is_ruled(joined):
            is_one = _is_attribution(joined) and not _begins_below(lines, at, count)
            return count if is_one else 0
    return 0


def _joined(lines: list[str], at: int, count: int) -> str:
    """So many lines as one, in lower case; "" if one is blank, or they are too long or too few."""
    part = lines[at : at + count]
    joined = _MARKS.sub("", " ".join(part)).lower().rstrip()
    is_whole = len(part) == count and all(map(str.strip, part))
    return joined if is_whole and len(joined) <= _MAX_ATTRIBUTION_LENGTH else ""


def _begins_below(lines: list[str], at: int, count: int) -> bool:
    """Whether an attribution begins in a later line, and the first one is of the author."""
    return not _is_first_part(lines[at]) and any(
        _is_attribution(_joined(lines, at + later, count - later)) for later in range(1, count)
    )


def _is_first_part(line: str) -> bool:
    """Whether a line that names a day goes on in the next one: `On Monday,`."""
    lower = line.lower().rstrip()
    return lower.endswith(",") and _begins_as_one(lower) and _names_a_day(lower)


def _is_ruled(joined: str) -> bool:
    """Whether a line stands between rules, as Zoho and Notes write it."""
    return joined.lstrip().startswith("--") and joined.endswith("--")


def _is_attribution(joined: str) -> bool:
    """Whether a sentence that ends with a colon is none of the author's own."""
    if _names_sender_and_time(joined):
        return True
    if _is_ruled(joined):
        is_timed = None not in (_TIME.search(joined), _YEAR.search(joined))
        return (_ADDRESS.search(joined) is not None) + is_timed + _has_verb(joined) >= 2
    if not _has_verb(joined):
        return _YEAR.search(joined) is not None and bool(_NAMES_AFTER_TIME.fullmatch(joined))
    if _ADDRESS.search(joined) is None and not _OF_SENTENCES.isdisjoint(_WORD.findall(joined)):
        return False
    return (_begins_as_one(joined) and _has_digit(joined)) or _is_dated(joined)


def _is_dated(joined: str) -> bool:
    """Whether a sentence says to the minute when somebody wrote who is named."""
    if len(_CLOCK.findall(joined)) > 1 or any(f"{verb}: " in joined for verb in _VERBS):
        return False
    is_dated = _YEAR.search(joined) or _SHORT_DATE.search(joined)
    return bool(is_dated) and _PRONOUNS.isdisjoint(_WORD.findall(joined))


def _names_sender_and_time(joined: str) -> bool:
    found = _IN_BRACKETS.search(joined) and _TIME.search(joined) and _YEAR.search(joined)
    return found is not None


def _is_above_quote(joined: str) -> bool:
    if joined.startswith(_QUOTING) or joined.endswith(_WRITES):
        return _ADDRESS.search(joined) is not None
    if _YEAR.search(joined) and _TIME_AND_NAME.fullmatch(joined):
        return True
    if _TIME.search(joined) or _YEAR.search(joined):
        return _has_verb(joined) or _ADDRESS.search(joined) is not None
    return _begins_as_one(joined) and _has_verb(joined) and _names_a_day(joined)


def _begins_as_one(joined: str) -> bool:
    is_begun = joined.lstrip().startswith(_BEGINNINGS)
    return is_begun or any(f" {verb} am " in joined for verb in _VERBS)


def _has_verb(joined: str) -> bool:
    return any(verb in joined for verb in _VERBS)


def _has_digit(text: str) -> bool:
    return any(map(str.isdigit, text))


def _names_a_day(text: str) -> bool:
    return not _DAYS.isdisjoint(_WORD.findall(text))


def _start_of_quote(lines: list[str], end: int) -> int:
    """Where the quoted lines begin that reach to `end`; `end` without any."""
    start, has_quote = end, False
    while start > 0 and (lines[start - 1].startswith(">") or not lines[start - 1].strip()):
        start -= 1
        has_quote = has_quote or lines[start].startswith(">")
    return start if has_quote else end


def _with_attribution(lines: list[str], start: int) -> int:
    """The line where the attribution of the quote at `start` begins, or that of the quote."""
    if start > 0 and _is_name_with_verb(lines[start - 1]):
        return start - 1
    for count in range(1, _MAX_ATTRIBUTION_LINES + 1):
        at = start - count
        joined = _joined(lines, at, count) if at >= 0 else ""
        is_ended = joined.endswith(_COLONS)
        if _names_sender_and_time(joined) and (is_ended or not _is_begun(lines, at, count)):
            return at - _begins_a_line_above(lines, at)
        if (is_ended and (_is_attribution(joined) or _is_above_quote(joined))) or (
            _is_ruled(joined) and _is_attribution(joined)
        ):
            return at - _begins_a_line_above(lines, at)
    return start


def _is_name_with_verb(line: str) -> bool:
    """Whether it is `Ann Lee wrote:`, which alone may be a sentence of the author."""
    plain = line[:_MAX_ATTRIBUTION_LENGTH].strip().rstrip(" :：")
    verb = next((verb for verb in _VERBS if plain.endswith(f" {verb}")), "")
    words = plain.removesuffix(verb).split() if verb else []
    return 1 < len(words) <= _MAX_NAME_WORDS and all(word[0].isupper() for word in words)


def _is_begun(lines: list[str], at: int, count: int) -> bool:
    """Whether the first lines name sender and time already, and the last is something else."""
    return any(_names_sender_and_time(_joined(lines, at, part)) for part in range(1, count))


def _begins_a_line_above(lines: list[str], at: int) -> bool:
    """Whether the line above is the first part of an attribution."""
    above = _MARKS.sub("", lines[at - 1][:_MAX_ATTRIBUTION_LENGTH]).rstrip() if at > 0 else ""
    if not above or above.endswith((".", "!", "?", *_COLONS)):
        return False
    if lines[at].startswith(("<", "(<")):
        return len(above) <= _MAX_NAME_LENGTH
    if _IN_BRACKETS.search(above) is not None:
        return _ADDRESS.search(lines[at]) is None
    is_timed = above.endswith(",") and _YEAR.search(above) and len(above) <= _MAX_NAME_LENGTH
    return bool(is_timed) or _is_first_part(above)


def _without_separator(lines: list[str], start: int) -> int:
    """Where the rest begins with the rule above it."""
    if start == len(lines):
        return start
    above = start
    while above > 0 and not lines[above - 1].strip():
        above -= 1
    rule = lines[above - 1].strip() if above > 0 else ""
    return above - 1 if _SEPARATOR.fullmatch(rule) or _is_ruled(rule) else start
