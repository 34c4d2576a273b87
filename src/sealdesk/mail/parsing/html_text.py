"""HTML as Markdown, the way a person would write it into an e-mail of plain text."""

import re
from urllib.parse import quote

from sealdesk.mail.parsing.charsets import clean_line, clean_text
from sealdesk.mail.parsing.html_tokens import Tag, read_tokens

_MAX_TOKENS = 200_000
_MAX_DEPTH = 5  # of quotes and lists that are shown
_MAX_URL_LENGTH = 2_000
_EDGE = 200  # characters that show whether a text is HTML
_PARAGRAPHS = {"p", "h1", "h2", "h3", "h4", "h5", "h6", "ul", "ol", "dl", "table", "blockquote"}
_LINES = set(
    """
    div tr li dt dd section article header footer main nav aside address center form fieldset
    figure figcaption caption pre tbody thead option body html
    """.split()
)
_LISTS = {"ul", "ol"}
_WITHIN_LINKS = {"div", "p", "h1", "h2", "h3", "h4", "h5", "h6", "center", "br"}
_MAX_LINK_LENGTH = 500
_HIDDEN = re.compile(
    r"display\s*+:\s*+none|(?:mso-hide|visibility)\s*+:\s*+(?:all|hidden)"
    r"|(?:max-height|opacity)\s*+:\s*+0(?![\d.])",
    re.IGNORECASE,
)
_VALUES = re.compile(r"\"[^\"]*\"|'[^']*'")
_MAY_HIDE = {"div", "span", "p", "td", "table", "tr"}
# Fillers with which newsletters hide the beginning of their text.
_INVISIBLE = re.compile("[\u00ad\u034f\u200b\u2060\ufeff]+")
_SHOWN_SCHEMES = ("http://", "https://", "mailto:", "tel:")
_LOOKS_LIKE_URL = re.compile(r"https?://|www\.", re.IGNORECASE)
# What Outlook writes above the header of the message that is answered, in plain text; in HTML that
# header has an id instead.
_RULE = "_" * 32
_ABOVE_REPLY = re.compile(r"(?:x_)*+(?:divrplyfwdmsg|outlookmessageheader|appendonsend|zwchr)")
# Around what mail programs quote, perhaps without <blockquote>, or around the line above it.
_QUOTES = re.compile(
    r"(?:x_)*+(?:(?:gmail|y(?:ahoo|mail)|proton(?:mail)?|tutanota|freshdesk|missive|fairemail)"
    r"_(?:quoted?(?:_container|_attribution|_\d{1,20})?|attr)|moz-cite-prefix|zmail_extra"
    r"|__quoted_text__|messagereplysection|reply-?(?:header|intro)|hs_reply(?:_attribution)?"
    r"|mail-editor-reference-message-container)"
)
_PARTS = (
    "quote",
    "rply",
    "repl",
    "cite-",
    "appendon",
    "outlookm",
    "zwchr",
    "_attr",
    "zmail_",
    "-ref",
)
_MARKS = ("class", "id", "name", "data-marker")
_FORWARDED = re.compile(r"\s*-{2}\D*")  # `---- Forwarded message ----`
_UNSHOWN = re.compile(r"<!\[CDATA\[|\]\]>|</?title>", re.IGNORECASE)
_TINY = ("0", "1", "2", "0px", "1px", "2px")


class _Text:
    """The text so far, with the white space that the next word needs."""

    def __init__(self) -> None:
        self.pieces: list[str] = []
        self.length = 0
        self.new_lines = 0
        self.space = ""
        self.quote_depth = 0
        self._last_depth = 0  # of the last line

    def break_line(self, count: int) -> None:
        self.new_lines = max(self.new_lines, count)
        self.space = ""

    def add(self, text: str) -> None:
        """Text without a new line."""
        depth = min(self.quote_depth, _MAX_DEPTH)
        prefix = "> " * depth
        if not self.pieces:
            self._append(prefix)
        elif self.new_lines:
            blank = "\n" + ("> " * min(depth, self._last_depth)).rstrip()
            self._append(blank * (self.new_lines - 1) + "\n" + prefix)
        elif self.space:
            self._append(self.space)
        self.new_lines, self.space, self._last_depth = 0, "", depth
        self._append(text)

    def _append(self, text: str) -> None:
        self.pieces.append(text)
        self.length += len(text)


