"""What programs read: the Markdown twin of each page, and `/llms.txt`."""

import re
from collections.abc import Iterator

from docs_builder.site import Page, Site

_LINK = re.compile(r"(?<!!)\[((?:[^\[\]`]|`[^`]*`)*)\]\(([^)\s]+)\)")
_OWN_ID = re.compile(r"^(#+ .*?)\s*\{#[\w-]+\}$", re.MULTILINE)
_PICTURE = re.compile(r"^<picture>.*?</picture>\n|^!\[.*\]\(.*\)\n", re.DOTALL | re.MULTILINE)
_FENCE = re.compile(r"^(```.*?^```$)", re.DOTALL | re.MULTILINE)
_ABOUT = """\
# Sealdesk

> A customer-support ticketing service. Programs call its API under /api/v1/external and sign each
> request with HMAC-SHA256; people answer tickets in a browser.

Every page below is Markdown; without `.md` in its address it is HTML. The OpenAPI 3.1 document is
at [/openapi.json](/openapi.json).
"""


def twin(site: Site, page: Page) -> str:
    """The Markdown of a page; its links lead to other twins, pictures are left out."""
    parts = _FENCE.split(page.markdown)
    for place in range(0, len(parts), 2):  # between blocks of code
        text = _OWN_ID.sub(r"\1", _PICTURE.sub("", parts[place]))
        parts[place] = _LINK.sub(lambda match: _link(site, page, match), text)
    return "".join(parts)


def llms_txt(site: Site) -> str:
    """The list of all pages in the format of llmstxt.org."""
    return "\n".join([_ABOUT, *_lists(site)])


def llms_full_txt(site: Site) -> str:
    """All pages in reading order."""
    return "\n\n---\n\n".join(twin(site, page).strip() for page in site.pages.values()) + "\n"


def _lists(site: Site) -> Iterator[str]:
    for section in site.sections:
        lines = [
            f"- [{page.document.title}]({page.url}.md): {page.document.lead}"
            for page in section.pages
        ]
        yield "\n".join([f"## {section.title}\n", *lines, ""])


def _link(site: Site, page: Page, match: re.Match[str]) -> str:
    text, target = match.groups()
    if re.match(r"https?:|mailto:|#|/", target):
        return match[0]
    path, _, anchor = target.partition("#")
    found = site.find(page, path)
    suffix = f"#{anchor}" if anchor else ""
    return f"[{text}]({found.url}.md{suffix})" if found else text
