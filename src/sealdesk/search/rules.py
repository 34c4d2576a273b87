"""The words of texts and queries, in the syntax of each database; no IO.

Both databases get words that are normalised here, so that they find the same: letters and digits
in lower case, without accents, strokes, other marks and invisible characters. In Chinese,
Japanese, Thai, Lao, Burmese and Khmer, which have no spaces, and in Korean, whose spaces are few
and whose words end in particles, each character is a word, and so is each emoji;
several of them in a query, like the parts of an e-mail address, are searched as a phrase.
"""

import hashlib
import json
import re
import string
import unicodedata
from collections.abc import Iterable, Iterator
from itertools import accumulate, chain, islice
from typing import Any, NamedTuple

from sealdesk.resources.identity import identity, strip_invisible

MAX_RESULTS = 50
MAX_QUERY_LENGTH = 200
_MAX_WORD_LENGTH = 64
_MAX_PREFIXES = 16
_MAX_WORDS = 10_000  # of a ticket; a position in a tsvector is at most 16,383
_MAX_VECTOR_BYTES = 1_000_000  # PostgreSQL refuses the words of a tsvector from 1,048,576 on
_MAX_BYTES_OF_CHAR = 4
_CHARS_AT_ONCE = 128
_TAG = "qtagq"  # no word of any language begins with it
_FIELD = "qfieldq"
_MAX_FIELD_VALUES = 200  # of a ticket, that filters find
_MAX_VALUE_LENGTH = 255
_FLOAT = re.compile(r"-?[0-9]+(?:\.[0-9]+(?:[eE][+-]?[0-9]+)?|[eE][+-]?[0-9]+)", re.ASCII)
_DECIMAL = re.compile(r"-?[0-9]+(\.[0-9]+)?", re.ASCII)
_OTHER_DIGIT = re.compile(r"[^\D0-9]")  # of Arabic, Persian, Devanagari and other scripts
_TEXT_GAP = 8  # between two texts, so that no phrase spans both
# Thai and Lao, Burmese, Khmer, kana, Han, and the syllables of Hangul.
_SPACELESS = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3"
)
_JAMO = re.compile("[\u1100-\u11ff]+")  # the letters of a syllable
_EMOJI = "\u2600-\u27bf\U0001f000-\U0001faff"
# Letters that Unicode does not decompose, as people type them who do not have them.
_PLAIN_LETTERS = str.maketrans(
    dict(zip("øłđðħŧı", "olddhti", strict=True)) | {"æ": "ae", "œ": "oe", "þ": "th"}
)
TOKEN = re.compile(rf"[{_EMOJI}]|[^\W_]+")
# Other letters and digits form a word together.
_WORD = re.compile(rf"(?=\w)[{_SPACELESS}]|[{_EMOJI}]|[^\W_{_SPACELESS}]+")
# The same in a tenth of the time: letters and digits of ASCII as they are compared, else spaces.
_OF_ASCII_WORDS = bytes(
    code if chr(code) in string.ascii_lowercase + string.digits else ord(" ")
    for code in bytes(range(256)).lower()
)
# What people put between the digits of a phone number.
_SIGNS = r" \xa0()./\u2010-\u2014-"
_BETWEEN = rf"[{_SIGNS}]{{0,2}}"
_PHONE = re.compile(rf"(?<!\S)\+?\(?[0-9](?:{_BETWEEN}[0-9]){{5,19}}(?!\S)", re.ASCII)
_TRUNK = "(0)"  # of numbers with their country: it is dialled within the country alone
_MIN_SUFFIX = 5  # digits of a phone number by which it is found
# The same within a text, and longer numbers, such as those of cards, which are none.
_PHONE_IN_TEXT = re.compile(rf"(?<![\w+])\+?\(?[0-9](?:{_BETWEEN}[0-9]){{6,23}}(?!\w)", re.ASCII)
# Without it there is none, as in most texts; it is looked for in a sixth of the time.
_DIGITS = re.compile(rf"[0-9][0-9{_SIGNS}]{{6}}")
_MIN_SUFFIX_IN_TEXT = 7  # fewer are the end of order numbers too
_MIN_DIGITS_WITHOUT_SIGN = 9  # of a number in a text that begins with neither +, 0 nor a bracket
_MAX_PHONE_DIGITS = 15  # E.164
_MAX_PHONES = 20  # of a ticket
_COUNTRY = re.compile(r"\+|00")
_MAX_COUNTRY_DIGITS = 3
# Before the ten digits of a number in North America, or in Russia; without signs, any number.
_LONG_DISTANCE = re.compile(rf"[18](?=[{_SIGNS}])(?:[{_SIGNS}]*[0-9]){{10}}\Z")
_PART = re.compile(r'(-?)(?:"([^"]*)"?|([^\s"]+))')


