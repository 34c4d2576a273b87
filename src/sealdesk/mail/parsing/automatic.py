"""Whether a program sent a message, and whether a filter takes it for spam."""

from sealdesk.mail.parsing.headers import Headers

_BULK = ("bulk", "junk", "list", "auto_reply", "auto-reply")
_LIST_FIELDS = ("list-id", "list-post", "list-unsubscribe")
_ANSWER_FIELDS = ("x-autoreply", "x-autorespond", "x-autoresponder")
_DAEMONS = ("mailer-daemon", "mailerdaemon", "postmaster")
_NO = ("", "no", "false", "none", "0")


def why_automatic(headers: Headers, content_type: str, sender: str | None) -> str | None:
    """The reason why no program may answer a message, None for one that a person wrote."""
    return_paths = headers.all("return-path")
    local_part = (sender or "").rpartition("@")[0].lower()
    reasons = {
        "empty sender": bool(return_paths) and return_paths[0].replace(" ", "") == "<>",
        "auto-submitted": _word(headers, "auto-submitted") not in _NO,
        "report": content_type == "multipart/report",
        "list": any(headers.first(name) for name in _LIST_FIELDS),
        "precedence": _word(headers, "precedence") in _BULK,
        "auto-response-suppress": _word(headers, "x-auto-response-suppress") not in _NO,
        "autoreply": any(_word(headers, name) not in _NO for name in _ANSWER_FIELDS),
        "loop": bool(headers.first("x-loop")),
        "mail system": local_part in _DAEMONS,
    }
    return next((reason for reason, is_so in reasons.items() if is_so), None)


def _word(headers: Headers, name: str) -> str:
    """The first word of a field in lower case (RFC 3834, 5.1: parameters and comments follow)."""
    words = headers.first(name).replace(";", " ").replace("(", " ").replace(",", " ").split()
    return words[0].lower() if words else ""


def is_spam(headers: Headers) -> bool:
    """Whether a filter before this service has marked a message as spam."""
    return _word(headers, "x-spam-flag") == "yes" or _word(headers, "x-spam-status") == "yes"
