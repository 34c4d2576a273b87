"""Mutants of `mail.parsing`."""

from tests.mutants.mutant import Mutant

_CORPUS = "tests/mail/parsing/test_corpus.py::test_a_message_is_understood"
_HOSTILE = "tests/mail/parsing/test_hostile.py"
_TIME = f"{_HOSTILE}::test_the_time_of_a_message_grows_with_its_size"
_QUOTES = "tests/tickets/test_quotes.py"

MUTANTS: tuple[Mutant, ...] = (
    Mutant(
        "mail: UTF-8 that calls itself ISO-8859-1 is believed",
        "mail/parsing/charsets.py",
        '_CARELESS = {"ascii", "cp1252", "iso8859-15"}',
        '_CARELESS = {"ascii"}',
        (_CORPUS,),
    ),
    Mutant(
        "mail: each encoded word is decoded alone",
        "mail/parsing/encoded_words.py",
        "        if joined and joined[-1][0] == charset.lower():",
        "        if False:",
        (_CORPUS,),
    ),
    Mutant(
        "mail: the name of a file keeps its directory",
        "mail/parsing/names.py",
        '.rstrip("/").rpartition("/")[2]',
        "",
        (_CORPUS,),
    ),
    Mutant(
        "mail: a boundary ends at the beginning of a longer one",
        "mail/parsing/structure.py",
        '        if rest not in (b"", b"--"):\n            return None\n',
        "",
        (_CORPUS,),
    ),
    Mutant(
        "mail: plain text without content wins over HTML",
        "mail/parsing/content.py",
        "wants_text = all(map(_is_poor, chosen))",
        "wants_text = False",
        (_CORPUS,),
    ),
    Mutant(
        "mail: a long character reference raises",
        "mail/parsing/html_tokens.py",
        'html.unescape(_LONG_NUMBER.sub("\\ufffd", text))',
        "html.unescape(text)",
        (_CORPUS,),
    ),
    Mutant(
        "mail: a link shows its text only",
        "mail/parsing/html_text.py",
        "    if _LOOKS_LIKE_URL.match(name):\n",
        "    if False:\n",
        (_CORPUS,),
    ),
    Mutant(
        "mail: tags with quotes take quadratic time",
        "mail/parsing/html_tokens.py",
        "_TAG.match(source, start) if may_be_quoted else None",
        "_TAG.match(source, start)",
        (_TIME,),
    ),
    Mutant(
        "mail: a file of base64 is copied whole",
        "mail/parsing/transfer.py",
        "_CHUNK_BYTES = 192 * 1024",
        "_CHUNK_BYTES = 1024**3",
        (f"{_HOSTILE}::test_a_large_file_needs_no_memory_beside_its_message",),
    ),
    Mutant(
        "mail: the page of a ticket shows quotes like the rest",
        "tickets/pages/folding.py",
        'await _fold(text) if is_folded else (text, "")',
        '(text, "")',
        ("tests/mail/test_quoted_text.py::test_quotes_and_signatures_are_folded_and_kept",),
    ),
    Mutant(
        "mail: an answer between quoted lines is folded",
        "tickets/text/quotes.py",
        '    return count > 0 and not next(following, "").startswith(">")',
        "    return count > 0",
        (f"{_QUOTES}::test_a_text_without_an_end_that_is_quoted_is_shown_whole",),
    ),
)
