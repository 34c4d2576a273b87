"""E-mail to a tenant whose writes are refused at the end of its move to another installation."""

import smtplib
from collections.abc import Iterator
from contextlib import contextmanager
from uuid import uuid4

import pytest

from sealdesk.state import AppState
from sealdesk_move import sessions
from sealdesk_move.tenant import checks, fence, marks
from sealdesk_move.tenant.marks import Marks
from tests.mail.support import Desk, message
from tests.support.databases import POSTGRESQL_ONLY

pytestmark = POSTGRESQL_ONLY


@contextmanager
def fenced(desk: Desk) -> Iterator[None]:
    """Refuse the writes of a tenant as `sealdesk move --tenant` does."""
    url, tenant_id = desk.tenant.service.settings.owner_database_url, desk.tenant.id

    async def begin(_: AppState) -> None:
        async with sessions.open_in_use(url) as connection:
            source = Marks(connection, tenant_id)
            tables = await checks.check_tables(connection, connection)
            await source.begin(str(uuid4()), [tenant_id], marks.COPYING, tables)
            await source.put_on(tables, [tenant_id], records=True)
            await source.switch(marks.fenced(await fence.list_workers(connection)))

    async def end(_: AppState) -> None:
        async with sessions.open_in_use(url) as connection:
            await Marks(connection, tenant_id).take_off()

    service = desk.tenant.service
    service.in_serving(begin)
    try:
        yield
    finally:
        service.in_serving(end)


def test_its_sender_tries_again_and_no_message_is_lost_or_doubled(desk: Desk) -> None:
    raw = message()
    with fenced(desk):
        with pytest.raises(smtplib.SMTPResponseException) as refused:
            desk.get_mail(raw)
        assert refused.value.smtp_code == 451
        assert (desk.messages(), desk.tickets()) == ([], [])
    desk.get_mail(raw)
    assert desk.ticket()["description"] == "The bowl is broken."


def test_messages_of_another_tenant_arrive_meanwhile(desk: Desk) -> None:
    other = Desk(desk.receiver)
    with fenced(desk):
        other.get_mail(message())
        assert other.ticket()["description"] == "The bowl is broken."
