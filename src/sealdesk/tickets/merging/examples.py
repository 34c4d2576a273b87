"""Example bodies for the API reference."""

from sealdesk.tickets.examples import REPLY

MERGE = {"into": "0199c0a1-11bc-7a90-8e24-5d6c7b8a9f01"}
SPLIT = {"reply_id": REPLY.id, "subject": "A second question: do you ship to Norway?"}
