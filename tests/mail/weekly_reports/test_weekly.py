"""A report by e-mail: asked for once, sent each Monday once, ended by a link."""

import asyncio
import re
from datetime import UTC, datetime, timedelta
from email.message import EmailMessage
from typing import Any
from urllib.parse import urlsplit

import pytest

from sealdesk.mail.weekly_reports import rules
from sealdesk.mail.weekly_reports.steps import actions
from sealdesk.state import AppState
from tests.mail.contact_form.support import FormDesk, Stranger
from tests.reports.histories import is_counted
from tests.support.pages import Visitor, logged_in
from tests.support.service import wait_until

AT, SAVED = "/reports", "/reports/weekly"
WEEK_S = 7 * 86_400
_COUNT = """
SELECT count(*) FROM outgoing_messages
WHERE tenant_id = :id AND kind = 'report' AND address = :address LIMIT 1
"""


def ask(desk: FormDesk, query: str = "by=source") -> Visitor:
    visitor = logged_in(desk.tenant)
    visitor.submit(visitor.get(f"{AT}?{query}").form(SAVED))
    return visitor


def queued(desk: FormDesk) -> int:
    return int(desk.service.rows(_COUNT, id=desk.tenant.id, address=desk.tenant.admin_email)[0][0])


def sent(desk: FormDesk, count: int = 1) -> list[EmailMessage]:
    def found() -> list[Any]:
        address = desk.tenant.admin_email
        return [each.message for each in desk.server.received if each.message["To"] == address]

    wait_until(lambda: len(found()) >= count)
    return found()


def pass_monday(desk: FormDesk) -> None:
    """Let the time pass to Tuesday of the next week."""
    now = datetime.fromtimestamp(desk.service.clock.now_us() / 1_000_000, UTC)
    desk.service.clock.advance((7 - now.weekday() + 1) * 86_400)


def test_a_report_is_sent_each_monday_until_its_link_ends_it(desk: FormDesk) -> None:
    desk.key.ticket()
    wait_until(lambda: is_counted(desk.tenant))
    week = datetime.fromtimestamp(desk.service.clock.now_us() / 1_000_000, UTC).date()
    first_day = week - timedelta(days=week.weekday())
    ask(desk, "by=source&of=source&value=api")
    pass_monday(desk)
    (message,) = sent(desk)
    assert str(first_day) in message["Subject"]
    text = message.get_body(("plain",)).get_content()  # type: ignore[union-attr]
    rows = [row.split() for row in text.splitlines()]
    assert "Source: api" in text and ["Created", "1", "0"] in rows
    html = message.get_body(("html",)).get_content()  # type: ignore[union-attr]
    assert '<th align="left">Created</th><td align="right">1</td>' in html
    assert ">End this weekly report</a>" in html
    assert f"day={first_day}" in text and "of=source" in text
    link = urlsplit(str(message["List-Unsubscribe"]).strip("<>")).path
    assert message["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
    stranger = Stranger(desk)
    assert "End this weekly report?" in stranger.get(link).text
    assert stranger.get(f"{link}x").status == 404
    pass_monday(desk)
    assert len(sent(desk, 2)) == 2
    assert stranger.post(link, [("List-Unsubscribe", "One-Click")]).status == 200
    assert stranger.post(link, []).status == 200
    assert "None yet." in logged_in(desk.tenant).get(SAVED).text


def test_two_workers_and_a_week_without_one_send_once(desk: FormDesk) -> None:
    ask(desk)
    desk.service.clock.advance(2 * WEEK_S)
    tenant_id, now_us = desk.tenant.id, desk.service.clock.now_us()

    async def work(state: AppState) -> None:
        async def step() -> None:
            await state.database.write_in_background(
                lambda tx: actions.run_step(tx, tenant_id, now_us)
            )

        await asyncio.gather(*(step() for _ in range(4)))

    desk.service.in_background(work)
    assert queued(desk) == 1
    # As after a restart from a backup: the week is sent already.
    sql = "UPDATE saved_reports SET due_at = 1 WHERE tenant_id = :id"
    desk.service.write(lambda tx: tx.execute(sql, {"id": tenant_id}))
    desk.service.in_background(work)
    assert queued(desk) == 1


def test_a_report_that_fails_holds_up_no_other(
    desk: FormDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    visitor = ask(desk)
    visitor.submit(visitor.get(f"{AT}?by=team").form(SAVED))
    sql = "SELECT id FROM saved_reports WHERE tenant_id = :id ORDER BY id LIMIT 2"
    (first, _) = (row["id"] for row in desk.service.rows(sql, id=desk.tenant.id))
    of_week = rules.about_id

    def fail_for_first(report_id: str, week: Any) -> str:
        if report_id == first:
            raise RuntimeError("this report fails")
        return of_week(report_id, week)

    monkeypatch.setattr(rules, "about_id", fail_for_first)
    pass_monday(desk)
    wait_until(lambda: queued(desk) == 1)
    monkeypatch.undo()
    desk.service.clock.advance(60)
    wait_until(lambda: queued(desk) == 2)


def test_who_may_not_see_reports_gets_none(desk: FormDesk) -> None:
    ask(desk)
    sql = "UPDATE users SET role = 'agent' WHERE tenant_id = :id"
    desk.service.write(lambda tx: tx.execute(sql, {"id": desk.tenant.id}))
    pass_monday(desk)
    due = "SELECT due_at FROM saved_reports WHERE tenant_id = :id AND due_at > :now LIMIT 1"
    wait_until(
        lambda: desk.service.rows(due, id=desk.tenant.id, now=desk.service.clock.now_us()) != []
    )
    assert queued(desk) == 0


def test_reports_are_bounded_listed_and_deleted(desk: FormDesk) -> None:
    visitor = ask(desk)
    for number in range(rules.MAX_OF_USER - 1):
        visitor.submit(visitor.get(f"{AT}?by=tag&of=tag&value=t{number}").form(SAVED))
    visitor.submit(visitor.get(f"{AT}?by=source").form(SAVED))  # is there already
    refused = visitor.submit(visitor.get(f"{AT}?by=team").form(SAVED))
    assert refused.status == 422
    assert f"already {rules.MAX_OF_USER} weekly reports" in refused.text
    page = visitor.get(SAVED)
    assert "Tag: t0 · By Tag" in page.text
    paths = re.findall(rf'action="({SAVED}/[^"]+/delete)"', page.answer.text)
    assert len(paths) == rules.MAX_OF_USER
    other = logged_in(desk.service.tenant())
    token = other.get(AT).form(SAVED).value("form_token")
    assert other.post(paths[0], [("form_token", token)]).status == 404
    visitor.submit(page.form(paths[0]))
    assert "By Source" not in visitor.get(SAVED).text


def test_a_desk_without_a_mailbox_is_led_to_where_one_is_added(desk: FormDesk) -> None:
    visitor = logged_in(desk.service.tenant())
    refused = visitor.submit(visitor.get(AT).form(SAVED))
    assert refused.status == 422 and "No mailbox of this desk sends e-mail." in refused.text
    assert "/settings/email/new" in refused.links
