"""Attachments in a bucket: what holds in the data directory too, and a bucket that fails."""

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import obstore
import pytest

from sealdesk.state import AppState
from sealdesk.tickets.attachments import bucket, files, rules
from sealdesk.tickets.attachments.types import Content
from tests.support.buckets import (
    FaultyProxy,
    bucket_env,
    bucket_of,
    faulty_proxy,
    list_bucket,
    store_of,
)
from tests.support.client import Key
from tests.support.contents import kept_of
from tests.support.databases import SQLITE_FIRST, Begin
from tests.support.logs import captured_logs
from tests.support.service import Service, Tenant, wait_until

# The same tests as of the data directory, with the fixtures below.
from tests.tickets.test_attached import (  # noqa: F401
    DAY_S,
    prune,
    test_a_file_without_a_row_is_deleted_in_time,
    test_a_head_request_shows_the_size_alone,
    test_a_link_leads_to_the_bytes_for_five_minutes,
    test_an_upload_that_nothing_refers_to_is_deleted_after_a_day,
    test_missing_bytes_are_named,
    test_nothing_in_the_bytes_is_run,
)
from tests.tickets.test_uploads import (  # noqa: F401
    MIB,
    PATH,
    code,
    rows_of,
    test_a_body_with_another_hash_than_was_signed_leaves_nothing,
    test_a_file_of_25_mib_is_received,
    test_an_upload_is_described,
    test_equal_files_of_a_tenant_are_stored_once_and_counted_twice,
    test_tenants_do_not_share_files,
    unfinished,
    used_bytes,
)

NO_ROOM = (503, "storage_unavailable")


