"""Administrators create, change and delete mailboxes."""

from typing import Any
from uuid import uuid4

import pytest

from sealdesk.caller import SYSTEM, Caller
from sealdesk.crypto.sealing import KeyRing
from sealdesk.db.engine import Tx
from sealdesk.mail.blocks import store as blocks
from sealdesk.mail.mailboxes import actions, passwords
from sealdesk.mail.mailboxes.store import directory, mailboxes
from sealdesk.mail.mailboxes.store.directory import Domain
from sealdesk.mail.mailboxes.types import LANGUAGES, Failure, Mailbox
from sealdesk.mail.receiving.contents import block_patterns
from sealdesk.web.pages import i18n
from tests.mail.mailboxes.stored import MAILBOXES, made, set_problem
from tests.support.service import Service, Tenant

BLOCKS = "/api/v1/mail-blocks"
FORMER = "/api/v1/former-addresses"
SECRET = "hunter2-mailbox"
_IMAP = {"imap_host": "imap.acme.test", "imap_username": "desk", "imap_password": SECRET}
_SMTP = {"smtp_host": "smtp.acme.test", "smtp_username": "desk", "smtp_password": SECRET}


@pytest.fixture
def address() -> str:
    return f"{uuid4().hex[:24]}@acme.test"


def _stored(service: Service, tenant: Tenant, mailbox_id: str) -> Mailbox:
    mailbox = service.read(lambda tx: mailboxes.find(tx, tenant.id, mailbox_id))
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
        "address": address.upper(),
        "imap_port": 993,
        "imap_security": "tls",
        "imap_folder": "INBOX",
        "smtp_port": 465,
        "smtp_security": "tls",
        "per_minute": 60,
        "has_imap_password": True,
        "has_smtp_password": True,
        "receiving_problem": None,
    }
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
    assert tenant.admin().delete(f"{FORMER}/{address}").status_code == 204
    assert other.patch(f"{MAILBOXES}/{another['id']}", {"address": address}).status_code == 200
    assert _place(service, address).mailbox_id == another["id"]
    assert _place(service, f"2-{address}") is None


def test_an_address_with_its_plus_forms_belongs_to_one_desk(
    service: Service, tenant: Tenant, address: str
) -> None:
    orders = address.replace("@", "+orders@")
    other = service.tenant().admin()
    plus = made(tenant.admin(), orders)
    refused = [other.post(MAILBOXES, {"address": address})]
    made(tenant.admin(), address)
    assert tenant.admin().delete(f"{MAILBOXES}/{plus['id']}").status_code == 204
    elsewhere = orders.replace("acme", "other")
    another = made(other, elsewhere)
    for form in (orders, orders.upper(), orders.replace("@", "+more@")):
        refused += [
            other.post(MAILBOXES, {"address": form}),
            other.patch(f"{MAILBOXES}/{another['id']}", {"address": form}),
        ]
    assert {each.status_code for each in refused} == {409}
    assert {each.json()["code"] for each in refused} == {"mailbox_address_taken"}
    assert _place(service, elsewhere).mailbox_id == another["id"]
    assert _place(service, orders) is None


