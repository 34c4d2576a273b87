"""Messages in every charset, in every transfer encoding, and with lies about both."""

from collections.abc import Iterator
from itertools import product

from tests.mail.parsing.messages import Case, encoded, message, multipart, part, with_header, word

# Texts that the charset can write and that differ from what another would read.
TEXTS = {
    "utf-8": "Grüße aus Köln – 日本語 🎉 naïve",
    "iso-8859-1": "Grüße aus Köln, déjà vu, ñandú",
    "iso-8859-2": "Příliš žluťoučký kůň",
    "iso-8859-5": "Съешь ещё этих булок",
    "iso-8859-7": "Ξεσκεπάζω την ψυχοφθόρα",
    "iso-8859-9": "Pijamalı hasta yağız şoföre",
    "iso-8859-15": "Prix: 20 € à l'œuvre",
    "windows-1250": "Zażółć gęślą jaźń – „tak”",
    "windows-1251": "Съешь же ещё этих мягких французских булок",
    "windows-1252": "“Quoted” – it’s 5 € …",
    "windows-1253": "Ξεσκεπάζω την ψυχοφθόρα βδελυγμία",
    "windows-1254": "Fahiş bluz güvencesi ısrarı",
    "windows-1255": "דג סקרן שט בים מאוכזב",
    "windows-1256": "نص حكيم له سر قاطع",
    "windows-1257": "Įlinkdama fechtuotojo špaga",
    "windows-1258": "Tôi là một",
    "koi8-r": "Широкая электрификация южных губерний",
    "koi8-u": "Жебракують філософи при ґанку",
    "gb2312": "我能吞下玻璃而不伤身体",
    "gbk": "我能吞下玻璃而不傷身體",
    "gb18030": "我能吞下玻璃 𠀀",
    "big5": "我能吞下玻璃而不傷身體",
    "shift_jis": "いろはにほへと ちりぬるを",
    "euc-jp": "いろはにほへと ちりぬるを",
    "iso-2022-jp": "いろはにほへと ちりぬるを",
    "euc-kr": "나는 유리를 먹을 수 있어요",
    "iso-2022-kr": "나는 유리를 먹을 수 있어요",
    "tis-620": "ฉันกินกระจกได้ แต่มันไม่ทำให้เจ็บ",
    "utf-7": "Grüße +- 日本語",
    "utf-16": "Grüße 日本語 🎉",
    "mac-roman": "“Déjà vu” — façade",
    "cp850": "Größe déjà",
    "hz": "我能吞下玻璃",
}
_ENCODINGS = ("8bit", "base64", "quoted-printable")
_WIDE = ("utf-16",)


def _bytes(text: str, charset: str) -> bytes:
    return text.encode("cp1258" if charset == "windows-1258" else charset)


def _text_of(charset: str) -> str:
    # Vietnamese marks are characters of their own in windows-1258.
    text = TEXTS[charset]
    return "Toi la mot đơn hàng"[:10] if charset == "windows-1258" else text


def charset_cases() -> Iterator[Case]:
    for charset in TEXTS:
        text = _text_of(charset)
        for encoding in _ENCODINGS:
            if encoding == "8bit" and charset in _WIDE:
                continue
            yield from _structures(charset, encoding, text)
        if charset not in _WIDE:
            yield from _headers(charset, text)


def _structures(charset: str, encoding: str, text: str) -> Iterator[Case]:
    data = _bytes(text, charset)
    name = f"{charset} in {encoding}"
    plain = part(f"text/plain; charset={charset}", data, encoding=encoding)
    html = part(
        f'text/html; charset="{charset}"', _bytes(f"<p>{text}</p>", charset), encoding=encoding
    )
    image = part("image/png; name=a.png", b"\x89PNG", encoding="base64")
    expected = {"text": text, "faults": ()}
    yield Case(f"{name}: plain", with_header(plain), expected)
    yield Case(f"{name}: html", with_header(html), expected)
    yield Case(
        f"{name}: alternative", with_header(multipart("alternative", [plain, html])), expected
    )
    mixed = multipart("mixed", [multipart("alternative", [html], boundary="b2"), image])
    yield Case(f"{name}: mixed", with_header(mixed), expected | {"names": ("a.png",)})


