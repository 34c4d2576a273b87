"""Administrators create, change and delete mailboxes."""

from typing import Any
from uuid import uuid4

import pytest

from sealdesk.crypto.sealing import KeyRing
from sealdesk.db.engine import Tx
from sealdesk.mail.blocks import store as blocks
from sealdesk.mail.mailboxes import actions, passwords, store
from sealdesk.mail.mailboxes.directory import store as directory
from sealdesk.mail.mailboxes.rules import Failure
from sealdesk.mail.mailboxes.types import LANGUAGES, Mailbox
from sealdesk.web.pages import i18n
from tests.mail.mailboxes.stored import MAILBOXES, made, set_problem
from tests.support.service import Service, Tenant

BLOCKS = "/api/v1/mail-blocks"
SECRET = "hunter2-mailbox"
_IMAP = {"imap_host": "imap.acme.test", "imap_username": "desk", "imap_password": SECRET}
_SMTP = {"smtp_host": "smtp.acme.test", "smtp_username": "desk", "smtp_password": SECRET}


@pytest.fixture
def address() -> str:
    return f"{uuid4().hex[:24]}@acme.test"


def _stored(service: Service, tenant: Tenant, mailbox_id: str) -> Mailbox:
    mailbox = service.read(lambda tx: store.find(tx, tenant.id, mailbox_id))
    assert mailbox is not None
    return mailbox


def _place(service: Service, address: str) -> Any:
    return service.read(lambda tx: directory.find(tx, address))


def _audit(service: Service, tenant: Tenant) -> list[str]:
    sql = "SELECT action, details FROM audit WHERE tenant_id = :tenant ORDER BY id LIMIT 100"
    return [f"{row['action']} {row['details']}" for row in service.rows(sql, tenant=tenant.id)]


def test_a_new_mailbox_has_the_usual_ports_and_shows_no_password(
    tenant: Tenant, address: str
) -> None:
    shown = made(tenant.admin(), address.upper(), receives="imap", **_IMAP, **_SMTP)
    expected = {
        "address": address.upper(), "imap_port": 993, "imap_security": "tls",
        "imap_folder": "INBOX", "smtp_port": 465, "smtp_security": "tls", "per_minute": 60,
        "has_imap_password": True, "has_smtp_password": True, "receiving_problem": None,
    }  # fmt: skip
    assert {name: shown[name] for name in expected} == expected
    assert SECRET not in str(shown)


def test_an_address_belongs_to_one_mailbox_of_the_installation(
    service: Service, tenant: Tenant, address: str
) -> None:
    mine = made(tenant.admin(), address)
    other = service.tenant().admin()
    refused = other.post(MAILBOXES, {"address": address.upper()})
    assert (refused.status_code, refused.json()["code"]) == (409, "mailbox_address_taken")
    assert _place(service, address) == (tenant.id, mine["id"])
    another = made(other, f"2-{address}")
    moved = other.patch(f"{MAILBOXES}/{another['id']}", {"address": address})
    assert moved.json()["code"] == "mailbox_address_taken"
    assert tenant.admin().delete(f"{MAILBOXES}/{mine['id']}").status_code == 204
    assert other.patch(f"{MAILBOXES}/{another['id']}", {"address": address}).status_code == 200
    assert _place(service, address).mailbox_id == another["id"]
    assert _place(service, f"2-{address}") is None


def test_a_deleted_mailbox_is_gone_with_its_passwords(
    service: Service, tenant: Tenant, address: str
) -> None:
    admin = tenant.admin()
    path = f"{MAILBOXES}/{made(admin, address, **_SMTP)['id']}"
    assert admin.delete(path).status_code == 204
    assert {admin.delete(path).status_code, admin.get(path).status_code} == {404}
    sql = "SELECT sealed_smtp_password, address_identity FROM mailboxes WHERE tenant_id = :tenant"
    (row,) = service.rows(f"{sql} LIMIT 9", tenant=tenant.id)
    assert row["sealed_smtp_password"] is None
    made(admin, address)


def test_another_tenants_mailbox_does_not_exist(
    service: Service, tenant: Tenant, address: str
) -> None:
    path = f"{MAILBOXES}/{made(tenant.admin(), address)['id']}"
    stranger = service.tenant().admin()
    answers = [
        stranger.get(path), stranger.patch(path, {"signature": "x"}), stranger.delete(path),
        stranger.post(f"{path}/test"),
    ]  # fmt: skip
    assert [answer.status_code for answer in answers] == [404] * 4
    assert stranger.get(MAILBOXES).json()["data"] == []


def test_changes_need_the_current_etag_if_one_is_sent(tenant: Tenant, address: str) -> None:
    admin = tenant.admin()
    path = f"{MAILBOXES}/{made(admin, address)['id']}"
    etag = admin.get(path).headers["etag"]
    changed = admin.patch(path, {"signature": "Best wishes"}, if_match=etag)
    assert (changed.status_code, changed.json()["data"]["signature"]) == (200, "Best wishes")
    assert admin.patch(path, {"signature": "Bye"}, if_match=etag).status_code == 412
    assert admin.get(path).headers["etag"] == changed.headers["etag"] != etag


