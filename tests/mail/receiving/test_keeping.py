"""Raw messages are kept for 30 days, and texts are repaired from them."""

from functools import partial
from pathlib import Path

from sealdesk.crypto import sealed_file
from sealdesk.mail.receiving import raw_messages, reparsing
from sealdesk.mail.receiving.types import ReceivedMessage
from sealdesk.state import AppState
from tests.mail.support import Desk, message, receiving
from tests.support.service import Service

DAY_S = 24 * 3600


def files_of(desk: Desk) -> list[Path]:
    folder = desk.receiver.service.settings.data_dir / "attachments"
    return [path for path in folder.rglob("*") if path.name.endswith(desk.tenant.id)]


async def _repair(state: AppState, tenant_id: str) -> list[bool]:
    found: list[ReceivedMessage] = await reparsing.list_kept(state, tenant_id, "")
    return [await reparsing.repair(state, each) for each in found]


def repair(desk: Desk) -> list[bool]:
    return desk.receiver.service.in_serving(partial(_repair, tenant_id=desk.tenant.id))


def test_a_raw_message_is_deleted_after_30_days(own_service: Service) -> None:
    with receiving(own_service) as receiver:
        desk = Desk(receiver)
        raw = message()
        desk.get_mail(raw)
        (kept,) = files_of(desk)
        assert kept.read_bytes() == raw
        own_service.clock.advance(29 * DAY_S)
        own_service.in_background(raw_messages.prune)
        assert files_of(desk) == [kept]
        own_service.clock.advance(2 * DAY_S)
        assert own_service.in_background(raw_messages.prune) == 1
        assert files_of(desk) == []
        assert own_service.in_background(raw_messages.prune) == 0
        desk.get_mail(raw)  # its row stays, so that it has no second effect
        assert len(desk.tickets()) == 1


def test_texts_are_repaired_from_raw_messages(desk: Desk) -> None:
    desk.get_mail(message())
    ticket = desk.ticket()
    desk.get_mail(message("Another one."), to=desk.reply_address(ticket))
    desk.execute("UPDATE tickets SET description = 'Mojibake' WHERE tenant_id = :tenant")
    desk.execute("UPDATE replies SET body = 'Mojibake' WHERE tenant_id = :tenant")
    assert repair(desk) == [True, True]
    assert desk.ticket()["description"] == "The bowl is broken."
    assert [reply["body"] for reply in desk.replies(ticket)] == ["Another one."]
    assert repair(desk) == [False, False]


def test_raw_messages_are_sealed_by_choice(own_service: Service) -> None:
    raw = message()
    with receiving(own_service, seals_messages=True) as receiver:
        desk = Desk(receiver)
        desk.get_mail(raw)
        (kept,) = files_of(desk)
        assert b"bowl" not in kept.read_bytes()
        desk.execute("UPDATE tickets SET description = 'Mojibake' WHERE tenant_id = :tenant")
        assert repair(desk) == [True]
        desk.get_mail(raw)
    with receiving(own_service) as receiver:  # the setting has changed
        receiver.send(raw, desk.address)
        assert desk.outcomes() == ["ticket"]


def test_a_sealed_message_whose_text_is_cut_is_attached_as_it_arrived(
    own_service: Service,
) -> None:
    with receiving(own_service, seals_messages=True) as receiver:
        desk = Desk(receiver)
        raw = message("Long. " * 20_000)
        desk.get_mail(raw)
        desk.get_mail(raw)
        ticket = desk.ticket()
    (file,) = desk.key.get(f"/api/v1/external/tickets/{ticket['id']}").json()["data"]["attachments"]
    assert file["name"] == "message.eml"
    assert desk.key.get(f"/api/v1/external/attachments/{file['id']}/content").content == raw


def test_a_message_that_looks_sealed_is_read_again(desk: Desk) -> None:
    desk.get_mail(sealed_file.MAGIC + message())
    desk.execute("UPDATE tickets SET description = 'Mojibake' WHERE tenant_id = :tenant")
    assert repair(desk) == [True]


def test_a_description_that_a_user_has_changed_is_not_repaired(desk: Desk) -> None:
    desk.get_mail(message())
    desk.change(desk.ticket(), description="In short: broken.")
    assert repair(desk) == [False]
    assert desk.ticket()["description"] == "In short: broken."


def test_a_note_about_a_stranger_needs_no_repair(desk: Desk) -> None:
    desk.get_mail(message())
    to = desk.reply_address(desk.ticket())
    desk.get_mail(message("Hello.", sender="Eve <eve@evil.test>"), to=to)
    assert repair(desk) == [False, False]
