"""Messages that forward another one: whom it is of, and its text."""

import re
from typing import NamedTuple

from sealdesk.tickets.text.copied_headers import end_of_fields, find_sender, list_fields
from sealdesk.tickets.text.patterns import ADDRESS, COLONS, SEPARATOR, TIME, YEAR

_MAX_BEFORE = 200  # lines of the one who forwards
# What mail programs put before the subject of a forwarded message, in their languages.
_FORWARD = re.compile(
    r"\s*(?:\[(?:ext|external)\]\s*)?\[?"
    r"(?:fwd?|wg|tr|rv|i|vs|vb|enc|doorst|doorsturen|doorgestuurd|pd|vl|fs|ilt|ynt|rm|videresendt|"
    r"vidarebefordrat|továbbítás|пересл|пер|πρθ|προώθ|הועבר|إعادة توجيه|转发|轉寄|轉發|転送|전달|"
    r"ส่งต่อ|chuyển tiếp|edasi|prosl|prosljeđeno|posr|posredovano|přep|přeposláno|persp|persiųsta"
    r"|pārs|pārsūtīts|yml|trs|tov|препр|препратено|videresend|vidarebef)\.?"
    r"\s*[:：]\s*",
    re.IGNORECASE,
)


# Yandex writes the sentence above a quote instead of fields.
_ATTRIBUTION = re.compile(
    rf'.{{0,40}}{YEAR.pattern}.{{1,9}}{TIME.pattern}, "[^"]{{0,100}}" <[^>]{{1,255}}>:'
)


_RULED = re.compile(r"-{3,20} ?\w[^-]{1,60}-{3,20}")


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
    unquoted = [line.removeprefix(">").removeprefix(" ") for line in lines]
    for each in (lines, unquoted, *([_with_colons(lines)] if marked else [])):
        found = _find_forward(each, bare, is_marked=marked is not None)
        if found is not None:
            return found
    return None


def _with_colons(lines: list[str]) -> list[str]:
    """With the fields of eM Client as others write them: `From "Ann" <a@b.example>`."""
    rules = (at for at, line in enumerate(lines[:_MAX_BEFORE]) if _RULED.fullmatch(line.strip()))
    start = next(rules, len(lines)) + 1
    end = next((at for at in range(start, len(lines)) if not lines[at].strip()), len(lines))
    fields = (line.replace(" ", ": ", 1) for line in lines[start:end])
    return [*lines[:start], *fields, *lines[end:]]


def _find_forward(lines: list[str], subject: str, *, is_marked: bool) -> Forward | None:
    for at in range(min(len(lines), _MAX_BEFORE)):
        end = end_of_fields(lines, at)
        sender = find_sender(list_fields(lines[:end], at)) if end > at else None
        if sender is None and is_marked and _ATTRIBUTION.fullmatch(lines[at].strip()):
            sender, end = lines[at].rpartition(', "')[2], at + 1
        if sender is not None and (found := ADDRESS.search(sender)):
            name = sender[: found.start()].replace("mailto:", "").strip(" \"'<([*|")
            before = _without_marks("\n".join(lines[:at]))
            text = _forwarded_text(lines[end:])
            return Forward(before, name, found[0].strip("*>"), subject, text)
        if not is_marked and not _is_above_forward(lines[at]):
            return None
    return None


def _forwarded_text(lines: list[str]) -> str:
    """Without Zoho's rule below the fields, Yandex's at the end, and Proton's quote marks."""
    first = next((at for at, line in enumerate(lines) if line.strip()), 0)
    if lines and SEPARATOR.match(lines[first]):
        lines = lines[first + 1 :]
    if lines and _RULED.fullmatch(lines[-1].strip()):
        lines = lines[:-1]
    if all(line.startswith(">") for line in lines if line.strip()):
        lines = [line.removeprefix(">").removeprefix(" ") for line in lines]
    return "\n".join(lines).strip()


def _is_above_forward(line: str) -> bool:
    """Whether a line says nothing but that a forwarded message follows."""
    plain = line.strip()
    return not plain or SEPARATOR.match(plain) is not None or plain.endswith(COLONS)


def _without_marks(before: str) -> str:
    """Without the lines that mail programs put above a forwarded message."""
    lines = before.rstrip().split("\n")
    if lines[-1].strip().endswith(COLONS):
        lines.pop()
    while lines and (not lines[-1].strip() or SEPARATOR.match(lines[-1].strip())):
        lines.pop()
    return "\n".join(lines).strip()
