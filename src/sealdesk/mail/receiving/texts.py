"""The texts of notes that the receiver writes into tickets; no I/O."""

from sealdesk.mail.receiving.types import FromAddress
from sealdesk.tickets.text.forwards import Forward

_FAILED_DMARC = (
    "The domain of the sender does not vouch for this message (dmarc=fail, or no dmarc=pass in a"
    " strict mailbox): somebody else may have written it. Do not act on it before you have asked"
    " the customer in another way. Answers go to the sender alone: those in Reply-To and Cc were"
    " not added."
)
_MAX_BEFORE = 60_000  # of a note, which has at most 65,536 characters
LEFT_OUT = "Not attached"
LACKED = "The message also came by another way, with files that it lacked here."


def failed_dmarc() -> str:
    return _FAILED_DMARC


def stranger(sender: FromAddress, *, has_failed_dmarc: bool) -> str:
    """What stands before the text of somebody who is no participant of the ticket."""
    who = f"{sender.name} <{sender.address}>" if sender.name else sender.address
    warning = f"{_FAILED_DMARC}\n\n" if has_failed_dmarc else ""
    return (
        f"This message came by e-mail from {who}, who is no participant of this ticket."
        " The customer does not see it. Add the sender as a participant, or open a new ticket for"
        " them.\n\n"
        f"{warning}---\n\n"
    )


def by_desk(sender: FromAddress) -> str:
    """What stands before the text of a ticket that the desk itself has begun."""
    return f"[{sender.address} wrote this to the customer.]\n\n"


def forwarded(agent_name: str, forward: Forward) -> str:
    """The note about a ticket that an agent has opened on behalf of a customer."""
    who = f"{forward.name} <{forward.address}>" if forward.name else forward.address
    note = f"{agent_name} forwarded this message and opened the ticket on behalf of {who}."
    return f"{note}\n\n{forward.before[:_MAX_BEFORE]}".strip()


def typed(address: str) -> str:
    """The note about who may have filled in a form."""
    return (
        f"The form names {address}, who gets no answers yet. Add the address as a participant if"
        " the answers should go there: whoever uses a form can type any address."
    )


def left_out(names: tuple[str, ...]) -> str:
    """What stands after a text whose files were not all attached, "" if they were."""
    return f"\n\n[{LEFT_OUT}: {', '.join(names)}]" if names else ""


def also_sent_to(address: str) -> str:
    return f"The message was also sent to {address}, another mailbox of this desk."


def moved(number: int) -> str:
    return f"The message of somebody who is no participant was opened as #{number}."


def follows(number: int) -> str:
    return f"This ticket follows #{number}, which was closed when this message came."


def is_followed(number: int) -> str:
    return f"A message came by e-mail after this ticket was closed. It opened #{number}."
