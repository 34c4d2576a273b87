"""Names and places of files, as the rules decide them."""

import pytest

from sealdesk.tickets.attachments import rules
from sealdesk.tickets.attachments.types import Content

CONTENT = Content("0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b", "ab" * 32)


def test_names_with_a_directory_or_without_letters_are_refused() -> None:
    refused = ("", "a" * 256, ".", " .. ", "a/b", "a\\b", "/", "gnp.\u202eexe", "a\n", ".\u3164")
    assert [name for name in refused if rules.fault_of_name(name) == ""] == []
    assert rules.fault_of_name("a" * 255) == rules.fault_of_name(".a b.txt") == ""


def test_a_path_leads_back_to_its_tenant_and_bytes() -> None:
    path = rules.path_of(CONTENT)
    assert path == f"attachments/ab/{CONTENT.sha256}.{CONTENT.tenant_id}"
    assert rules.content_at(path) == CONTENT
    others = (path + "0", path.replace("/ab/", "/aa/"), path.removeprefix("attachments/"))
    assert [rules.content_at(other) for other in others] == [None, None, None]


@pytest.mark.parametrize(
    ("head", "shown_as"),
    [
        (b"\x89PNG\r\n\x1a\n", "image/png"),
        (b"\xff\xd8\xff\xe0", "image/jpeg"),
        (b"GIF87a", "image/gif"),
        (b"GIF89a", "image/gif"),
        (b"RIFF\x24\x00\x00\x00WEBPVP8 ", "image/webp"),
        (b"RIFF\x24\x00\x00\x00WAVEfmt ", None),
        (b"<svg xmlns=", None),
    ],
)
def test_pages_show_what_begins_as_an_image_without_programs(
    head: bytes, shown_as: str | None
) -> None:
    assert rules.image_type(head) == shown_as
