"""The service and the desk of the tests of the form for customers, whose mailbox sends."""

from tests.mail.contact_form.conftest import desk, server, shared_service

__all__ = ["desk", "server", "shared_service"]
