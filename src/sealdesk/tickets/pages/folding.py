"""Texts of a page with the quotes and the signature at their end apart, so that it folds them."""

from collections.abc import Iterable
from typing import NamedTuple

from markupsafe import Markup

from sealdesk.db import threads
from sealdesk.tickets.text import markdown
from sealdesk.tickets.text.arrangement import Look
from sealdesk.tickets.text.quotes import fold


class ShownText(NamedTuple):
    """The HTML of a text. quoted: that of its end, which is folded; empty if nothing is."""

    html: Markup
    quoted: Markup


_IN_THREAD_LENGTH = 512  # of 4 KiB some take 15 ms (2026-11-23)
NO_TEXT = ShownText(Markup(), Markup())


async def render_all(texts: Iterable[tuple[str, bool]], look: Look) -> list[ShownText]:
    """The HTML of texts, each with whether its end is folded."""
    parts = [await _fold(text) if is_folded else (text, "") for text, is_folded in texts]
    written = await markdown.render_all((text for text, _ in parts), look)
    # What is folded as a whole has no quotes that are folded again.
    inner = look._replace(quote_label="")
    quoted = await markdown.render_all((rest for _, rest in parts), inner)
    return [ShownText(*each) for each in zip(written, quoted, strict=True)]


async def _fold(text: str) -> tuple[str, str]:
    return await threads.run_in(None, fold, text) if len(text) > _IN_THREAD_LENGTH else fold(text)
