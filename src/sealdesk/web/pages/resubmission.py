"""What was typed into a form that could not be taken: kept in pages, until it is sent again."""

from typing import NamedTuple

from sealdesk.errors import BadRequest
from sealdesk.web.form import Form
from sealdesk.web.pages import forms
from sealdesk.web.pages.i18n import gettext, gettext_noop
from sealdesk.web.request import MAX_BODY_BYTES, Request

_TO = "kept_to"
_PREFIX = "kept."
# Never written into a page.
PASSWORDS = frozenset({"password", "current", "new"})
# What pages put into their forms for themselves, beside was_*.
_NOT_TYPED = frozenset({"etag", "seen", "seen_change"})
_CHOICES = frozenset({"status", "priority"})
_TICKETS = frozenset({"ticket", "confirmed"})
# The log-in's own fields, and where it leads to, come on top of what it carries.
_MOST_BYTES = MAX_BODY_BYTES - 8 * 1024
_LABELS = {
    "allowed_ips": gettext_noop("Allowed addresses"),
    "assignee": gettext_noop("Assigned to"),
    "assignee_id": gettext_noop("Assigned to"),
    "body": gettext_noop("Text"),
    "company": gettext_noop("Company"),
    "description": gettext_noop("Description"),
    "email": gettext_noop("E-mail address"),
    "events": gettext_noop("Events"),
    "everything": gettext_noop("Everything"),
    "expires_at": gettext_noop("Date"),
    "expiry": gettext_noop("Expires"),
    "external_id": gettext_noop("External id"),
    "grant": gettext_noop("Permissions"),
    "host": gettext_noop("Host"),
    "is_internal": gettext_noop("Internal note"),
    "key": gettext_noop("Key"),
    "method": gettext_noop("Method"),
    "name": gettext_noop("Name"),
    "new_tags": gettext_noop("Tags"),
    "permissions": gettext_noop("Permissions"),
    "phone": gettext_noop("Phone"),
    "priority": gettext_noop("Priority"),
    "rate_limit": gettext_noop("Requests a minute"),
    "replay_protection": gettext_noop("Replay protection"),
    "role": gettext_noop("Role"),
    "since": gettext_noop("From"),
    "status": gettext_noop("Status"),
    "tags": gettext_noop("Tags"),
    "target": gettext_noop("Path and query"),
    "until": gettext_noop("Until"),
    "url": "URL",
}


class Resubmission(NamedTuple):
    """A form that was sent. to: its address; fields: without passwords and the form's token."""

    to: str
    fields: list[tuple[str, str]]
    token: str = ""

    @property
    def typed(self) -> list[tuple[str, str]]:
        """What people typed or chose, without what their page put there."""
        return [
            (name, value)
            for name, value in self.fields
            if name not in _NOT_TYPED and not name.startswith("was_")
        ]

    @property
    def shown(self) -> list[tuple[str, str]]:
        """The same for people's eyes, by label; what was left as it was is left out."""
        before = {name for name, _ in self.fields if name.startswith("was_")}
        lines = [
            (gettext(_LABELS.get(name, name)), _said(name, value))
            for name, value in self.typed
            if name not in _TICKETS
            and (value or f"was_{name}" in before)
            and (f"was_{name}", value) not in self.fields
        ]
        tickets = sum(name in _TICKETS for name, _ in self.fields)
        return [*([(gettext("Tickets"), str(tickets))] if tickets else []), *lines]

    @property
    def carried(self) -> list[tuple[str, str]]:
        """The fields by which the log-in carries it along; `from_login` reads them."""
        return [(_TO, self.to), *((f"{_PREFIX}{name}", value) for name, value in self.fields)]


def of(request: Request, to: str) -> Resubmission | None:
    """The form of ours that was sent there; None where there is none, or nothing but passwords."""
    try:
        sent = forms.read(request)
    except BadRequest:
        return None
    names = {name for name, _ in sent.fields}
    left_out = {*PASSWORDS, forms.TOKEN}
    fields = [(name, value) for name, value in sent.fields if name not in left_out]
    sent_form = Resubmission(to, fields, sent.text(forms.TOKEN))
    is_ours = forms.TOKEN in names and len(request.body) <= _MOST_BYTES
    return sent_form if is_ours and (sent_form.typed or not names & PASSWORDS) else None


def from_login(form: Form) -> Resubmission | None:
    """What a log-in carries along. Where it goes to is to be looked at by who sends it there."""
    fields = [
        (name.removeprefix(_PREFIX), value)
        for name, value in form.fields
        if name.startswith(_PREFIX)
    ]
    return Resubmission(form.text(_TO), fields) if fields else None


def _said(name: str, value: str) -> str:
    if name in _CHOICES:
        return gettext(value.replace("_", " ").capitalize())
    return "✓" if value == "yes" else value or "-"
