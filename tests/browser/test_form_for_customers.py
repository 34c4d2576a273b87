"""A customer writes with the form, confirms it, and answers on the page of the ticket."""

from collections.abc import Callable, Iterator

import pytest

from tests.browser.chromium import Window
from tests.mail.contact_form.support import FormDesk
from tests.support.mail_server import mail_server
from tests.support.service import PASSWORD, Tenant, wait_until

ANN = "ann@customer.example"


@pytest.fixture
def form_desk(tenant: Tenant) -> Iterator[FormDesk]:
    with mail_server() as server:
        url = tenant.service.url
        yield FormDesk(tenant, server, base_url=url, has_ticket_pages=True)


def _link(desk: FormDesk, number: int) -> str:
    """The last line with a link in a message to Ann."""
    lines = desk.mails(number + 1, ANN)[number].splitlines()
    return next(line for line in reversed(lines) if line.startswith(desk.service.url))


@pytest.mark.layout
def test_from_the_form_to_the_last_answer_without_scripts(
    opened: Callable[..., Window], form_desk: FormDesk, tenant: Tenant
) -> None:
    own = opened(java_script_enabled=False)
    page = own.page
    page.goto(f"/{form_desk.name}/new")
    form_desk.service.clock.advance(3)
    page.get_by_label("Your e-mail address").fill(ANN)
    page.get_by_label("Your name").fill("Ann Example")
    page.get_by_label("Subject").fill("A broken bowl")
    page.get_by_label("What is it about?").fill("It has a crack.\n\n**Please** help.")
    page.get_by_role("button", name="Send").click()
    page.get_by_text("confirm it within 24 hours").wait_for()
    page.goto(_link(form_desk, 0))
    page.get_by_role("button", name="Send my request").click()
    page.get_by_role("link", name="Read it, or attach files").click()
    page.get_by_text("It has a crack.").wait_for()
    agent = opened()
    agent.enter(tenant.admin_email, PASSWORD)
    (ticket,) = form_desk.tickets()
    agent.page.goto(f"/tickets/{ticket['id']}")
    agent.page.get_by_label("Your reply").fill("We send another one.")
    agent.send_reply()
    page.goto(_link(form_desk, 1))
    page.get_by_text("We send another one.").wait_for()
    page.get_by_label("Your reply").fill("Here is a photo.")
    page.get_by_label("Attach files").set_input_files(
        {"name": "bowl.txt", "mimeType": "text/plain", "buffer": b"a photo"}
    )
    page.get_by_role("button", name="Send the reply").click()
    page.get_by_text("Your reply has been sent.").wait_for()
    page.get_by_role("link", name="bowl.txt").wait_for()
    wait_until(lambda: len(form_desk.replies(ticket)) == 2)
    agent.page.goto(f"/tickets/{ticket['id']}")
    shown = agent.page.locator("article", has_text="Here is a photo.")
    shown.get_by_role("link", name="bowl.txt").wait_for()
    agent.page.goto("/settings/email/form")
    agent.page.get_by_role("link", name=f"/{form_desk.name}/new").wait_for()
    form_desk.change(ticket, status="closed")
    page.reload()
    page.get_by_text("This conversation has ended").wait_for()
