"""The HTML around a page: navigation, search, headings of the page, neighbours."""

from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from docs_builder import render
from docs_builder.site import Page, Site, relative


def html_of(site: Site, page: Page, versions: dict[str, str]) -> str:
    """The whole HTML of a page. versions: URL of a style, script or index → its version."""

    def asset(url: str) -> str:
        return f"{relative(url, page.url)}?{versions[url]}"

    order = [each for section in site.sections for each in section.pages]
    place = order.index(page)
    return _environment().get_template("page.html").render(
        site=site,
        page=page,
        body=Markup(render.body(site, page)),  # noqa: S704, our own Markdown
        outline=[each for each in page.document.headings[1:] if each.level == 2],
        previous=order[place - 1] if place else None,
        following=order[place + 1] if place + 1 < len(order) else None,
        to=lambda url: relative(url, page.url),
        asset=asset,
    )  # fmt: skip


@cache
def _environment() -> Environment:
    return Environment(
        loader=PackageLoader("docs_builder"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
