"""The charset of a text in a script that is not Latin, by the characters that it would have."""

import codecs
import re
from collections.abc import Callable
from itertools import pairwise

# Latin texts have single letters outside ASCII; others have whole words of them.
_PAIRS = re.compile(rb"[\x80-\xff]{2}")
_MIN_SHARE_IN_PAIRS = 0.7
_BIG5 = "cp950"  # in which the second byte of a character is often one of ASCII
_MIN_BYTES = 6
_MIN_LETTERS = 0.7  # of the characters outside ASCII
_MIN_COMMON = 0.4
_MAX_SAMPLE = 100_000  # bytes of a text in Latin letters
_MAX_CASED = 2_000  # characters whose case is looked at
_KANA = re.compile("[\u3041-\u30ff]")
_HANGUL = re.compile("[\uac00-\ud7a3]")
# The commonest characters of Chinese texts, traditional and simplified.
_HAN = re.compile(
    "[的一是不了在人有我他这这個这中大来上國国個个到說说們们為为子和你地出道也時时年得就那要下以生會会自著着去"
    "過过家學学對对可她里後后么之沒没還还好天如吗什請请問问單单發发貨货謝谢電电話话號号]"
)
# The letters of a script, and the ten that are commonest in its largest language.
_CYRILLIC = "\u0430-\u045f", "\u043e\u0435\u0430\u0438\u043d\u0442\u0441\u0440\u0432\u043b"
_SINGLE_BYTES = {
    "cp1251": _CYRILLIC,
    "koi8-r": _CYRILLIC,
    "cp1253": (
        "\u03ac-\u03ce",
        "\u03b1\u03bf\u03b9\u03b5\u03c4\u03c3\u03bd\u03b7\u03c1\u03ba\u03af\u03ac",
    ),
    "cp1255": ("\u05d0-\u05ea", "\u05d9\u05d5\u05d4\u05dc\u05d0\u05de\u05ea\u05e8\u05d1\u05e9"),
    "cp1256": ("\u0621-\u064a", "\u0627\u0644\u064a\u0645\u0646\u0648\u062a\u0631\u0647\u0628"),
    "cp874": (
        "\u0e01-\u0e4e",
        "\u0e32\u0e19\u0e23\u0e2d\u0e01\u0e40\u0e07\u0e21\u0e22\u0e25\u0e27\u0e14\u0e35\u0e48\u0e49",
    ),
}

# The letters outside ASCII of languages in Latin script, those of Western Europe first: what all
# letters of a text belong to is its language.
_WESTERN = (
    "äöüß",
    "àâæçéèêëîïôœùûüÿ",
    "áéíñóúü",
    "àèéìíîòóù",
    "ãáàâçéêíõóôúü",
    "åäöæøéèêüóòô",
    "áðéíóúýþæö",
    "àçèéíïòóúü",
    "éëïóöüèê",
    "äöåšž",
)
_OTHERS = (
    (("cp1250", "iso8859-2"), ("ąćęłńóśźż", "áčďéěíňóřšťúůýžĺľŕôä", "áéíóöőúüű", "ăâîşţ", "čćđšž")),
    (("cp1254",), ("çğ\u0131öşüâîû",)),
    (("cp1257",), ("ąčęėįšųūž", "āčēģīķļņšūž", "äõöüšž")),
)
# Within words, what other codecs have in the place of letters; ã and õ of Portuguese are before
# these alone.
_SIGN_IN_WORD = re.compile("[^\\W\\d_][\x80-\x9f\xa1-\xa6\xa8\xac-\xb6\xb8\xb9\xbc-\xbf\xd7\xf7]")
_NOT_PORTUGUESE = re.compile("õ(?!e)|ã(?![eio]|\\b|s\\b)", re.IGNORECASE)
_SIGNS = re.compile("(?<![^\\W\\d_])[ªºµ]|[ªº](?![^\\W\\d_])")  # as in `Nº 5`
_LETTER = re.compile("[^\\W\\d_a-zA-Z]")
_TURKISH = re.compile(rb"[a-z][\xf0\xfd\xfe]")
_ICELANDIC = re.compile(rb"[\xe1\xe6\xe9\xed\xf3\xfa]")


