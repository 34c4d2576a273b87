"""The form of the composer: a reply or a note, and what was chosen beside it."""

from typing import Any, NamedTuple

from sealdesk import ids
from sealdesk.tickets.custom_fields.types import Field
from sealdesk.tickets.pages import field_form, neighbours
from sealdesk.tickets.ticket.types import NewReply, SeenChange
from sealdesk.web import body
from sealdesk.web.form import Form


class Sent(NamedTuple):
    """What a form sends. last_seen_id: of the newest reply that its page showed, "" for none."""

    new: NewReply
    wanted: SeenChange
    last_seen_id: str


def read_typed(form: Form) -> dict[str, Any]:
    """The fields of the composer as they were typed."""
    then = form.texts("then")
    is_internal, status = form.text("is_internal") != "", form.text("status")
    if is_internal and status == form.text("offered"):
        status = ""  # What is remembered of replies.
    return {
        "body": form.text("body"),
        "is_internal": is_internal,
        "attachment_ids": [one for one in form.texts("attachment_ids") if ids.is_canonical(one)],
        "status": "resolved" if "resolve" in then else status,
        "offered": "",
        "goes_on": "next" in then,
        "takes": form.text("takes") != "",
        "is_remembered": form.text("remember") != "",
        "place": neighbours.parse_place(form.text("in")),
    }


def read_sent(form: Form, definitions: dict[str, Field]) -> Sent:
    """Raises ValidationFailed."""
    typed = read_typed(form)
    new = body.convert(
        {name: typed[name] for name in ("body", "is_internal", "attachment_ids")}, NewReply
    )
    status = typed["status"]
    wanted = field_form.read_unsaved(form, {"status": status} if status else {}, definitions)
    return Sent(new, wanted._replace(takes=typed["takes"]), form.text("seen"))
