"""Which lines of a message quote an earlier one or are a signature, so that pages can fold them.

A quote is found by its structure first, which is alike in all languages: marks at the beginning of
lines, fields of a header, an address beside a time. Words decide where the structure does not.
"""

import re

from sealdesk.tickets.text.attributions import (
    MAX_LENGTH,
    ends_with_verb,
    has_verb,
    is_above_quote,
    is_address_with_verb,
    is_attribution,
    is_first_part,
    is_name_with_verb,
    is_ruled,
    names_sender_and_time,
    names_whole_sender,
)
from sealdesk.tickets.text.copied_headers import (
    FIELD,
    MIN_FIELDS,
    is_header,
    is_header_of_notes,
    list_fields,
)
from sealdesk.tickets.text.patterns import (
    ADDRESS,
    COLONS,
    IN_BRACKETS,
    MARKS,
    SEPARATOR,
    TIME,
    YEAR,
    phrases,
)
from sealdesk.tickets.text.reply_markers import find_reply_marker

_MAX_ATTRIBUTION_LINES = 3
_MAX_NAME_LENGTH = 60
_ORIGINAL = phrases("""
    original message, ursprüngliche nachricht, originalnachricht, message d'origine,
    mensaje original, messaggio originale, oorspronkelijk bericht, mensagem original,
    oprindelig meddelelse, ursprungligt meddelande, opprinnelig melding, oryginalna wiadomość,
    wiadomość oryginalna, původní zpráva, alkuperäinen viesti, исходное сообщение, eredeti üzenet,
    özgün ileti, - original -, 元のメッセージ, 原始邮件, 郵件原件, 원본 메시지,
    original appointment, original-nachricht, originalmeddelande, oprindelig besked,
    begin pgp signature
""")
# Outlook's line above the copied header, and what a message in HTML has there.
_RULE = "_" * 10
_MAX_RULES = 5  # and blank lines, between that line and the fields
_RULES = ("--", "__", "\u2010\u2010")
# Before a mark: `DS> ` of The Bat!, `Dora> ` of Emacs, and the other mark of old programs.
_NAMED = re.compile(r" {0,8}(?:([^\W\d_][\w.\'-]{0,19})>|\|)")
_INITIALS = re.compile(r"(?!PS|SQL|DOS|IOS)[^\W\d_]{2,3}")  # those are of consoles
_WIDE_MARK = "\uff1e"
_WORD = re.compile(r"[^\W\d_]+")
_ENDS = ("?", "\uff1f", "\u3002", "\uff01", "\u061f")
_MIN_WORDS, _MANY_WORDS = 3, 6
_MAX_SIGNATURE_LINES = 60
_POSTSCRIPT = re.compile(r"^ {0,4}(?:P\. ?S|PS|P\.-S|N\. ?B|NB)\b", re.MULTILINE)
_ON_ONE_LINE = ":   "  # Yahoo's for Android goes on behind `On …, Ann <a@b.example> wrote:`


def fold(text: str) -> tuple[str, str]:
    """The lines that the author wrote now, and the quotes and the signature after them.

    A text that answers between the lines of a quote is not folded, nor one that would be empty.
    """
    written = text.split("\n")
    has_marks = any(each in text for each in (">", "|", _WIDE_MARK))
    lines = _with_plain_marks(written) if has_marks else written
    end = next((at for at in range(len(lines)) if _is_beginning_of_rest(lines, at)), len(lines))
    end = min(end, find_reply_marker(text, lines))
    start = _start_of_quote(lines, end)
    start = _with_attribution(lines, start) if start < end else start
    start = _without_separator(lines, start)
    visible = "\n".join(written[:start]).rstrip()
    return (visible, "\n".join(written[start:])) if visible.strip() else (text, "")


def _with_plain_marks(lines: list[str]) -> list[str]:
    """The lines with a > before each that is marked in another way."""
    marks = [found[0].strip() if (found := _NAMED.match(line)) else "" for line in lines]
    starts = (at for at, mark in enumerate(marks) if mark and (at == 0 or not marks[at - 1]))
    has_named = any(_is_quoted(lines, marks, at) for at in starts)
    return [
        f">{line}" if line.startswith(_WIDE_MARK) or (mark and has_named) else line
        for line, mark in zip(lines, marks, strict=True)
    ]


