"""Uploads of attachments: what is stored, and what of a bad one is refused before or after it."""

import errno
import hashlib
import os
from pathlib import Path
from typing import Any

import httpx
import pytest

from sealdesk.tickets.attachments import files
from sealdesk.tickets.attachments.files import IncomingFile
from tests.support.client import Key
from tests.support.contents import kept_of
from tests.support.for_each import for_each
from tests.support.service import Service, Tenant, wait_until
from tests.support.wire import Wire

PATH = "/api/v1/external/attachments"
MIB = 1024 * 1024
PNG = b"\x89PNG\r\n\x1a\n" + bytes(100)


def stored_files(service: Service) -> list[Path]:
    """All files of attachments, also unfinished ones."""
    folder = files.folder_of(service.settings)
    return [path for path in folder.rglob("*") if path.is_file() and path.name != "lock"]


def unfinished(service: Service) -> list[Path]:
    return [path for path in stored_files(service) if path.parent.name == "incoming"]


def files_of(tenant: Tenant) -> list[Path]:
    return [path for path in stored_files(tenant.service) if path.name.endswith(tenant.id)]


def rows_of(tenant: Tenant) -> list[Any]:
    sql = "SELECT * FROM attachments WHERE tenant_id = :tenant ORDER BY id LIMIT 100"
    return tenant.service.rows(sql, tenant=tenant.id)


def used_bytes(tenant: Tenant) -> int:
    sql = "SELECT used_bytes FROM attachment_usage WHERE tenant_id = :tenant LIMIT 1"
    return int(tenant.service.rows(sql, tenant=tenant.id)[0][0])


def code(answer: httpx.Response) -> tuple[int, str]:
    return answer.status_code, answer.json()["code"]


def test_an_upload_is_described(key: Key) -> None:
    answer = key.upload("bowl.png", PNG, "image/png; charset=x")
    assert answer.status_code == 201, answer.text
    shown = answer.json()["data"]
    assert answer.headers["location"] == f"{PATH}/{shown['id']}"
    described = (shown["name"], shown["content_type"], shown["size_bytes"], shown["is_image"])
    assert described == ("bowl.png", "image/png", len(PNG), True)
    assert shown["sha256"] == hashlib.sha256(PNG).hexdigest()
    assert (shown["ticket_id"], shown["reply_id"]) == (None, None)
    assert key.get(f"{PATH}/{shown['id']}").json()["data"]["sha256"] == shown["sha256"]


def test_the_bytes_are_stored_under_their_hash_for_the_owner_alone(
    tenant: Tenant, key: Key
) -> None:
    shown = key.attachment("a.bin", b"some bytes")
    (path,) = files_of(tenant)
    assert path.name == f"{shown['sha256']}.{tenant.id}"
    assert path.parent.name == shown["sha256"][:2]
    assert path.read_bytes() == b"some bytes"
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700


def test_equal_files_of_a_tenant_are_stored_once_and_counted_twice(
    tenant: Tenant, key: Key
) -> None:
    first, second = key.attachment("a.txt", b"same"), key.attachment("b.txt", b"same")
    assert first["id"] != second["id"]
    assert kept_of(tenant) == [b"same"]
    assert used_bytes(tenant) == 8


def test_tenants_do_not_share_files(service: Service, tenant: Tenant, key: Key) -> None:
    other = service.tenant()
    key.attachment(content=b"known to both")
    other.key().attachment(content=b"known to both")
    assert kept_of(tenant) == kept_of(other) == [b"known to both"]


def test_a_file_of_25_mib_is_received(tenant: Tenant, key: Key) -> None:
    content = os.urandom(25 * MIB)
    shown = key.attachment("large.bin", content)
    assert shown["sha256"] == hashlib.sha256(content).hexdigest()
    assert key.get(f"{PATH}/{shown['id']}/content").content == content


def test_a_larger_file_is_refused_before_it_is_sent(service: Service, key: Key) -> None:
    headers = key.signature_headers("POST", PATH) | {"content-length": str(25 * MIB + 1)}
    with Wire(service) as wire:
        wire.head("POST", PATH, headers.items())
        answer = wire.answer()
    assert (answer.status, answer.json()["code"]) == (413, "body_too_large")
    assert answer.json()["max_bytes"] == 25 * MIB