class Term(NamedTuple):
    """A phrase. is_prefix: its last word is a prefix. is_not: it must not occur.

    others: beginnings of words of which one is enough instead.
    """

    words: tuple[str, ...]
    is_prefix: bool = False
    is_not: bool = False
    others: tuple[str, ...] = ()


def split_words(text: str) -> list[str]:
    """The normalised words of a text."""
    if text.isascii():
        words = text.encode().translate(_OF_ASCII_WORDS).decode().split()
    else:
        # Case folding may decompose a character again ("ǰ").
        seen = _without_marks(strip_invisible(text))
        plain = unicodedata.normalize("NFKD", seen.casefold()).translate(_PLAIN_LETTERS)
        plain = _plain_digits(
            _JAMO.sub(lambda found: unicodedata.normalize("NFC", found[0]), plain)
        )
        words = _WORD.findall(plain)
    is_long = max(map(len, words), default=0) > _MAX_WORD_LENGTH
    return [word[:_MAX_WORD_LENGTH] for word in words] if is_long else words


def _plain_digits(text: str) -> str:
    if text.isascii():
        return text
    return _OTHER_DIGIT.sub(lambda found: str(unicodedata.decimal(found[0])), text)


def _without_marks(text: str) -> str:
    # In parts, because sorting a run of marks takes quadratic time: 9 s for 60,000 (2026-11).
    parts = (text[at : at + _CHARS_AT_ONCE] for at in range(0, len(text), _CHARS_AT_ONCE))
    return "".join(
        char
        for part in parts
        for char in unicodedata.normalize("NFKD", part)
        if not unicodedata.combining(char)
    )


def fts5_text(texts: Iterable[str]) -> str:
    """The words of a ticket's texts for FTS5, up to the limit."""
    return " ".join(chain.from_iterable(words for _, words in _number_words(texts)))


def tsvector(texts: Iterable[str]) -> str:
    """The same as a tsvector, of which PostgreSQL merges the entries of repeated words."""
    entries = [
        f"'{word}':{position}"
        for first, words in _number_words(texts)
        for position, word in enumerate(words, first)
    ]
    vector = " ".join(entries)
    if len(vector) > _MAX_VECTOR_BYTES // _MAX_BYTES_OF_CHAR:
        sizes = accumulate(len(entry.encode()) for entry in entries)
        return " ".join(
            entry for entry, size in zip(entries, sizes, strict=True) if size <= _MAX_VECTOR_BYTES
        )
    return vector


def _number_words(texts: Iterable[str]) -> Iterator[tuple[int, list[str]]]:
    """The position of the first word of each text, and its words."""
    position, left = 1, _MAX_WORDS
    for text in texts:
        words = split_words(text)[:left]
        yield position, words
        left -= len(words)
        if not left:
            return
        position = min(position + len(words) + _TEXT_GAP, 16_000 - left)