def _headers(charset: str, text: str) -> Iterator[Case]:
    for kind in "bq":
        subject = word(text, charset, kind)
        lines = f"From: {subject} <ann@example.com>\r\nSubject: {subject}\r\n\r\n".encode()
        expected = {"subject": text, "sender": ("ann@example.com", text), "faults": ()}
        yield Case(f"{charset}: encoded words {kind}", lines, expected)
    percent = "".join(f"%{byte:02X}" for byte in _bytes(f"{text}.txt", charset))
    field = f"Content-Disposition: attachment; filename*={charset}''{percent}"
    raw = with_header(multipart("mixed", [part("application/pdf", b"x", field)]))
    yield Case(f"{charset}: file name", raw, {"names": (f"{text}.txt",), "faults": ()})


_BARE_SUBJECTS = {
    "windows-1251": "Привет",
    "koi8-r": "Привет",
    "shift_jis": "注文の件",
    "gb2312": "订单",
    "iso-8859-1": "Réclamation café",
    "iso-2022-kr": "주문 문의",
    "hz": "订单",
    "utf-7": "Grüße + 订单",
}


_OTHER_SCRIPTS = {
    "windows-1251": "Здравствуйте, где мой заказ?",
    "koi8-r": "Здравствуйте, где мой заказ?",
    "windows-1253": "Καλημέρα, πού είναι η παραγγελία μου;",
    "windows-1255": "שלום, איפה ההזמנה שלי",
    "windows-1256": "مرحبا، أين طلبي الجديد",
    "tis-620": "สินค้าที่สั่งซื้ออยู่ที่ไหน",
    "shift_jis": "注文した商品はまだ届いていません。",
    "euc-jp": "注文した商品はまだ届いていません。",
    "gbk": "请问我的订单什么时候可以发货？",
    "euc-kr": "주문한 상품은 언제 도착하나요?",
}


# Other names of charsets, each with a codec that reads the same.
_NAMES = {
    "cp874": "x-windows-874 x-mac-thai x-iso-8859-11",
    "cp1251": "win-1251 microsoft-cp1251 1251 cs-windows-1251 windows-1251http-equivContent-Type",
    "cp1252": "ansi_x3.110-1983 iso-ir-100 8859-1 ms-ansi csISOLatin1 'iso-8859-1'; iso-8859-1\">",
    "utf-8": "x-utf-8 utf-8//TRANSLIT utf-8_general_ci 3Dutf-8 charset=utf-8 cp65001 utf-8,latin1",
    "iso8859-2": "csISOLatin2 iso-ir-101 x-cp28592",
    "iso8859-7": "csISOLatinGreek",
    "cp850": "cp-850 dos-850 ibm00850",
    "mac-latin2": "x-mac-ce x-mac-centraleurroman",
    "mac-greek": "x-mac-greek",
    "mac-iceland": "x-mac-icelandic",
    "koi8-r": "x-cp20866 cskoi8r koi8-unified",
    "cp1255": "iso-8859-8-i csISOLatinHebrew x-mac-hebrew",
    "cp949": "ks_c_5601-1987 ks_c_5601-1989 iso-ir-149 x-mac-korean cp51949",
    "cp932": "x-sjis x-ms-cp932 cp943c x-mac-japanese",
    "gb18030": "x-gbk x-cp936 gb2312_charset iso-ir-58 x-mac-chinesesimp",
    "cp950": "x-windows-950 big5-eten x-mac-chinesetrad",
    "euc_jp": "eucjp-ms cp51932 x-euc-jp",
    "iso2022_jp": "iso-2022-jp-ms cp50221 x-windows-iso2022jp",
    "utf-7": "unicode-1-1-utf-7 x-unicode-2-0-utf-7",
}
_OF_CODECS = {
    "cp874": "ฉัน", "cp1251": "Даша", "utf-8": "Dörte", "iso8859-2": "Kůň", "iso8859-7": "Άρης",
    "cp850": "Größe", "mac-latin2": "Żółw", "mac-greek": "άλφα", "mac-iceland": "Þór",
    "koi8-r": "Даша", "cp1255": "דג", "cp949": "유리", "cp932": "鉢", "gb18030": "碗",
    "cp950": "電話", "euc_jp": "鉢", "iso2022_jp": "鉢", "utf-7": "Größe", "cp1252": "Größe",
}  # fmt: skip


