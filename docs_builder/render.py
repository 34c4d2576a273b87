"""A parsed page as HTML: links, code with colours, tables that scroll."""

import html
import re
from collections.abc import Iterator

from markdown_it import MarkdownIt
from markdown_it.token import Token
from pygments.lexers import get_lexer_by_name
from pygments.token import Comment, Keyword, Name, Number, Operator, String, _TokenType
from pygments.util import ClassNotFound

from docs_builder.site import Page, Site

_PARSER = MarkdownIt("commonmark").enable("table")
_SOURCE = re.compile(r'\b(src|srcset|href)="([^"]+)"')
_CLASSES = ((Comment, "comment"), (Name.Tag, "name"), (Keyword, "word"), (String, "text"),
            (Number, "word"), (Operator.Word, "word"), (Name.Variable, "name"))  # fmt: skip
_TITLES = {"sh": "Shell", "json": "JSON", "python": "Python", "js": "JavaScript",
           "javascript": "JavaScript", "ts": "TypeScript", "nginx": "nginx", "ini": "INI",
           "sql": "SQL", "php": "PHP", "ruby": "Ruby", "go": "Go", "java": "Java",
           "toml": "TOML", "yaml": "YAML", "http": "HTTP"}  # fmt: skip


def body(site: Site, page: Page) -> str:
    """The HTML of a page. Its broken links are added to `site.faults`."""
    tokens = [*_finished(site, page, page.document.tokens)]
    text = str(_PARSER.renderer.render(tokens, _PARSER.options, {}))
    # The policy allows no inline style, and a header without a text is no header.
    return text.replace("<th></th>", "<td></td>").replace('style="text-align:right"', 'class="end"')


def _finished(site: Site, page: Page, tokens: list[Token]) -> Iterator[Token]:
    """The tokens with resolved links; code and tables are replaced by HTML."""
    heading = ""
    for token in tokens:
        if token.type == "inline":
            token.children = [*_inline(site, page, token.children or [])]
            yield token
        elif token.type == "fence" or token.type == "code_block":
            yield _html(_code(token.content, token.info))
        elif token.type == "html_block":
            yield _html(_with_sources(site, page, token.content))
        elif token.type == "table_open":
            label = html.escape(f"Table: {heading}")
            yield _html(f'<div class="scroll" tabindex="0" role="group" aria-label="{label}">')
            yield token
        elif token.type == "table_close":
            yield token
            yield _html("</div>\n")
        else:
            heading = str(token.attrGet("id")) if token.type == "heading_open" else heading
            yield token


def _inline(site: Site, page: Page, children: list[Token]) -> Iterator[Token]:
    open_links: list[Token | None] = []
    for token in children:
        if token.type == "link_open":
            link = _link(site, page, token)
            open_links.append(link)
            if link is not None:
                yield link
        elif token.type == "link_close":
            if open_links.pop() is not None:
                yield token
        elif token.type == "image":
            token.attrSet("src", site.address(page, str(token.attrGet("src"))) or "")
            yield token
        elif token.type == "html_inline":
            token.content = _with_sources(site, page, token.content)
            yield token
        elif token.type == "code_inline" and not open_links:
            address = site.url_address(page, token.content)
            code = f"<code>{html.escape(token.content, quote=False)}</code>"
            yield _html(code if address is None else f'<a href="{address}">{code}</a>', "inline")
        else:
            yield token


def _link(site: Site, page: Page, token: Token) -> Token | None:
    """The link with its address on the site; None when it leads to a file of the source alone."""
    target = str(token.attrGet("href"))
    if re.match(r"https?://|mailto:", target):
        token.attrSet("rel", "noopener noreferrer")
        return token
    is_url = target.startswith("/")
    address = site.url_address(page, target) if is_url else site.address(page, target)
    if is_url and address is None:
        site.faults.append(f"{page.path}: {target}: no such page")
    if address is None:
        return None
    token.attrSet("href", address)
    return token


def _with_sources(site: Site, page: Page, content: str) -> str:
    def resolved(match: re.Match[str]) -> str:
        if "://" in match[2]:
            return match[0]
        return f'{match[1]}="{site.address(page, match[2]) or ""}"'

    return _SOURCE.sub(resolved, content)


def _html(content: str, kind: str = "block") -> Token:
    return Token(f"html_{kind}", "", 0, content=content)


def _code(content: str, info: str) -> str:
    """A block of code. info: the language, and after it the title."""
    language, _, title = info.partition(" ")
    caption = title or _TITLES.get(language, "")
    figcaption = f"<figcaption>{html.escape(caption)}</figcaption>" if caption else ""
    code = "".join(_coloured(content, language))
    return (
        f'<figure class="code">{figcaption}<pre tabindex="0"><code>{code}</code></pre></figure>\n'
    )


def _coloured(content: str, language: str) -> Iterator[str]:
    try:
        lexer = get_lexer_by_name(language or "text", stripnl=False)
    except ClassNotFound:
        lexer = get_lexer_by_name("text", stripnl=False)
    for kind, text in lexer.get_tokens(content):
        name = _class_of(kind)
        escaped = html.escape(text, quote=False)
        yield escaped if name is None else f'<span class="{name}">{escaped}</span>'


def _class_of(kind: _TokenType) -> str | None:
    return next((name for parent, name in _CLASSES if kind in parent), None)
