"""Whether a program sent a message, and whether a filter takes it for spam."""

import re

from sealdesk.mail.parsing.headers import Headers

_BULK = ("bulk", "junk", "list", "auto_reply", "auto-reply")
_LIST_FIELDS = ("list-id", "list-post", "list-unsubscribe")
_ANSWER_FIELDS = ("x-autoreply", "x-autorespond", "x-autoresponder")
# How answers of absent people begin; `Re:` before it is that of a person who answers one.
_ABSENCE = re.compile(
    r"(?:auto(?:matic|mated|matische|matisch)?[ -]?(?:reply|response|antwort|antwoord)\b"
    r"|auto-?(?:svar|matiskt svar|matisk svar)|out of (?:the )?office|ooo\s*:|abwesend"
    r"|abwesenheits(?:notiz|nachricht)|abwesenheit\s*:|réponse automatique|absence du bureau"
    r"|absent du bureau|respuesta automática|fuera de (?:la )?oficina|risposta automatica"
    r"|fuori (?:sede|ufficio)|resposta automática|ausência temporária|afwezig(?:heid)?\b"
    r"|automatyczna odpowiedź|poza biurem|автоматический ответ|автоответ|otomatik yanıt"
    r"|自动(?:回复|答复)|自動(?:返信|応答|回覆)|不在(?:通知|のお知らせ)|자동 ?(?:회신|응답)|부재중"
    r"|رد تلقائي)",
    re.IGNORECASE,
)
_DAEMONS = ("mailerdaemon", "maildaemon", "postmaster", "maildeliverysystem", "mmdf")
_NO = ("", "no", "false", "none", "0")


def why_automatic(headers: Headers, content_type: str, sender: str | None) -> str | None:
    """The reason why no program may answer a message, None for one that a person wrote."""
    reasons = {
        "empty sender": _has_empty_path(headers),
        "auto-submitted": _word(headers, "auto-submitted") not in _NO,
        "report": content_type == "multipart/report",
        "list": any(headers.first(name) for name in _LIST_FIELDS),
        "precedence": _word(headers, "precedence") in _BULK,
        "auto-response-suppress": _word(headers, "x-auto-response-suppress") not in _NO,
        "autoreply": any(_word(headers, name) not in _NO for name in _ANSWER_FIELDS),
        "loop": bool(headers.first("x-loop")),
        "mail system": _is_daemon(sender or ""),
    }
    return next((reason for reason, is_so in reasons.items() if is_so), None)


def is_by_program(headers: Headers, content_type: str, sender: str | None, subject: str) -> bool:
    """Whether a program has written a message, and not a person.

    A person's message may carry the marks of lists, and ask that nobody answers automatically.
    """
    submitted = _word(headers, "auto-submitted")
    return (
        submitted.startswith(("auto-replied", "auto-notified"))
        or content_type == "multipart/report"
        or _has_empty_path(headers)
        or any(_word(headers, name) not in _NO for name in _ANSWER_FIELDS)
        or _word(headers, "precedence") in ("auto_reply", "auto-reply")
        or _is_daemon(sender or "")
        or _ABSENCE.match(subject.lstrip()) is not None
    )


def is_of_list(headers: Headers) -> bool:
    """Whether a list has passed a message on."""
    is_named = any(headers.first(name) for name in ("list-id", "list-post"))
    return is_named or _word(headers, "precedence") == "list"


def is_from_mail_system(headers: Headers, content_type: str, sender: str | None) -> bool:
    """Whether a mail server may have sent a message, and not a person."""
    path = headers.first("return-path").strip("<> ")
    return (
        _has_empty_path(headers)
        or headers.first("from").replace(" ", "") == "<>"
        or content_type == "multipart/report"
        or _word(headers, "auto-submitted") not in _NO
        or _is_daemon(sender or headers.first("from").partition("<")[0].strip('" '))
        or _is_daemon(path)
    )


def _has_empty_path(headers: Headers) -> bool:
    paths = headers.all("return-path")
    return bool(paths) and paths[0].replace(" ", "") == "<>"


def _is_daemon(address: str) -> bool:
    local_part = address.partition("@")[0].lower()
    return "".join(filter(str.isalpha, local_part)) in _DAEMONS


def _word(headers: Headers, name: str) -> str:
    """The first word of a field in lower case (RFC 3834, 5.1: parameters and comments follow)."""
    words = headers.first(name).replace(";", " ").replace("(", " ").replace(",", " ").split()
    return words[0].lower() if words else ""


def is_spam(headers: Headers) -> bool:
    """Whether a filter before this service has marked a message as spam."""
    return _word(headers, "x-spam-flag") == "yes" or _word(headers, "x-spam-status") == "yes"