@pytest.mark.parametrize(
    ("fields", "pointer", "code"),
    [
        ({"address": "no address"}, "/address", "invalid_email"),
        ({"address": f"{'x' * 38}@acme.test"}, "/address", "too_long"),
        ({"display_name": "Acme\r\nBcc: all@acme.test"}, "/display_name", "control_character"),
        ({"signature": "ä" * 2049}, "/signature", "too_long"),
        ({"smtp_host": "not a host"}, "/smtp_host", "invalid_host"),
        ({"smtp_host": "a.test", "smtp_port": 0}, "/smtp_port", "out_of_range"),
        ({"per_minute": 601}, "/per_minute", "out_of_range"),
        ({"receives": "imap"}, "/imap_host", "required"),
        ({**_SMTP, "smtp_security": "none"}, "/smtp_security", "login_without_tls"),
        ({**_IMAP, "imap_security": "none"}, "/imap_security", "invalid_value"),
        ({"smtp_host": "a.test", "smtp_username": "desk"}, "/smtp_password", "required"),
        ({**_SMTP, "smtp_password": "a\r\nQUIT"}, "/smtp_password", "control_character"),
        ({"team_id": "unknown"}, "/team_id", "unknown_team"),
        ({"language": "fr"}, "/language", "invalid_value"),
    ],
)
def test_what_cannot_work_is_refused(
    tenant: Tenant, address: str, fields: dict[str, Any], pointer: str, code: str
) -> None:
    refused = tenant.admin().post(MAILBOXES, {"address": address, **fields})
    assert refused.status_code == 422, refused.text
    found = [(each["pointer"], each["code"]) for each in refused.json()["errors"]]
    assert pointer in [each[0] for each in found], found
    assert SECRET not in refused.text


def test_a_relay_without_a_log_in_may_do_without_tls(tenant: Tenant, address: str) -> None:
    shown = made(tenant.admin(), address, smtp_host="relay.acme.test", smtp_security="none")
    assert (shown["smtp_port"], shown["has_smtp_password"]) == (25, False)


@pytest.mark.parametrize(
    "change", [{"smtp_host": "evil.test"}, {"smtp_port": 26}, {"smtp_security": "starttls"}]
)
def test_a_password_is_never_sent_to_another_server(
    tenant: Tenant, address: str, change: dict[str, Any]
) -> None:
    admin = tenant.admin()
    path = f"{MAILBOXES}/{made(admin, address, **_SMTP)['id']}"
    refused = admin.patch(path, change)
    assert refused.status_code == 422, refused.text
    assert [each["code"] for each in refused.json()["errors"]] == ["password_required"]
    assert admin.patch(path, {**change, "smtp_password": "new"}).status_code == 200
    assert admin.patch(path, {"display_name": "x"}).json()["data"]["has_smtp_password"]


def test_passwords_are_sealed_for_one_column_of_one_row(
    service: Service, tenant: Tenant, address: str
) -> None:
    admin, key_ring = tenant.admin(), service.state.key_ring
    first = made(admin, address, receives="imap", **_IMAP, **_SMTP)
    mailbox = _stored(service, tenant, first["id"])
    assert passwords.open_password(key_ring, mailbox, "imap") == SECRET
    swapped = Mailbox(
        **{name: getattr(mailbox, name) for name in mailbox.__struct_fields__}
        | {"sealed_imap_password": mailbox.sealed_smtp_password}
    )
    with pytest.raises(Exception, match="password_unreadable"):
        passwords.open_password(key_ring, swapped, "imap")
    assert SECRET.encode() not in service.bytes_at_rest()
    assert SECRET not in f"{mailbox!r}{_audit(service, tenant)}"


def test_resealing_moves_both_passwords_to_the_new_master_key(
    service: Service, tenant: Tenant, address: str
) -> None:
    found = made(tenant.admin(), address, receives="imap", **_IMAP, **_SMTP)
    ring = KeyRing([b"n" * 32, *service.settings.master_keys])

    def reseal() -> bool:
        return service.write(
            lambda tx: actions.reseal_mailbox(tx, tenant.id, found["id"], key_ring=ring)
        )

    listed = service.read(lambda tx: store.list_sealed(tx, tenant.id, "", 10))
    assert (list(listed), reseal(), reseal()) == ([found["id"]], True, False)
    mailbox, new = _stored(service, tenant, found["id"]), KeyRing([b"n" * 32])
    opened = [passwords.open_password(new, mailbox, protocol) for protocol in ("imap", "smtp")]
    assert opened == [SECRET, SECRET]


def test_a_tenant_has_at_most_20_mailboxes(tenant: Tenant, address: str) -> None:
    admin = tenant.admin()
    ids = [made(admin, f"{number}-{address}")["id"] for number in range(20)]
    refused = admin.post(MAILBOXES, {"address": address})
    assert (refused.status_code, refused.json()["code"]) == (409, "too_many_mailboxes")
    assert admin.delete(f"{MAILBOXES}/{ids[0]}").status_code == 204
    made(admin, address)


