"""Decoding of bytes whose charset may be unknown, missing or wrong."""

import codecs
import re
from typing import NamedTuple

from sealdesk.mail.parsing.guessing import guess_codec, guess_latin_codec
from sealdesk.mail.parsing.iso2022_jp import euc_jp_as_cp932, iso2022_jp_as_cp932

# The codecs that may decode a message, under their own names. Names of a message are never given to
# `codecs.lookup`, which remembers each unknown one for ever, and knows codecs that are no charsets.
_CODECS = tuple(
    """
    ascii utf-8 utf-7 utf-16 utf-16-le utf-16-be utf-32 utf-32-le utf-32-be cp1252 iso8859-2
    iso8859-3 iso8859-4 iso8859-5 iso8859-6 iso8859-7 iso8859-8 iso8859-10 iso8859-13 iso8859-14
    iso8859-15 iso8859-16 cp1250 cp1251 cp1253 cp1254 cp1255 cp1256 cp1257 cp1258 cp874 koi8-r
    koi8-u koi8-t kz1048 cp437 cp720 cp737 cp775 cp850 cp852 cp855 cp857 cp858 cp860 cp861 cp862
    cp863 cp864 cp865 cp866 cp869 mac-roman mac-cyrillic mac-greek mac-latin2 mac-turkish
    mac-croatian mac-iceland mac-romanian mac-arabic mac-farsi hp-roman8 gb18030 hz big5hkscs cp950
    cp932 euc_jis_2004 shift_jis_2004 iso2022_jp_ext iso2022_jp_2004 iso2022_kr cp949 johab ptcp154
    """.split()
)
# What mailers call them. A name that a larger charset contains is decoded as that one, as browsers
# do (WHATWG Encoding, 4.2): what calls itself ISO-8859-1 uses the quotes of Windows.
_ALIASES = {
    "cp1252": "iso88591 88591 latin1 l1 iso885911987 cp819 ansi ansix34 ir100 cp28591",
    "ascii": "usascii ansix341968 iso646us 646 cp367 7bit ir6 cp20127",
    "utf-8": "utf8 utf8mb4 unicode11utf8 xunicode20utf8 utf8sig u8 unicode cp65001",
    "utf-7": "utf7 unicode11utf7 unicode20utf7 csunicode11utf7 u7 cp65000",
    "utf-16": "utf16 ucs2 iso10646ucs2 csunicode u16",
    "utf-16-le": "utf16le unicodelittle unicodefeff cp1200",
    "utf-16-be": "utf16be unicodebig unicodefffe cp1201",
    "utf-32": "utf32 ucs4 u32",
    "utf-32-le": "utf32le",
    "utf-32-be": "utf32be",
    "iso8859-2": "l2 ir101",
    "iso8859-3": "ir109",
    "iso8859-4": "ir110",
    "cp1254": "iso88599 latin5 l5 ir148 cp28599",
    "cp874": "iso885911 tis620 macthai",
    "iso8859-6": "iso88596 iso88596e iso88596i arabic ir127",
    "iso8859-7": "iso88597 greek greek8 elot928 ecma118 ir126",
    "iso8859-8": "iso88598 iso88598e iso88598i logical visual hebrew ir138 machebrew",
    "iso8859-5": "iso88595 cyrillic ir144",
    "iso8859-10": "iso885910 latin6 ir157",
    "iso8859-15": "iso885915 latin9 ir203",
    "iso8859-16": "iso885916 latin10 ir226",
    "koi8-r": "koi8r koi8 koi koi8unified cp20866",
    "koi8-u": "koi8u koi8ru cp21866",
    "mac-roman": "macintosh macroman mac cp10000",
    "mac-cyrillic": "maccyrillic macukrain cp10007",
    "mac-latin2": "macce maccentral cp10029",
    "mac-iceland": "maciceland",
    "gb18030": "gb18030 gb2312 gbk cp936 gb231280 euccn chinese ir58 cp54936 macchinesesimp",
    "hz": "hz hzgb hzgb2312 cp52936",
    "big5hkscs": "big5hkscs",
    "cp950": "big5 cp950 xxbig5 cnbig5 big5tw macchinesetrad",
    "cp932": "shiftjis sjis windows31j mskanji xmscp932 cp943 macjapanese",
    "euc_jis_2004": "eucjp eucjis2004 ujis cp51932",
    "shift_jis_2004": "shiftjis2004 shiftjisx0213",
    "iso2022_jp_ext": "iso2022jp iso2022jp1 iso2022jp2 iso2022jpext jis cp50220 cp50221 cp50222"
    " windowsiso2022jp",
    "iso2022_jp_2004": "iso2022jp2004 iso2022jp3",
    "iso2022_kr": "iso2022kr cp50225",
    "cp949": "cp949 euckr ksc5601 ksc56011987 ksc56011989 ksx1001 uhc korean ir149 cp51949"
    " mackorean",
    "johab": "cp1361",
}
# What stands before names: `x-`, `cs` of IANA, `charset=` once more, and code pages without `cp`.
_BEFORE = re.compile(r"(?:3d|charset|x(?!xbig5)|cs|ms|microsoft|iso(?=ir\d|latin)|latin(?=[a-z]))+")
_CODE_PAGE = re.compile(r"(?:windows|win|ibm|ccsid|dos|cp)?0*(\d{3,5})(?!\d)")
_MAX_CHARSET = 64
_MIN_BEGINNING = 4  # characters of a name with something behind it: `utf-8//TRANSLIT`
_PUNCTUATION = re.compile(r"[^a-z0-9]+")


