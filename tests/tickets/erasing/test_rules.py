"""Which texts name a person."""

from sealdesk.tickets.erasing import rules
from tests.support.for_each import for_each

_TEXTS = ("Ann", "ann.lee@example.test", "安娜安")


@for_each(
    ("text", "names"),
    [
        ("Refund for ANN", True),
        ("Ann: a bowl", True),
        ("/customers?q=%C3%84%20Ann", True),
        ("mail to ann.lee@example.test.", True),
        ("给安娜安的碗", True),
        ("planning", False),
        ("Annotations of Joann", False),
        ("", False),
    ],
)
def test_a_name_is_found_as_a_whole_word(text: str, names: bool) -> None:
    assert rules.names_person(text, _TEXTS) is names


def test_texts_of_a_document_are_found_one_by_one() -> None:
    document = {"name": "Ann", "plans": ["planning", "for Ann"]}
    erased = {"name": rules.ERASED, "plans": ["planning", rules.ERASED]}
    assert rules.without_person(document, _TEXTS) == erased