def _is_quoted(lines: list[str], marks: list[str], at: int) -> bool:
    """Whether the mark of a line is none of a console or a table: who wrote it is said above it.

    Initials need not be introduced if the next line has some too, and they are no chat's, where
    others have theirs.
    """
    if "".join(marks[at + 1 : at + 2]) and _INITIALS.fullmatch(marks[at].rstrip(">")):
        pairs = zip(lines, marks, strict=True)
        outer = {mark for line, mark in pairs if mark and f"{mark}>" not in line}
        return marks[at].isupper() and len(outer) <= 1
    above = at
    while above > 0 and not lines[above - 1].strip():
        above -= 1
    is_of_emacs = above > 0 and lines[above - 1].startswith(">>>>> ")
    return is_of_emacs or _with_attribution(lines, above) < above


def _is_beginning_of_rest(lines: list[str], at: int) -> bool:
    """Whether nothing after this line was written for this message."""
    line = lines[at]
    if not line or line.startswith(">"):
        return _is_of_groupwise(line)
    if line.rstrip(" ") == "--":
        return line != "--" or not _says_something(lines, at + 1)
    if _is_original(line) or is_header_of_notes(lines, at):
        return True
    before, mark, _ = line.partition(_ON_ONE_LINE)
    is_short = bool(mark) and len(before) <= MAX_LENGTH
    if is_short and names_sender_and_time(before) and has_verb(before.lower()):
        return True
    if line.startswith(_RULE):
        return _is_header_below(lines, at)
    if FIELD.match(line.lstrip()):
        return is_header(lines, at)
    count = _attribution_lines(lines, at)
    following = (each for each in lines[at + count : at + count + 3] if each.strip())
    return count > 0 and not next(following, "").startswith(">")


def _says_something(lines: list[str], at: int) -> bool:
    """Whether sentences follow a rule without the space that marks a signature (RFC 3676, 4.3)."""
    rest = "\n".join(lines[at : at + _MAX_SIGNATURE_LINES]).strip()
    first = rest.partition("\n\n")[0].split("\n")
    return _POSTSCRIPT.search(rest) is not None or any(map(_is_sentence, first))


def _is_sentence(line: str) -> bool:
    """Whether a line is neither a name, a title nor an address: most of its words are small."""
    words = _WORD.findall(line[:MAX_LENGTH])
    small_count = sum(not any(map(str.isupper, word)) for word in words)
    # `Sent from my iPhone` is none.
    is_most = 2 * small_count >= len(words) + (len(words) < _MANY_WORDS)
    is_link = ADDRESS.search(line) is not None or "://" in line
    is_one = len(words) >= _MIN_WORDS and is_most and not is_link
    return is_one or line.rstrip().endswith(_ENDS)


def _is_of_groupwise(line: str) -> bool:
    """Whether it is `>>> Ann <a@example.com> 12.11.2026 09:14 >>>`."""
    is_marked = line.startswith(">>> ") and line.rstrip().endswith(">>>")
    return is_marked and None not in (ADDRESS.search(line), TIME.search(line))


def _is_original(line: str) -> bool:
    if not line.startswith(_RULES):
        return False
    lower = line[:200].lower().rstrip()
    behind = (lower.partition(each)[2].lstrip(" :*") for each in _ORIGINAL if each in lower)
    # A sentence goes on.
    return any(not each or each.startswith(_RULES) or each.endswith(_RULES) for each in behind)


def _is_header_below(lines: list[str], at: int) -> bool:
    """Whether a rule stands above fields, as nobody writes it."""
    near = range(at + 1, min(at + 1 + _MAX_RULES, len(lines)))
    below = (each for each in near if not SEPARATOR.fullmatch(lines[each].strip() or "---"))
    fields = list_fields(lines, next(below, len(lines)))
    return len(fields) > MIN_FIELDS and not SEPARATOR.fullmatch(fields[0][1])


