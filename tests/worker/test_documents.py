"""The worker rewrites the documents of an earlier version, in steps, once."""

import asyncio
from contextlib import suppress

import msgspec
import pytest

from sealdesk.installation import checks
from sealdesk.installation.types import DOCUMENTS, DocumentsNote, Look
from sealdesk.state import AppState
from sealdesk.telemetry.issues import Issue, Unknown
from sealdesk.tickets.ticket.store.ready_documents import SHAPE
from sealdesk.worker import rewriter
from sealdesk.worker.rewriter import document_rewriter
from tests.support.service import Service
from tests.tickets.test_ready_documents import is_outdated, make_outdated, stored_documents

_NOTE = "SELECT note FROM installation_notes WHERE name = :name LIMIT 1"


def noted(service: Service) -> DocumentsNote:
    (row,) = service.rows(_NOTE, name=DOCUMENTS)
    return msgspec.json.decode(row["note"], type=DocumentsNote)


def upgrade(service: Service) -> None:
    """As if tickets had other members in the version until now."""
    service.in_background(document_rewriter().run)
    service.run(
        f"""UPDATE installation_notes SET note = '{{"shape": ""}}' WHERE name = '{DOCUMENTS}'"""
    )


async def look(state: AppState) -> Issue | Unknown | None:
    now_us = state.clock.now_us()
    return await checks.documents_outdated(
        Look("worker", state.settings, state.database.read, now_us)
    )


def test_documents_of_all_tenants_are_rewritten_however_often_the_worker_ends(
    own_service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rewriter, "_STEP_TICKETS", 2)
    tenants = [own_service.tenant() for _ in range(3)]
    for tenant in tenants:
        key = tenant.key()
        for _ in range(5):
            make_outdated(tenant, key.ticket()["id"])
    upgrade(own_service)

    async def work(state: AppState) -> None:
        for turns in range(100):
            step = asyncio.ensure_future(document_rewriter().step(state))
            for _ in range(turns):
                await asyncio.sleep(0)
            step.cancel()
            with suppress(asyncio.CancelledError):
                await step
        await document_rewriter().run(state)

    own_service.in_background(work)
    assert noted(own_service) == DocumentsNote(SHAPE, is_finished=True)
    for tenant in tenants:
        assert list(map(is_outdated, stored_documents(tenant))) == [False] * 5


def test_finished_documents_are_not_looked_at_again(own_service: Service) -> None:
    async def work(state: AppState) -> int:
        await document_rewriter().run(state)
        return await document_rewriter().step(state)

    assert own_service.in_background(work) == 0


def test_a_step_that_comes_after_the_last_one_does_not_begin_again(own_service: Service) -> None:
    own_service.tenant().key().ticket()

    async def work(state: AppState) -> int:
        await document_rewriter().run(state)
        # Another process has looked before the end, and now has its turn.
        now_us = state.clock.now_us()
        return await state.database.write_in_background(
            lambda tx: document_rewriter().take_step(tx, now_us)
        )

    upgrade(own_service)
    assert own_service.in_background(work) == 0
    assert noted(own_service) == DocumentsNote(SHAPE, is_finished=True)


def test_the_check_of_the_installation_says_what_is_left(own_service: Service) -> None:
    own_service.tenant()
    own_service.in_background(document_rewriter().run)
    assert own_service.in_background(look) is None
    upgrade(own_service)
    own_service.in_background(document_rewriter().step)
    assert isinstance(own_service.in_background(look), Unknown)
    own_service.clock.advance(3601)
    found = own_service.in_background(look)
    assert isinstance(found, Issue) and "the worker has stopped" in found.what
