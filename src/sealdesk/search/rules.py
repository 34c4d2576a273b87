"""What a word is, and how texts and questions are put for each database.

Both databases are given words that were prepared here, so that they find the same: letters and
digits in lower case, without accents and other marks. What is written without spaces (Chinese,
Japanese) is taken sign by sign, and a word of several signs is looked for as they follow each
other; so is an e-mail address.
"""

import re
import unicodedata
from collections.abc import Iterable
from typing import NamedTuple

MOST_FOUND = 50
LONGEST_QUESTION = 200
_LONGEST_WORD = 64
_MOST_BEGINNINGS = 16
_MOST_WORDS = 10_000  # of a ticket; a place in a tsvector ends at 16,383
_GAP = 8  # between two texts, so that nothing follows from one to the other
# Han and kana by themselves, everything else up to where it ends.
_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff]|[^\W_\u3040-\u30ff\u3400-\u9fff]+")
_PART = re.compile(r'(-?)(?:"([^"]*)"?|([^\s"]+))')


class Term(NamedTuple):
    """Words that follow each other. is_prefix: the last one may go on. is_not: must not stand."""

    words: tuple[str, ...]
    is_prefix: bool = False
    is_not: bool = False


def words_of(text: str) -> list[str]:
    """The words of a text, as they are compared."""
    if text.isascii():
        plain = text.lower()
    else:
        decomposed = unicodedata.normalize("NFKD", text)
        kept = "".join(sign for sign in decomposed if not unicodedata.combining(sign))
        # Folding may decompose once more, and what was composed stays so ("ǰ").
        plain = unicodedata.normalize("NFKD", kept.casefold())
    return [word[:_LONGEST_WORD] for word in _WORD.findall(plain)]


def text_of(texts: Iterable[str]) -> str:
    """The words of a ticket's texts as FTS5 takes them: the first of them, if they are many."""
    return " ".join(word for _, word in _placed(texts))


def vector_of(texts: Iterable[str]) -> str:
    """The same as a tsvector is written."""
    places: dict[str, list[str]] = {}
    for place, word in _placed(texts):
        places.setdefault(word, []).append(str(place))
    # One word has 256 places at the most.
    return " ".join(f"'{word}':{','.join(at[:256])}" for word, at in places.items())


def _placed(texts: Iterable[str]) -> list[tuple[int, str]]:
    placed: list[tuple[int, str]] = []
    place = 1
    for text in texts:
        for word in words_of(text):
            placed.append((place, word))
            place += 1
            if len(placed) == _MOST_WORDS:
                return placed
        place = min(place + _GAP, 16_000 - _MOST_WORDS + len(placed))
    return placed


def terms_of(question: str) -> list[Term]:
    """What somebody asks for: all words, "those together", and -not.

    The last word may go on, from its second letter.
    """
    terms = []
    parts = list(_PART.finditer(question[:LONGEST_QUESTION]))
    for part in parts:
        minus, quoted, plain = part.groups()
        words = tuple(words_of(plain or quoted or ""))
        if words:
            # With one letter a million tickets begin, and nobody looks for them: 2 s on SQLite.
            may_go_on = plain is not None and not minus and len(words[-1]) > 1
            goes_on = part is parts[-1] and may_go_on
            terms.append(Term(words, goes_on, bool(minus)))
    return terms


def beginnings_of(question: str) -> list[Term]:
    """What somebody asks for: words that begin with each of these."""
    words = dict.fromkeys(words_of(question[:LONGEST_QUESTION]))
    return [Term((word,), is_prefix=True) for word in [*words][:_MOST_BEGINNINGS]]


def digits_of(phone: str) -> str:
    """A phone number as one word, for it is typed in groups or in none."""
    return "".join(sign for sign in phone if sign.isdecimal())


def match_of(terms: Iterable[Term], tenant_id: str) -> str:
    """The question as FTS5 takes it. A tenant's id is one word there."""
    wanted = [_phrase(term) for term in terms if not term.is_not]
    match = f'tenant_id : "{tenant_id}"'
    if wanted:
        match += f" AND words : ({' AND '.join(wanted)})"
    for term in terms:
        if term.is_not:
            match = f"({match}) NOT words : {_phrase(term)}"
    return match


def _phrase(term: Term) -> str:
    return f'"{" ".join(term.words)}"{" *" * term.is_prefix}'


def query_of(terms: Iterable[Term]) -> str:
    """The same as a tsquery is written. PostgreSQL keeps the tenants apart by a column."""
    return " & ".join(f"{'!' * term.is_not}({_following(term)})" for term in terms)


def _following(term: Term) -> str:
    *before, last = term.words
    return " <-> ".join([*(f"'{word}'" for word in before), f"'{last}'{':*' * term.is_prefix}"])
