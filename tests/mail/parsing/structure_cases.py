"""Parts in parts, broken boundaries, transfer encodings, HTML, calendars and other files."""

import binascii
import zlib
from collections.abc import Iterator
from typing import Any

from sealdesk.mail.parsing.types import Address, AttachedMessage
from tests.mail.parsing.messages import Case, message, multipart, part, with_header

_PLAIN = part("text/plain", "text")
_HTML = part("text/html", "<p>html</p>")
_PNG = part("image/png; name=a.png", b"\x89PNG", encoding="base64")
_CID = part("image/png", b"\x89PNG", "Content-ID: <i@x>", "Content-Disposition: inline")
_PDF = part("application/pdf; name=a.pdf", b"%PDF", encoding="base64")
_POOR = part("text/plain", "Your e-mail client does not support HTML messages.")
_ICS = (
    "BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nSUMMARY:Team\\, me\r\n et\r\nDTSTART:20260105T100000Z\r\n"
    "LOCATION;LANGUAGE=en:Room 1\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n"
)
_EVENT = "[Calendar: Team, meet, 2026-01-05 10:00 UTC, Room 1]"
SIGNED_TYPE = "application/pkcs7-mime; smime-type=signed-data; name=smime.p7m"
_SIGNED_DATA = bytes.fromhex("2a864886f70d010702")
_DATA = bytes.fromhex("2a864886f70d010701")
_ENVELOPED = bytes.fromhex("2a864886f70d010703")
_COMPRESSED = bytes.fromhex("2a864886f70d0109100109")
_INNER = b"From: b@example.com\r\nSubject: inner\r\n\r\ninner text\r\n"


def structure_cases() -> Iterator[Case]:
    yield from _multipart_cases()
    yield from _short_text_cases()
    yield from _boundary_cases()
    yield from _file_cases()
    yield from _encoding_cases()
    yield from _text_cases()
    yield from _html_cases()
    yield from _broken_type_cases()
    yield _case("an opaque signature", part(SIGNED_TYPE, _signed(), encoding="base64"), "words")
    by_name = part("application/octet-stream; name=smime.p7m", _signed(), encoding="base64")
    yield _case("an opaque signature by its name", by_name, "words")
    encrypted = part(SIGNED_TYPE, b"0\x80\x06\x09other", encoding="base64")
    yield _case("no signature", encrypted, "", names=("smime.p7m",), faults=("encrypted",))
    yield from _wrapped_cases()


def _wrapped_cases() -> Iterator[Case]:
    """S/MIME says what it is by what it contains, whatever its type says."""
    packed = zlib.compress(b"Content-Type: text/plain\r\n\r\nwords")
    for name, inner, text, fault in (
        ("compressed", _compressed(packed), "words", None),
        ("too large", _compressed(zlib.compress(b"\r\n" * 9_999)), "", "compressed"),
        ("broken", _compressed(b"x"), "", "compressed"),
        ("cut", _compressed(packed[:-4]), "", "compressed"),
        ("certs", _cms(_SIGNED_DATA, _element(0x30, _element(6, _DATA))), "", "certificates"),
        ("enveloped", _cms(_ENVELOPED, _element(0x31, b"")), "", "encrypted"),
    ):
        for kind, file in (
            ("application/pkcs7-mime; smime-type=enveloped-data", "smime.p7m"),
            ("application/x-pkcs7-mime", "smime.p7z"),
            ("application/octet-stream", "SMIME.P7C"),
        ):
            raw = part(f"{kind}; name={file}", inner, encoding="base64")
            said = {"faults": (fault,), "names": (file,)} if fault else {"names": ()}
            yield _case(f"S/MIME, {name} as {kind}", raw, text, **said)
    large = zlib.compress(b"Content-Type: text/plain\r\n\r\nwords" + b"\r\n" * 5_000)
    both = [part(SIGNED_TYPE, _compressed(large), encoding="base64") for _ in range(2)]
    # What is compressed has one bound in a message, and none is read within an attached one.
    yield _case("compressed twice", multipart("mixed", both), "words", faults=("compressed",))
    attached = part("message/rfc822", part(SIGNED_TYPE, _compressed(packed), encoding="base64"))
    expected = {"attached": AttachedMessage(None, "", ""), "names": ("message-1.eml",)}
    yield _case("compressed in an attached message", attached, "", **expected)
    for kind, fault in (("compressed-data", "compressed"), ("certs-only", "certificates")):
        raw = part(f"application/pkcs7-mime; smime-type={kind}", b"0", encoding="base64")
        yield _case(f"a broken part of {kind}", raw, "", faults=(fault,))
    wrapped = part(SIGNED_TYPE, _signed(), encoding="base64")
    for depth in range(2):
        wrapped = part(SIGNED_TYPE, signed(wrapped))
        yield _case(f"signed {depth + 2} times", wrapped, "words", names=())
    wrapped = part(SIGNED_TYPE, signed(wrapped))
    yield _case("signed 4 times", wrapped, "", faults=("depth",))


