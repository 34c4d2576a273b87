"""No desk sees the forms of another one, and all together fill no inbox."""

from collections.abc import Callable

from sealdesk.mail.contact_form import rules
from tests.mail.contact_form.support import ANN, FormDesk, Stranger
from tests.mail.contact_form.test_form import SENT
from tests.mail.receiving.stored import received
from tests.mail.reports import complaint
from tests.support.service import wait_until


def test_forms_of_several_desks_fill_no_inbox(
    desk: FormDesk, service_tenant: Callable[[], FormDesk]
) -> None:
    desks = [desk, *(service_tenant() for _ in range(rules.MAX_OF_ADDRESS))]
    for each in desks:
        page = Stranger(each).write(ANN)
        assert page.status == 200 and SENT in page.text
    assert [each.message_count() for each in desks] == [1] * rules.MAX_OF_ADDRESS + [0]
    Stranger(desks[-1]).write("bo@customer.example")
    assert desks[-1].message_count() == 1


def test_who_calls_a_confirmation_spam_gets_no_further_one(desk: FormDesk) -> None:
    Stranger(desk).write()
    wait_until(lambda: len(desk.server.received) == 1)
    sent = str(desk.server.received[0].message["message-id"])
    received(desk.tenant, complaint(sent))
    page = Stranger(desk).write()
    assert page.status == 200 and SENT in page.text
    assert desk.message_count() == 1
