"""The builder of the documentation: it is strict, and gives the same bytes for the same pages."""

from pathlib import Path

import pytest
from docs_builder import archive, site
from docs_builder.document import Document, slug
from docs_builder.site import BrokenSite, Page, Section, Site
from docs_builder.twins import twin

from sealdesk.web.documentation import ARCHIVE, read_archive


def _site(**pages: str) -> Site:
    """A site of pages by name, with `__` in place of a slash; the source also has README.md."""
    made = [Page(f"{name.replace('__', '/')}.md", text) for name, text in pages.items()]
    return Site([Section("All", made)], {"README.md", "docs/decisions/0001-a.md"})


def _faults(text: str, **others: str) -> list[str]:
    one = _site(start=text, **others)
    archive.html_pages(one)
    return one.faults


def test_the_site_is_built_without_faults_and_twice_alike(tmp_path: Path) -> None:
    archive.write(archive.build(), tmp_path / "site")  # the other one is of before the tests
    assert read_archive(tmp_path / "site") == read_archive(ARCHIVE), "run `make docs`"
    assert (tmp_path / "site").read_bytes() == ARCHIVE.read_bytes()


@pytest.mark.parametrize(
    "link", ["missing.md", "api/two.md#nothing", "#nothing", "../NOTES.md", "/docs/nothing"]
)
def test_a_link_that_leads_nowhere_is_a_fault(link: str) -> None:
    faults = _faults(f"# A\n\n[x]({link})", api__two="# Two")
    assert len(faults) == 1 and f"start.md: {link}" in faults[0]


@pytest.mark.parametrize(
    "link", ["api/two.md", "api/two.md#more-of-it", "#a", "../README.md", "decisions/0001-a.md"]
)
def test_links_to_pages_headings_and_files_of_the_source_are_right(link: str) -> None:
    assert _faults(f"# A\n\n[x]({link})", api__two="# Two\n\n## More of it") == []


def test_a_page_that_the_navigation_does_not_name_is_a_fault(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/nav.toml").write_text("source_only = []\nsections = []")
    (tmp_path / "docs/new.md").write_text("# New")
    monkeypatch.setattr(site, "ROOT", tmp_path)
    monkeypatch.setattr(site, "DOCS", tmp_path / "docs")
    with pytest.raises(BrokenSite, match=r"new\.md"):
        site.read_site({})


def test_headings_have_the_anchors_of_github() -> None:
    document = Document("# One\n\n## `A_b`: c & d, “é”\n\n## Same\n\n## Same\n\n## X {#own}\n")
    assert [each.anchor for each in document.headings] == [
        "one", "a_b-c--d-é", "same", "same-1", "own",
    ]  # fmt: skip
    assert slug("2. Several processes") == "2-several-processes"


def test_a_twin_leads_to_other_twins_and_leaves_code_alone() -> None:
    text = "# A\n\n[two](api/two.md#x), [source](../README.md)\n\n```md\n[x](api/two.md)\n```\n"
    one = _site(start=text, api__two="# Two\n\n## X")
    assert twin(one, one.pages["start.md"]) == (
        "# A\n\n[two](/docs/api/two.md#x), source\n\n```md\n[x](api/two.md)\n```\n"
    )