def test_a_problem_is_told_once_since_when_and_when_it_is_over(
    service: Service, tenant: Tenant, address: str
) -> None:
    admin = tenant.admin()
    found = made(admin, address, **_SMTP)
    refused, closed = Failure("login_refused", "535 no"), Failure("closed", "Closed.")
    changes: list[Failure | None] = [refused, refused, closed, None, None]
    told, seen = [], []
    for failure in changes:
        told.append(set_problem(service, tenant, found["id"], "sending", failure))
        seen.append(admin.get(f"{MAILBOXES}/{found['id']}").json()["data"]["sending_problem"])
    assert told == [True, False, True, True, False]
    codes = [problem and problem["code"] for problem in seen]
    assert codes == ["login_refused", "login_refused", "closed", None, None]
    assert seen[0]["since"] == seen[2]["since"]
    assert seen[0]["remedy"].startswith("Check the user name")
    service.settle()
    sql = "SELECT type FROM events WHERE tenant_id = :tenant ORDER BY position LIMIT 100"
    kinds = [row["type"] for row in service.rows(sql, tenant=tenant.id)]
    kinds = [kind for kind in kinds if kind.startswith("mailbox.")]
    assert kinds == ["mailbox.failing", "mailbox.failing", "mailbox.recovered"]


def test_a_changed_server_has_no_problem_until_the_next_attempt(
    service: Service, tenant: Tenant, address: str
) -> None:
    admin = tenant.admin()
    found = made(admin, address, receives="imap", **_IMAP, **_SMTP)
    for side in ("sending", "receiving"):
        set_problem(service, tenant, found["id"], side, Failure("login_refused", "no"))
    path = f"{MAILBOXES}/{found['id']}"
    shown = admin.patch(path, {"smtp_password": "other"}).json()["data"]
    assert shown["sending_problem"] is None
    assert shown["receiving_problem"]["code"] == "login_refused"


def test_a_paused_mailbox_receives_nothing(service: Service, tenant: Tenant, address: str) -> None:
    admin = tenant.admin()
    path = f"{MAILBOXES}/{made(admin, address, receives='smtp')['id']}"
    sql = "SELECT receives FROM mailbox_directory WHERE address_identity = :address LIMIT 1"

    def listed() -> str:
        return str(service.rows(sql, address=address)[0]["receives"])

    states = [listed()]
    for is_paused in (True, False):
        assert admin.patch(path, {"is_paused": is_paused}).status_code == 200
        states.append(listed())
    assert states == ["smtp", "no", "smtp"]


def test_audit_entries_name_the_mailbox_and_no_password(
    service: Service, tenant: Tenant, address: str
) -> None:
    admin = tenant.admin()
    path = f"{MAILBOXES}/{made(admin, address, **_SMTP)['id']}"
    admin.patch(path, {"smtp_password": f"{SECRET}2", "signature": "Bye"})
    admin.delete(path)
    entries = [entry for entry in _audit(service, tenant) if entry.startswith("mailbox.")]
    assert [entry.split()[0] for entry in entries] == [
        "mailbox.created", "mailbox.updated", "mailbox.deleted",
    ]  # fmt: skip
    assert all(address in entry for entry in entries)
    assert "smtp_password" in entries[1]
    assert SECRET not in str(entries)


def test_every_language_of_the_pages_can_be_chosen() -> None:
    assert set(LANGUAGES) == set(i18n.LANGUAGES)


def test_senders_and_domains_can_be_blocked(service: Service, tenant: Tenant) -> None:
    admin = tenant.admin()
    for pattern in ("@SPAM.test", "Eve@acme.test", "@spam.test"):
        assert admin.post(BLOCKS, {"pattern": pattern}).status_code == 201
    listed = [each["pattern"] for each in admin.get(BLOCKS).json()["data"]]
    assert listed == ["@spam.test", "eve@acme.test"]
    assert service.tenant().admin().delete(f"{BLOCKS}/%40spam.test").status_code == 404
    assert admin.delete(f"{BLOCKS}/%40Spam.test").status_code == 204
    assert admin.delete(f"{BLOCKS}/%40spam.test").status_code == 404
    for pattern in ("", "spam", "@", "a b@acme.test", "@a..test", "@127.0.0.1"):
        assert admin.post(BLOCKS, {"pattern": pattern}).status_code == 422, pattern


def test_a_block_is_found_by_the_address_and_by_its_domain(
    service: Service, tenant: Tenant
) -> None:
    admin = tenant.admin()
    for pattern in ("@spam.test", "eve@acme.test"):
        admin.post(BLOCKS, {"pattern": pattern})
    senders = ("a@spam.test", "a@sub.spam.test", "eve@acme.test", "adam@acme.test")

    async def found(tx: Tx, of: str) -> list[bool]:
        return [await blocks.is_blocked(tx, of, each) for each in senders]

    assert service.read(lambda tx: found(tx, tenant.id)) == [True, False, True, False]
    other = service.tenant().id
    assert service.read(lambda tx: found(tx, other)) == [False] * 4
