"""Which sentences say who wrote what is quoted below them, as `On …, Ann wrote:` does; no I/O.

Sentences are lines as one. Structure decides before words: an address beside a time is one in every
language.
"""

import re

from sealdesk.tickets.text.patterns import ADDRESS, IN_BRACKETS, TIME, YEAR, phrases

_CLOCK = re.compile(r"\d:\d\d")
_SHORT_DATE = re.compile(r"(?<!\d)\d{1,2}([./-])\d{1,2}\1\d\d(?!\d)")
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
    r"|[^\d\s]+(?: [^\d\s]+){0,3}, \d{1,4}([./-])\d{1,2}\1\d{2,4},? \d{1,2}[:.]\d\d[:：]"
)
_NAME_AND_ADDRESS = re.compile(r"[^\s<>:]+(?: [^\s<>:]+){0,4} <[^\s<>@]+@[^\s<>@]+>[:：]")
_NAME_AND_VERB = re.compile(
    r"([^\s<>:]+(?: [^\s<>:]+){0,6}) <[^\s<>@]+@[^\s<>@]+>(?: [^\s:]+){1,4} ?[:：]"
)
_DATE_AND_NAME = re.compile(
    r"(?:\S+ )?\d{1,4}([./-])\d{1,2}\1\d{2,4},? [^\d\s]+(?: [^\d\s]+){0,3}[:：]"
)
_WRITES = " writes:"  # Emacs, without a time
_VERBS = phrases("""
    wrote, schrieb, a écrit, escribió, ha scritto, schreef, skrev, escreveu, napisał, pisze, napsal,
    napísal, написал, пишет, пише, написав, kirjoitti, írta, yazdı, έγραψε, כתב, كتب, 写道, 寫道,
    작성, 書きました, viết, menulis, เขียน, a scris, napisao, napisal, rašė, rakstīja, kirjutas,
    skrifaði, va escriure, het volgende geschreven, napisana przez, تمت كتابة ما يلي, писали,
    écriviez, hai scritto, można przeczytać, написа, geskryf, نوشت, لکھا, लिखा, লিখেছে,
    எழுதியது, წერდა, წერს, գրել է, жазды, idatzi, scríobh, shkroi, aliandika, skreiv, escribiu
""")
# Who wrote is somebody whom the author speaks of, and does not quote.
_PRONOUNS = phrases("""
    i, you, he, she, we, they, ich, sie, er, wir, ihr, tu, vous, nous, elle, yo, usted, ustedes,
    ella, io, lei, lui, voi, eu, você, ela, ik, jij, hij, jag, du, han, hon, jeg, hun, ja, pan,
    pani, ty, вы, ты, он, она, мы
""")
_OF_SENTENCES = phrases("""
    my, your, our, their, and, that, mein, ihre, unser, der, das, und, dass, votre, notre, et, que,
    nuestro, me, mio, suo, vostro, nostro, che, mijn, uw, onze, meu, seu, nosso, ich, yo, io, eu,
    ik, jag, jeg, я, die, ein, eine, einer, jemand
""")
_IN_SENTENCES = _PRONOUNS | _OF_SENTENCES
# The author speaks: `I got a mail of DHL <a@b.example> on 5 May 2026 at 10:00:`. `I.` is of a name.
_AUTHOR_SPEAKS = re.compile(
    r"(?<!\w)(?:i|we|my|our|ich|wir|meine?|mir|nous|yo|io|ik|wij|eu|jag|jeg|я|мы)(?![\w.])"
)
# Beside these stands who wrote, before the first ones and behind the others. A word in small
# letters is no name: the author speaks of `the driver`. Articles of German, which has capitals, are
# above.
_NAME_BEFORE = re.compile(
    r"(?<!\S)([^\W\d_]+(?:['’-][^\W\d_]+)*),? (?:wrote|a écrit|ha scritto|escribió|escreveu"
    r"|napisał|napsal|napísal|написал|писал|написав|kirjoitti)\b"
)
_NAME_BEHIND = re.compile(
    r"\b(?:schrieb|schreef|skrev|escribió|escreveu) "
    r"(?!(?:am|um|op|om|den|på|kl|følgende|följande|folgendes|het) )([^\W\d_]+)(?!\S*[@.])"
)
# In the languages of the first eight verbs, in lower case.
_DAYS = phrases("""
    monday, tuesday, wednesday, thursday, friday, saturday, sunday, mon, tue, wed, thu, fri, sat,
    sun, montag, dienstag, mittwoch, donnerstag, freitag, samstag, sonnabend, sonntag, lundi, mardi,
    mercredi, jeudi, vendredi, samedi, dimanche, lunes, martes, miércoles, jueves, viernes, sábado,
    domingo, lunedì, martedì, mercoledì, giovedì, venerdì, sabato, domenica, maandag, dinsdag,
    woensdag, donderdag, vrijdag, zaterdag, zondag, måndag, tisdag, onsdag, torsdag, fredag, lördag,
    söndag, mandag, tirsdag, lørdag, søndag, segunda, terça, quarta, quinta, sexta
""")
_WORD = re.compile(r"[^\W\d_]+")
MAX_LENGTH = 400
_MAX_NAME_WORDS = 4