def _case(name: str, inner: bytes, text: str, **expected: Any) -> Case:
    return Case(name, with_header(inner), {"text": text, "faults": ()} | expected)


def _multipart_cases() -> Iterator[Case]:
    alternative = multipart("alternative", [_PLAIN, _HTML], boundary="alt")
    related = multipart("related", [_HTML, _CID], boundary="rel")
    for poor in ("Ihr Programm kann keine HTML-Nachrichten anzeigen.", "Ouvrez dans un navigateur",
                 "Abra este correo en su navegador", "ブラウザでご覧ください"):  # fmt: skip
        kinds = multipart("alternative", [part("text/plain; charset=utf-8", poor), _HTML])
        yield _case(f"plain text that says {poor}", kinds, "html")
    inline = {"content_ids": ("i@x",), "inline": (True,), "names": ("attachment-1.png",)}
    yield _case("plain before HTML", alternative, "text")
    for kind in ("alternative", 'alternative; boundary=""', "mixed; boundary=none", "related"):
        raw = part(f"multipart/{kind}", "words")
        yield _case(f"no part of {kind}", raw, "words", faults=("boundary",))
    yield _case("HTML before plain", multipart("alternative", [_HTML, _PLAIN]), "text")
    yield _case("plain that is poor", multipart("alternative", [_POOR, _HTML]), "html")
    blank = part("text/plain", " \r\n")
    yield _case("plain that is blank", multipart("alternative", [blank, _HTML]), "html")
    empty = part("text/html", "<br>")
    yield _case("HTML that is blank", multipart("alternative", [_PLAIN, empty]), "text")
    yield _case("related", related, "html", **inline)
    both = multipart("alternative", [_PLAIN, related])
    yield _case("related in alternative", both, "text", **inline)
    reverse = multipart("related", [alternative, _CID])
    yield _case("alternative in related", reverse, "text", **inline)
    mixed = multipart("mixed", [alternative, _PDF])
    yield _case("mixed", mixed, "text", names=("a.pdf",), contents=(b"%PDF",))
    apple = multipart("mixed", [_PLAIN, _PNG, part("text/plain", "more")])
    yield _case("text around an image", apple, "text\n\nmore", names=("a.png",))
    signature = part("application/pgp-signature; name=signature.asc", "-----BEGIN")
    signed = multipart("signed", [mixed, signature], boundary="sig")
    yield _case("signed", signed, "text", names=("a.pdf", "signature.asc"))
    encrypted = multipart("encrypted", [part("application/pgp-encrypted", "Version: 1"), _PDF])
    yield _case("encrypted", encrypted, "", faults=("encrypted",))
    smime = part("application/pkcs7-mime; name=smime.p7m", b"\x30", encoding="base64")
    yield _case("S/MIME", smime, "", names=("smime.p7m",), faults=("encrypted",))
    armoured = part("text/plain", "-----BEGIN PGP MESSAGE-----\r\nx")
    yield _case("PGP as text", armoured, "-----BEGIN PGP MESSAGE-----\nx", faults=("encrypted",))
    amp = part("text/x-amp-html", "<p>amp</p>")
    yield _case("AMP", multipart("alternative", [_PLAIN, amp, _HTML]), "text", names=())
    reaction = part("text/vnd.google.email-reaction+json", "{}")
    yield _case("Gmail", multipart("alternative", [_PLAIN, reaction, _HTML]), "text", names=())
    unknown = multipart("x-unknown", [_PLAIN, _PDF])
    yield _case("an unknown multipart", unknown, "text", names=("a.pdf",))
    digest = multipart("digest", [b"\r\n" + _INNER])
    yield _case("a digest", digest, "", names=("message-1.eml",), types=("message/rfc822",))
    for depth in (2, 5, 15, 19):
        nested = _nested(depth)
        yield _case(f"{depth} multiparts in each other", nested, "text")
    yield _case(
        "25 multiparts in each other",
        _nested(25),
        "",
        names=("attachment-1.bin",),
        faults=("depth",),
    )