# Each language in its letters, the first text of a codec with at least three of them.
_LATIN = {
    "cp1252": (
        "Ærø: Søren købte både, så…", "Il a reçu le cœur cassé, à ½ prix",
        "Ég fékk ekki þetta með póstinum", "Não recebi, às três da manhã: põe", "Nº 5 – 10 µm",
    ),
    "cp1254": ("Siparişim gelmedi, lütfen yardım edin, teşekkürler",),
    "cp1250": (
        "Příliš žluťoučký kůň úpěl ďábelské ódy", "Paczka nie dotarła, proszę o pomoc",
        "A rendelésem nem érkezett meg, őszintén", "Comanda nu a ajuns, vă rog să mă ajutaţi",
        "Narudžba nije stigla, čekam", "Ľúto mi je, ďakujem",
    ),
    "iso8859-2": ("Zásilka nedorazila, děkuji, že píšete", "Proszę o zmianę: są pęknięte"),
    "cp1257": ("Kur mano užsakymas? Ačiū, gražios dienos", "Siunta neatėjo, prašau padėti"),
}  # fmt: skip


def name_cases() -> Iterator[Case]:
    for codec, names in _NAMES.items():
        for name in names.split():
            data = _OF_CODECS[codec].encode(codec)
            raw = with_header(part(f"text/plain; charset={name}", data, encoding="base64"))
            yield Case(f"the charset {name}", raw, {"text": _OF_CODECS[codec], "faults": ()})
    nec = b"\xfc\xe2\xb6\xb6\xad\xa1"
    raw = with_header(part("text/plain; charset=euc-jp", nec))
    yield Case("cp51932 that calls itself EUC-JP", raw, {"text": "髙橋①", "faults": ()})


