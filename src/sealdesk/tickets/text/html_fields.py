"""Adds the HTML of a text to the JSON of its ticket or reply."""

from collections.abc import Sequence
from typing import Literal, NamedTuple

import msgspec

from sealdesk.tickets.text import markdown
from sealdesk.tickets.text.arrangement import Look

# Of all texts of a response: as many as the longest one may take.
MAX_STEPS = markdown.MAX_STEPS
HtmlField = Literal["description_html", "body_html"]


class WithHtml(NamedTuple):
    """Documents with their HTML: the first ones, at least one. steps: that all of it took."""

    documents: list[bytes]
    steps: int


async def add_html(documents: Sequence[bytes], texts: Sequence[str], field: HtmlField) -> WithHtml:
    """The documents with the HTML of their texts, up to the one that takes too many steps.

    Numbers of tickets are no links, and mentions are plain text: only pages know both.
    """
    extended, steps = list[bytes](), 0
    rendered = markdown.render_each(texts, Look())
    async for html, taken in rendered:
        steps += taken
        if steps > MAX_STEPS and extended:
            break
        member = msgspec.json.encode({field: str(html)})
        extended.append(documents[len(extended)][:-1] + b"," + member[1:])
    return WithHtml(extended, steps)