def _short_text_cases() -> Iterator[Case]:
    for plain, html, text in (
        ("It broke.", "<p>It broke.</p><p>Please help.</p>", "It broke.\n\nPlease help."),
        ("It broke.", '<p><b>It</b> broke.<img src="cid:x"></p>', "It broke."),
        ("It broke.", '<p>It broke.</p><a href="https://x.example">x</a>', "It broke."),
        ("It broke.", "<p>News: it broke. More</p>", "It broke."),
        ("It broke. " * 60, "<p>" + "It broke. " * 61, ("It broke. " * 60).strip()),
    ):
        parts = [part("text/plain", plain), part("text/html", html)]
        yield _case("a short text beside HTML", multipart("alternative", parts), text)


def _nested(depth: int) -> bytes:
    nested = _PLAIN
    for level in range(depth):
        nested = multipart("mixed", [nested], boundary=f"level{level}x")
    return nested


def _boundary_cases() -> Iterator[Case]:
    whole = multipart("mixed", [_PLAIN, _PDF])
    files = {"names": ("a.pdf",)}
    broken = {**files, "faults": ("boundary",)}
    yield _case("no last boundary", whole.replace(b"--b1--", b""), "text", **broken)
    bare = multipart("mixed", [_PLAIN, _PDF], boundary="long")
    bare = bare.replace(b'; boundary="long"', b"")
    yield _case("a boundary that is not declared", bare, "text", **broken)
    wrong = multipart("mixed", [_PLAIN, _PDF], boundary="abc").replace(b'"abc"', b'"xyz"')
    yield _case("another boundary", wrong, "text", **broken)
    nothing = b"Content-Type: multipart/mixed\r\n\r\njust text\r\n"
    yield _case("a multipart without parts", nothing, "just text", faults=("boundary",))
    for field in ("multipart-mixed; boundary=b1", "Multipart; boundary=b1", "mixed; boundary=b1"):
        no_type = whole.replace(b'multipart/mixed; boundary="b1"', field.encode())
        yield _case(f"a boundary of {field}", no_type, "text", **files)
    late = b"\r\nMIME-Version: 1.0\r\n" + whole
    yield _case(
        "a blank line before Content-Type", late, "text", **files | {"faults": ("headers",)}
    )
    longer = multipart("mixed", [multipart("mixed", [_PLAIN], boundary="b11"), _PDF])
    yield _case("a boundary that begins another", longer, "text", **files)
    inner = multipart("mixed", [_PLAIN], boundary="b2").replace(b"--b2--", b"")
    outer = multipart("mixed", [inner, _PDF])
    yield _case("an inner multipart without end", outer, "text", **broken)
    spaced = whole.replace(b"--b1\r\n", b"--b1  \t\r\n")
    yield _case("white space after a boundary", spaced, "text", **files)
    yield _case(
        "a preamble", whole.replace(b"\r\n\r\n--b1", b"\r\n\r\nno text\r\n--b1", 1), "text", **files
    )
    yield _case("an epilogue", whole + b"no text", "text", **files)
    yield _case("LF", whole.replace(b"\r\n", b"\n"), "text", **files)
    both = whole.replace(b"--b1\r\n", b"--b1\n")
    yield _case("LF and CRLF", both, "text", **files)
    raw = with_header(whole).replace(b"\r\n", b"\r")
    yield Case("CR", raw, {"text": "text", "names": ("a.pdf",), "subject": "Hello"})
    unquoted = whole.replace(b'"b1"', b"b1")
    yield _case("a boundary without quotes", unquoted, "text", **files)
    for field in ("multipart/mixed; boundary=b1; boundary=b2", "MULTIPART/MIXED;BOUNDARY=b1"):
        yield _case(
            f"as {field}",
            whole.replace(b'multipart/mixed; boundary="b1"', field.encode()),
            "text",
            **files,
        )


