"""Citations of decision records, of the interface and of its decisions lead somewhere."""

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from tests.support.code import list_files

_ROOT = Path(__file__).parents[1]
_RECORDS = _ROOT / "docs" / "decisions"
_SPEC = _ROOT / "docs" / "spec"
_FOLDERS = ("src", "tests", "bench", "docs", "docs_builder", "clients", "deploy", "scripts")
_KINDS = {".py", ".md", ".html", ".js", ".css", ".toml", ".sh", ".ts", ".service", ".conf", ".sql"}
_MAX_WORDS = 250
_GAP = r"(?:\s|#|//)+"  # a citation may continue on the next line of a comment
_LIST = rf"((?:\d[\d.]*\d|\d)(?:(?:, and|,| and){_GAP}(?:\d[\d.]*\d|\d))*)"
_CITATION = re.compile(
    rf"(?:\b(spec|interface){_GAP})?\b(decisions?|sections?){_GAP}{_LIST}", re.IGNORECASE
)
_RECORD = re.compile(r"(?:decisions/|\()(00[0-9]{2})(?:-[a-z0-9-]+\.md)?(?=[),;.\s])")


def _texts() -> Iterator[tuple[str, str]]:
    """Path and text of each file that may cite."""
    for path in list_files("*.md", "pyproject.toml", *_FOLDERS):
        if path.suffix in _KINDS and path != Path(__file__) and path.is_file():
            yield path.relative_to(_ROOT).as_posix(), path.read_text()


@cache
def _records() -> dict[str, str]:
    """Number → text of each record."""
    return {path.name[:4]: path.read_text() for path in sorted(_RECORDS.glob("0*.md"))}


@cache
def _headings(page: str) -> set[str]:
    text = (_SPEC / page).read_text()
    return set(re.findall(r"^#+ (\d+(?:\.\d+)*)\.? ", text, re.MULTILINE))


def wrong_citations(text: str) -> list[str]:
    """The citations of a text that lead nowhere, or to a number of what is not said."""
    records, spec, interface = _records(), _headings("decisions.md"), _headings("interface.md")
    wrong = [number for number in _RECORD.findall(text) if number not in records]
    for found in _CITATION.finditer(text):
        of, kind, numbers = found.groups()
        named = re.findall(r"\d[\d.]*", numbers)
        match ((of or "").lower(), kind.lower().rstrip("s")):
            case ("", "decision"):
                known = set(records)
            case ("spec", "decision"):
                known = spec
            case ("interface", "section"):
                known = interface
            case _:  # of an RFC, or of the same page
                continue
        if not known.issuperset(named):
            wrong.append(" ".join(found.group().split()))
    return wrong


def test_citations_lead_to_records_and_sections() -> None:
    found = {path: wrong_citations(text) for path, text in _texts()}
    assert {path: wrong for path, wrong in found.items() if wrong} == {}


def test_a_citation_that_leads_nowhere_is_found() -> None:
    for text in (
        "(decision 0099)",
        "by decisions 3",
        "a spec decision 22",
        "spec\n# decisions 3 and 22",
        "as interface section 1.9",
        "decisions 0005 and 0098",
        "docs/decisions/0099",
        "the limit (0097)",
        "[0096](0096-x.md)",
    ):
        assert len(wrong_citations(f" {text} ")) >= 1, text


def test_citations_that_exist_are_allowed() -> None:
    for text in ("decisions 0005 and 0038", "spec decisions 6 and 9", "RFC 9110, section 99"):
        assert wrong_citations(f" {text} ") == []


def test_the_index_names_each_record_once() -> None:
    index = (_RECORDS / "README.md").read_text()
    named = re.findall(r"^- \[(0\d{3})\]\(\1-[a-z0-9-]+\.md\): (.+)$", index, re.MULTILINE)
    assert sorted(number for number, _ in named) == list(_records())
    superseded = {number for number, text in _records().items() if "\n\nSuperseded" in text}
    assert {number for number, about in named if about.startswith("superseded by")} == superseded


def test_records_are_short() -> None:
    """At most 250 words: signs that stand alone, as in tables, do not count."""
    counts = {
        number: sum(1 for word in text.split() if re.search(r"\w", word))
        for number, text in _records().items()
    }
    assert {number: count for number, count in counts.items() if count > _MAX_WORDS} == {}