def guess_codec(data: bytes) -> str | None:
    """The codec of bytes that look like a text in another script than Latin; None if unsure."""
    high = sum(byte > 0x7F for byte in data)  # not of UTF-8, which is told by itself
    in_pairs = 2 * len(_PAIRS.findall(data))
    if high < _MIN_BYTES:
        return None
    if in_pairs < _MIN_SHARE_IN_PAIRS * high:
        return _BIG5 if _score(data, _BIG5, _SHARES[_BIG5]) >= 1.0 else None
    scores = {codec: _score(data, codec, share) for codec, share in _SHARES.items()}
    best = max(scores, key=scores.__getitem__)
    return best if scores[best] >= 1.0 else None


def guess_latin_codec(data: bytes) -> str:
    """The codec of a text in Latin letters; Windows-1252 if unsure."""
    data = data[:_MAX_SAMPLE]
    if (
        _TURKISH.search(data)
        and not _ICELANDIC.search(data)
        and _is_of(data, "cp1254", _OTHERS[1][1])
    ):
        return "cp1254"
    is_western = _is_of(data, "cp1252", _WESTERN)
    if is_western and not _NOT_PORTUGUESE.search(data.decode("cp1252", "replace")):
        return "cp1252"
    found = ((codec, languages) for codecs_, languages in _OTHERS for codec in codecs_)
    return next((codec for codec, languages in found if _is_of(data, codec, languages)), "cp1252")


def _is_of(data: bytes, codec: str, languages: tuple[str, ...]) -> bool:
    """Whether all letters of a text are of one of these languages."""
    text = _SIGNS.sub("", data.decode(codec, "replace"))
    letters = {*_LETTER.findall(text.lower())}
    is_plain = "\ufffd" not in text and not _SIGN_IN_WORD.search(text)
    return is_plain and any(letters.issubset(language) for language in languages)


def _score(data: bytes, codec: str, share: Callable[[str], float]) -> float:
    """How well a text fits; from 1 on it does."""
    decoder = codecs.getincrementaldecoder(codec)("strict")
    try:
        text = decoder.decode(data)
    except UnicodeError:
        return 0.0
    foreign = "".join(each for each in text.lower() if not each.isascii() and not each.isspace())
    return share(foreign) * _share_of_words(text[:_MAX_CASED]) if foreign else 0.0


def _share_of_words(text: str) -> float:
    """Less where capitals follow small letters, as nobody writes."""
    letters = [each for each in text if not each.isascii()]
    mixed = sum(
        first.islower() and not first.isascii() and second.isupper() and not second.isascii()
        for first, second in pairwise(text)
    )
    return max(0.0, 1 - 4 * mixed / max(len(letters), 1))


def _share_of(letters: re.Pattern[str], least: float) -> Callable[[str], float]:
    return lambda text: len(letters.findall(text)) / len(text) / least


def _share_of_language(letters: str, common: str) -> Callable[[str], float]:
    share = _share_of(re.compile(f"[{common}]"), _MIN_COMMON)
    letter = re.compile(f"[{letters}]")
    return lambda text: (
        share(text) if len(letter.findall(text)) >= _MIN_LETTERS * len(text) else 0.0
    )


_SHARES: dict[str, Callable[[str], float]] = {
    **{codec: _share_of_language(*letters) for codec, letters in _SINGLE_BYTES.items()},
    "cp932": _share_of(_KANA, 0.25),
    "euc_jis_2004": _share_of(_KANA, 0.25),
    "cp949": _share_of(_HANGUL, 0.7),
    "gb18030": _share_of(_HAN, 0.15),
    "cp950": _share_of(_HAN, 0.15),
}