def test_aliases_belong_to_one_desk_as_addresses_do(
    service: Service, tenant: Tenant, address: str
) -> None:
    admin, other = tenant.admin(), service.tenant().admin()
    first, second = f"1-{address}", f"2-{address}"
    found = made(admin, address, aliases=[first, first.upper(), address, second])
    assert found["aliases"] == [first, second]
    assert {_place(service, each).mailbox_id for each in (address, first, second)} == {found["id"]}
    plus = first.replace("@", "+a@")
    refused = [
        other.post(MAILBOXES, {"address": first}),
        other.post(MAILBOXES, {"address": f"3-{address}", "aliases": [plus]}),
        admin.post(MAILBOXES, {"address": second}),
    ]
    assert [each.json()["code"] for each in refused] == ["mailbox_address_taken"] * 3
    assert tenant.id not in refused[1].text
    assert other.get(MAILBOXES).json()["data"] == []
    path = f"{MAILBOXES}/{found['id']}"
    swapped = admin.patch(path, {"address": second, "aliases": [address]}).json()["data"]
    assert (swapped["address"], swapped["aliases"]) == (second, [address])
    sql = "SELECT receives FROM mailbox_directory WHERE address_identity = :address LIMIT 1"
    listed = [service.rows(sql, address=each)[0]["receives"] for each in (address, first, second)]
    assert listed == ["alias", "former", "no"]
    admin.delete(path)
    listed = [service.rows(sql, address=each)[0]["receives"] for each in (address, first, second)]
    assert listed == ["former"] * 3
    too_many = admin.post(
        MAILBOXES, {"address": address, "aliases": [f"{n}-{address}" for n in range(21)]}
    )
    assert too_many.json()["errors"][0]["pointer"] == "/aliases"


def test_an_assigned_domain_is_refused_to_other_desks(service: Service, tenant: Tenant) -> None:
    name = f"d{uuid4().hex[:20]}.test"
    found, other = made(tenant.admin(), f"old@{name}"), service.tenant()
    assigned = Domain(f"@{name}", other.id)
    caller = Caller(other.id, SYSTEM, frozenset(), "")
    now_us = service.clock.now_us()
    service.write(lambda tx: actions.assign_domain(tx, caller, assigned, now_us=now_us))
    admin, path = tenant.admin(), f"{MAILBOXES}/{found['id']}"
    refused = [
        admin.post(MAILBOXES, {"address": f"new@{name.upper()}"}),
        admin.post(MAILBOXES, {"address": f"a@x-{name}", "aliases": [f"b@{name}"]}),
        admin.patch(path, {"aliases": [f"c@{name}"]}),
        admin.patch(path, {"address": f"d@{name}"}),
    ]
    assert [each.json()["code"] for each in refused] == ["mail_domain_assigned"] * 4
    assert other.id not in str([each.text for each in refused])
    assert admin.patch(path, {"signature": "Bye"}).status_code == 200
    assert made(other.admin(), f"new@{name}")["address"] == f"new@{name}"


def test_an_older_mailbox_with_a_form_of_anothers_address_is_listed(
    service: Service, tenant: Tenant, address: str
) -> None:
    mine, theirs = address.replace("@", "+mine@"), address.replace("@", "+theirs@")
    made(tenant.admin(), address)
    made(tenant.admin(), mine)
    service.run(
        "INSERT INTO mailbox_directory (address_identity, tenant_id, mailbox_id, receives)"
        f" VALUES ('{theirs}', 'another', 'm', 'smtp')"
    )
    found = service.read(lambda tx: directory.list_contested_forms(tx, 1000))
    assert (found.get(mine), found.get(theirs)) == (None, "another")
    service.run(f"DELETE FROM mailbox_directory WHERE address_identity = '{theirs}'")


def test_no_mailbox_has_the_form_of_a_reply_address(tenant: Tenant, address: str) -> None:
    found = made(tenant.admin(), f"a{address[:5]}@acme.test")
    like_ours = {"address": f"a{address[:5]}+{'a2' * 13}@acme.test"}
    refused = [
        tenant.admin().post(MAILBOXES, like_ours),
        tenant.admin().patch(f"{MAILBOXES}/{found['id']}", like_ours),
    ]
    assert [each.json()["errors"][0]["code"] for each in refused] == ["reply_address"] * 2


