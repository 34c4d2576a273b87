"""Hits are marked as they stand, and a snippet is one line around the first."""

from sealdesk.search import rules, spelling
from sealdesk.search.highlighting import mark, snippet
from tests.support.for_each import for_each


def marked(text: str, question: str) -> str:
    parts = mark(text, rules.parse_query(question))
    assert "".join(part.text for part in parts) == text
    return "".join(f"[{part.text}]" if part.is_hit else part.text for part in parts)


@for_each(
    ("text", "question", "shown"),
    [
        ("A Kettle, cracked", "kettle", "A [Kettle], cracked"),
        ("kettles and kettle", "kett", "[kettles] and [kettle]"),
        ("Zoë <b>Grünwald</b>", "grunwald zoe", "[Zoë] <b>[Grünwald]</b>"),
        ("bowl, not vase", "bowl -vase", "[bowl], not vase"),
        ("ann@example.com", "ann@example.com", "[ann]@[example].[com]"),
        ("나는한국어공부중 국물 어제", "한국어", "[나는한국어공부중] 국물 어제"),
        ("nothing here", "kettle", "nothing here"),
        ("", "kettle", ""),
    ],
)
def test_hits_are_marked_as_they_stand(text: str, question: str, shown: str) -> None:
    assert marked(text, question) == shown


def test_a_snippet_is_one_line_around_the_first_hit() -> None:
    text = "words " * 100 + "\n\n the  kettle is <cracked> " + "end " * 100
    parts = snippet(text, rules.parse_query("kettle"))
    line = "".join(part.text for part in parts)
    assert line.startswith("… words ") and line.endswith(" …") and "\n" not in line
    assert "the kettle is <cracked>" in line and len(line) < 110
    assert [part.text for part in parts if part.is_hit] == ["kettle"]
    assert snippet(text, rules.parse_query("teapot")) == []


def test_the_number_of_hits_is_bounded() -> None:
    assert sum(part.is_hit for part in mark("kettle " * 1000, rules.parse_query("kettle"))) == 20


@for_each(
    ("one", "other", "is_near"),
    [
        ("kettle", "ketle", True),
        ("kettle", "kettles", True),
        ("kettle", "kettla", True),
        ("kettle", "kettel", True),
        ("kettle", "ekttle", True),
        ("kettle", "kettle", False),
        ("kettle", "katta", False),
        ("kettle", "ktetel", False),
        ("kettle", "kettless", False),
        ("abcd", "badc", False),
        ("abcd", "acbd", True),
    ],
)
def test_words_are_near_when_one_letter_differs(one: str, other: str, is_near: bool) -> None:
    assert spelling.is_near(one, other) == spelling.is_near(other, one) == is_near
