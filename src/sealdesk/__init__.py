"""Sealdesk: a multi-tenant customer-support ticketing service."""

__version__ = "0.1.0"
