"""Adds the HTML of a text to the JSON of its ticket or reply."""

from collections.abc import Sequence
from typing import Literal, NamedTuple

import msgspec

from sealdesk.sandbox.pool import Pool
from sealdesk.tickets.text import kept_html, markdown
from sealdesk.tickets.text.arrangement import Look

# Of all texts of a response: as many as the longest one may take.
MAX_STEPS = markdown.MAX_STEPS
HtmlField = Literal["description_html", "body_html"]


class WithHtml(NamedTuple):
    """Documents with their HTML: the first ones, at least one. steps: that all of it took."""

    documents: list[bytes]
    steps: int


async def add_html(
    sandbox: Pool, documents: Sequence[bytes], texts: Sequence[str], field: HtmlField
) -> WithHtml:
    """The documents with the HTML of their texts, up to the one that takes too many steps.

    Numbers of tickets are no links, and mentions are plain text: only pages know both.
    """
    extended, steps = list[bytes](), 0
    async for shown in kept_html.render_each(sandbox, ((text, False) for text in texts), Look()):
        steps += shown.steps
        if steps > MAX_STEPS and extended:
            break
        member = msgspec.json.encode({field: str(shown.html)})
        extended.append(documents[len(extended)][:-1] + b"," + member[1:])
    return WithHtml(extended, steps)
