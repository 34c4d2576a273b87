"""The event of an invitation as a line of text (RFC 5545)."""

import re

from sealdesk.mail.parsing.charsets import clean_line

_MAX_LENGTH = 64 * 1024
_MAX_VALUE_LENGTH = 255
_FIELD = re.compile(r"(?:^|\n)(SUMMARY|DTSTART|LOCATION)([;:][^\n]*)", re.IGNORECASE)
_TIME = re.compile(r"([0-9]{4})([0-9]{2})([0-9]{2})(?:T([0-9]{2})([0-9]{2})[0-9]{2}(Z?))?")
_ESCAPED = re.compile(r"\\(.)")


def describe_event(calendar: str) -> str:
    """`[Calendar: summary, time, place]` of the first event, "" if it says none of them."""
    unfolded = calendar[:_MAX_LENGTH].replace("\n ", "").replace("\n\t", "")
    begin = unfolded.upper().find("BEGIN:VEVENT")
    values: dict[str, str] = {}
    for found in _FIELD.finditer(unfolded, max(begin, 0)):
        values.setdefault(found[1].upper(), _value(found[2]))
    shown = [values.get("SUMMARY", ""), _time(values), values.get("LOCATION", "")]
    line = ", ".join(each for each in shown if each)
    return f"[Calendar: {line}]" if line else ""


def _value(written: str) -> str:
    text = written.partition(":")[2]
    plain = _ESCAPED.sub(lambda found: " " if found[1] in "nN" else found[1], text)
    return clean_line(plain)[:_MAX_VALUE_LENGTH]


def _time(values: dict[str, str]) -> str:
    found = _TIME.fullmatch(values.get("DTSTART", ""))
    if found is None:
        return ""
    day = f"{found[1]}-{found[2]}-{found[3]}"
    return day if found[4] is None else f"{day} {found[4]}:{found[5]}{' UTC' if found[6] else ''}"