def lie_cases() -> Iterator[Case]:
    text = "Grüße aus Köln – 日本語"
    utf8 = text.encode()
    for charset in (
        "iso-8859-1",
        "us-ascii",
        "windows-1252",
        "x-unknown",
        "unknown-8bit",
        "",
        "7bit",
    ):
        raw = with_header(part(f"text/plain; charset={charset}", utf8, encoding="8bit"))
        yield Case(f"UTF-8 that calls itself {charset}", raw, {"text": text, "faults": ()})
    for charset in ("iso-8859-1", "windows-1252", "iso-8859-15"):
        raw = with_header(part(f"text/plain; charset={charset}", "für", encoding="8bit"))
        yield Case(f"a short UTF-8 as {charset}", raw, {"text": "für", "faults": ()})
    raw = message("", utf8)
    yield Case("UTF-8 without declaration", raw, {"text": text, "faults": ()})
    latin = "Grüße – “so”"
    for charset in (
        "utf-8",
        "us-ascii",
        "foo",
        "",
        "\x00bad",
        "punycode",
        "zlib",
        "unicode_escape",
    ):
        raw = with_header(part(f'text/plain; charset="{charset}"', latin.encode("cp1252")))
        yield Case(f"windows-1252 that calls itself {charset!r}", raw, {"faults": ("charset",)})
    for charset in ("foo", "", "us-ascii", "idna", "bz2", "rot13", "utf-8"):
        raw = with_header(part(f"text/plain; charset={charset}", latin.encode("cp1252")))
        yield Case(
            f"windows-1252 as {charset!r} reads", raw, {"text": latin, "faults": ("charset",)}
        )
    for codec, foreign in _OTHER_SCRIPTS.items():
        for charset in ("utf-8", "iso-8859-1", ""):
            raw = with_header(part(f"text/plain; charset={charset}", foreign.encode(codec)))
            yield Case(f"{codec} that calls itself {charset!r}", raw, {"text": foreign})
    for charset in ("windows-1250", "iso-8859-2", "windows-1254"):
        raw = with_header(part(f"text/plain; charset={charset}", "dotarło", encoding="8bit"))
        yield Case(f"a short UTF-8 as {charset}", raw, {"text": "dotarło", "faults": ()})
    for codec, charset in (("koi8-r", "windows-1251"), ("windows-1251", "koi8-r"),
                           ("euc-jp", "shift_jis")):  # fmt: skip
        foreign = _OTHER_SCRIPTS[codec]
        raw = with_header(part(f"text/plain; charset={charset}", foreign.encode(codec)))
        yield Case(f"{codec} that calls itself {charset}", raw, {"text": foreign})
    for codec, latins in _LATIN.items():
        for latin, charset in product(latins, ("utf-8", "")):
            raw = with_header(part(f"text/plain; charset={charset}", latin.encode(codec)))
            yield Case(f"{codec} that calls itself {charset!r}: {latin}", raw, {"text": latin})
        raw = with_header(part("text/plain; charset=iso-8859-1", latins[0].encode(codec)))
        yield Case(f"{codec} that calls itself ISO-8859-1", raw, {"text": latins[0]})
    for codec in ("gb18030", "big5", "euc-kr", "shift_jis", "euc-jp"):
        foreign = "请问我的订单"
        raw = with_header(part(f"text/plain; charset={codec}", foreign.encode()))
        yield Case(f"UTF-8 that calls itself {codec}", raw, {"text": foreign, "faults": ()})
    raw = with_header(part("text/plain; charset=utf-7", "Grüße".encode("cp1252")))
    yield Case("eight bits that call themselves UTF-7", raw, {"text": "Grüße"})
    chinese = "您好，我的訂單在哪裡？謝謝您"
    for charset in ("utf-8", ""):
        raw = with_header(part(f"text/plain; charset={charset}", chinese.encode("big5")))
        yield Case(f"Big5 that calls itself {charset!r}", raw, {"text": chinese})
    arabic = "لم يصل طلبي بعد، الرجاء المساعدة"
    yield Case("Arabic like Greek", message("", arabic.encode("cp1256")), {"text": arabic})
    for codec, subject in (("shift_jis", "注文について"), ("latin-1", "Größe")):
        body = part("text/plain; charset=utf-8", subject.encode(codec))
        raw = b"Subject: " + subject.encode(codec) + b"\r\n" + body
        yield Case(f"a subject in {codec} as utf-8", raw, {"subject": subject, "text": subject})
    yield from _marked_cases(text)
    yield from _japanese_and_russian_cases()


