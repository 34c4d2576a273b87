"""The tags and texts of HTML, in linear time however broken it is.

Neither nh3 nor `html.parser` reads HTML here: both take quadratic time for some texts (nh3 takes
47 s for 100,000 nested elements, measured 2026-11-22; python/cpython#135462). What they would give
is not shown as HTML: it becomes Markdown, which is sanitised when it is shown.
"""

import html
import re
from collections.abc import Iterator
from typing import NamedTuple

_TAG = re.compile(
    r"""<(/?)([A-Za-z][^\s/>]{0,40})((?:[^>"']++|"[^"]*+"|'[^']*+')*+)>""",
)
_NAME = re.compile(r"<(/?)([A-Za-z][^\s/>]{0,40})")
_ATTRIBUTE = re.compile(
    r"""([^\s"'=<>/]{1,40})\s*+=\s*+(?:"([^"]*)"|'([^']*)'|([^\s"'>]++))""", re.IGNORECASE
)
_MAX_ATTRIBUTES = 50
_MAX_ATTRIBUTES_LENGTH = 8_192
# Elements whose content is not text of the document.
_RAW_TEXT = {
    name: re.compile(rf"</{name}(?=[\s/>])", re.IGNORECASE)
    for name in ("script", "style", "title", "xml", "template", "svg", "math")
}
# `html.unescape` raises for numbers with more digits than `int` takes, which is 4300 digits.
_LONG_NUMBER = re.compile(r"&#[0-9]{8,};?")


class Tag(NamedTuple):
    """name: in lower case. attributes: as they stand, None for an end tag."""

    name: str
    attributes: str | None

    def attribute(self, name: str) -> str:
        """The value of an attribute, "" without one."""
        for count, found in enumerate(_ATTRIBUTE.finditer(self.attributes or "")):
            if found[1].lower() == name:
                return unescape(found[2] or found[3] or found[4] or "").strip()
            if count >= _MAX_ATTRIBUTES:
                break
        return ""


def read_tokens(source: str) -> Iterator[Tag | str]:
    """Tags and texts in their order, without comments and without what is no text."""
    at, may_be_quoted = 0, True
    while at < len(source):
        start = source.find("<", at)
        if start < 0:
            yield unescape(source[at:])
            return
        if start > at:
            yield unescape(source[at:start])
        if source[start + 1 : start + 2] in ("!", "?"):
            at = _end_of_comment(source, start)
            continue
        name = _NAME.match(source, start)
        if name is None:
            yield "<"
            at = start + 1
            continue
        # Once a quote has no end, quotes are no longer looked at: the search for one would take
        # the rest of the text again and again.
        found = _TAG.match(source, start) if may_be_quoted else None
        may_be_quoted = found is not None
        end = found.end() if found else _after(source, ">", name.end())
        limit = name.end() + _MAX_ATTRIBUTES_LENGTH
        tag = Tag(name[2].lower(), None if name[1] else source[name.end() : min(end - 1, limit)])
        yield tag
        at = end
        if tag.attributes is not None and tag.name in _RAW_TEXT:
            closing = _RAW_TEXT[tag.name].search(source, end)
            at = closing.start() if closing else len(source)


def _end_of_comment(source: str, start: int) -> int:
    if not source.startswith("<!--", start):
        return _after(source, ">", start)
    # `<!-->` is a whole comment (HTML, 13.2.5.43).
    return _after(source, "-->", start + 2)


def _after(source: str, end: str, start: int) -> int:
    found = source.find(end, start)
    return len(source) if found < 0 else found + len(end)


def unescape(text: str) -> str:
    """A text with its character references replaced."""
    return html.unescape(_LONG_NUMBER.sub("\ufffd", text)) if "&" in text else text
