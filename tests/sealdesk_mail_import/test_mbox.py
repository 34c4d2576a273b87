"""Messages are found in mbox files of all kinds, byte for byte."""

import gzip
import mailbox
from pathlib import Path

import pytest

from sealdesk_mail_import import mbox as reading
from sealdesk_mail_import.mbox import Mbox
from sealdesk_mail_import.types import CannotRead, NotAMailbox
from tests.mail.support import message
from tests.sealdesk_mail_import.imports import SEPARATOR, write_mbox

NOW_S = 1_790_000_000
FIELD = b"Subject: A bowl\n\n"


def read_all(path: Path) -> list[bytes]:
    file = Mbox(path)
    return [file.read(each) for each in file.find_messages(NOW_S)]


def written(tmp_path: Path, content: bytes) -> Path:
    path = tmp_path / "a.mbox"
    path.write_bytes(content)
    return path


def test_what_the_standard_library_writes_is_read_back(tmp_path: Path) -> None:
    texts = ["Hello", "From here on\nall is well", "\nFrom the shop\n\nFrom me\n", "Bye\n\n\n"]
    made = mailbox.mbox(tmp_path / "a.mbox")
    for text in texts:
        made.add(b"Subject: one\n\n" + text.encode())
    made.close()
    assert read_all(tmp_path / "a.mbox") == [
        b"Subject: one\n\n" + each.encode() + (b"" if each.endswith("\n") else b"\n")
        for each in texts
    ]


def test_lines_with_more_quotes_lose_one(tmp_path: Path) -> None:
    body = b">From x\n>>From y\n> From z\n>>>From\n"
    path = written(tmp_path, SEPARATOR + FIELD + body + b"\n")
    assert read_all(path) == [FIELD + b"From x\n>From y\n> From z\n>>>From\n"]


def test_files_with_crlf_are_read(tmp_path: Path) -> None:
    one = (SEPARATOR + FIELD + b"Hello\n\n").replace(b"\n", b"\r\n")
    expected = (FIELD + b"Hello\n").replace(b"\n", b"\r\n")
    assert read_all(written(tmp_path, one * 2)) == [expected] * 2


@pytest.mark.parametrize(
    "separator",
    [
        b"From - Mon Jan  1 10:00:00 2024\n",
        b"From 1790@xxx Mon Jan 01 10:00:00 +0000 2024\n",
        b"From a b@c Mon Jan  1 10:00 2024 +0200\n",
        b"From MAILER-DAEMON Mon Jan 1 10:00:00 CET 2024\n",
        b"From \n",
        b"From - \n",
    ],
)
def test_separators_of_other_programs_are_known(tmp_path: Path, separator: bytes) -> None:
    content = separator + FIELD + b"one\n\n"
    assert read_all(written(tmp_path, content * 2)) == [FIELD + b"one\n"] * 2


def test_a_line_of_a_text_is_no_separator(tmp_path: Path) -> None:
    body = (
        b"\nFrom now on, at 10:00: yes\nFrom \n\nFrom Monday 2024\nNote: it holds\n"
        b"From Monday, Mon Jan  1 10:00:00 2024\nit is\n"
    )
    assert read_all(written(tmp_path, SEPARATOR + FIELD + body)) == [FIELD + body]


def test_a_separator_without_a_blank_line_before_it_is_one(tmp_path: Path) -> None:
    # As after a message that was cut off.
    content = SEPARATOR + FIELD + b"cut off\n" + SEPARATOR + FIELD + b"two\n\n"
    assert read_all(written(tmp_path, content)) == [FIELD + b"cut off\n", FIELD + b"two\n"]


def test_a_last_message_that_is_cut_off_anywhere_is_read(tmp_path: Path) -> None:
    last = FIELD + b"Hello"
    for left in range(1, len(last) + 1):
        content = SEPARATOR + FIELD + b"one\n\n" + SEPARATOR + last[:left]
        first, second = read_all(written(tmp_path, content))
        assert (first, second.rstrip()) == (FIELD + b"one\n", last[:left].rstrip())


def test_separators_are_found_wherever_a_chunk_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    messages = [FIELD + b"x" * length + b"\n" for length in range(200)]
    path = write_mbox(tmp_path / "a.mbox", *messages)
    for chunk_bytes in (1, 7, 61, 64, 1000):
        monkeypatch.setattr(reading, "_CHUNK_BYTES", chunk_bytes)
        monkeypatch.setattr(reading, "MAX_HEAD_BYTES", 90)
        assert read_all(path) == messages


def test_a_message_has_the_time_of_its_date_or_of_its_separator(tmp_path: Path) -> None:
    dated = b"Date: Tue, 2 Jan 2024 11:00:00 +0100\n\nx\n"
    future = b"Date: Tue, 2 Jan 2124 11:00:00 +0100\n\nx\n"
    ancient = b"Date: Thu, 1 Jan 1970 00:00:00 +0000\n\nx\n"
    broken = b"Date: yesterday\n\nx\n"
    path = write_mbox(tmp_path / "a.mbox", dated, future, ancient, broken)
    found = [each.written_s for each in Mbox(path).find_messages(NOW_S)]
    assert found == [1_704_189_600, *[1_704_103_200] * 3]


def test_a_large_message_is_named_and_the_others_are_read(tmp_path: Path) -> None:
    large = FIELD + b"x" * (25 * 2**20) + b"\n"
    path = write_mbox(tmp_path / "a.mbox", message(), large, FIELD + b"after\n")
    file = Mbox(path)
    first, second, third = file.find_messages(NOW_S)
    with pytest.raises(CannotRead, match="more than 25 MiB"):
        file.read(second)
    assert file.read(third) == FIELD + b"after\n"
    assert file.place_of(second.position) == f"{path} at byte {first.size_bytes}"


def test_what_is_no_mbox_is_refused_with_the_reason(tmp_path: Path) -> None:
    for content, reason in (
        (message(), "is no mbox file: its first line"),
        (b"\0\1\2", "is no mbox file"),
        (gzip.compress(SEPARATOR), "is compressed"),
        (b"From nobody\nknows", "is no mbox file"),
    ):
        with pytest.raises(NotAMailbox, match=reason):
            read_all(written(tmp_path, content))
    with pytest.raises(NotAMailbox, match="use `sealdesk mail import maildir`"):
        Mbox(tmp_path)
    with pytest.raises(NotAMailbox, match="is no file"):
        Mbox(tmp_path / "other")
    assert read_all(written(tmp_path, b"")) == []


def test_a_file_that_changes_meanwhile_is_noticed(tmp_path: Path) -> None:
    path = write_mbox(tmp_path / "a.mbox", FIELD + b"one\n", FIELD + b"two\n")
    file = Mbox(path)
    first, second = file.find_messages(NOW_S)
    path.write_bytes(b"something else" * 100)
    for each in (first, second):
        with pytest.raises(CannotRead, match="has changed"):
            file.read(each)
