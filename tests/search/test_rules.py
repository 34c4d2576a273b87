"""What a word is, and what somebody asks for."""

import re

import pytest

from sealdesk.search import rules
from sealdesk.search.rules import Term
from tests.support.for_each import for_each


@for_each(
    ("text", "words"),
    [
        ("The parcel, #42!", ["the", "parcel", "42"]),
        ("Müller & Öztürk", ["muller", "ozturk"]),
        ("STRASSE Straße", ["strasse", "strasse"]),
        ("A_1 " + "b" * 70, ["a", "1", "b" * 64]),
        ("ann.lee@example.com", ["ann", "lee", "example", "com"]),
        ("Łódź Ærøskøbing \u0131s\u0131", ["lodz", "aeroskobing", "isi"]),
        ("snake_case", ["snake", "case"]),
        ("退款 now", ["退", "款", "now"]),
        ("m² №5", ["m2", "no5"]),
        ("١٢٣ ۱۲۳ १२३ \uff11\uff12 ๑๒๓", ["123", "123", "123", "12", "123"]),
        ("\0 \ud800 '\"*()", []),
        ("한국어로 LG전자", ["한", "국", "어", "로", "lg", "전", "자"]),
        ("😀🔥on", ["😀", "🔥", "on"]),
        ("pass\u200bword Rech\u00adnung", ["password", "rechnung"]),
        ("ลืมรหัสผ่าน", ["ล", "ม", "ร", "ห", "ส", "ผ", "า", "น"]),
    ],
)
def test_words_are_letters_and_digits_without_marks(text: str, words: list[str]) -> None:
    assert rules.split_words(text) == words


@for_each(
    ("question", "terms"),
    [
        ("", []),
        ("parcel", [Term(("parcel",), True)]),
        ("parcel l", [Term(("parcel",)), Term(("l",))]),
        ("parcel lost", [Term(("parcel",)), Term(("lost",), True)]),
        ('"was lost" refund', [Term(("was", "lost")), Term(("refund",), True)]),
        ('refund "was lost"', [Term(("refund",)), Term(("was", "lost"))]),
        ('"was lost', [Term(("was", "lost"))]),
        ("refund -paid", [Term(("refund",)), Term(("paid",), False, True)]),
        ('-"not this"', [Term(("not", "this"), False, True)]),
        ("한국 lost", [Term(("한", "국")), Term(("lost",), True)]),
        ("ann@exam", [Term(("ann", "exam"), True)]),
        ("- \" ' * ( AND", [Term(("and",))]),
    ],
)
def test_a_question_is_words_phrases_and_what_must_not_stand(
    question: str, terms: list[Term]
) -> None:
    assert rules.parse_query(question) == terms


def test_a_question_ends_after_200_characters() -> None:
    assert len(rules.parse_query("ab " * 1000)) == 67


def test_words_of_ascii_are_its_letters_and_digits_in_lower_case() -> None:
    text = "".join(map(chr, range(128)))
    assert rules.split_words(text) == re.findall("[a-z0-9]+", text.lower())


def test_a_text_has_an_end() -> None:
    assert len(rules.fts5_text(["word " * 20_000]).split()) == 10_000
    assert len(rules.tsvector(["word " * 20_000]).split()) == 10_000


def test_a_vector_of_long_words_is_at_most_what_postgresql_takes() -> None:
    written = rules.tsvector(f"{number:04}{'𐐨' * 60} " * 100 for number in range(100))
    assert 990_000 < len(written.encode()) < 1_048_576


def test_a_vector_says_where_each_word_stands() -> None:
    assert rules.tsvector(["one two", "two"]) == "'one':1 'two':2 'two':11"


def test_places_in_a_vector_stay_within_its_bounds() -> None:
    written = rules.tsvector(f"w{number}" for number in range(20_000))
    places = [int(part.rpartition(":")[2]) for part in written.split()]
    assert len(places) == 10_000
    assert max(places) < 16_384


@for_each(
    "typed",
    [
        "0301234567",
        "030 1234567",
        "030/123-4567",
        "1234567",
        "+49 (30) 1234567",
        "+49(0)301234567",
        "030\u20131234567",
        "030\xa01234567",
        "٠٣٠ ١٢٣٤٥٦٧",
    ],
)
def test_a_phone_number_is_found_as_people_dial_it(typed: str) -> None:
    ends = rules.phone_words("+49 (30) 123-4567").split()
    (term,) = rules.parse_prefixes(f"Maria {typed}")[1:]
    assert any(end.startswith(term.words[0]) for end in ends)


def test_a_zero_that_is_dialled_within_the_country_alone_hides_no_number() -> None:
    ends = rules.phone_words("+46 (0)8-123 45").split()
    for typed in ("+46812345", "0046 8 123 45", "08-123 45", "+46 (0)8 123 45"):
        (term,) = rules.parse_prefixes(typed)
        assert any(end.startswith(term.words[0]) for end in ends), typed


@pytest.mark.parametrize(
    "typed",
    ["+1 212 555 0188", "0012125550188", "+12125550188", "1-212-555-0188", "8 (212) 555-01-88"],
)
def test_the_code_of_a_country_hides_no_number_that_is_stored_without_it(typed: str) -> None:
    ends = rules.phone_words("(212) 555-0188").split()
    (term,) = rules.parse_prefixes(typed)
    assert any(end.startswith(term.others) for end in ends)
    for number in ("212 555 0188", "12125550188", "1 212 555 018"):
        assert rules.parse_prefixes(number)[0].others == ()


@for_each(
    ("text", "ends"),
    [
        ("Call +49 (30) 998-7766, please.", "49309987766"),
        ("Ring 212.555.0142", "2125550142"),
        ("0815-4711", "08154711"),
        ("۰۸۱۵-۴۷۱۱", "08154711"),
        ("On 2026-11-28 at 10:45", ""),
        ("Order 712345678 or 4711-0815", ""),
        ("IBAN DE89 3704 0044 0532 0130 00", ""),
        ("card 4111 1111 1111 1111", ""),
        ("version 1.2.3.4", ""),
    ],
)
def test_phone_numbers_in_a_text_are_words_and_dates_and_other_numbers_are_not(
    text: str, ends: str
) -> None:
    assert rules.phones_in([text, None]).partition(" ")[0] == ends


def test_digits_of_any_script_are_digits_of_a_phone_number() -> None:
    assert rules.phone_words("٠٥٠١٢٣٤").split()[0] == "0501234"


def test_a_phone_number_has_few_words_and_each_is_long_enough_to_tell() -> None:
    assert rules.phone_words("+49 30 12") == "493012 93012"
    assert rules.phone_words("112") == "112"
    assert len(rules.phone_words("1" * 64).split()) == 16
