"""`sealdesk mail` and `sealdesk mail reparse` in a terminal."""

import smtplib
from contextlib import closing

from tests.cli.terminal import Terminal, serving
from tests.mail.receiving.killing import Place
from tests.mail.receiving.test_killing import place
from tests.support.databases import SQLITE_ONLY

__all__ = ["place"]


@SQLITE_ONLY
def test_serve_receives_on_sqlite_and_a_taken_port_is_named(place: Place) -> None:
    listen = f"127.0.0.1:{place.port}"
    terminal = Terminal(place.data_dir, SEALDESK_MAIL_LISTEN=listen)
    with serving(terminal), closing(smtplib.SMTP("127.0.0.1", place.port, timeout=120)) as client:
        assert client.ehlo()[0] == 250
        other = terminal.with_env(SEALDESK_DATA_DIR=f"{place.data_dir}-other")
        refusal = other.refused("serve", "--port", "0")
        assert f"SEALDESK_MAIL_LISTEN: cannot listen on {listen}" in refusal
    assert terminal.out("mail", "reparse").startswith("Read 0 messages again")


@SQLITE_ONLY
def test_mail_is_refused_on_sqlite(place: Place) -> None:
    assert "on SQLite `sealdesk serve` receives" in Terminal(place.data_dir).refused("mail")
