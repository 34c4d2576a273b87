"""Parsed Markdown as a page shows it: links, mentions, folded quotes, and no images."""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from markupsafe import escape

from sealdesk.tickets.text.mentions import Names
from sealdesk.tickets.text.references import link_references, made_link, text_token

if TYPE_CHECKING:
    from markdown_it.token import Token

_LONG_QUOTE_LINES = 3
_HTTP = re.compile(r"https?:", re.IGNORECASE)


class Look(NamedTuple):
    """How a text is shown.

    root: the path prefix of the page that shows it, None outside of the pages: only there, numbers
    of tickets are links. names: of users who can be mentioned. quote_label: what a folded quote is
    called, "" to fold none.
    """

    root: str | None = None
    names: Names = {}  # noqa: RUF012 - never changed
    quote_label: str = ""


def arrange(tokens: list["Token"], look: Look) -> list["Token"]:
    """The tokens of a text for a page, or for a response of the API if there is no root."""
    shown = [*_without_empty_headings(tokens)]
    for token in shown:
        if token.type == "inline":
            children = [*_without_images(token.children or [])]
            linked = link_references(children, look.names, look.root)
            token.children = [*_marked_links(linked)]
        elif token.type.startswith("heading_") and look.root is not None:
            token.tag = "h3"  # below the headings of the page
    return [*_fold_quotes(shown, look.quote_label)] if look.quote_label else shown


def _without_empty_headings(tokens: list["Token"]) -> Iterator["Token"]:
    """Screen readers announce them."""
    for before, token, after in zip([None, *tokens], tokens, [*tokens[1:], None], strict=False):
        inline = {"heading_open": after, "inline": token, "heading_close": before}.get(token.type)
        is_heading = token.type != "inline" or (
            before is not None and before.type == "heading_open"
        )
        if inline is None or not is_heading or inline.content.strip():
            yield token


def _without_images(tokens: list["Token"]) -> Iterator["Token"]:
    """Images as links: a page loads nothing from elsewhere."""
    depth = 0
    for token in tokens:
        depth += token.nesting if token.type.startswith("link_") else 0
        if token.type != "image":
            yield token
            continue
        source = str(token.attrs["src"])
        label = token.content or source
        if depth:
            yield token.copy(type="text", tag="", content=label, children=None, attrs={})
        else:
            yield from made_link(source, label)


def _marked_links(tokens: list["Token"]) -> Iterator["Token"]:
    """Links elsewhere open another tab, say where they lead, and have a text."""
    for token, after in zip(tokens, [*tokens[1:], None], strict=True):
        yield token
        href = str(token.attrs.get("href", ""))
        if token.type != "link_open" or not _HTTP.match(href):
            continue
        token.attrs = {"href": href, "target": "_blank"}
        if after is None or after.type == "link_close":
            yield text_token(href)
        elif after.content != href:
            token.attrs["title"] = href


def _fold_quotes(tokens: list["Token"], label: str) -> Iterator["Token"]:
    """Long quotes that do not stand within others are folded."""
    is_folded = False
    for token in tokens:
        if token.type == "blockquote_open" and token.level == 0:
            first, last = token.map or [0, 0]
            is_folded = last - first > _LONG_QUOTE_LINES
            if is_folded:
                yield _html(token, f"<details><summary>{escape(label)}</summary>")
        yield token
        if token.type == "blockquote_close" and token.level == 0 and is_folded:
            yield _html(token, "</details>")


def _html(token: "Token", html: str) -> "Token":
    return token.copy(type="html_block", tag="", nesting=0, content=html)
