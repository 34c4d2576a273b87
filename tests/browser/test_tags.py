"""Tags are suggested while typing and renamed; a list is exported with a progress bar."""

import csv
import io

from tests.browser.chromium import Window
from tests.support.service import Tenant


def test_tags_are_suggested_and_renamed_and_a_list_is_exported(
    window: Window, tenant: Tenant
) -> None:
    page, key = window.page, tenant.key(name="Shop")
    for tags in (["vip", "kiln"], ["vip"], ["a, b"]):
        key.ticket(subject="Cold", description="One\r\nTwo", tags=tags)
    page.goto("/settings/tags")
    window.touch(page.get_by_role("link", name="Rename or merge: vip"))
    name = page.get_by_role("combobox", name="New name")
    name.press_sequentially("kil")
    page.get_by_role("option", name="kiln").wait_for()
    name.press("n")
    page.get_by_role("option").wait_for(state="hidden")  # Nothing covers the button.
    window.touch(page.get_by_role("button", name="Rename"))
    window.touch(page.get_by_role("button", name="Merge the tags"))
    page.get_by_text("Done: 2 tickets were changed").wait_for()

    page.goto("/tickets?tag=kiln")
    window.touch(page.get_by_role("link", name="Export as CSV"))
    with page.expect_download() as download:
        window.touch(page.get_by_role("link", name="Download"))
    page.get_by_text("The file is saved. Rows: 2", exact=True).wait_for()
    text = download.value.path().read_bytes().decode("utf-8-sig")
    rows = list(csv.DictReader(io.StringIO(text, newline="")))
    assert [row["tags"] for row in rows] == ["kiln", "kiln"]
