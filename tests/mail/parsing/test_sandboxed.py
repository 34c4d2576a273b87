"""What a child process says of a message is what parsing it here says."""

from sealdesk.mail.parsing.message import parse
from sealdesk.mail.parsing.sandboxed import parse_for_parent, read_answer
from tests.mail.parsing.messages import multipart, part, with_header
from tests.mail.parsing.structure_cases import SIGNED_TYPE, signed
from tests.mail.parsing.test_corpus import CASES


def test_a_message_is_the_same_after_its_way_through_a_child() -> None:
    differing = [
        case.name
        for case in CASES
        if read_answer(parse_for_parent(case.raw), case.raw) != parse(case.raw)
    ]
    assert differing == []


def test_the_answer_does_not_repeat_the_files_of_the_message() -> None:
    file = (
        b"Content-Type: image/png\r\nContent-Transfer-Encoding: base64\r\n\r\n" + b"AAAA" * 50_000
    )
    assert len(parse_for_parent(with_header(file))) < 2_000
    # What is signed in one piece is no piece of the message.
    parts = multipart("mixed", [file] * 10)
    assert len(parse_for_parent(with_header(part(SIGNED_TYPE, signed(parts))))) < 12 * len(file)
