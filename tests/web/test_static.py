"""Style sheets, the script and templates contain nothing unused."""

import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from jinja2 import nodes

import sealdesk
from sealdesk.api_keys.usage import plots
from sealdesk.routes import SITE
from sealdesk.tickets.views import rules
from sealdesk.web import assets
from tests.i18n import templates

_SOURCE = Path(sealdesk.__file__).parent
_STYLES = b"".join(map(assets.content, ("desk.css", "team_now.css", "reports.css"))).decode()
_SCRIPT = assets.content("desk.js").decode()
_COMMENT = r"/\*[^*]*(?:\*(?!/)[^*]*)*\*/"
_IN_MEDIA = r"@media[^{]*\{(?:[^{}]*\{[^{}]*\})*[^{}]*\}"
_IN_BRACKETS = r"[^()]*(?:\([^()]*\)[^()]*)*\)"  # a bracket that closes later was opened before


@cache
def _pages() -> dict[str, nodes.Template]:
    """The templates, except those of the reference of the API, which has styles of its own."""
    return {
        file: tree
        for file, tree in templates.trees()
        if not file.startswith("web/") or file.startswith("web/templates/pages/")
    }


@cache
def _html() -> str:
    return "\n".join((_SOURCE / file).read_text() for file in _pages())


def test_every_part_is_served() -> None:
    for name, content in (("desk.css", _STYLES), ("desk.js", _SCRIPT)):
        suffix = name.rpartition(".")[2]
        for part in (_SOURCE / "web/static/desk").glob(f"*.{suffix}"):
            if part.name == "dark.css":  # served with two selectors: see test_colours
                continue
            assert part.read_text() in re.sub(r"\.(woff2|svg)\?\w+", r".\1", content)


def test_every_css_class_is_used() -> None:
    selectors = re.sub(r"/\*.*?\*/|\{[^{}]*\}", "", _STYLES, flags=re.DOTALL)
    styled = {each for each in re.findall(r"\.([a-z][\w-]*)", selectors) if each[:2] != "i-"}
    given = " ".join(line for line in _html().splitlines() if "class=" in line)
    given += " ".join(re.findall(r"class(?:Name|List).*", _SCRIPT))
    given += " ".join(re.findall(r".*avatar\.colour.*", _html()))
    known = {*re.findall(r"[\w-]+", given), *plots.KINDS}
    assert styled - known == set()
    assert len(styled) > 50


def test_two_parts_do_not_set_one_property_of_a_class() -> None:
    """Otherwise one of two components that share a name changes the looks of the other."""
    parts: dict[tuple[str, str], set[str]] = defaultdict(set)
    for part in (_SOURCE / "web/static/desk").glob("*.css"):
        for selector, body in _rules(re.sub(_IN_MEDIA, "", part.read_text())):
            if re.fullmatch(r"\.[\w-]+", selector):
                for name in re.findall(r"([\w-]+)\s*:", body):
                    parts[selector, name].add(part.name)
    assert {each: names for each, names in parts.items() if len(names) > 1} == {}


def test_what_is_styled_by_descendants_of_another_element_is_named() -> None:
    """Otherwise each change restyles all of the page (decision 0140)."""
    wrong = []
    for selector, _ in _rules(_STYLES):
        *others, last = re.split(rf"[\s>+~]+(?!{_IN_BRACKETS})", selector)
        named = re.sub(r":(?:not|has|where)\(.*\)", "", last)
        if ":has(" in " ".join(others) and named in ("", "*"):
            wrong.append(selector)
    assert wrong == []


def _rules(css: str) -> Iterator[tuple[str, str]]:
    """Selector and body, one for each selector of a list."""
    for selectors, body in re.findall(r"([^{};]+)\{([^{}]*)", re.sub(_COMMENT, "", css)):
        for each in re.split(rf",(?!{_IN_BRACKETS})", selectors):
            yield each.strip(), body


def test_what_the_sidebar_lists_has_an_icon() -> None:
    icons = {*re.findall(r"\.i-([\w-]+)", _STYLES)}
    rooms = {item.path.rpartition("/")[2] for item in SITE.navigation}
    views = {view.key for view in rules.BUILT_IN}
    assert (rooms | views) - icons == set()


def test_every_data_attribute_is_used_by_script_or_styles() -> None:
    marked = {*re.findall(r"\b(data-[a-z-]+)", _html())}
    names = re.findall(r'dataset\.(\w+)|"(\w+)" in \w+\.dataset', _SCRIPT)
    sought = {f"data-{one or other}" for one, other in names}
    sought |= {*re.findall(r"\b(data-[a-z-]+)", _SCRIPT + _STYLES)}
    assert marked - sought == set()
    # What it marks itself: a form that is on its way, and the option of a select.
    assert sought - marked == {"data-sent", "data-chosen"}


def test_templates_use_what_they_import() -> None:
    unused = [
        f"{file}: {name}"
        for file, tree in _pages().items()
        for name in _imported(tree) - _used(tree)
    ]
    assert unused == []


def _imported(tree: nodes.Template) -> set[str]:
    named = [name for each in tree.find_all(nodes.FromImport) for name in each.names]
    return {name if isinstance(name, str) else name[1] for name in named}


def _used(tree: nodes.Template) -> set[str]:
    return {name.name for name in tree.find_all(nodes.Name) if name.ctx == "load"}


def test_each_heading_of_a_table_says_something() -> None:
    assert re.findall(r"<th\b[^>]*></th>", _html()) == []
