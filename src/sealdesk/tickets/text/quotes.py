"""Which lines of a message quote an earlier one or are a signature, so that pages can fold them."""

import re

_BEGINNINGS = ("on ", "am ", "le ", "el ", "il ", "op ", "den ", "em ")
_VERBS = (
    "wrote", "schrieb", "a écrit", "escribió", "ha scritto", "schreef", "skrev", "escreveu",
)  # fmt: skip
# In the languages of the verbs, in lower case.
_DAYS = frozenset((
    "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday",
    "mon", "tue", "wed", "thu", "fri", "sat", "sun",
    "montag", "dienstag", "mittwoch", "donnerstag", "freitag", "samstag", "sonnabend", "sonntag",
    "lundi", "mardi", "mercredi", "jeudi", "vendredi", "samedi", "dimanche",
    "lunes", "martes", "miércoles", "jueves", "viernes", "sábado", "domingo",
    "lunedì", "martedì", "mercoledì", "giovedì", "venerdì", "sabato", "domenica",
    "maandag", "dinsdag", "woensdag", "donderdag", "vrijdag", "zaterdag", "zondag",
    "måndag", "tisdag", "onsdag", "torsdag", "fredag", "lördag", "söndag",
    "mandag", "tirsdag", "lørdag", "søndag",
    "segunda", "terça", "quarta", "quinta", "sexta",
))  # fmt: skip
_WORD = re.compile(r"[^\W\d_]+")
_MAX_ATTRIBUTION_LINES = 3
_MAX_ATTRIBUTION_LENGTH = 400
_FROM = ("from:", "von:", "de:", "da:", "van:")
_OTHER_FIELDS = (
    "sent:", "date:", "to:", "cc:", "subject:", "gesendet:", "datum:", "an:", "betreff:",
    "envoyé:", "à:", "objet:", "enviado:", "para:", "asunto:", "inviato:", "a:", "oggetto:",
    "verzonden:", "aan:", "onderwerp:",
)  # fmt: skip
_FIELD_LINES = 8  # after From, with blank lines between the fields
_MIN_FIELDS = 2
_ORIGINAL = (
    "original message", "ursprüngliche nachricht", "originalnachricht", "message d'origine",
    "mensaje original", "messaggio originale", "oorspronkelijk bericht",
)  # fmt: skip
_FORWARDED = ("forwarded message", "weitergeleitete nachricht", "message transféré")


def fold(text: str) -> tuple[str, str]:
    """The lines that the author wrote now, and the quotes and the signature after them.

    A text that answers between the lines of a quote is not folded, nor one that would be empty.
    """
    lines = text.split("\n")
    end = next((at for at in range(len(lines)) if _is_beginning_of_rest(lines, at)), len(lines))
    start = _start_of_quote(lines, end)
    start = _with_attribution(lines, start) if start < end else start
    visible = "\n".join(lines[:start]).rstrip()
    return (visible, "\n".join(lines[start:])) if visible.strip() else (text, "")


def _is_beginning_of_rest(lines: list[str], at: int) -> bool:
    """Whether nothing after this line was written for this message."""
    line = lines[at]
    if not line or line.startswith(">"):
        return False
    if line.rstrip(" ") == "--" or _is_original(line):
        return True
    if _field_of(line, _FROM):
        return _is_header_block(lines, at)
    count = _attribution_lines(lines, at)
    following = (each for each in lines[at + count : at + count + 3] if each.strip())
    return count > 0 and not next(following, "").startswith(">")


def _is_original(line: str) -> bool:
    return line.startswith(("--", "__")) and any(each in line[:200].lower() for each in _ORIGINAL)


def _field_of(line: str, names: tuple[str, ...]) -> bool:
    plain = line[:40].replace("*", "").replace(" :", ":").replace("\xa0:", ":").strip().lower()
    return plain.startswith(names)


def _is_header_block(lines: list[str], at: int) -> bool:
    """Whether Outlook's copy of the header of an earlier message begins here."""
    before = " ".join(lines[max(at - 2, 0) : at]).lower()
    if any(each in before for each in _FORWARDED):
        return False
    fields = sum(_field_of(each, _OTHER_FIELDS) for each in lines[at + 1 : at + 1 + _FIELD_LINES])
    return fields >= _MIN_FIELDS


def _attribution_lines(lines: list[str], at: int, *, is_above_quote: bool = False) -> int:
    """How many lines `On …, … wrote:` takes here, 0 if there is none.

    is_above_quote: then the name of a day is enough. Elsewhere the author may have written what
    stands after `On Monday he wrote:`.
    """
    first = lines[at].lstrip().lower()
    if not first.startswith(_BEGINNINGS) and not any(f" {verb} am " in first for verb in _VERBS):
        return 0
    for count in range(1, _MAX_ATTRIBUTION_LINES + 1):
        joined = " ".join(lines[at : at + count]).lower().rstrip()
        if len(joined) > _MAX_ATTRIBUTION_LENGTH or not lines[at : at + count][-1].strip():
            return 0
        if joined.endswith(":"):
            is_one = any(verb in joined for verb in _VERBS)
            has_time = _has_digit(joined) or (is_above_quote and _names_a_day(joined))
            return count if is_one and has_time else 0
        if at + count >= len(lines):
            return 0
    return 0


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
    for count in range(1, _MAX_ATTRIBUTION_LINES + 1):
        if (
            start >= count
            and _attribution_lines(lines, start - count, is_above_quote=True) == count
        ):
            return start - count
    return start