def _file_cases() -> Iterator[Case]:
    attached = part("message/rfc822", _INNER)
    yield _case(
        "an attached message",
        multipart("mixed", [_PLAIN, _PDF, attached]),
        "text",
        names=("a.pdf", "message-2.eml"),
        types=("application/pdf", "message/rfc822"),
    )
    base64 = part("message/rfc822; name=b.eml", _INNER, encoding="base64")
    yield _case(
        "an attached message in base64",
        multipart("mixed", [_PLAIN, base64]),
        "text",
        names=("b.eml",),
        contents=(_INNER,),
    )
    calendar = part("text/calendar; method=REQUEST; charset=utf-8", _ICS, encoding="base64")
    invitation = {"names": ("invitation-1.ics",), "contents": (_ICS.encode(),)}
    yield _case(
        "an invitation",
        multipart("alternative", [_PLAIN, calendar]),
        f"text\n\n{_EVENT}",
        **invitation,
    )
    yield _case("only an invitation", calendar, _EVENT, **invitation)
    no_event = part("text/calendar", "BEGIN:VCALENDAR")
    yield _case("an empty calendar", no_event, "", names=("invitation-1.ics",))
    tnef = part("application/ms-tnef; name=winmail.dat", b'x\x9f>"', encoding="base64")
    yield _case(
        "winmail.dat",
        multipart("mixed", [_PLAIN, tnef]),
        "text",
        names=("winmail.dat",),
        faults=("winmail.dat",),
    )
    external = part('message/external-body; access-type=URL; URL="http://x.example"', "")
    yield _case(
        "an external body",
        multipart("mixed", [_PLAIN, external]),
        "text",
        faults=("external body",),
    )
    for kind in ("text/csv", "text/x-patch", "text/vcard"):
        yield _case(kind, multipart("mixed", [_PLAIN, part(kind, "x")]), "text", types=(kind,))
    second = part("text/plain; name=b.txt", "b", "Content-Disposition: inline")
    yield _case(
        "a text with a name", multipart("mixed", [_PLAIN, second]), "text", names=("b.txt",)
    )
    yield _case(
        "a first text with a name", multipart("mixed", [second, _PDF]), "b", names=("a.pdf",)
    )
    attached = part("text/plain", "b", "Content-Disposition: attachment")
    yield _case(
        "an attached text",
        multipart("mixed", [_PLAIN, attached]),
        "text",
        names=("attachment-1.txt",),
    )
    html = part("text/html; name=b.html", "b", "Content-Disposition: attachment")
    yield _case("attached HTML", multipart("mixed", [_PLAIN, html]), "text", names=("b.html",))
    for kind in ("x/" + "y" * 200, "image/p ng?", "image", "/", "a/b/c"):
        raw = multipart(
            "mixed", [_PLAIN, part(f"{kind}; name=a", "x", "Content-Disposition: attachment")]
        )
        yield Case(f"the type {kind[:20]}", with_header(raw), {"names": ("a",), "text": "text"})