def _plain(name: str) -> str:
    return _PUNCTUATION.sub("", name.lower())


def _known() -> dict[str, str]:
    known = {_plain(codec): codec for codec in _CODECS}
    for codec in _CODECS:
        number = _plain(codec).removeprefix("iso8859")
        if number.isdigit():
            known |= {
                f"latin{number}": codec,
                f"8859{number}": codec,
                f"cp{28590 + int(number)}": codec,
            }
    # Latin-5 is ISO 8859-9, and so on, so these come last.
    return known | {alias: codec for codec, names in _ALIASES.items() for alias in names.split()}


_KNOWN = _known()
_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
# Mailers declare these for whatever they send, so bytes that are UTF-8 are taken for it.
_CARELESS = {"ascii", "cp1252", "iso8859-15"}
# The same letters in other places: bytes of one are always a text of the other, too.
_CONFUSED = {"cp1251": "koi8-r", "koi8-r": "cp1251", "cp932": "euc_jis_2004"}
_LATIN = {"cp1250", "cp1254", "cp1257", "iso8859-2", "iso8859-4", "iso8859-13", "iso8859-16"}
_DOUBTED = {*_CONFUSED, *_CARELESS} - {"ascii"}
_LATIN_LETTERS = re.compile("[\u00a0-\u017f\u2010-\u203a\u20ac]*")
_STATEFUL = {"utf-7", "iso2022_jp_ext", "iso2022_jp_2004", "iso2022_kr", "hz"}
# ISO-2022-JP with the characters of NEC and IBM, as Outlook writes it; Python has no such codec.
_CP50220 = "cp50220"
_CP51932 = "cp51932"  # EUC-JP with them
_ROWS_OF_NEC = re.compile(rb"[\xad\xf9-\xfc][\xa1-\xfe]")
_WIDER = {
    "cp950": ("big5hkscs",),
    "cp932": ("shift_jis_2004",),
    "big5hkscs": ("cp950",),
    "iso2022_jp_ext": (_CP50220, "iso2022_jp_2004"),
}
# By chance a short text in another charset of single bytes is UTF-8 as well, but not one with four
# characters that are not ASCII.
_CERTAIN_COUNT = 4
_MIN_LETTERS = 3  # different ones, by which a text in Latin letters is told from another
_ASCII = bytes(range(128))
_EAST_ASIAN = ("gb18030", "cp9", "big5", "euc", "johab")  # not ISO 2022, which is ASCII
_SURROGATES = re.compile(r"[\ud800-\udfff]+")
_NEW_LINES = re.compile(r"\r\n?|[\x0b\x0c\x85\u2028\u2029]")
_ASCII_CONTROLS = dict.fromkeys((*range(9), *range(0x0E, 0x20), 0x7F)) | {
    0x0B: "\n",
    0x0C: "\n",
    0x0D: "\n",
}
_CONTROLS = re.compile(r"[\x00-\x08\x0e-\x1f\x7f-\x9f]+")


class Decoded(NamedTuple):
    """A text, the codec that gave it, and whether it is the right one."""

    text: str
    codec: str
    is_certain: bool


def codec_of(charset: str) -> str | None:
    """The codec of a charset by its name in a message, None for an unknown one."""
    if not charset:
        return None
    plain = _plain(charset[:_MAX_CHARSET])
    bare = _BEFORE.sub("", plain, count=1) if _BEFORE.match(plain) else plain
    numbered = _CODE_PAGE.sub(r"cp\1", bare, count=1) if _CODE_PAGE.match(bare) else bare
    found = (_KNOWN.get(each) or _beginning(each) for each in (plain, bare, numbered))
    return next(filter(None, found), None)


def _beginning(name: str) -> str | None:
    """The codec of the longest known name that begins another one."""
    ends = range(len(name) - 1, _MIN_BEGINNING - 1, -1)
    found = (_KNOWN.get(name[:end]) for end in ends if not name[end - 1 : end + 1].isdigit())
    return next(filter(None, found), None)


