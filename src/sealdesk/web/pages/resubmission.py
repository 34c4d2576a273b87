"""Submitted forms that could not be accepted: pages hold their fields so they can be sent again."""

from collections.abc import Mapping
from typing import NamedTuple

from sealdesk import ids
from sealdesk.errors import BadRequest
from sealdesk.web.form import Form
from sealdesk.web.pages import forms
from sealdesk.web.pages.i18n import gettext, gettext_noop
from sealdesk.web.pages.site import Site
from sealdesk.web.request import MAX_BODY_BYTES, Request

_TO = "kept_to"
_PREFIX = "kept."
# Never written into a page.
PASSWORDS = frozenset({"password", "current", "new", "imap_password", "smtp_password"})
# Hidden fields that pages add to their forms, besides was_*.
_HIDDEN = frozenset({"etag", "seen", "seen_change", "submission", "undone", "was"})
_ACCOUNT = gettext_noop("Your account")
_CHOICES = frozenset({"status", "priority"})
_SELECTED_TICKETS = frozenset({"ticket", "confirmed"})
# The log-in form adds its own fields to those that it carries.
_MAX_BYTES = MAX_BODY_BYTES - 8 * 1024


class Resubmission(NamedTuple):
    """A submitted form. to: its target; fields: without passwords and the form's token."""

    to: str
    fields: list[tuple[str, str]]
    token: str = ""

    @property
    def typed(self) -> list[tuple[str, str]]:
        """What the user typed or chose, without the hidden fields of the page."""
        return [
            (name, value)
            for name, value in self.fields
            if name not in _HIDDEN and not name.startswith("was_")
        ]

    def target(self, site: Site) -> str:
        """What it changes, in words: by its path, else the page in the navigation."""
        parts = self.to.partition("?")[0].split("/")
        path = "/".join("{id}" if ids.is_canonical(part) else part for part in parts)
        pages = [each.label for each in site.navigation if path.startswith(each.path)]
        return gettext(site.form_labels.get(path) or next(iter(pages), _ACCOUNT))

    @property
    def carried(self) -> list[tuple[str, str]]:
        """Hidden fields with which the log-in form carries it; `from_login` reads them."""
        return [(_TO, self.to), *((f"{_PREFIX}{name}", value) for name, value in self.fields)]

    def describe(self, labels: Mapping[str, str]) -> list[tuple[str, str]]:
        """Label and value of each field that the user has changed. labels: by field name."""
        before = {name for name, _ in self.fields if name.startswith("was_")}
        lines = [
            (gettext(labels.get(name, name)), _format(name, value))
            for name, value in self.typed
            if name not in _SELECTED_TICKETS
            and (value or f"was_{name}" in before)
            and (f"was_{name}", value) not in self.fields
        ]
        ticket_count = sum(name in _SELECTED_TICKETS for name, _ in self.fields)
        return [*([(gettext("Tickets"), str(ticket_count))] if ticket_count else []), *lines]


def of(request: Request, to: str) -> Resubmission | None:
    """The form that this request submitted; None without one, or with nothing but passwords."""
    try:
        form = forms.read(request)
    except BadRequest:
        return None
    names = {name for name, _ in form.fields}
    left_out = {*PASSWORDS, forms.TOKEN}
    fields = [(name, value) for name, value in form.fields if name not in left_out]
    submitted = Resubmission(to, fields, form.text(forms.TOKEN))
    is_ours = forms.TOKEN in names and len(request.body) <= _MAX_BYTES
    return submitted if is_ours and (submitted.typed or not names & PASSWORDS) else None


def from_login(form: Form) -> Resubmission | None:
    """The form that a log-in form carries. Its target comes from the client: check it."""
    fields = [
        (name.removeprefix(_PREFIX), value)
        for name, value in form.fields
        if name.startswith(_PREFIX)
    ]
    return Resubmission(form.text(_TO), fields) if fields else None


def _format(name: str, value: str) -> str:
    if name in _CHOICES:
        return gettext(value.replace("_", " ").capitalize())
    return "✓" if value == "yes" else value or "-"