def parse_query(query: str) -> list[Term]:
    """The terms of a query: words, "phrases" and -excluded words.

    The last word is a prefix if it has at least two letters.
    """
    terms = []
    parts = list(_PART.finditer(query[:MAX_QUERY_LENGTH]))
    for part in parts:
        minus, quoted, plain = part.groups()
        words = tuple(split_words(plain or quoted or ""))
        if words:
            # A prefix of one letter matches a million tickets, which takes 2 s on SQLite.
            may_be_prefix = plain is not None and not minus and len(words[-1]) > 1
            is_prefix = part is parts[-1] and may_be_prefix
            terms.append(Term(words, is_prefix, bool(minus)))
    return terms


def as_query(terms: Iterable[Term]) -> str:
    """The terms as somebody types them."""
    texts = []
    for term in terms:
        text = " ".join(term.words)
        quote = '"' * (len(term.words) > 1)
        texts.append(f"{'-' * term.is_not}{quote}{text}{quote}")
    return " ".join(texts)


def tag_word(tag: str) -> str:
    """One word for a whole tag, so that `tag:vip` is no search for the word "vip"."""
    return _TAG + _hash_of(identity(tag))


def tag_term(tag: str) -> Term:
    """The term that finds the tickets with a tag, however it is spelled."""
    return Term((tag_word(tag),))


def field_term(key: str, value: str) -> Term:
    """The term that finds the tickets with a value of a custom field, as somebody types it."""
    word = _field_word(key, value)
    others = {_field_word(key, each) for each in _as_stored(value.strip())} - {word}
    return Term((word,), others=tuple(others))


def field_words(custom_fields: dict[str, Any]) -> str:
    """What stands for the values of custom fields in a text: a word for each, also in lists."""
    words: list[str] = []
    for key, value in custom_fields.items():
        for each in value if isinstance(value, list) else (value,):
            text = _value_text(each)
            if 0 < len(text) <= _MAX_VALUE_LENGTH:
                words.append(_field_word(key, text))
    return " ".join(words[:_MAX_FIELD_VALUES])


def _as_stored(typed: str) -> list[str]:
    """The text that stands for a number of JSON, such as 1e-7, if this is one with a fraction."""
    return [_value_text(float(typed))] if _FLOAT.fullmatch(typed) else []


