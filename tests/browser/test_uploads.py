"""Files in the composer, in a real browser: picked, dropped, pasted, removed and sent."""

import pytest
from playwright.sync_api import FilePayload, Route, expect

from tests.browser.chromium import Window
from tests.support.service import Service, Tenant

# The smallest PNG: one transparent pixel.
PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010806000000"
    "1f15c4890000000d49444154789c6360"
    "000002000001e221bc330000000049454e44ae426082"
)
_PASTE = """([name, type, event]) => {
  const files = new DataTransfer();
  files.items.add(new File(["pasted text"], name, { type }));
  const on = document.getElementById("reply");
  on.dispatchEvent(event === "paste"
    ? new ClipboardEvent("paste", { clipboardData: files, bubbles: true, cancelable: true })
    : new DragEvent("drop", { dataTransfer: files, bubbles: true, cancelable: true }));
}"""


@pytest.fixture
def at(tenant: Tenant) -> str:
    return f"/tickets/{tenant.key().ticket()['id']}"


def _attached(desk: Service, at: str) -> list[str]:
    sql = "SELECT name FROM attachments WHERE ticket_id = :id ORDER BY name LIMIT 10"
    return [row[0] for row in desk.rows(sql, id=at.rpartition("/")[2])]


def test_a_reply_waits_for_its_files(window: Window, desk: Service, at: str) -> None:
    page, held = window.page, list[Route]()
    page.goto(at)
    page.route("**?name=slow.txt", lambda route: held.append(route))  # noqa: PLW0108 # a builtin has no hooks
    slow: FilePayload = {"name": "slow.txt", "mimeType": "text/plain", "buffer": b"x"}
    with page.expect_request("**?name=slow.txt"):
        page.locator("#composer [type=file]").set_input_files(slow)
    page.get_by_label("Your reply").fill("See the file")
    page.keyboard.press("Control+Enter")
    expect(page.locator("[data-upload-state]")).not_to_be_empty()
    held[0].continue_()
    expect(page.locator("#composer [name=attachment_ids]")).to_have_count(1)
    window.send_reply()
    page.locator("article").get_by_role("link", name="slow.txt").wait_for()
    assert _attached(desk, at) == ["slow.txt"]


@pytest.mark.layout
def test_files_are_attached_removed_and_sent(window: Window, desk: Service, at: str) -> None:
    page = window.page
    page.goto(at)
    files = page.get_by_role("list", name="Files to send")
    picker = page.locator("#composer [type=file]")
    image: FilePayload = {"name": "bowl.png", "mimeType": "image/png", "buffer": PNG}
    unwanted: FilePayload = {"name": "unwanted.txt", "mimeType": "text/plain", "buffer": b"x"}
    picker.set_input_files([image, unwanted])
    files.get_by_role("button", name="Remove unwanted.txt").wait_for()
    for name, event in (("dropped.txt", "drop"), ("pasted.txt", "paste")):
        page.evaluate(_PASTE, [name, "text/plain", event])
        files.get_by_role("button", name=f"Remove {name}").wait_for()
    picker.set_input_files({"name": "run.exe", "mimeType": "", "buffer": b"MZ"})
    page.get_by_text("run.exe: A file whose name ends in .exe may not be attached here.").wait_for()
    files.get_by_role("button", name="Remove unwanted.txt").click()
    window.look()
    page.get_by_label("Your reply").fill("See the picture")
    window.send_reply()
    sent = page.locator("article", has_text="See the picture")
    sent.get_by_role("link", name="dropped.txt").wait_for()
    shown = sent.locator("img").evaluate("async (each) => (await each.decode(), each.naturalWidth)")
    assert shown == 1
    window.look()
    assert _attached(desk, at) == ["bowl.png", "dropped.txt", "pasted.txt"]