def _attribution_lines(lines: list[str], at: int) -> int:
    """How many lines `On …, … wrote:` takes here, 0 if there is none.

    Nothing below says that it is a quote, so a name and a time are not enough: the author may have
    written what stands after `On 5 May 2026 at 10:00 DHL wrote:`.
    """
    for count in range(1, _MAX_ATTRIBUTION_LINES + 1):
        joined = _joined(lines, at, count)
        if not joined:
            return 0
        if joined.endswith(COLONS) or is_ruled(joined) or _is_whole(lines, at + count, joined):
            is_one = names_whole_sender(joined) and not _begins_below(lines, at, count)
            return count if is_one else 0
    return 0


def _is_whole(lines: list[str], after: int, joined: str) -> bool:
    """Whether an attribution has no colon, but its verb and a blank line end it."""
    is_ended = names_sender_and_time(joined) and ends_with_verb(joined)
    return is_ended and not "".join(lines[after : after + 1]).strip()


def _joined(lines: list[str], at: int, count: int) -> str:
    """So many lines as one; "" if one is blank, or they are too long or too few."""
    part = lines[at : at + count]
    joined = MARKS.sub("", " ".join(part)).rstrip()
    is_whole = len(part) == count and all(map(str.strip, part))
    return joined if is_whole and len(joined) <= MAX_LENGTH else ""


def _begins_below(lines: list[str], at: int, count: int) -> bool:
    """Whether an attribution begins in a later line, and the first one is of the author."""
    return not is_first_part(lines[at]) and any(
        is_attribution(_joined(lines, at + later, count - later)) for later in range(1, count)
    )


def _start_of_quote(lines: list[str], end: int) -> int:
    """Where the quoted lines begin that reach to `end`; `end` without any."""
    start, has_quote = end, False
    while start > 0 and (lines[start - 1].startswith(">") or not lines[start - 1].strip()):
        start -= 1
        has_quote = has_quote or lines[start].startswith(">")
    return start if has_quote else end


def _with_attribution(lines: list[str], start: int) -> int:
    """The line where the attribution of the quote at `start` begins, or that of the quote."""
    if start > 0 and is_name_with_verb(lines[start - 1]):
        return start - 1
    for count in range(1, _MAX_ATTRIBUTION_LINES + 1):
        at = start - count
        joined = _joined(lines, at, count) if at >= 0 else ""
        is_ended = joined.endswith(COLONS)
        if names_sender_and_time(joined) and (is_ended or not _is_begun(lines, at, count)):
            return at - _begins_a_line_above(lines, at)
        if (is_ended and (is_attribution(joined) or is_above_quote(joined))) or (
            is_ruled(joined) and is_attribution(joined)
        ):
            return at - _begins_a_line_above(lines, at)
    return start - 1 if start > 0 and is_address_with_verb(lines[start - 1]) else start


def _is_begun(lines: list[str], at: int, count: int) -> bool:
    """Whether the first lines name sender and time already, and the last is something else."""
    return any(names_sender_and_time(_joined(lines, at, part)) for part in range(1, count))


def _begins_a_line_above(lines: list[str], at: int) -> bool:
    """Whether the line above is the first part of an attribution."""
    above = MARKS.sub("", lines[at - 1][:MAX_LENGTH]).rstrip() if at > 0 else ""
    if not above or above.endswith((".", "!", "?", *COLONS)):
        return False
    if lines[at].startswith(("<", "(<")):
        return len(above) <= _MAX_NAME_LENGTH
    if IN_BRACKETS.search(above) is not None:
        return ADDRESS.search(lines[at]) is None
    is_timed = above.endswith(",") and YEAR.search(above) and len(above) <= _MAX_NAME_LENGTH
    return bool(is_timed) or is_first_part(above)


def _without_separator(lines: list[str], start: int) -> int:
    """Where the rest begins with the rule above it."""
    if start == len(lines):
        return start
    above = start
    while above > 0 and not lines[above - 1].strip():
        above -= 1
    rule = lines[above - 1].strip() if above > 0 else ""
    is_rule = SEPARATOR.fullmatch(rule) or is_ruled(rule) or rule.lower() in _ORIGINAL
    return above - 1 if is_rule else start
