"""What a message says, from its raw bytes: sender, subject, text, files and faults."""

from sealdesk.mail.parsing.message import parse
from sealdesk.mail.parsing.types import Address, DeliveryStatus, Fault, ParsedMessage, Part

__all__ = ["Address", "DeliveryStatus", "Fault", "ParsedMessage", "Part", "parse"]