def _encoding_cases() -> Iterator[Case]:
    def coded(encoding: str, body: str | bytes) -> bytes:
        data = body.encode() if isinstance(body, str) else body
        field = f"Content-Transfer-Encoding: {encoding}\r\n\r\n"
        return b"Content-Type: text/plain; charset=utf-8\r\n" + field.encode() + data

    broken = ("transfer encoding",)
    for name, body, faults in (
        ("without padding", "dGV4dCE", ()),
        ("with too much padding", "dGV4dCE=====", ()),
        ("with a wrong end", "dGV4dCE=\r\nx", broken),
        ("with strange characters", "d*G-V4dC\x00E=", broken),
        ("in two padded pieces", "dGV4\r\ndA==\r\nIQ==", ()),
        ("in one line with spaces", "dGV4 dCE=", ()),
    ):
        yield _case(f"base64 {name}", coded("base64", body), "text!", faults=faults)
    for body, text, faults in (
        ("My words stand here.", "My words stand here.", broken),
        ("Grüße, 3 Lampen", "Grüße, 3 Lampen", broken),
        ("a filter passed this\r\ndGV4dCE=", "text!", ()),
    ):  # fmt: skip
        yield _case(f"base64 that is {body}", coded("base64", body), text, faults=faults)
    footer = b"R3L832UgYXVzIEv2bG4gdW5kIE38bmNoZW4h\r\n--\r\nThis list is read by many\r\n"
    latin = coded("base64", footer).replace(b"utf-8", b"iso-8859-1")
    yield _case("base64 with a footer", latin, "Grüße aus Köln und München!", faults=broken)
    for encoding in (
        "BASE64",
        "base-64",
        '"base64"',
        "base64; x=y",
        " base64 ",
        "base 64",
        "b (x)",
    ):
        yield _case(f"base64 as {encoding}", coded(encoding, "dGV4dCE="), "text!")
    for body, text in (
        ("te=78t=21", "text!"), ("te=\r\nxt!", "text!"), ("te=ZZxt", "te=ZZxt"), ("text=", "text"),
        ("gr=c3=bc=c3=9fe", "grüße"), ("a=3D1", "a=1"), ("text=\r\n", "text"),
        ("te= \t\r\nxt!", "text!"),
        ("a=20\r\nb", "a \nb"),
    ):  # fmt: skip
        yield _case(f"quoted-printable {body!r}", coded("quoted-printable", body), text)
    for encoding in ("quoted_printable", "quoted printable", "QP"):
        yield _case(f"quoted-printable as {encoding}", coded(encoding, "te=78t=21"), "text!")
    yield _case("an unknown encoding", coded("x-foo", "text"), "text", faults=broken)
    uu = b"begin 644 a.txt\r\n" + _uu(b"file content" * 9) + b"`\r\nend\r\n"
    yield _case("uuencode", coded("x-uuencode", uu), "file content" * 9)
    yield _case("uuencode without begin", coded("x-uuencode", "text"), "text", faults=broken)
    yield _case(
        "a file in a text",
        coded("7bit", b"See:\r\n" + uu + b"Bye"),
        "See:\n\nBye",
        names=("a.txt",),
        contents=(b"file content" * 9,),
    )
    for sentence in ("begin 644 a.txt\r\nof a sentence\r\nend", "begin 100 days", "begin 644 x"):
        yield _case(f"no file: {sentence!r}", coded("7bit", sentence), sentence.replace("\r", ""))


def _uu(data: bytes) -> bytes:
    lines = (binascii.b2a_uu(data[at : at + 45]) for at in range(0, len(data), 45))
    return b"".join(line.replace(b"\n", b"\r\n") for line in lines)


def _text_cases() -> Iterator[Case]:
    flowed = "text/plain; format=flowed"
    for body, text in (
        ("a \r\nb\r\n\r\nc", "a b\n\nc"),
        ("> a \r\n> b\r\nc", "> a b\nc"),
        ("> > a", "> > a"),
        (">> a \r\n> b", ">> a\n> b"),
        ("a \r\n> b", "a\n> b"),
        (" > no quote\r\n From here", " > no quote\nFrom here"),
        ("a\r\n-- \r\nAnn", "a\n-- \nAnn"),
        ("a \r\n-- \r\nAnn", "a\n-- \nAnn"),
        ("a ", "a"),
    ):
        yield _case(f"flowed {body!r}", part(flowed, body), text)
    yield _case("flowed with DelSp", part(f"{flowed}; delsp=yes", "日本 \r\n語"), "日本語")
    yield _case("no MIME", b"\r\ntext\r\n", "text")
    yield _case("no text", b"\r\n", "")
    yield _case("only a header", b"", "")
    yield _case("a Content-Type without type", b"Content-Type:\r\n\r\ntext", "text")
    yield _case("the Content-Type text", b"Content-Type: text\r\n\r\ntext", "text")
    yield Case("nothing", b"", {"text": "", "sender": None, "faults": ("from",)})
    yield Case(
        "only text",
        b"just text\r\nmore",
        {"text": "just text\nmore", "faults": ("from", "headers")},
    )
    mbox = b"From ann Mon Jan  5 10:00:00 2026\r\n" + message("", "text")
    yield Case("a line of mbox", mbox, {"text": "text", "subject": "Hello", "faults": ()})
    blank = b"\r\n\r\n" + message("", "text")
    yield Case("blank lines first", blank, {"text": "text", "subject": "Hello", "faults": ()})
    raw = message("not a field", "text")
    yield Case("no blank line", raw, {"text": "not a field\ntext", "faults": ("headers",)})
    odd = message("X Y: z", "Subject : 2", "", "text", header=b"Subject: 1\r\n")
    yield Case("a field with a space in its name", odd, {"subject": "1"})
    raw = message("", "text", header=b"From : a@x.example\r\nsUBJECT\t: x\r\n")
    yield Case("a space before the colon", raw, {"subject": "x", "sender": ("a@x.example", "")})
    long = "x" * 65_536
    yield _case("the longest text", part("text/plain", long), long, is_truncated=False)
    yield _case("a longer text", part("text/plain", long + "y"), long, is_truncated=True)
    wide = "😀" * 65_536
    yield _case(
        "the longest wide text",
        part("text/plain; charset=utf-8", wide, encoding="quoted-printable"),
        wide,
    )
    html = part("text/html", f"<p>{long}y</p>")
    yield _case("longer HTML", html, long, is_truncated=True)


