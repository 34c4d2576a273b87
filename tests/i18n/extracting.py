"""All texts that pages say, out of templates and source, and the files that hold them."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

from jinja2 import nodes

import sealdesk
from sealdesk.routes import SITE
from sealdesk.web.pages import environment, i18n, po_file
from sealdesk.web.pages.po_file import Entry

SOURCE = Path(sealdesk.__file__).parent
LOCALE = SOURCE / "web" / "locale"
POT = LOCALE / "sealdesk.pot"
OTHERS = [language for language in i18n.LANGUAGES if language != i18n.ENGLISH]
# Functions of `words` by what they take.
_CALLS = {"gettext": 1, "gettext_noop": 1, "ngettext": 2}


class Message(NamedTuple):
    """A text, and its plural if it has one."""

    one: str
    many: str | None


def messages() -> list[Message]:
    """All of them, in the order of the alphabet: moving a text to another file changes nothing."""
    found: dict[str, str | None] = {}
    for one, many in [*_of_templates(), *_of_source()]:
        found[one] = many or found.get(one)
    return [Message(one, found[one]) for one in sorted(found)]


def po_path(language: str) -> Path:
    return LOCALE / language / "LC_MESSAGES" / "sealdesk.po"


def translated(language: str) -> dict[str, Entry]:
    """What a language has by now, by message."""
    path = po_path(language)
    if not path.exists():
        return {}
    return {entry.one: entry for entry in po_file.parse(path.read_text()).entries}


def pot() -> str:
    """The template of catalogues, as the source makes it."""
    return _file("", {})


def po(language: str) -> str:
    """A language's catalogue with all texts of the source and no others."""
    return _file(language, translated(language))


def variable_messages() -> list[str]:
    """Templates that hand something else than a constant to `_`, which takes it for safe HTML."""
    return [
        f"{file}:{call.lineno}"
        for file, tree in trees()
        for call in tree.find_all(nodes.Call)
        if isinstance(call.node, nodes.Name) and call.node.name in ("_", "gettext", "ngettext")
        if not isinstance(call.args[0], nodes.Const)
    ]


_environment = cache(lambda: environment.create(SITE.template_packages))


def _template_paths() -> Iterator[Path]:
    yield from sorted(SOURCE.rglob("templates/**/*.html"))


def trees() -> Iterator[tuple[str, nodes.Template]]:
    """All templates of pages: their paths, and how Jinja reads them."""
    for path in _template_paths():
        yield str(path.relative_to(SOURCE)), _environment().parse(path.read_text())


def _of_templates() -> Iterator[tuple[str, str | None]]:
    for path in _template_paths():
        extract = _environment().extract_translations  # type: ignore[attr-defined]
        for _, _, said in extract(path.read_text()):
            one, many = (said, None) if isinstance(said, str) else (said[0], said[1])
            if one is not None:
                yield one, many


def _of_source() -> Iterator[tuple[str, str | None]]:
    for path in sorted(SOURCE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            count = _CALLS.get(_name(node), 0)
            if not isinstance(node, ast.Call) or not count:
                continue
            texts = [str(arg.value) for arg in node.args if isinstance(arg, ast.Constant)]
            if len(texts) >= count:
                yield texts[0], texts[1] if count == 2 else None


def _name(node: ast.AST) -> str:
    """What a call calls, without its module."""
    called = node.func if isinstance(node, ast.Call) else None
    if isinstance(called, ast.Attribute):
        return called.attr
    return called.id if isinstance(called, ast.Name) else ""


def _file(language: str, said: dict[str, Entry]) -> str:
    head = [
        'msgid ""',
        'msgstr ""',
        '"Content-Type: text/plain; charset=UTF-8\\n"',
        '"Content-Transfer-Encoding: 8bit\\n"',
        '"Plural-Forms: nplurals=2; plural=(n != 1);\\n"',
        *([f'"Language: {language}\\n"'] if language else []),
    ]
    blocks = [_block(message, said.get(message.one)) for message in messages()]
    return "\n\n".join(["\n".join(head), *blocks]) + "\n"


def _block(message: Message, entry: Entry | None) -> str:
    said = entry.said if entry and (entry.many is None) == (message.many is None) else ("", "")
    lines = ["#, python-format"] if "%(" in message.one else []
    lines.append(f"msgid {_quoted(message.one)}")
    if message.many is None:
        return "\n".join([*lines, f"msgstr {_quoted(said[0])}"])
    lines.append(f"msgid_plural {_quoted(message.many)}")
    return "\n".join([*lines, *(f"msgstr[{n}] {_quoted(text)}" for n, text in enumerate(said))])


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
