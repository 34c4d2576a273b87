"""Texts without the tokens of links and reply addresses, whatever their spelling."""

import base64
import os
import sys
from urllib.parse import quote

from sealdesk import ids
from sealdesk.crypto.reply_codes import new_reply_code
from sealdesk.crypto.sealing import KEY_BYTES, KeyRing
from sealdesk.mail.threads import links, rules
from sealdesk.mail.threads.redaction import redact, secrets_of
from sealdesk.mail.threads.types import Participant
from tests.support.for_each import for_each

TENANT, TICKET = ids.mint(1), ids.mint(2)
KEYS = KeyRing([os.urandom(KEY_BYTES)])
ANN = Participant(TENANT, TICKET, "ann@a.test", "ann@a.test", new_reply_code(), "", None, 0)
SECRETS = secrets_of(KEYS, [ANN])
TOKEN = links.token_of(KEYS, ANN)
LINK = f"https://help.example/desk/ticket/{TOKEN}"
ADDRESS = rules.reply_address("desk@acme.test", ANN.token)


def wrapped(text: str, break_: str, width: int = 30) -> str:
    return break_.join(text[at : at + width] for at in range(0, len(text), width))


def encodings(text: str) -> dict[str, str]:
    once = quote(text, safe="")
    urldefense2 = once.replace("%", "-").replace("-2F", "_")
    starred = text.replace("+", "*").replace("@", "*")
    return {
        "plain": text,
        "upper case": text.upper(),
        "SafeLinks": f"https://eur02.safelinks.protection.outlook.com/?url={once}&data=05%7C01",
        "urldefense v2": f"https://urldefense.proofpoint.com/v2/url?u={urldefense2}&d=DwMF",
        "SafeLinks in urldefense v2": f"https://urldefense.proofpoint.com/v2/url?u=https-3A__eur02."
        f"outlook.com_-3Furl-3D{quote(text, safe='').replace('%', '-25')}-26data-3D05&d=DwMF",
        "urldefense v3": f"https://urldefense.com/v3/__{starred}__;Kw!!Ab2",
        "percent-encoded": once,
        "twice percent-encoded": quote(once, safe=""),
        "five times percent-encoded": once.replace("%", "%25252525"),
        "every letter percent-encoded": "".join(f"%{ord(each):02x}" for each in text),
        "every letter a reference": "".join(f"&#{ord(each)};" for each in text),
        "every letter a reference in hex": "".join(f"&#x{ord(each):X};" for each in text),
        "references twice": "".join(f"&amp;#{ord(each)};" for each in text),
        "references in percent": quote("".join(f"&#{ord(each)};" for each in text)),
        "every letter quoted-printable": "".join(f"={ord(each):02X}" for each in text),
        "entities": text.replace("+", "&#43;").replace("@", "&commat;").replace("/", "&sol;"),
        "references without an end": "".join(f"&#{ord(each)}" for each in text) + " ",
        "escapes of JSON": "".join(f"\\u{ord(each):04x}" for each in text),
        "full width": "".join(chr(ord(each) + 0xFEE0) for each in text),
        "base64 of a filter": f"https://a.test/?u={base64.urlsafe_b64encode(text.encode()).decode()}",
        "hex of a filter": f"https://a.test/?u={text.encode().hex()}a&x=",
        "soft line breaks": wrapped(text, "=\n"),
        "hard line breaks": wrapped(text, "\r\n"),
        "quoted line breaks": wrapped(text, "\n> > ", 20),
        "at in words": text.replace("@", " [at] "),
        "space before @": text.replace("@", " @"),
        "link behind it": text.replace("@", f"<mailto:{text}>@"),
        "zero-width characters": wrapped(text, "\u200b", 5),
        "spaces": wrapped(text, " ", 7),
    }


def bare(text: str) -> str:
    return "".join(each for each in text.lower() if each.isalnum())


@for_each("name", encodings(""))
def test_a_token_is_found_in_each_spelling(name: str) -> None:
    for secret, whole in ((TOKEN, LINK), (ANN.token, ADDRESS)):
        spelt = encodings(whole)[name]
        found = redact(f"Before {spelt} after.", SECRETS)
        assert found.startswith("Before ") and found.endswith(" after.") and "…" in found
        assert len(found) < len(f"Before {spelt} after.") - len(secret) // 2
        assert secret not in bare(found)
        encoded = ("".join(f"{ord(each):02x}" for each in secret), secret[3:-3])
        assert not any(each in bare(found) for each in encoded)


@for_each(
    "name", ["plain", "upper case", "SafeLinks", "urldefense v2", "SafeLinks in urldefense v2",
             "urldefense v3", "entities",
             "twice percent-encoded", "soft line breaks", "quoted line breaks",
             "zero-width characters", "at in words", "space before @", "link behind it"],
)  # fmt: skip
def test_the_reply_address_of_another_ticket_is_found_too(name: str) -> None:
    other = new_reply_code()
    spelt = encodings(rules.reply_address("desk@acme.test", other))[name]
    assert other not in bare(redact(f"Write to {spelt}, please.", SECRETS))


def test_one_space_in_the_reply_address_of_another_ticket_hides_nothing() -> None:
    other = new_reply_code()
    for at in range(26):
        spelt = f"desk+{other[:at]} {other[at:]}@acme.test"
        assert redact(f"Write to {spelt}, please.", SECRETS) == "Write to desk+…@acme.test, please."


def test_a_link_sealed_with_an_older_master_key_is_found() -> None:
    old, new = os.urandom(KEY_BYTES), os.urandom(KEY_BYTES)
    token = links.token_of(KeyRing([old]), ANN)
    assert token not in redact(wrapped(token, "\n"), secrets_of(KeyRing([new, old]))).lower()


def test_other_texts_stay_as_they_are() -> None:
    other = base64.b32encode(os.urandom(52)).decode().rstrip("=").lower()
    for text in (
        "", "See https://example.test/ticket/12?a=%20b&amp;c=&#252; or +49 30 123@ or a+b@c.test",
        f"A hash: {other}", f"{other[:25]}@x.test", f"x+{other[:25]}@x.test", "%", "&;", "=3D",
        f"https://x.example/?id={other}%2F%252F", "a\n> b\n> c",
    ):  # fmt: skip
        assert redact(text, SECRETS) == text


def _count_calls(text: str) -> int:
    count = 0

    def note(_: object, event: str, __: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(note)
    try:
        redact(text, SECRETS)
    finally:
        sys.setprofile(None)
    return count


def test_the_work_grows_with_the_text() -> None:
    repeated = (
        "%25", "%2525252b", "&amp;", "&amp;#43;", "=3D", "+a\n>", "-2b", "/ticket/a", "=\n", "a=b&",
        f"{ADDRESS} ", f"{TOKEN}%", SECRETS.prefixes[0], "+" + "a\n" * 20, "+a\u200b",
        "=" + "61" * 40,
    )  # fmt: skip
    for each in repeated:
        small, large = (_count_calls(each * (size // len(each))) for size in (2_500, 20_000))
        assert large <= 12 * small, each
