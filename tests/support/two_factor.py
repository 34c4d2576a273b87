"""An authenticator app: an implementation of RFC 6238 apart from the service's own."""

import base64
import hmac
import struct

from tests.support.pages import Page, Visitor
from tests.support.service import Service

TWO_FACTOR = "/account/two-factor"


class App:
    """Shows the codes of one secret, at the service's time."""

    def __init__(self, service: Service, secret: str) -> None:
        self._service = service
        self._key = base64.b32decode(secret.replace(" ", ""))

    def code(self, steps_later: int = 0) -> str:
        step = self._service.clock.now_us() // 30_000_000 + steps_later
        digest = hmac.digest(self._key, struct.pack(">Q", step), "sha1")
        (number,) = struct.unpack_from(">I", digest, digest[-1] & 15)
        return f"{(number & 0x7FFFFFFF) % 1_000_000:06d}"


def begin_setup(visitor: Visitor) -> tuple[Page, App]:
    """The page with the secret, and an app that has read it."""
    page = visitor.submit(visitor.get(TWO_FACTOR).form(f"{TWO_FACTOR}/begin"))
    return page, App(visitor.service, _code_element(page))


def turn_on(visitor: Visitor) -> tuple[App, list[str]]:
    """Turn two-factor authentication on; the app, and the recovery codes."""
    page, app = begin_setup(visitor)
    page = visitor.submit(page.form(f"{TWO_FACTOR}/confirm"), code=app.code())
    assert "is on" in page.text, page.text
    return app, recovery_codes(page)


def recovery_codes(page: Page) -> list[str]:
    return _code_element(page).split()


def _code_element(page: Page) -> str:
    return page.answer.text.partition('<code id="secret"')[2].partition(">")[2].partition("<")[0]
