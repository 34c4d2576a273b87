"""text/enriched (RFC 1896) and its ancestor text/richtext (RFC 1341) as HTML."""

import re
from collections.abc import Iterator

_PARAMETER = re.compile(r"<(param|comment)>[^<]*</\1>", re.IGNORECASE)
_TAGS = {
    "excerpt": "blockquote", "paragraph": "p", "nl": "br", "np": "hr", "nofill": "pre",
    "verbatim": "pre",
}  # fmt: skip
_TAG = re.compile(rf"<(/?)({'|'.join(_TAGS)})>", re.IGNORECASE)
_NOT_FILLED = re.compile("(</?pre>)")
_NEW_LINES = re.compile(r"\n+")


def enriched_to_html(source: str) -> str:
    """The same text with the tags of HTML; others, such as `<bold>`, stay as they are."""
    text = source.replace("&", "&amp;").replace("<<", "&lt;").replace("<lt>", "&lt;")
    text = _PARAMETER.sub("", text)
    html = _TAG.sub(lambda found: f"<{found[1]}{_TAGS[found[2].lower()]}>", text)
    # Only the newer type counts ends of lines: one is a space, and two are one (RFC 1896, 2).
    return html if "<br>" in html else "".join(_with_breaks(html))


def _with_breaks(html: str) -> Iterator[str]:
    is_filled = True
    for piece in _NOT_FILLED.split(html):
        yield (
            _NEW_LINES.sub(lambda found: "<br>" * min(len(found[0]) - 1, 2) or " ", piece)
            if is_filled
            else piece
        )
        is_filled = piece != "<pre>" and (is_filled or piece == "</pre>")