_HTML_TEXTS = {
    "<html><head><title>It is broken</title></head><body></body></html>": "It is broken",
    "<p><![CDATA[a]]></p><![CDATA[b": "a\n\nb",
    "<p>a</p><p>b</p>": "a\n\nb",
    "a<br>b<br/>c": "a\nb\nc",
    "<div>a</div><div>b</div>": "a\nb",
    "a  \n b": "a b",
    "a<b>b</b>c <i>d</i>": "abc d",
    "<h1>a</h1>b": "a\n\nb",
    "&lt;b&gt; &amp;amp; &euro; &#8364; &#x20AC; &nbsp;x &bogus; &": "<b> &amp; € € € x &bogus; &",
    f"&#{'9' * 5_000};": "\ufffd",
    f"&#x{'9' * 5_000};": "\ufffd",
    "&#0;&#xD800;a": "\ufffd\ufffda",
    "<script>var a = '<p>';</script>a<style>b{}</style>": "a",
    "<SCRIPT>x</SCRIPT >a": "a",
    "<title>x</title>a": "a",
    "a<!-- b -->c<!--[if mso]><p>d<![endif]-->e<!-->f": "acef",
    "a<![CDATA[b]]>c<?xml d?>e<!DOCTYPE f>g": "aceg",
    "a < b and c<d>e": "a < b and ce",
    "a<": "a<",
    "a<p": "a",
    "a<!-- b": "a",
    "a<script>b": "a",
    '<a href="https://x.example/a?b=1&amp;c=2">x</a>': "[x](https://x.example/a?b=1&c=2)",
    '<a href="https://x.example">https://x.example</a>': "https://x.example",
    '<a href="https://evil.example">https://bank.example</a>':
        "https://bank.example (https://evil.example)",
    '<a href="mailto:a@x.example">a@x.example</a>': "a@x.example",
    '<a href="javascript:alert(1)">x</a>': "x",
    '<a href="data:text/html,x">[x]</a>': "(x)",
    '<a href="https://x.example/(a) b">x</a>': "[x](https://x.example/%28a%29%20b)",
    '<a href="https://x.example/\n\njavascript:">x</a>': "[x](https://x.example/%20javascript:)",
    '<a href="https://x.example">a](b)</a>': "[a)(b)](https://x.example)",
    "<a name=top>a</a>b": "ab",
    "a<a href='https://x.example'><div>b</div></a>c": "a [b](https://x.example) c",
    "a<a href='https://x.example'>b": "a[b](https://x.example)",
    '<img src="https://x.example/a.png" alt="Logo">': "[Logo](https://x.example/a.png)",
    '<img src="https://x.example/a.png" width="1" height="1">': "",
    '<img src="https://x.example/a.png">': "[image](https://x.example/a.png)",
    '<img src="cid:a" alt="A">': "[A]",
    '<a href="https://x.example"><img src="https://y.example/t.gif" alt="A"></a>':
        "[A](https://x.example)",
    "<ul><li>a</li><li>b<ul><li>c</ul></ul>d": "- a\n- b\n  - c\n\nd",
    "<ol><li>a<li>b</ol>": "1. a\n2. b",
    "<table><tr><td>a</td><td>b</td></tr><tr><td>c</td></tr></table>": "a | b\nc",
    "<table><tr><td><table><tr><td>a</td></tr></table></td></tr></table>b": "a\n\nb",
    "a<blockquote>b<blockquote>c</blockquote></blockquote>d": "a\n\n> b\n>\n> > c\n\nd",
    "<pre>a\n  b\n\nc</pre>": "a\n  b\n\nc",
    "a<hr>b": "a\n\n---\n\nb",
    '<div style="display:none">preview</div>a': "a",
    '<div style="display : none"><div>b</div>c</div>a': "a",
    '<div style="display:none">a': "a",
    "<div style='display:none'>a</div><br>": "a",
    "<div hidden>preview</div><p style='visibility: hidden'>b</p><p style='opacity:0'>c</p>a": "a",
    "<p style='overflow: hidden ;opacity:0.9' class='hidden x'>a</p>": "a",
    '<div style="max-height:0px;overflow:hidden">preview</div>a': "a",
    "a\u200b\u00ad\u034fb": "ab",
    "<p>a<p>b<p><p><p>c": "a\n\nb\n\nc",
    '<p title=">">a</p>': "a",
    "<p title='\">a</p>b": "a\n\nb",
    "<o:p>a</o:p><x-y>b</x-y>": "ab",
}  # fmt: skip


