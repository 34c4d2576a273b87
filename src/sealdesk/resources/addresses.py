"""Which e-mail addresses send and get mail, and which of them nobody reads."""

import hashlib
import re

_MAX_LOCAL_PART, _MAX_DOMAIN = 64, 255  # RFC 5321, 4.5.3.1
_LABEL = re.compile(r"[\w-]{1,63}")
# `root@[192.0.2.1]` (RFC 5321, 4.1.3).
_LITERAL = re.compile(
    r"\[(?:\d{1,3}(?:\.\d{1,3}){3}|ipv6:[\da-f:.]{2,45})\]", re.ASCII | re.IGNORECASE
)
_NO_REPLY = re.compile(
    r"(?:^|[._+-])(?:(?:no|not|dont|donot|do-not|never)[._-]?(?:repl(?:y|ies|ay)|respon[ds]e?|answer)"
    r"|(?:bitte)?(?:nicht|keine)[._-]?(?:be)?antwort(?:en)?|ne[._-]?pas[._-]?repondre|ne[._-]?repondez|no[._-]?(?:respond|contest)(?:er?|ar?)"
    r"|non[._-]?rispondere|n[ãa]o[._-]?respond(?:a|er)|(?:geen|niet)[._-]?(?:be)?antwoord(?:en)?"
    r"|nie[._-]?odpowiada[cjć]|svar(?:a?[._-]?(?:ej|inte)|[._-]?ikke)|(?:ikke|ej|inte)[._-]?svara?"
    r"|(?:ei|[äa]l[äa])[._-]?vast(?:aa|austa)|ne[._-]?odpov[eií]da[tj]|neodpov[ií]dejte|nu[._-]?raspunde|ne[._-]?otvecha|(?:yan.t|cevap)lama"
    r"|ne[._-]?v[aá]laszol|khong[._-]?tra[._-]?loi|jangan[._-]?(?:di)?balas|unattended|(?:un|not[._-]?)monitored|dev[._-]?null|mailer[._-]?daemon)",
)
_OF_NOBODY = re.compile(r"(?:^|\.)no-?reply\.")  # `shop@noreply.github.com`


# Of customers whose e-mail address is not known: nobody is there (RFC 6761, section 6.4).
_NOBODY = "@no-email.invalid"
_STAND_IN = re.compile(r"[\da-f]{32}@no-email\.invalid", re.ASCII)


def stand_in(key: str) -> str:
    """An address where nobody is, for a customer without one; the same for the same key."""
    return f"{hashlib.sha256(key.encode()).hexdigest()[:32]}{_NOBODY}"


def is_stand_in(address: str) -> bool:
    """Whether `stand_in` made an address."""
    return _STAND_IN.fullmatch(address) is not None


def known_address(text: str) -> str:
    """An address or a text to be shown, without what only stands in for an address."""
    return _STAND_IN.sub("", text) if _NOBODY in text else text


def can_send(address: str) -> bool:
    """Whether an address tells a sender from others, if only in a network like `root@server3`."""
    local, _, domain = address.rpartition("@")
    labels = domain.rstrip(".").split(".")
    return (
        0 < len(local) <= _MAX_LOCAL_PART
        and len(address) <= _MAX_DOMAIN
        and local.isprintable()
        and (_LITERAL.fullmatch(domain) is not None or all(map(_LABEL.fullmatch, labels)))
        and labels[-1].lower() not in ("invalid", "localhost")
    )


def can_receive(address: str) -> bool:
    """Whether mail can reach an address, which is more than what a form should accept."""
    domain = address.rpartition("@")[2].rstrip(".")
    return can_send(address) and ("." in domain or domain.startswith("["))


def is_no_reply(address: str) -> bool:
    """Whether an address says of itself that nobody reads what is sent to it."""
    local, _, domain = address.lower().rpartition("@")
    return _NO_REPLY.search(local) is not None or _OF_NOBODY.search(domain) is not None


def is_read(address: str) -> bool:
    """Whether a person can get what is sent to an address."""
    return can_receive(address) and not is_no_reply(address)