@pytest.fixture(scope="module")
def shared(begin: Begin, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with begin(tmp_path_factory.mktemp("bucket"), **bucket_env()) as service:
        yield service


@pytest.fixture
def service(shared: Service) -> Service:
    return shared


@pytest.fixture
def own_service(start: Callable[..., Service]) -> Service:
    """A service with a bucket, whose clock may be set."""
    return start(**bucket_env())


@pytest.fixture
def proxy() -> Iterator[FaultyProxy]:
    with faulty_proxy() as proxy:
        yield proxy


@pytest.fixture
def far(start: Callable[..., Service], proxy: FaultyProxy) -> Service:
    """A service whose bucket is behind a proxy that can fail."""
    return start(**bucket_env(proxy.port))


def env_of(service: Service) -> dict[str, str]:
    settings = service.settings.attachment_bucket
    assert settings is not None
    return {"SEALDESK_ATTACHMENT_BUCKET": settings.name}


@SQLITE_FIRST
def test_no_file_stays_in_the_data_directory(service: Service, key: Key) -> None:
    key.attachment()
    folder = files.folder_of(service.settings)
    assert [path for path in folder.rglob("*") if path.is_file()] == []


@SQLITE_FIRST
@pytest.mark.parametrize("how", [{"refuses": True}, {"is_busy": True}, {"to_server": 5 * MIB}])
def test_a_failing_bucket_refuses_the_file_and_keeps_nothing_of_it(
    far: Service, proxy: FaultyProxy, how: dict[str, Any]
) -> None:
    tenant = far.tenant()
    key = tenant.key()
    key.attachment(content=b"before")
    content = os.urandom(7 * MIB)
    proxy.fail(**how)
    assert code(key.upload("a.bin", content)) == NO_ROOM
    proxy.recover()
    assert kept_of(tenant) == [b"before"]
    assert (len(rows_of(tenant)), used_bytes(tenant), unfinished(far)) == (1, 6, [])
    assert key.upload("a.bin", content).status_code == 201


@SQLITE_FIRST
def test_a_bucket_that_is_away_has_no_bytes_to_give(far: Service, proxy: FaultyProxy) -> None:
    key = far.tenant().key()
    shown = key.attachment(content=b"far away")
    proxy.fail(refuses=True)
    answer = key.get(f"{PATH}/{shown['id']}/content")
    assert code(answer) == NO_ROOM
    assert "storage of attachments" in answer.json()["detail"]
    assert key.get(f"{PATH}/{shown['id']}").status_code == 200
    proxy.recover()
    assert key.get(f"{PATH}/{shown['id']}/content").content == b"far away"


@SQLITE_FIRST
def test_a_hanging_bucket_ends_with_a_problem(
    far: Service, proxy: FaultyProxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    tenant = far.tenant()
    key = tenant.key()
    shown = key.attachment(content=b"slow")
    monkeypatch.setattr(bucket, "_REQUEST_S", 0.1)
    proxy.hold()
    with captured_logs("sealdesk.web") as events:
        assert code(key.upload("a.txt", b"more")) == NO_ROOM
        assert code(key.get(f"{PATH}/{shown['id']}/content")) == NO_ROOM
    causes = [event["cause"] for event in events if event["event"] == "unavailable"]
    assert causes == ["BucketFailed('the bucket did not answer in time')"] * 2
    assert (len(rows_of(tenant)), used_bytes(tenant), unfinished(far)) == (1, 4, [])


@SQLITE_FIRST
@pytest.mark.parametrize(("size", "count"), [(10, 8), (2 * MIB, 2)])
def test_a_hanging_bucket_delays_nothing_else(
    far: Service, proxy: FaultyProxy, monkeypatch: pytest.MonkeyPatch, size: int, count: int
) -> None:
    tenant, other = far.tenant(), far.tenant()
    key = tenant.key()
    monkeypatch.setattr(bucket, "_REQUEST_S", 60.0)
    monkeypatch.setattr(bucket, "_SLOT_WAIT_S", 0.05)
    monkeypatch.setattr(bucket, "_LARGE_SLOT_WAIT_S", 0.05)
    proxy.hold()
    with ThreadPoolExecutor(9) as pool:
        sent = [pool.submit(key.upload, "a.bin", os.urandom(size)) for _ in range(count)]
        wait_until(lambda: proxy.held >= count)
        # A tenant has so many requests to the bucket, and further ones are refused.
        assert code(key.upload("a.bin", bytes(size))) == NO_ROOM
        assert key.ticket()["status"] == "open"
        theirs = pool.submit(other.key().upload, "a.bin", bytes(size))
        assert not any(each.done() for each in sent)
        proxy.release()
        assert {each.result().status_code for each in [*sent, theirs]} == {201}
    assert len(kept_of(tenant)) == count


@SQLITE_FIRST
def test_a_download_ends_early_when_the_bucket_goes_away(far: Service, proxy: FaultyProxy) -> None:
    shown = far.tenant().key().attachment(content=os.urandom(24 * MIB))
    with httpx.stream("GET", far.url + shown["content_path"], timeout=60) as answer:
        parts = answer.iter_raw()
        next(parts)
        proxy.fail(refuses=True)
        with pytest.raises(httpx.RemoteProtocolError):
            list(parts)


@SQLITE_FIRST
def test_bytes_that_were_changed_in_the_bucket_are_not_given_whole(
    service: Service, tenant: Tenant, key: Key
) -> None:
    shown = key.attachment(content=bytes(2 * MIB))
    path = rules.path_of(Content(tenant.id, shown["sha256"]))
    obstore.put(store_of(env_of(service)), path, bytes(2 * MIB - 1) + b"x", use_multipart=False)
    with pytest.raises(httpx.RemoteProtocolError):
        key.get(f"{PATH}/{shown['id']}/content")


@SQLITE_FIRST
def test_a_wrong_secret_is_named_in_the_log_alone(start: Callable[..., Service]) -> None:
    service = start(**bucket_env() | {"SEALDESK_ATTACHMENT_SECRET": "another-secret"})
    with captured_logs("sealdesk.web") as events:
        answer = service.tenant().key().upload("a.txt", b"x")
    assert code(answer) == NO_ROOM
    assert "Signature" not in answer.text
    causes = [event["cause"] for event in events if event["event"] == "unavailable"]
    assert causes == ["BucketFailed('SignatureDoesNotMatch')"]


def delete_unused(service: Service, content: Content, meanwhile: Callable[[], None]) -> bool:
    """Delete bytes as retention does. meanwhile: happens while it asks for the second time."""
    asked = 0

    async def is_used() -> bool:
        nonlocal asked
        asked += 1
        if asked == 2:
            await files.in_thread(meanwhile)
        return False

    async def work(state: AppState) -> bool:
        before_us = state.clock.now_us() + 60_000_000
        return await bucket_of(service).delete_unused(content, before_us, is_used)

    return service.in_serving(work)


def test_bytes_are_not_published_while_they_are_deleted(
    service: Service, tenant: Tenant, key: Key
) -> None:
    shown = key.attachment(content=b"again")
    answers = []

    def upload() -> None:
        answers.append(key.upload("a.txt", b"again"))

    assert delete_unused(service, Content(tenant.id, shown["sha256"]), upload)
    assert code(answers[0]) == NO_ROOM
    assert len(rows_of(tenant)) == 1
    assert key.upload("a.txt", b"again").status_code == 201
    assert kept_of(tenant) == [b"again"]


@SQLITE_FIRST
def test_an_upload_renews_the_time_of_equal_bytes(own_service: Service) -> None:
    tenant = own_service.tenant()
    shown = tenant.key().attachment(content=b"new")

    async def work(state: AppState) -> bool:
        content, before_us = Content(tenant.id, shown["sha256"]), state.clock.now_us() - 60_000_000
        return await bucket_of(own_service).delete_unused(content, before_us, unused)

    async def unused() -> bool:
        return False

    assert not own_service.in_serving(work)
    assert kept_of(tenant) == [b"new"]


@SQLITE_FIRST
def test_what_a_killed_deletion_left_is_deleted_after_an_hour(own_service: Service) -> None:
    tenant = own_service.tenant()
    shown = tenant.key().attachment()
    mark = f"attachments/deleting/{shown['sha256']}.{tenant.id}/0011"
    obstore.put(store_of(env_of(own_service)), mark, b"-")
    prune(own_service)
    assert mark in list_bucket(env_of(own_service))
    assert code(tenant.key().upload("b.txt", b"text")) == NO_ROOM
    own_service.clock.advance(3700)
    prune(own_service)
    assert mark not in list_bucket(env_of(own_service))
    assert tenant.key().upload("b.txt", b"text").status_code == 201


@SQLITE_FIRST
def test_retention_goes_on_when_the_bucket_is_back(far: Service, proxy: FaultyProxy) -> None:
    tenant = far.tenant()
    tenant.key().attachment(content=b"unused")
    far.clock.advance(DAY_S + 60)
    proxy.fail(refuses=True)
    with pytest.raises(Exception, match="storage of attachments"):
        prune(far)
    proxy.recover()
    assert kept_of(tenant) == [b"unused"]


@SQLITE_FIRST
def test_bytes_are_below_their_hash_and_tenant(service: Service, tenant: Tenant, key: Key) -> None:
    shown = key.attachment()
    assert f"attachments/{shown['sha256'][:2]}/{shown['sha256']}.{tenant.id}" in list_bucket(
        env_of(service)
    )
