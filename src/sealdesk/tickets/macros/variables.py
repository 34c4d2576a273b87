"""The variables of macros: which there are, and their values as plain text; no IO."""

import difflib
import re
from collections.abc import Mapping
from typing import Any

from sealdesk.errors import Fault, gettext_noop

NAMES = (
    "customer.name",
    "customer.first_name",
    "customer.email",
    "ticket.number",
    "ticket.subject",
    "agent.name",
    "agent.first_name",
)
MAX_VARIABLES = 100  # so that a rendered body is at most 26 KB longer than its macro
_MAX_NAMED = 64
_VARIABLE = re.compile(r"\{\{([^{}]*)\}\}")
# What would be Markdown within a line: code, emphasis, the end of a link's text, entities, links
# in angle brackets, and a backslash before any of these.
_MARKDOWN = re.compile(
    r"[`*]|(?<!\w)_|_(?!\w)|\](?=\(|\Z)|&(?=#?\w+;)|<(?=\w)|\\(?=[!-/:-@\[-`{-~]|\Z)"
)
# At the beginning of a line: headings, quotes, lists, rules and fences.
_BLOCK = re.compile(r"([#>+~=|-]|\d{1,9}(?=[.)]))")
# Before a name it would mention a colleague, which no escape prevents.
_AT = re.compile(r"(?<![\w@.+-])@(?=\w)")
_WORD_JOINER = "\u2060"
_UNKNOWN = gettext_noop("%(name)s is not a variable. There are %(names)s.")
_MISSPELT = gettext_noop("%(name)s is not a variable. Did you mean %(near)s? There are %(names)s.")
_UNFINISHED = gettext_noop("A variable is not finished: write it as in {{customer.name}}.")
_TOO_MANY = gettext_noop("There may be at most %(limit)s variables.")


def check_variables(text: str) -> list[Fault]:
    """What is wrong with the variables of a text."""
    names = [name.strip() for name in _VARIABLE.findall(text)]
    unknown = [name for name in dict.fromkeys(names) if name not in NAMES]
    if unknown:
        return [_unknown(unknown[0])]
    if "{{" in _VARIABLE.sub("", text):
        return [Fault("", "unfinished_variable", _UNFINISHED)]
    if len(names) > MAX_VARIABLES:
        return [Fault("", "too_many_variables", _TOO_MANY, {"limit": MAX_VARIABLES})]
    return []


def fill(text: str, values: Mapping[str, Any]) -> str:
    """The text with the values of its variables, each as plain text in Markdown.

    It is read once: a value that looks like a variable stays as it is. So does a variable that
    only a later version knows.
    """

    def value_of(match: re.Match[str]) -> str:
        name = match[1].strip()
        is_first = not text[: match.start()].rpartition("\n")[2].strip()
        return escape(str(values[name]), is_first=is_first) if name in values else match[0]

    return _VARIABLE.sub(value_of, text)


def escape(value: str, *, is_first: bool) -> str:
    """Markdown that shows a value as one line. is_first: whether it begins a line."""
    line = _MARKDOWN.sub(r"\\\g<0>", " ".join(value.split()))
    if is_first:
        line = _BLOCK.sub(_escape_block, line, count=1) if _BLOCK.match(line) else line
    return _AT.sub(f"@{_WORD_JOINER}", line)


def _escape_block(match: re.Match[str]) -> str:
    return f"{match[1]}\\" if match[1].isdigit() else f"\\{match[1]}"


def _unknown(name: str) -> Fault:
    near = difflib.get_close_matches(name[:_MAX_NAMED], NAMES, n=1)
    values = {"name": _written(name[:_MAX_NAMED]), "names": ", ".join(map(_written, NAMES))}
    if not near:
        return Fault("", "unknown_variable", _UNKNOWN, values)
    return Fault("", "unknown_variable", _MISSPELT, {**values, "near": _written(near[0])})


def _written(name: str) -> str:
    return f"{{{{{name}}}}}"
