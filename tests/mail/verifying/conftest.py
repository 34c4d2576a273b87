"""Services that may connect to mail servers on loopback."""

from tests.mail.mailboxes.conftest import begin

__all__ = ["begin"]