@pytest.mark.parametrize("size", [0, MIB + 1])
def test_a_file_in_chunks_is_refused_at_its_limit(start: Any, size: int) -> None:
    service = start(SEALDESK_ATTACHMENT_MAX_MIB="1")
    tenant = service.tenant()
    key = tenant.key()
    headers = key.signature_headers("POST", PATH) | {"transfer-encoding": "chunked"}
    with Wire(service) as wire:
        wire.head("POST", PATH, headers.items())
        if size:
            wire.write(b"%x\r\n" % size + bytes(size) + b"\r\n")
        else:
            wire.write(b"0\r\n\r\n")
        answer = wire.answer()
    assert answer.json()["code"] == ("body_too_large" if size else "empty_attachment")
    assert stored_files(service) == []
    assert rows_of(tenant) == []


def test_a_truncated_file_leaves_nothing(own_service: Service) -> None:
    tenant = own_service.tenant()
    content = bytes(MIB)
    headers = tenant.key().signature_headers("POST", PATH, content)
    with Wire(own_service) as wire:
        wire.head("POST", PATH, [*headers.items(), ("content-length", str(MIB))])
        wire.write(content[:-1])
        wait_until(lambda: unfinished(own_service) != [])
    wait_until(lambda: stored_files(own_service) == [])
    assert rows_of(tenant) == []


def test_a_body_with_another_hash_than_was_signed_leaves_nothing(own_service: Service) -> None:
    tenant = own_service.tenant()
    key = tenant.key()
    headers = key.signature_headers("POST", PATH, b"signed")
    with Wire(own_service) as wire:
        wire.head("POST", PATH, [*headers.items(), ("content-length", "6")])
        wire.write(b"signeD")
        answer = wire.answer()
    problem = answer.json()
    assert (answer.status, problem["code"]) == (401, "invalid_signature")
    assert problem["received"]["body_sha256"] == hashlib.sha256(b"signeD").hexdigest()
    assert stored_files(own_service) == []
    assert rows_of(tenant) == []
    refusal = tenant.admin().get(f"/api/v1/api-keys/{key.id}/refusals").json()["data"][0]
    assert (refusal["body_sha256"], refusal["body_bytes"]) == (
        hashlib.sha256(b"signeD").hexdigest(), 6,
    )  # fmt: skip


def refused_early(service: Service, headers: dict[str, str]) -> tuple[int, str]:
    """The refusal of an upload of which no byte of the body is sent."""
    with Wire(service) as wire:
        wire.head("POST", PATH, [*headers.items(), ("content-length", "100")])
        answer = wire.answer()
    return answer.status, answer.json()["code"]


def test_what_needs_no_body_is_refused_before_it(service: Service, tenant: Tenant) -> None:
    key, powerless = tenant.key(), tenant.key(permissions=["tickets:read"])
    stranger = {**key.signature_headers("POST", PATH), "x-api-key": "tk_live_" + "0" * 40}
    late = key.signature_headers("POST", PATH, timestamp=1_000_000_000)
    weak = powerless.signature_headers("POST", PATH)
    assert refused_early(service, stranger) == (401, "invalid_api_key")
    assert refused_early(service, late) == (401, "timestamp_out_of_range")
    assert refused_early(service, weak) == (403, "insufficient_permissions")
    assert refused_early(service, {}) == (401, "missing_credentials")


def test_a_key_that_is_revoked_while_the_file_arrives_stores_nothing(own_service: Service) -> None:
    tenant = own_service.tenant()
    key, admin = tenant.key(), tenant.admin()
    content = bytes(MIB)
    headers = key.signature_headers("POST", PATH, content)
    with Wire(own_service) as wire:
        wire.head("POST", PATH, [*headers.items(), ("content-length", str(MIB))])
        wire.write(content[:-1])
        wait_until(lambda: unfinished(own_service) != [])
        admin.delete(f"/api/v1/api-keys/{key.id}")
        wire.write(content[-1:])
        assert wire.answer().json()["code"] == "api_key_revoked"
    assert stored_files(own_service) == []


def test_a_signature_is_accepted_once(tenant: Tenant) -> None:
    key = tenant.key(replay_protection="writes")
    headers = key.signature_headers("POST", PATH, b"once")

    def send() -> tuple[int, str]:
        with Wire(tenant.service) as wire:
            wire.head("POST", PATH, [*headers.items(), ("content-length", "4")])
            wire.write(b"once")
            answer = wire.answer()
        return answer.status, answer.json().get("code", "")

    assert [send(), send()] == [(201, ""), (401, "signature_replayed")]
    assert len(rows_of(tenant)) == 1