def _broken_type_cases() -> Iterator[Case]:
    for declared in (
        "text/plain charset=utf-8", '"text/plain"; charset=utf-8', "text/text; charset=utf-8",
        "text/plain, charset=utf-8", "text / plain", "plain", "html", "text\\plain", "text/",
    ):  # fmt: skip
        yield _case(f"the type {declared}", part(declared, "wörds"), "wörds")
    for declared in ("html", "text", "text/html charset=utf-8", "text/htm", '"text/html"', ""):
        html = part(declared, "<html><body><p>wörds <b>too</b></p></body></html>")
        yield _case(f"HTML of the type {declared!r}", html, "wörds too")
    for declared in ("message/plain", "message/html", "message/text", "html/text"):
        html = part(declared, "<html><body><p>wörds</body></html>")
        yield _case(f"HTML of the type {declared}", html, "wörds", names=())
    document = " <!DOCTYPE html>\n<html><p>wörds</p></html>\n"
    yield _case("a document of HTML as text", part("text/plain", document), "wörds")
    for words in ("<html> is what it shows", "<html>\n<p>x</p></html>\nis what it shows"):
        yield _case(f"text that begins {words[:7]!r}", part("text/plain", words), words)
    for declared in ("message/plain", "txt/plain", "plain/text"):
        inner = multipart("mixed", [part(declared, "words"), _PDF])
        yield _case(f"{declared} beside a file", inner, "words", names=("a.pdf",))
    for declared in ("application/text", "application/octet-stream", "x-unknown/x"):
        yield _case(f"text of the type {declared}", part(declared, "wörds"), "wörds", names=())
    scan = part('application/pdf; name="scan.pdf"', "%PDF-1.7")
    yield _case("a scan that is all of the message", scan, "", names=("scan.pdf",))
    for kind, start in (
        ("message/rfc822", ""),
        ("message/x-rfc822", ""),
        ("message/rfc822x", ""),
        ("application/octet-stream; name=Bowl.EML", ""),
        ("message/partial; id=1; number=1; total=2", "Message-ID: <x@y>\n"),
    ):
        words = f"{start}From: Bo <bo@b.example>\nSubject: Bowl\n\nIt broke."
        attached = AttachedMessage(Address("bo@b.example", "Bo"), "Bowl", "It broke.")
        yield _case(f"only a {kind}", part(kind, words), "", attached=attached)
    for declared in ("text/texttext", "text/markdown"):
        inner = multipart("mixed", [part(declared, "words"), _PDF])
        yield _case(f"{declared} beside a file", inner, "words", names=("a.pdf",))
    csv = multipart("mixed", [part("text/csv", "1,2"), _PLAIN])
    yield _case("a file without a name before the text", csv, "text", names=("attachment-1.csv",))
    winmail = part("application/octet-stream; name=WINMAIL.DAT", b"\x78\x9f", encoding="base64")
    inner = multipart("mixed", [_PLAIN, winmail])
    yield _case("winmail.dat of no type", inner, "text", faults=("winmail.dat",))
    parts = b"--xx\r\nContent-Type: text/plain\r\n\r\nwords\r\n--xx\r\n\r\nwords\r\n--xx--\r\n"
    bare = b"Content-Type: multipart/alternative\r\n\r\n" + parts
    yield _case("a short boundary that is not declared", bare, "words", faults=("boundary",))
    for name, header in (
        ("a junk line in the header", b"X-Filter: passed the\r\nfirst check\r\nSubject: s\r\n"),
        ("a junk line before it", b"junk\r\nSubject: s\r\n"),
        ("a mark before it", b"\xef\xbb\xbfSubject: s\r\n"),
        ("an invisible space before a field", b"X-A: b\r\n\xe2\x80\x8bSubject: s\r\n"),
    ):
        raw = header + b"From: a@x.example\r\n\r\nwords"
        expected = {"subject": "s", "sender": ("a@x.example", ""), "text": "words"}
        yield Case(name, raw, expected)

    junk = part("text/plain", "words").replace(b"Content", b"junk\r\nX-Filter: no\r\nContent")
    for raw in (junk.replace(b"Content-Type: text/plain\r\n", b""), junk):
        yield _case("a junk line before the last field", raw, "words", faults=("headers",))