class _Link:
    """A link that is being read."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.texts: list[str] = []
        self.length = 0

    def add(self, text: str) -> None:
        if text:
            self.texts.append(text)
            self.length += len(text)


class _Converter:
    def __init__(self, *, shows_hidden: bool) -> None:
        self.text = _Text()
        self.shows_hidden = shows_hidden
        self.hidden_by = ""
        self.hidden_depth = 0
        self.pre_depth = 0
        self.lists: list[int] = []  # the next number of each list, 0 for one without numbers
        self.link: _Link | None = None
        self.quote = ""  # the name of the element around a quote
        self.open_count = 0  # of its name that are open
        self.begins_quote = False

    def take(self, token: Tag | str) -> None:
        if self.hidden_by:
            self._skip(token)
        elif isinstance(token, str):
            self._take_text(token)
        elif token.attributes is None:
            self._end(token.name)
        else:
            self._start(token)

    def _skip(self, token: Tag | str) -> None:
        if isinstance(token, Tag) and token.name == self.hidden_by:
            self.hidden_depth += -1 if token.attributes is None else 1
            if not self.hidden_depth:
                self.hidden_by = ""

    def _take_text(self, written: str) -> None:
        text = _INVISIBLE.sub("", clean_text(written))
        if self.begins_quote and text.strip():
            self.begins_quote = False
            if _FORWARDED.fullmatch(text):
                self._end_quote()
        if self.link is not None:
            self.link.add(text)
            if self.link.length > _MAX_LINK_LENGTH:
                self.end_link()
        elif self.pre_depth:
            self._take_lines(text)
        else:
            words = text.split()
            if text[:1].isspace() and not self.text.space:
                self.text.space = " "
            if words:
                self.text.add(" ".join(words))
                self.text.space = " " if text[-1].isspace() else ""

    def _take_lines(self, text: str) -> None:
        for count, line in enumerate(text.split("\n")):
            if count:
                self.text.new_lines = min(self.text.new_lines + 1, 3)
            if line:
                self.text.add(line)

    def _start(self, tag: Tag) -> None:
        if self._hides(tag):
            self.hidden_by, self.hidden_depth = tag.name, 1
            return
        self._break(tag.name)
        if tag.name == self.quote == "p":
            self._end_quote()  # a paragraph is in no other
        elif tag.name == self.quote:
            self.open_count += 1
        marks = _marks(tag) if tag.name in ("div", "p", "hr") else []
        if any(map(_ABOVE_REPLY.fullmatch, marks)):
            self._add_rule(_RULE, 1)
        elif not self.quote and tag.name != "hr" and any(map(_QUOTES.fullmatch, marks)):
            self.quote, self.open_count, self.begins_quote = tag.name, 1, True
            self.text.quote_depth += 1
        match tag.name:
            case "br" if self.link is None:
                self.text.new_lines = min(self.text.new_lines + 1, 2)
            case "hr":
                self._add_rule("---", 2)
            case "td" | "th":
                self.text.space = " | " if not self.text.new_lines else ""
            case "li":
                self._begin_item()
            case "ul" | "ol":
                self.lists.append(int(tag.name == "ol"))
            case "blockquote":
                # Behind it, but within the element around it, may be an answer.
                self._end_quote()
                self.text.quote_depth += 1
            case "pre":
                self.pre_depth += 1
            case "a":
                self.end_link()
                href = tag.attribute("href")
                self.link = _Link(href) if href else None
            case "img":
                self._add_image(tag)

    def _hides(self, tag: Tag) -> bool:
        attributes = tag.attributes or ""
        if self.shows_hidden or tag.name not in _MAY_HIDE:
            return False
        if "hidden" in attributes and "hidden" in _VALUES.sub("", attributes).split():
            return True
        return "style" in attributes and _HIDDEN.search(tag.attribute("style")) is not None

    def _end(self, name: str) -> None:
        if name in _LISTS and self.lists:
            self.lists.pop()
        self._break(name)
        if name == self.quote:
            self.open_count -= 1
            if not self.open_count:
                self._end_quote()
        if name == "a":
            self.end_link()
        elif name == "blockquote":
            self.text.quote_depth = max(self.text.quote_depth - 1, 0)
        elif name == "pre":
            self.pre_depth = max(self.pre_depth - 1, 0)

    def _end_quote(self) -> None:
        if self.quote:
            self.quote, self.begins_quote = "", False
            self.text.quote_depth = max(self.text.quote_depth - 1, 0)

    def _add_rule(self, rule: str, lines_below: int) -> None:
        if self.text.pieces[-1:] != [_RULE]:
            self.text.break_line(2)
            self.text.add(rule)
            self.text.break_line(lines_below)

    def _break(self, name: str) -> None:
        if self.link is not None and name in _WITHIN_LINKS:
            self.link.add(" ")
        elif name in _PARAGRAPHS or name in _LINES:
            self.end_link()
            # A list within a list begins on the next line.
            is_paragraph = name in _PARAGRAPHS and not (name in _LISTS and self.lists)
            self.text.break_line(2 if is_paragraph else 1)

    def _begin_item(self) -> None:
        number = self.lists[-1] if self.lists else 0
        indent = "  " * (min(len(self.lists), _MAX_DEPTH) - 1)
        if number:
            self.lists[-1] += 1
        self.text.add(f"{indent}{number}." if number else f"{indent}-")
        self.text.space = " "

    def _add_image(self, tag: Tag) -> None:
        name = clean_line(tag.attribute("alt"))
        source = tag.attribute("src")
        if self.link is not None:
            self.link.add(name)
        elif source.lower().startswith("cid:"):
            self.text.space = self.text.space or " "
            self.text.add(f"[{_plain(name) or 'image'}]")
        elif tag.attribute("width") not in _TINY and tag.attribute("height") not in _TINY:
            self.text.space = self.text.space or " "
            self.text.add(_link(source, name or "image"))

    def end_link(self) -> None:
        if self.link is None:
            return
        url, written = self.link.url, "".join(self.link.texts)
        self.link = None
        name = clean_line(written)
        if not name:
            return
        self.text.space = self.text.space or (" " if written[0].isspace() else "")
        self.text.add(_link(url, name))
        self.text.space = " " if written[-1].isspace() else ""


def _marks(tag: Tag) -> list[str]:
    """The names that a mail program may have given an element, in lower case."""
    written = (tag.attributes or "").lower()
    if not any(part in written for part in _PARTS):  # ten times as fast as the patterns
        return []
    return [each for mark in _MARKS for each in tag.attribute(mark).lower().split()]


def _link(url: str, name: str) -> str:
    """A link in Markdown, or its text alone if nobody would follow it."""
    url = clean_line(url)
    is_shown = url.lower().startswith(_SHOWN_SCHEMES) and len(url) <= _MAX_URL_LENGTH
    bare = url.removeprefix("mailto:").removeprefix("tel:")
    if not is_shown or name in (url, bare):
        return name if name in (url, bare) else _plain(name)
    target = quote(url, safe="/:?#@!$&'*+,;=%~-._[]")
    # A text that looks like an address itself could hide where the link leads.
    if _LOOKS_LIKE_URL.match(name):
        return target if target.rstrip("/") == name.rstrip("/") else f"{_plain(name)} ({target})"
    return f"[{_plain(name)}]({target})"


def _plain(name: str) -> str:
    return name.replace("[", "(").replace("]", ")")


def is_html_document(text: str) -> bool:
    """Whether a script has sent HTML as plain text, and nobody has written anything around it."""
    begins, ends = text[:_EDGE].lstrip().lower(), text[-_EDGE:].rstrip().lower()
    return begins.startswith(("<!doctype html", "<html")) and ends.endswith("</html>")


def html_to_text(source: str, max_length: int) -> tuple[str, bool]:
    """What HTML says, as Markdown, and whether that is all of it.

    Of a longer text, at least the first `max_length` characters.
    """
    converter, is_whole = _convert(source, max_length, shows_hidden=False)
    # What is hidden and does not end would hide the rest of the message.
    if converter.hidden_by:
        converter, is_whole = _convert(source, max_length, shows_hidden=True)
    # Nothing else is shown: browsers do not show these, but somebody has written them.
    if not converter.text.pieces:
        converter, is_whole = _convert(_UNSHOWN.sub("", source), max_length, shows_hidden=True)
    lines = "".join(converter.text.pieces).split("\n")
    return "\n".join(line.rstrip() for line in lines).strip(), is_whole


def _convert(source: str, max_length: int, *, shows_hidden: bool) -> tuple[_Converter, bool]:
    converter = _Converter(shows_hidden=shows_hidden)
    for count, token in enumerate(read_tokens(source)):
        if count >= _MAX_TOKENS or converter.text.length > max_length:
            return converter, False
        converter.take(token)
    converter.end_link()
    return converter, True