def _marked_cases(text: str) -> Iterator[Case]:
    for codec in ("utf-8-sig", "utf-16", "utf-32"):
        data = text.encode(codec)
        for charset in ("utf-8", "iso-8859-1", "utf-16", ""):
            raw = with_header(part(f"text/plain; charset={charset}", data, encoding="base64"))
            yield Case(f"{codec} with its mark as {charset!r}", raw, {"text": text, "faults": ()})
    for codec, charset in product(("utf-16-le", "utf-16-be"), ("utf-16", "utf-16le", "utf-16be")):
        raw = with_header(
            part(f"text/plain; charset={charset}", text.encode(codec), encoding="base64")
        )
        yield Case(f"{codec} without its mark as {charset}", raw, {"text": text, "faults": ()})
    for charset in ("utf-8", "iso-8859-1"):
        raw = with_header(part(f"text/plain; charset={charset}", b"a\x00b\x1b[31mc\x07\x7f"))
        yield Case(f"control characters in {charset}", raw, {"text": "ab[31mc", "faults": ()})
    surrogates = with_header(part("text/plain; charset=utf-7", b"+2D3eAA- +2AA-x"))
    yield Case("surrogates", surrogates, {"text": "\U0001f600 \ufffdx"})
    cut = "aé".encode()[:-1]
    for encoding in ("8bit", "base64"):
        raw = with_header(part("text/plain; charset=utf-8", encoded(cut, "x"), encoding="8bit"))
        yield Case(f"a character that is cut, {encoding}", raw, {"text_start": "a"})


def _japanese_and_russian_cases() -> Iterator[Case]:
    japanese = TEXTS["iso-2022-jp"]
    yield Case(
        "ISO-2022-JP undeclared", message("", japanese.encode("iso-2022-jp")), {"text": japanese}
    )
    raw = b"Subject: " + japanese.encode("iso-2022-jp") + b"\r\n\r\n"
    yield Case("ISO-2022-JP in a subject as it is", raw, {"subject": japanese})
    wide = "髙橋①"  # not in JIS X 0208, but in what Windows sends under its name
    raw = with_header(part("text/plain; charset=shift_jis", wide.encode("cp932")))
    yield Case("Windows-31J that calls itself Shift_JIS", raw, {"text": wide, "faults": ()})
    nec = b"\x1b$B-!HV\x1b(B and \x1b(I1\x1b(B"
    raw = with_header(part("text/plain; charset=iso-2022-jp", nec))
    yield Case("cp50220 that calls itself ISO-2022-JP", raw, {"text": "①番 and ｱ", "faults": ()})
    for charset, subject in _BARE_SUBJECTS.items():
        field = b"Subject: " + subject.encode(charset) + b"\r\n"
        raw = field + part(f"text/plain; charset={charset}", subject.encode(charset))
        yield Case(f"a bare subject in {charset}", raw, {"subject": subject, "text": subject})
    for charset in ("windows-1251", "koi8-r", "shift_jis", "gb2312", "iso-8859-1"):
        name = f"{_BARE_SUBJECTS[charset]}.pdf"
        bare = b'="' + name.encode(charset) + b'"\r\n\r\nx'
        files = (
            b"Content-Type: application/pdf; name" + bare,
            b"Content-Type: application/pdf\r\nContent-Disposition: attachment; filename" + bare,
        )
        raw = multipart("mixed", [part(f"text/plain; charset={charset}", "text"), *files])
        yield Case(f"bare names in {charset}", with_header(raw), {"names": (name, name)})
    raw = b"Subject: caf\xe9\r\n\r\nx"
    yield Case("a bare subject without a charset", raw, {"subject": "café"})
    russian = TEXTS["koi8-r"]
    header = f"From: {word('Ян', 'koi8-r')} <a@example.com>\r\n".encode()
    raw = message("", russian.encode("koi8-r"), header=header)
    yield Case("the charset of the sender's name", raw, {"text": russian, "faults": ("charset",)})
    html = f"<html><head><meta charset='koi8-r'></head><body>{russian}</body></html>"
    raw = with_header(part("text/html", html.encode("koi8-r")))
    yield Case("the charset of a meta element", raw, {"text": russian, "faults": ()})
    for name in (
        "ks_c_5601-1987",
        "cp-850",
        "x-gbk",
        "ansi_x3.4-1968",
        "UTF8",
        "'utf-8'",
        "latin1",
    ):
        raw = with_header(part(f"text/plain; charset={name}", b"plain"))
        yield Case(f"the name {name}", raw, {"text": "plain", "faults": ()})