@pytest.mark.parametrize("name", ["run.exe", "run.EXE", "run.exe.", "run.exe . "])
def test_a_file_of_a_forbidden_type_is_refused(key: Key, name: str) -> None:
    assert code(key.upload(name, b"MZ")) == (415, "file_type_not_allowed")


def test_an_allow_list_admits_only_its_endings(start: Any) -> None:
    key = start(SEALDESK_ATTACHMENT_TYPES="allow:pdf,png").tenant().key()
    names = ["a.pdf", "a.PNG", "a.txt", "pdf", "a.pdf.html"]
    assert [key.upload(name, b"%PDF").status_code for name in names] == [201, 201, 415, 415, 415]


@for_each(
    "name",
    ["../../etc/passwd", "a/b", "a\\b", ".", "..", " ", "a\r\nset-cookie: x", "a\x7f",
     "a\u202egnp.js", "a\u200fb", "x" * 256, "a\u2028b"],
)  # fmt: skip
def test_a_hostile_name_is_refused(key: Key, name: str) -> None:
    assert code(key.upload(name, b"x")) == (400, "invalid_parameter")


@for_each(
    "name",
    ["Zeugnis für Müller.pdf", "日本語.txt", 'say "hi".txt', "a;b=c.txt", "'%41.txt", "x" * 255],
)
def test_a_name_survives_the_way_there_and_back(key: Key, name: str) -> None:
    shown = key.attachment(name)
    assert shown["name"] == name
    answer = key.get(f"{PATH}/{shown['id']}/content")
    _, plain, encoded = answer.headers["content-disposition"].split("; ", 2)
    assert plain.startswith('filename="')
    assert plain[10:-1].replace("_", "").replace(" ", "").isascii()
    assert '"' not in plain[10:-1]
    start = "filename*=UTF-8''"
    assert encoded.startswith(start)
    assert httpx.URL(f"http://t/{encoded.removeprefix(start)}").path == f"/{name}"


def test_the_quota_of_a_tenant_is_not_exceeded(start: Any) -> None:
    service = start(SEALDESK_ATTACHMENT_QUOTA_MIB="1")
    tenant = service.tenant()
    key = tenant.key()
    key.attachment(content=bytes(MIB - 10))
    assert code(key.upload("b.txt", bytes(11))) == (409, "attachment_quota_exceeded")
    key.attachment(content=bytes(10))
    assert used_bytes(tenant) == MIB
    assert service.tenant().key().upload("a.txt", b"x").status_code == 201


def test_a_full_disk_refuses_the_file_and_keeps_nothing_of_it(
    own_service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    tenant = own_service.tenant()
    key = tenant.key()
    append, received = IncomingFile.append, 0

    def append_to_full_disk(file: IncomingFile, part: bytes) -> None:
        nonlocal received
        received += len(part)
        if received > MIB:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        append(file, part)

    monkeypatch.setattr(IncomingFile, "append", append_to_full_disk)
    assert code(key.upload("a.bin", bytes(2 * MIB))) == (503, "storage_unavailable")
    assert stored_files(own_service) == []
    assert rows_of(tenant) == []
    received = -8 * MIB
    assert key.upload("a.bin", bytes(2 * MIB)).status_code == 201


def test_uploads_hold_little_of_the_budget_of_bodies(
    own_service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = own_service.tenant().key()
    held = []
    append = IncomingFile.append

    def look(file: IncomingFile, part: bytes) -> None:
        held.append(own_service.state.limits.received.held_bytes)
        append(file, part)

    monkeypatch.setattr(IncomingFile, "append", look)
    key.attachment(content=bytes(16 * MIB))
    assert 0 < max(held) < MIB
    assert (
        own_service.state.limits.received.held_bytes
        == own_service.state.limits.uploading.held_bytes
        == 0
    )


def test_another_tenant_does_not_find_an_attachment(service: Service, key: Key) -> None:
    shown = key.attachment()
    stranger = service.tenant().key()
    for path in (f"{PATH}/{shown['id']}", f"{PATH}/{shown['id']}/content"):
        assert code(stranger.get(path)) == (404, "not_found")