def decode(
    data: bytes, charset: str = "", likely: str | None = None, *, is_cut: bool = False
) -> Decoded:
    """The text of bytes.

    charset: as declared, "" if it is not. likely: a codec for bytes that declare none, or one that
    they are not in. is_cut: whether the bytes may end within a character.
    """
    for mark, codec in _BOMS:
        if data.startswith(mark):
            return Decoded(_replacing(data[len(mark) :], codec), codec, is_certain=True)
    declared = _in_order(codec_of(charset), data)
    for codec in _candidates(data, declared):
        text = _strictly(data, codec, is_cut=is_cut)
        guess = guess_codec(data) if codec in _DOUBTED and text is not None else None
        if codec == "cp1252" and not guess and len({*data.translate(None, _ASCII)}) >= _MIN_LETTERS:
            guess = guess_latin_codec(data)
        if guess and guess != codec and (codec in _CARELESS or guess == _CONFUSED[codec]):
            return Decoded(_replacing(data, guess), guess, is_certain=False)
        if text is not None:
            return Decoded(text, codec, is_certain=True)
    fallback = _fallback(data, declared, likely)
    return Decoded(_replacing(data, fallback), fallback, is_certain=False)


def _fallback(data: bytes, declared: str | None, likely: str | None) -> str:
    """The codec of bytes that none fits."""
    if declared == "utf-8" and not _is_mostly_utf8(data):
        declared = None
    if declared in _STATEFUL and not data.isascii():
        declared = None
    if declared is None or declared in _CARELESS:
        return likely or guess_codec(data) or guess_latin_codec(data)
    return declared


def _is_mostly_utf8(data: bytes) -> bool:
    """Whether at least as many characters are right as broken, as in UTF-8 that was damaged."""
    text = _replacing(data, "utf-8")
    broken_count = text.count("\ufffd")
    return sum(not each.isascii() for each in text) >= max(2 * broken_count, 1)


def _candidates(data: bytes, declared: str | None) -> list[str]:
    """Codecs in the order in which they are tried."""
    if data.isascii() and declared not in _STATEFUL:
        # Korean and Japanese without a declaration; no other text contains these escapes.
        if b"\x1b$)C" in data:
            return ["iso2022_kr"]
        is_escaped = b"\x1b$" in data or b"\x1b(" in data
        wide = declared if _is_wide(declared) and b"\0" in data else None
        return ["iso2022_jp_ext", *_WIDER["iso2022_jp_ext"]] if is_escaped else [wide or "ascii"]
    if declared in (None, *_CARELESS) or (
        _is_doubtful(declared) and _is_certainly_utf8(data, is_latin=declared in _LATIN)
    ):
        return ["utf-8", *((declared,) if declared else ())]
    if declared == "euc_jis_2004" and _ROWS_OF_NEC.search(data):
        return [_CP51932, declared, "utf-8"]
    return [declared or "", *_WIDER.get(declared or "", ()), "utf-8"]


def _in_order(codec: str | None, data: bytes) -> str | None:
    """UTF-16 with the byte order that at least half of its characters, Latin ones, are in."""
    if codec is None or not codec.startswith("utf-16"):
        return codec
    swapped = data[::2].count(0) - data[1::2].count(0)
    if abs(swapped) * 4 <= len(data):
        return codec
    return "utf-16-be" if swapped > 0 else "utf-16-le"


def _is_wide(codec: str | None) -> bool:
    return (codec or "").startswith(("utf-16", "utf-32"))


def _is_doubtful(codec: str | None) -> bool:
    return (codec or "").startswith(("iso8859", "cp12", "koi8", "mac", "cp874", *_EAST_ASIAN))


def _is_certainly_utf8(data: bytes, *, is_latin: bool) -> bool:
    text = _strictly(data, "utf-8")
    if text is None:
        return False
    foreign = "".join(each for each in text if not each.isascii())
    if is_latin and _LATIN_LETTERS.fullmatch(foreign):
        return True
    return len(foreign) >= _CERTAIN_COUNT


def _strictly(data: bytes, codec: str, *, is_cut: bool = True) -> str | None:
    data, codec = _plain_bytes(data, codec)
    decoder = codecs.getincrementaldecoder(codec)("strict")
    try:
        return decoder.decode(data, final=not is_cut)
    except UnicodeError:
        return None


def _replacing(data: bytes, codec: str) -> str:
    data, codec = _plain_bytes(data, codec)
    return data.decode(codec, "replace")


def _plain_bytes(data: bytes, codec: str) -> tuple[bytes, str]:
    """The bytes and a codec of Python that has their characters."""
    if codec == _CP51932:
        return euc_jp_as_cp932(data), "cp932"
    return (iso2022_jp_as_cp932(data), "cp932") if codec == _CP50220 else (data, codec)


def clean_text(text: str) -> str:
    """A text with LF as the only end of lines, and without other control characters."""
    if text.isascii():  # in a fifth of the time
        return text.replace("\r\n", "\n").translate(_ASCII_CONTROLS)
    text = _SURROGATES.sub(_join_surrogates, text)
    return _CONTROLS.sub("", _NEW_LINES.sub("\n", text)).removeprefix("\ufeff")


def _join_surrogates(found: re.Match[str]) -> str:
    return found[0].encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def clean_line(text: str) -> str:
    """A text as one line, each run of white space a space."""
    return " ".join(clean_text(text).split())
