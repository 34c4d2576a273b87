"""The operations of the participants of tickets."""

from collections.abc import Mapping, Sequence
from typing import Any

from sealdesk.client.operation import Operation, encode, reader_of
from sealdesk.client.results import Participants
from sealdesk.client.targets import ROOT, encode_segment

_read_participants = reader_of(Participants)


def get_participants(ticket_id: str) -> Operation[Participants]:
    """Get the people who get the public replies of a ticket by e-mail."""
    return Operation("GET", _participants_path(ticket_id), b"", {}, _read_participants)


def set_participants(
    ticket_id: str, participants: Sequence[Mapping[str, Any]]
) -> Operation[Participants]:
    """Set the people who get the public replies of a ticket by e-mail."""
    body, headers = encode({"participants": participants}), {"content-type": "application/json"}
    return Operation("PUT", _participants_path(ticket_id), body, headers, _read_participants)


def _participants_path(ticket_id: str) -> str:
    return f"{ROOT}/tickets/{encode_segment(ticket_id)}/participants"
