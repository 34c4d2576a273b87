"""Messages are found in Maildir folders, as mail servers write them."""

import mailbox
from pathlib import Path

import pytest

from sealdesk_mail_import.maildir import Maildir
from sealdesk_mail_import.types import CannotRead, NotAMailbox
from tests.mail.support import message

NOW_S = 1_790_000_000


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for each in ("cur", "new", "tmp"):
        (tmp_path / each).mkdir()
    return tmp_path


def read_all(path: Path) -> dict[str, bytes]:
    source = Maildir(path)
    found = source.find_messages(NOW_S)
    return {
        str(Path(source.place_of(each.position)).relative_to(path)): source.read(each)
        for each in found
    }


def test_what_the_standard_library_writes_is_read_back(tmp_path: Path) -> None:
    made = mailbox.Maildir(tmp_path / "Maildir")
    for number in range(3):
        made.add(b"Subject: %d\n\nHello\n" % number)
    found = read_all(tmp_path / "Maildir")
    assert sorted(found.values()) == [b"Subject: %d\n\nHello\n" % number for number in range(3)]


def test_messages_of_dovecot_are_read_and_its_own_files_are_not(folder: Path) -> None:
    names = [
        "cur/1700000000.M1P2.host,S=13,W=15:2,S",
        "cur/1700000001.M1P2.host,S=13:2,RSab",
        "new/1700000002.M1P2.host",
        "cur/no time and a ü:2,",
    ]
    for name in names:
        (folder / name).write_bytes(message())
    for name in ("dovecot-uidlist", "dovecot.index.log", "tmp/17.M1", "cur/.hidden"):
        (folder / name).write_bytes(b"x")
    (folder / ".Sent" / "cur").mkdir(parents=True)
    (folder / "cur" / "folder").mkdir()
    assert sorted(read_all(folder)) == sorted(names)


def test_drafts_and_messages_in_the_bin_are_left_out_and_counted(folder: Path) -> None:
    for number, flags in enumerate(("S", "DS", "T", "ST", "")):
        (folder / f"cur/170000000{number}.M1.host:2,{flags}").write_bytes(message())
    source = Maildir(folder)
    assert (len(list(source.find_messages(NOW_S))), source.left_out) == (2, 3)


def test_a_message_without_a_date_has_the_time_of_its_name(folder: Path) -> None:
    (folder / "cur/1700000000.M1.host:2,").write_bytes(b"Subject: x\n\nx\n")
    (folder / "cur/1700000001.M1.host:2,").write_bytes(
        b"Date: Tue, 2 Jan 2024 11:00:00 +0100\n\nx\n"
    )
    times = sorted(each.written_s for each in Maildir(folder).find_messages(NOW_S))
    assert times == [1_700_000_000, 1_704_189_600]


def test_a_message_that_cannot_be_read_is_named(folder: Path) -> None:
    gone, packed, empty = (folder / f"cur/17000000{n}.M1.host:2," for n in "012")
    gone.write_bytes(message())
    packed.write_bytes(b"\x1f\x8b\x08\x00")
    empty.write_bytes(b"\n")
    source = Maildir(folder)
    found = {source.place_of(each.position): each for each in source.find_messages(NOW_S)}
    gone.rename(folder / "cur/17000000.M1.host:2,S")
    for path, reason in ((gone, "moved"), (packed, "compressed"), (empty, "empty")):
        with pytest.raises(CannotRead, match=reason):
            source.read(found[str(path)])


def test_what_is_no_maildir_is_refused_with_the_reason(tmp_path: Path) -> None:
    with pytest.raises(NotAMailbox, match="needs the folders cur and new"):
        Maildir(tmp_path)
    (tmp_path / "a.mbox").touch()
    with pytest.raises(NotAMailbox, match="use `sealdesk mail import mbox`"):
        Maildir(tmp_path / "a.mbox")