@pytest.mark.parametrize("is_deleted", [True, False])
def test_a_former_address_is_kept_for_its_desk_until_it_is_freed(
    service: Service, tenant: Tenant, address: str, is_deleted: bool
) -> None:
    admin, other = tenant.admin(), service.tenant().admin()
    path = f"{MAILBOXES}/{made(admin, address)['id']}"
    if is_deleted:
        admin.delete(path)
    else:
        admin.patch(path, {"address": f"new-{address}"})
    assert _place(service, address) is None
    taken = [address, address.replace("@", "+a@")]
    assert [other.post(MAILBOXES, {"address": each}).status_code for each in taken] == [409] * 2
    assert admin.get(FORMER).json()["data"] == [{"address": address}]
    assert other.get(FORMER).json()["data"] == []
    assert other.delete(f"{FORMER}/{address}").status_code == 404
    again = made(admin, address.upper())
    assert admin.delete(f"{FORMER}/{address}").status_code == 404
    assert _place(service, address).mailbox_id == again["id"]
    admin.delete(f"{MAILBOXES}/{again['id']}")
    assert admin.delete(f"{FORMER}/{address.upper()}".replace("@", "%40")).status_code == 204
    assert f'mailbox_address.freed {{"address":"{address.upper()}' in str(
        [each.replace('": "', '":"') for each in _audit(service, tenant)]
    )
    assert made(other, address)["address"] == address


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
        stranger.get(path),
        stranger.patch(path, {"signature": "x"}),
        stranger.delete(path),
        stranger.post(f"{path}/test"),
    ]
    assert [answer.status_code for answer in answers] == [404] * 4
    assert stranger.get(MAILBOXES).json()["data"] == []


def test_changes_need_the_current_etag_if_one_is_sent(tenant: Tenant, address: str) -> None:
    admin = tenant.admin()
    path = f"{MAILBOXES}/{made(admin, address)['id']}"
    etag = admin.get(path).headers["etag"]
    changed = admin.patch(path, {"signature": "Best wishes"}, if_match=etag)
    assert (changed.status_code, changed.json()["data"]["signature"]) == (200, "Best wishes")
    assert admin.patch(path, {"signature": "Bye"}, if_match=etag).status_code == 412
    assert admin.delete(path, if_match=etag).status_code == 412
    assert admin.get(path).headers["etag"] == changed.headers["etag"] != etag


_REFUSED: tuple[tuple[dict[str, Any], str], ...] = (
    ({"address": "no address"}, "/address"),
    ({"address": f"{'x' * 38}@acme.test"}, "/address"),
    ({"display_name": "Acme\r\nBcc: all@acme.test"}, "/display_name"),
    ({"signature": "ä" * 2049}, "/signature"),
    ({"smtp_host": "not a host"}, "/smtp_host"),
    ({"smtp_host": "a.test", "smtp_port": 0}, "/smtp_port"),
    ({"per_minute": 601}, "/per_minute"),
    ({"receives": "imap"}, "/imap_host"),
    ({**_SMTP, "smtp_security": "none"}, "/smtp_security"),
    ({**_IMAP, "imap_security": "none"}, "/imap_security"),
    ({"smtp_host": "a.test", "smtp_username": "desk"}, "/smtp_password"),
    ({"smtp_password": SECRET}, "/smtp_password"),
    ({**_SMTP, "smtp_password": "a\r\nQUIT"}, "/smtp_password"),
    ({"team_id": "unknown"}, "/team_id"),
    ({"team_id": ""}, "/team_id"),
    ({"language": "fr"}, "/language"),
)


def test_what_cannot_work_is_refused(tenant: Tenant, address: str) -> None:
    admin = tenant.admin()
    refused = [admin.post(MAILBOXES, {"address": address, **fields}) for fields, _ in _REFUSED]
    assert [each.status_code for each in refused] == [422] * len(_REFUSED)
    for (fields, pointer), answer in zip(_REFUSED, refused, strict=True):
        assert pointer in [each["pointer"] for each in answer.json()["errors"]], fields
        assert SECRET not in answer.text