def is_attribution(sentence: str) -> bool:
    """Whether a sentence that ends with a colon is none of the author's own."""
    joined = sentence.lower()
    if names_sender_and_time(joined):
        return True
    if is_ruled(joined):
        is_timed = None not in (TIME.search(joined), YEAR.search(joined))
        return (ADDRESS.search(joined) is not None) + is_timed + has_verb(joined) >= 2
    if not has_verb(joined):
        return YEAR.search(joined) is not None and bool(_NAMES_AFTER_TIME.fullmatch(joined))
    if ADDRESS.search(joined) is not None:
        return (_begins_as_one(joined) and _has_digit(joined)) or _is_dated(joined)
    is_of_author = " i wrote" in joined or not _OF_SENTENCES.isdisjoint(_WORD.findall(joined))
    if is_of_author or _names_nobody(sentence):
        return False
    return (_begins_as_one(joined) and _has_date(joined)) or _is_dated(joined)


def names_sender_and_time(joined: str) -> bool:
    found = IN_BRACKETS.search(joined) and TIME.search(joined) and YEAR.search(joined)
    return found is not None


def names_whole_sender(sentence: str) -> bool:
    """Whether an attribution can stand above lines without a mark: no author says as much.

    It has the sender's address, or stands between rules.
    """
    is_whole = IN_BRACKETS.search(sentence) is not None or is_ruled(sentence)
    is_of_author = _AUTHOR_SPEAKS.search(IN_BRACKETS.sub("", sentence.lower())) is not None
    return is_whole and not is_of_author and is_attribution(sentence)


def is_above_quote(sentence: str) -> bool:
    """The same of one that stands above lines with a mark, and may say less."""
    joined = sentence.lower()
    if joined.startswith(_QUOTING) or joined.endswith(_WRITES):
        return ADDRESS.search(joined) is not None
    if YEAR.search(joined) and _TIME_AND_NAME.fullmatch(joined):
        return True
    if _NAME_AND_ADDRESS.fullmatch(joined):
        return True
    if YEAR.search(joined) and _DATE_AND_NAME.fullmatch(joined):
        return _IN_SENTENCES.isdisjoint(_WORD.findall(joined))
    if TIME.search(joined) or YEAR.search(joined):
        return has_verb(joined) or ADDRESS.search(joined) is not None
    return _begins_as_one(joined) and has_verb(joined) and _names_a_day(joined)


def is_address_with_verb(line: str) -> bool:
    """Whether it is `Ann Lee <a@b.example> wrote:`, above which the time may stand."""
    found = _NAME_AND_VERB.fullmatch(line[:MAX_LENGTH].strip().lower())
    words = _WORD.findall(found[1]) if found else ()
    return bool(words) and has_verb(line.lower()) and _IN_SENTENCES.isdisjoint(words)


def is_ruled(joined: str) -> bool:
    """Whether a line stands between rules, as Zoho and Notes write it."""
    return joined.lstrip().startswith("--") and joined.endswith("--")


def is_first_part(line: str) -> bool:
    """Whether a line that names a day goes on in the next one: `On Monday,`."""
    lower = line.lower().rstrip()
    return lower.endswith(",") and _begins_as_one(lower) and _names_a_day(lower)


def ends_with_verb(joined: str) -> bool:
    return joined.lower().endswith(tuple(_VERBS))


def has_verb(joined: str) -> bool:
    """Whether somebody writes in a sentence, in any language."""
    return any(verb in joined for verb in _VERBS)


def is_name_with_verb(line: str) -> bool:
    """Whether it is `Ann Lee wrote:`, which alone may be a sentence of the author."""
    plain = line[:MAX_LENGTH].strip().rstrip(" :：")
    verb = next((verb for verb in (*_VERBS, "writes") if plain.endswith(f" {verb}")), "")
    words = plain.removesuffix(verb).split() if verb else []
    return 1 < len(words) <= _MAX_NAME_WORDS and all(word[0].isupper() for word in words)


def _is_dated(joined: str) -> bool:
    """Whether a sentence says to the minute when somebody wrote who is named."""
    if len(_CLOCK.findall(joined)) > 1 or any(f"{verb}: " in joined for verb in _VERBS):
        return False
    return _has_date(joined) and _PRONOUNS.isdisjoint(_WORD.findall(joined))


def _has_date(joined: str) -> bool:
    return bool(YEAR.search(joined) or _SHORT_DATE.search(joined))


def _names_nobody(sentence: str) -> bool:
    """Whether who wrote is a word of the language: `On 5 May 2026 at 10:00 the driver wrote:`."""
    found = _NAME_BEFORE.search(sentence) or _NAME_BEHIND.search(sentence)
    return found is not None and found[1].islower()


def _begins_as_one(joined: str) -> bool:
    is_begun = joined.lstrip().startswith(_BEGINNINGS)
    return is_begun or any(f" {verb} am " in joined for verb in _VERBS)


def _has_digit(text: str) -> bool:
    return any(map(str.isdigit, text))


def _names_a_day(text: str) -> bool:
    return not _DAYS.isdisjoint(_WORD.findall(text))