def _value_text(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return str(value) if isinstance(value, str | int | float) else ""


def _field_word(key: str, value: str) -> str:
    """One word for a key and a value, regardless of case: a hash, as both may be long."""
    text = value.strip()
    if _DECIMAL.fullmatch(text):
        folded = text.rstrip("0").rstrip(".") if "." in text else text
    else:
        folded = " ".join(split_words(text)) or identity(text)
    folded = {"true": "yes", "false": "no"}.get(folded, folded)
    return _FIELD + _hash_of(json.dumps([key.casefold(), folded]))


def _hash_of(text: str) -> str:
    return hashlib.blake2b(text.encode(), digest_size=12).hexdigest()


def parse_prefixes(query: str) -> list[Term]:
    """The terms of a query in which every word is a prefix, and a phone number is one word."""
    typed, phones = _join_phones(query)
    terms: dict[str, Term] = {}
    for word in split_words(typed):
        terms[word] = Term((word,), is_prefix=True, others=phones.get(word, ()))
    return list(islice(terms.values(), _MAX_PREFIXES))


def parse_dialled(query: str) -> list[Term]:
    """The terms of a query in which a phone number is one word; none if it has no phone number."""
    typed, phones = _join_phones(query)
    return [
        Term(term.words, is_prefix=True, others=phones[term.words[0]])
        if term.words[0] in phones and not term.is_not
        else term
        for term in (parse_query(typed) if phones else ())
    ]


def has_phone(query: str) -> bool:
    """Whether a query has so many digits as phone numbers are found by within texts."""
    typed = _plain_digits(query[:MAX_QUERY_LENGTH])
    found = (_digits_of(match[0]) for match in _PHONE.finditer(typed))
    return any(len(digits) >= _MIN_SUFFIX_IN_TEXT for digits in found)


def _join_phones(query: str) -> tuple[str, dict[str, tuple[str, ...]]]:
    """A query with each phone number as one word, and that word as it is dialled nearby."""
    phones: dict[str, tuple[str, ...]] = {}

    def join(match: re.Match[str]) -> str:
        dialled = _dialled(match[0])
        phones[dialled] = _without_country(match[0], dialled)
        return f" {dialled} "

    return _PHONE.sub(join, _plain_digits(query[:MAX_QUERY_LENGTH])), phones


def _without_country(phone: str, dialled: str) -> tuple[str, ...]:
    """What is dialled within the country, whose code has one to three digits."""
    if _LONG_DISTANCE.match(phone):
        return (dialled[1:],)
    if not _COUNTRY.match(phone):
        return ()
    ends = (dialled[at:] for at in range(1, _MAX_COUNTRY_DIGITS + 1))
    return tuple(end for end in ends if len(end) >= _MIN_SUFFIX_IN_TEXT)


def phones_in(texts: Iterable[str | None]) -> str:
    """The ends of the phone numbers in the texts of a ticket, by which people dial them."""
    plain = (_plain_digits(text or "") for text in texts)
    dialled = (text for text in plain if _DIGITS.search(text))
    found = (match[0] for text in dialled for match in _PHONE_IN_TEXT.finditer(text))
    phones = islice(filter(_is_phone, found), _MAX_PHONES)
    return " ".join(dict.fromkeys(phone_words(each, _MIN_SUFFIX_IN_TEXT) for each in phones))


def _is_phone(text: str) -> bool:
    """Whether digits are a phone number, and no date or plain number, which is a word itself."""
    count = len(_digits_of(text))
    is_plain = text.isdecimal() and text[0] != "0"
    is_long = text[0] in "+0(" or count >= _MIN_DIGITS_WITHOUT_SIGN
    return is_long and not is_plain and count <= _MAX_PHONE_DIGITS


def phone_words(phone: str, min_suffix: int = _MIN_SUFFIX) -> str:
    """The ends of the digits of a phone number, by which people dial it."""
    digits = _digits_of(phone)
    ends = [digits[at:] for at in range(max(1, len(digits) - min_suffix + 1))]
    if _TRUNK in phone:
        ends.insert(0, _digits_of(phone.replace(_TRUNK, "", 1)))
    return " ".join(ends[:_MAX_PREFIXES])


def _dialled(phone: str) -> str:
    """The digits of a phone number behind the zeros of a trunk or of a country."""
    return _digits_of(phone.rpartition(_TRUNK)[2]).lstrip("0")


def _digits_of(phone: str) -> str:
    return "".join(str(unicodedata.decimal(char)) for char in phone if char.isdecimal())


def fts5_query(terms: Iterable[Term], tenant_id: str) -> str:
    """The query in FTS5 syntax. A tenant's id is one word in the index."""
    required = [_fts5_phrase(term) for term in terms if not term.is_not]
    match = f'tenant_id : "{tenant_id}"'
    if required:
        match += f" AND words : ({' AND '.join(required)})"
    for term in terms:
        if term.is_not:
            match = f"({match}) NOT words : {_fts5_phrase(term)}"
    return match


def _fts5_phrase(term: Term) -> str:
    phrase = f'"{" ".join(term.words)}"{" *" * term.is_prefix}'
    if not term.others:
        return phrase
    others = (f'"{each}" *' for each in term.others)
    return f"({' OR '.join([phrase, *others])})"


def tsquery(terms: Iterable[Term]) -> str:
    """The query as a tsquery. PostgreSQL separates the tenants by a column."""
    return " & ".join(f"{'!' * term.is_not}({_tsquery_phrase(term)})" for term in terms)


def _tsquery_phrase(term: Term) -> str:
    *before, last = term.words
    phrase = " <-> ".join([*(f"'{word}'" for word in before), f"'{last}'{':*' * term.is_prefix}"])
    return " | ".join([phrase, *(f"'{each}':*" for each in term.others)])