def test_a_log_in_needs_its_server(tenant: Tenant, address: str) -> None:
    admin = tenant.admin()
    path = f"{MAILBOXES}/{made(admin, address)['id']}"
    for name in ("imap_username", "imap_password", "smtp_username", "smtp_password"):
        refused = admin.patch(path, {name: SECRET})
        (fault,) = refused.json()["errors"]
        assert (fault["pointer"], fault["code"]) == (f"/{name}", "host_required")
        assert SECRET not in refused.text
    shown = admin.patch(path, {**_SMTP}).json()["data"]
    # Sent back as it was read, without the server alone.
    left = admin.patch(path, {**shown, "smtp_host": None})
    assert (left.status_code, left.json()["data"]["smtp_username"]) == (200, None)


def test_a_relay_without_a_log_in_may_do_without_tls(tenant: Tenant, address: str) -> None:
    shown = made(tenant.admin(), address, smtp_host="relay.acme.test", smtp_security="none")
    assert (shown["smtp_port"], shown["has_smtp_password"]) == (25, False)


def test_options_are_listed_once_and_unknown_ones_refused(tenant: Tenant, address: str) -> None:
    admin, wanted = tenant.admin(), ["ticket_number", "quoted_message"]
    path = f"{MAILBOXES}/{made(admin, address, options=[wanted[1], *wanted])['id']}"
    assert admin.get(path).json()["data"]["options"] == wanted
    assert admin.patch(path, {"signature": "x"}).json()["data"]["options"] == wanted
    assert admin.patch(path, {"options": ["number"]}).json()["errors"][0]["pointer"] == "/options/0"
    assert admin.patch(path, {"options": []}).json()["data"]["options"] == []


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

    listed = service.read(lambda tx: mailboxes.list_sealed(tx, tenant.id, "", 10))
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
    listed = (each for each in _audit(service, tenant) if each.startswith("mailbox."))
    entries = [each for each in listed if not each.startswith("mailbox.verified")]
    assert [entry.split()[0] for entry in entries] == [
        "mailbox.created",
        "mailbox.updated",
        "mailbox.deleted",
    ]
    assert all(address in entry for entry in entries)
    assert "smtp_password" in entries[1]
    assert SECRET not in str(entries)


def test_every_language_of_the_pages_can_be_chosen() -> None:
    assert set(LANGUAGES) == set(i18n.LANGUAGES)


def test_senders_and_domains_can_be_blocked(service: Service, tenant: Tenant) -> None:
    admin = tenant.admin()
    odd = ["a..b@acme.test", "root@[192.0.2.1]", "x_y@my_host.test"]
    for pattern in ("@SPAM.test", "Eve@acme.test", "@spam.test", *odd):
        assert admin.post(BLOCKS, {"pattern": pattern}).status_code == 201
    listed = [each["pattern"] for each in admin.get(BLOCKS).json()["data"]]
    assert listed == ["@spam.test", odd[0], "eve@acme.test", *odd[1:]]
    assert service.tenant().admin().delete(f"{BLOCKS}/%40spam.test").status_code == 404
    assert admin.delete(f"{BLOCKS}/%40Spam.test").status_code == 204
    assert admin.delete(f"{BLOCKS}/%40spam.test").status_code == 404
    for pattern in ("", "spam", "@", "a b@acme.test", "@a..test", "@127.0.0.1", "a@b@c.test"):
        assert admin.post(BLOCKS, {"pattern": pattern}).status_code == 422, pattern


def test_a_block_is_found_by_the_address_and_by_its_domain(
    service: Service, tenant: Tenant
) -> None:
    admin = tenant.admin()
    for pattern in ("@spam.test", "eve@acme.test"):
        admin.post(BLOCKS, {"pattern": pattern})
    senders = ("a@spam.test", "a@sub.spam.test", "eve@acme.test", "adam@acme.test")

    async def found(tx: Tx, of: str) -> list[bool]:
        patterns = [block_patterns(each) for each in senders]
        return [await blocks.find_first(tx, of, each) is not None for each in patterns]

    assert service.read(lambda tx: found(tx, tenant.id)) == [True, False, True, False]
    other = service.tenant().id
    assert service.read(lambda tx: found(tx, other)) == [False] * 4
