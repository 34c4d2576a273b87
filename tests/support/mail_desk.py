"""A tenant with a mailbox that sends."""

from operator import itemgetter
from typing import Any

from sealdesk.caller import SYSTEM, Caller
from sealdesk.mail.mailboxes import actions as mailboxes
from sealdesk.mail.mailboxes.types import Mailbox, NewMailbox
from sealdesk.mail.threads import actions as threads
from tests.support.mail_server import MailServer
from tests.support.service import Tenant


class Desk:
    """A tenant with a mailbox that sends to the server."""

    def __init__(self, tenant: Tenant, server: MailServer) -> None:
        self.tenant = tenant
        self.service = tenant.service
        self.key = tenant.key()
        self.address = f"desk.{tenant.id[-12:]}@desk.example"
        self.mailbox = self._make_mailbox(server.port)

    def ticket(self, *people: str, **new: Any) -> dict[str, Any]:
        """A ticket with these participants."""
        ticket = self.key.ticket(**new)
        now_us = self.service.clock.now_us()
        listed = [(each, None) for each in people]
        self.service.write(
            lambda tx: threads.add_people(
                tx, self.tenant.id, ticket["id"], self.mailbox.id, listed, now_us
            )
        )
        return ticket

    def reply(self, ticket: dict[str, Any], body: str = "We are on it.", **new: Any) -> str:
        """The id of a new reply."""
        path = f"/api/v1/external/tickets/{ticket['id']}/replies"
        response = self.key.post(path, {"body": body, **new})
        assert response.status_code == 201, response.text
        return str(response.json()["data"]["id"])

    def delivery(self, ticket: dict[str, Any]) -> str | None:
        """That of the newest public reply."""
        public = [each for each in self.replies(ticket) if not each["is_internal"]]
        state: str | None = public[-1]["delivery"]
        return state

    def replies(self, ticket: dict[str, Any]) -> list[dict[str, Any]]:
        path = f"/api/v1/external/tickets/{ticket['id']}/replies"
        return sorted(self.key.get(path).json()["data"], key=itemgetter("id"))

    def _make_mailbox(self, port: int) -> Mailbox:
        new = NewMailbox(
            address=self.address,
            display_name="Ceramics",
            signature="Your shop",
            smtp_host="127.0.0.1",
            smtp_port=port,
            smtp_security="none",
            per_minute=600,
        )
        caller = Caller(self.tenant.id, SYSTEM, frozenset(), "")
        key_ring, now_us = self.service.state.key_ring, self.service.clock.now_us()
        return self.service.write(
            lambda tx: mailboxes.create_mailbox(tx, caller, new, key_ring=key_ring, now_us=now_us)
        )
