"""A desk whose form is on, and strangers who use it."""

import re
from collections.abc import Callable
from typing import Any

from sealdesk.caller import SYSTEM, Caller
from sealdesk.mail.contact_form import actions
from sealdesk.mail.contact_form.types import ContactForm, FormSettings
from sealdesk.mail.threads import actions as threads
from tests.support.mail_desk import Desk
from tests.support.mail_server import MailServer
from tests.support.pages import Page, Visitor
from tests.support.service import Tenant, wait_until

ANN = "ann@customer.example"
_addresses = iter(range(1, 250 * 250))
_LINK = re.compile(r"https://help\.example(/\S+)")


class Stranger(Visitor):
    """A browser without a session, at an address of its own."""

    def __init__(self, desk: "FormDesk", address: str = "") -> None:
        super().__init__(desk.service)
        number = next(_addresses)
        self.address = address or f"203.{number // 250}.113.{number % 250 + 1}"
        self.path = f"/{desk.name}/new"

    def once(self, method: str, path: str, body: bytes = b"", **headers: str) -> Any:
        return super().once(method, path, body, **{"x-forwarded-for": self.address, **headers})

    def write(self, email: str = ANN, **fields: str) -> Page:
        """Fill in the form and send it."""
        form = self.get(self.path).form(self.path)
        self.service.clock.advance(3)
        typed = {"email": email, "subject": "Broken bowl", "description": "It has a crack."}
        return self.submit(form, **{**typed, **fields})


class FormDesk(Desk):
    """A tenant with a mailbox that sends, and a form."""

    def __init__(self, tenant: Tenant, server: MailServer, **settings: Any) -> None:
        super().__init__(tenant, server)
        self.server = server
        self.name = f"desk-{tenant.id[-12:]}"
        self.form = self.set_up(**settings)

    def set_up(self, **settings: Any) -> ContactForm:
        usual: dict[str, Any] = {
            "path_name": self.name, "mailbox_id": self.mailbox.id,
            "base_url": "https://help.example", "field_keys": [], "is_on": True,
            "has_ticket_pages": False,
        }  # fmt: skip
        wanted = FormSettings(**usual | settings)
        caller = Caller(self.tenant.id, SYSTEM, frozenset(), "")
        now_us = self.service.clock.now_us()
        return self.service.write(
            lambda tx: actions.save_form(tx, caller, wanted, now_us=now_us)
        )  # fmt: skip

    def mails(self, count: int, address: str = ANN) -> list[str]:
        """The texts of so many messages to an address, once they have arrived."""
        wait_until(lambda: len(self._received(address)) >= count)
        return self._received(address)

    def link(self, number: int = 0, address: str = ANN) -> str:
        """The path in a message to an address."""
        found = _LINK.search(self.mails(number + 1, address)[number])
        assert found is not None
        return found[1]

    def message_count(self) -> int:
        """How many messages the desk has queued or sent."""
        sql = "SELECT count(*) FROM outgoing_messages WHERE tenant_id = :id LIMIT 1"
        return int(self.service.rows(sql, id=self.tenant.id)[0][0])

    def tickets(self) -> list[dict[str, Any]]:
        answer = self.key.get("/api/v1/external/tickets?per_page=100")
        return list(answer.json()["data"])

    def change(self, ticket: dict[str, Any], **fields: Any) -> None:
        answer = self.key.patch(f"/api/v1/external/tickets/{ticket['id']}", fields)
        assert answer.status_code == 200, answer.text

    def reread(self, ticket: dict[str, Any]) -> dict[str, Any]:
        return dict(self.key.get(f"/api/v1/external/tickets/{ticket['id']}").json()["data"])

    def join(self, ticket: dict[str, Any], address: str) -> None:
        """Make somebody a participant."""
        now_us, people = self.service.clock.now_us(), [(address, None)]
        self.service.write(
            lambda tx: threads.add_people(
                tx, self.tenant.id, ticket["id"], self.mailbox.id, people, now_us
            )
        )

    def _received(self, address: str) -> list[str]:
        return [
            each.message.get_body(("plain",)).get_content()  # type: ignore[union-attr]
            for each in [*self.server.received]
            if each.recipients == [address]
        ]


def refused_at(send: Callable[[], int]) -> int:
    """How many requests are let through before one is refused."""
    return next(number for number in range(100) if send() == 429)
