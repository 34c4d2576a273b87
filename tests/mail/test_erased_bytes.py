"""What an erased customer has sent goes from the storage too."""

from collections.abc import Callable
from pathlib import Path

from sealdesk.mail.receiving import raw_messages
from sealdesk.tickets.attachments import pruning
from sealdesk.worker import stepper
from tests.mail.support import Desk, message, receiving, with_files
from tests.support.service import Service, wait_until

DAY_S = 24 * 3600


def stored(desk: Desk) -> list[bytes]:
    folder = desk.receiver.service.settings.data_dir / "attachments"
    found: list[Path] = [path for path in folder.rglob("*") if path.name.endswith(desk.tenant.id)]
    return [path.read_bytes() for path in found]


def test_raw_messages_and_files_of_an_erased_customer_are_deleted(
    start: Callable[..., Service],
) -> None:
    service = start()
    with receiving(service) as receiver:
        desk = Desk(receiver)
        desk.get_mail(with_files((("notes.txt", b"The notes of Ann"),), Message_ID="<1@x.test>"))
        desk.get_mail(with_files((("more.txt", b"More of Ann"),), In_Reply_To="<1@x.test>"))
        desk.get_mail(message("Of Bo", sender="bo@example.test"))
        assert len(stored(desk)) == 5
        customer_id = next(
            each["customer"]["id"]
            for each in desk.tickets()
            if each["customer"]["email"] == "ann@example.test"
        )
        path = f"/api/v1/external/customers/{customer_id}"
        assert desk.key.post(f"{path}/erase", None).status_code == 202
        service.clock.advance(11)

        def is_erased() -> bool:
            service.in_background(stepper.ERASURES.step)
            return bool(desk.key.get(f"{path}/erasure").json()["data"]["status"] == "finished")

        wait_until(is_erased)
        service.clock.advance(2 * DAY_S)
        service.in_background(raw_messages.prune)
        service.in_background(pruning.prune)
        (left,) = stored(desk)
        assert b"Of Bo" in left