def _signed() -> bytes:
    """SignedData (RFC 5652, 5.1) as a stream writes it: lengths are not known beforehand."""
    words = b"Content-Type: text/plain\r\n\r\nwords"
    octets = b"\x24\x80\x04\x0a" + words[:10] + bytes((4, len(words) - 10)) + words[10:] + b"\0\0"
    content = b"\x30\x80\x06\x09" + bytes.fromhex("2a864886f70d010701") + b"\xa0\x80" + octets
    signed = b"\x30\x80\x02\x01\x01\x31\x00" + content + b"\0\0\0\0\x31\x00\0\0"
    identifier = bytes.fromhex("2a864886f70d010702")
    return b"\x30\x80\x06\x09" + identifier + b"\xa0\x80" + signed + b"\0\0\0\0"


def _element(tag: int, content: bytes) -> bytes:
    return bytes((tag, 0x84)) + len(content).to_bytes(4, "big") + content


def _cms(kind: bytes, inner: bytes) -> bytes:
    """ContentInfo (RFC 5652, 3) of what is within, which has a version and algorithms before it."""
    if kind != _DATA:
        inner = _element(0x30, _element(2, b"\0") + _element(0x31, b"") + inner)
    return _element(0x30, _element(6, kind) + _element(0xA0, inner))


def signed(message: bytes) -> bytes:
    return _cms(_SIGNED_DATA, _cms(_DATA, _element(4, message)))


def _compressed(packed: bytes) -> bytes:
    return _cms(_COMPRESSED, _cms(_DATA, _element(4, packed)))


_ENRICHED_TEXTS = {
    "enriched": {
        "a <bold>b</bold>\nc\n\nd\n\n\ne": "a b c\nd\n\ne",
        "<color><param>red</param>a</color> << b & c": "a < b & c",
        "a\n\n<excerpt>b\n\nc</excerpt>\nd": "a\n\n> b\n> c\n\nd",
        "<nofill>a\n  b</nofill>": "a\n  b",
    },
    "richtext": {"a<nl>\nb <lt>\nc<comment>d</comment>": "a\nb < c"},
}


def _html_cases() -> Iterator[Case]:
    for kind, source, text in (
        (kind, *each) for kind, texts in _ENRICHED_TEXTS.items() for each in texts.items()
    ):
        yield _case(f"{kind} {source!r}", part(f"text/{kind}; charset=utf-8", source), text)
    for source, text in _HTML_TEXTS.items():
        inner = part("text/html; charset=utf-8", source, encoding="base64")
        yield _case(f"HTML {source[:70]!r}", inner, text)
    data = f'<img src="data:image/png;base64,{"A" * 3_000_000}" alt="x">a'
    yield _case("HTML with an image in a URL", part("text/html", data), "xa")
