"""Values of Content-Type and Content-Disposition with their parameters (RFC 2045, RFC 2231)."""

import re
from typing import NamedTuple
from urllib.parse import unquote_to_bytes

from sealdesk.mail.parsing.charsets import clean_line, codec_of, decode
from sealdesk.mail.parsing.encoded_words import decode_words
from sealdesk.mail.parsing.types import Fault

_MAX_PARAMETERS = 100
_MAX_SECTIONS = 100  # RFC 2231, 3: of one parameter
_TOKEN = re.compile(r"[^\s;=\"]+")
_SPACE = re.compile(r"[\s;]+")
_EQUALS = re.compile(r"\s*=\s*")
_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"?', re.DOTALL)
_UNQUOTED = re.compile(r"[^;\"]*")
_SECTION = re.compile(r"([^*]+)\*(?:([0-9]{1,3})(\*?))?")
# Paths of Windows have backslashes that escape nothing.
_ESCAPED = re.compile(r"\\([\"\\])")


class Value(NamedTuple):
    """The value before the first `;` in lower case, and the parameters by lower-case names."""

    value: str
    parameters: dict[str, str]


class _Section(NamedTuple):
    text: str
    is_encoded: bool


def read_value(field: str, faults: set[Fault]) -> Value:
    """What a Content-Type or Content-Disposition says."""
    value, _, rest = field.partition(";")
    plain: dict[str, str] = {}
    extended: dict[str, dict[int, _Section]] = {}
    for name, text in _parameters(rest):
        found = _SECTION.fullmatch(name)
        if found is None:
            plain.setdefault(name, text)
            continue
        number = int(found[2] or 0)
        is_encoded = found[2] is None or bool(found[3])
        extended.setdefault(found[1], {}).setdefault(number, _Section(text, is_encoded))
    parameters = {name: decode_words(text, faults) for name, text in plain.items()}
    for name, sections in extended.items():
        parameters[name] = _joined(sections, faults)
    return Value(clean_line(value).lower(), parameters)


def _parameters(text: str) -> list[tuple[str, str]]:
    """The parameters as they stand, at most 100."""
    found: list[tuple[str, str]] = []
    at = 0
    while at < len(text) and len(found) < _MAX_PARAMETERS:
        at = _end(_SPACE, text, at)
        name = _TOKEN.match(text, at)
        if name is None:
            at += 1
            continue
        at = name.end()
        equals = _EQUALS.match(text, at)
        if equals is None:
            continue
        value, at = _value_at(text, equals.end())
        found.append((name[0].lower(), value))
    return found


def _end(pattern: re.Pattern[str], text: str, at: int) -> int:
    found = pattern.match(text, at)
    return at if found is None else found.end()


def _value_at(text: str, at: int) -> tuple[str, int]:
    quoted = _QUOTED.match(text, at)
    if quoted is not None:
        return _ESCAPED.sub(r"\1", quoted[1]), quoted.end()
    # Names of files with spaces often lack their quotes.
    end = _end(_UNQUOTED, text, at)
    return text[at:end].strip(), end


def _joined(sections: dict[int, _Section], faults: set[Fault]) -> str:
    """The text of a parameter in sections, up to the first that is missing."""
    charset, data = "", b""
    for number in range(_MAX_SECTIONS):
        section = sections.get(number)
        if section is None:
            break
        text = section.text
        if number == 0 and section.is_encoded and text.count("'") >= 2:
            charset, _, text = text.split("'", 2)
        data += unquote_to_bytes(text) if section.is_encoded else text.encode()
    decoded = decode(data, charset)
    if not decoded.is_certain or (charset and codec_of(charset) is None):
        faults.add(Fault.CHARSET)
    return clean_line(decoded.text)
