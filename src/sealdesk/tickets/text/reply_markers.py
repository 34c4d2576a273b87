"""The lines above which help desks want the answer, in many languages; no I/O."""

import re

from sealdesk.tickets.text.patterns import phrases

# What another help desk writes above its words: `##- Please type your reply above this line -##`.
_ABOVE_THIS_LINE = phrases("""
    above this line, above the line, not write below this line, not type below this line,
    oberhalb dieser zeile, über dieser zeile, oberhalb dieser linie, über dieser linie,
    über diese zeile, au-dessus de cette ligne, au dessus de cette ligne, encima de esta línea,
    arriba de esta línea, sobre esta línea, sopra questa riga, sopra questa linea,
    di sopra di questa riga, acima desta linha, boven deze regel, boven deze lijn,
    ovanför denna rad, ovanför den här raden, över den här raden, ovanför denna linje,
    over denne linje, over denne linjen, over denne linja, over denna linjen, ovenfor denne linjen,
    yllä olevan viivan, tämän rivin yläpuolelle, tämän viivan yläpuolelle, powyżej tej linii,
    nad tą linią, nad tímto řádkem, nad tento řádek, nad tuto čáru, nad týmto riadkom,
    nad tento riadok, над этой строкой, над этой линией, выше этой строки, выше этой линии,
    над цим рядком, вище цього рядка, над цією лінією, над този ред, bu satırın üst,
    bu satırın üzeri, bu çizginin üzeri, bu çizginin üst, e sor fölé, a vonal fölé, ezen sor fölé,
    deasupra acestei linii, deasupra acestui rând, πάνω από αυτή τη γραμμή,
    πάνω από αυτήν τη γραμμή, iznad ove linije, iznad ovog reda, nad to vrstico, この行より上,
    この行の上, この線より上, この線の上, このラインより上,
    このラインの上, この行の上部, 此行上方, 此行之上, 此线上方, 此線上方,
    这一行上方, 這一行上方, 本行上方, 이 줄 위, 이 선 위, 이 행 위, فوق هذا السطر, فوق هذا الخط,
    أعلى هذا السطر, מעל שורה זו, מעל השורה הזו, מעל קו זה, इस पंक्ति के ऊपर, इस लाइन के ऊपर,
    trên dòng này, เหนือบรรทัดนี้, di atas baris ini, di atas garis ini, এই লাইনের উপরে
""")
_ANSWER = phrases("""
    reply, replies, respon, answer, type, write, comment, enter, antwort, schreib, répon, écri,
    saisi, escrib, contest, rispo, scriv, digit, escreva, antwoord, typ, reageer, reactie, svar,
    skriv, vasta, kirjoita, odpow, pisz, odpov, piš, ответ, пиш, введ, отвеч, відпов, отговор,
    yanıt, cevap, yaz, válasz, ír, răspun, scrie, απάντη, απαντ, odgovor, napiš, 返信, 回答, 入力,
    ご記入, 回复, 回覆, 答复, 输入, 輸入, 회신, 답장, 입력, 답변, رد, اكتب, השב, הקלד, כתוב, תגובה,
    उत्तर, जवाब, लिख, trả lời, phản hồi, nhập, ตอบ, พิมพ์, balas, tulis, ketik, উত্তর
""")
_OF_AUTHOR = phrases("i, we, my, our, the, what, ich, wir, mein, meine, je, nous, mon, ma, yo, mi")
_MAX_MARKER_LENGTH = 120
_RULED = re.compile(r"\W*[-#=*_~\u2014] ?[-#=*_~\u2014]|.*[-#=*_~\u2014]{2}\W*$")
# A person quotes such a line, asks about it, or says something in a list.
_SAID = re.compile(r"(?:.*(?<!\w)[\"'“„«‚‘]\w)|.*[?\uff1f]\s*$|\s*(?:[-*•]|\d{1,2}[.)])\s")
_WEAK = "above the line"  # which a table may have too
_DELIMITER = ("##-", "-##")  # around such a line, in every language
_LETTERS = re.compile(r"[^\W\d_]+")


def find_reply_marker(text: str, lines: list[str]) -> int:
    """The line above which a help desk asks for the answer; behind the last line without any."""
    lower = text.lower().replace("\n", " ")
    known = [each for each in (*_ABOVE_THIS_LINE, _DELIMITER[0]) if each in lower]
    found = (
        at
        for at, line in enumerate(lines)
        if known and (_is_reply_marker(line, known) or _is_broken_marker(lines, at, known))
    )
    return next(found, len(lines))


def _is_broken_marker(lines: list[str], at: int, known: list[str]) -> bool:
    """Whether it goes on in the next line, and both are a paragraph or end with a rule."""
    first, second, after, *_ = (*lines[at : at + 3], "", "")
    is_begun = at == 0 or not lines[at - 1].strip()
    is_ended = second.rstrip().endswith(("#", "-", "=", "*", "_")) or not after.strip()
    if not (first.strip() and second.strip() and is_begun and is_ended):
        return False
    is_below = _is_reply_marker(second, known)
    return not is_below and _is_reply_marker(f"{first.rstrip()} {second.lstrip()}", known)


def _is_reply_marker(line: str, known: list[str]) -> bool:
    if len(line) > _MAX_MARKER_LENGTH or line.startswith(">"):
        return False
    lower, plain = line.lower(), line.strip(" *")
    if plain.startswith(_DELIMITER[0]) and plain.endswith(_DELIMITER[1]):
        return True
    found = [each for each in known if each in lower]
    first = _LETTERS.search(lower)
    if not found or first is None or first[0] in _OF_AUTHOR:
        return False
    if not _RULED.match(line) and (_SAID.match(line) or (found == [_WEAK] and first[0] != "reply")):
        return False
    return any(each in lower for each in _ANSWER)
