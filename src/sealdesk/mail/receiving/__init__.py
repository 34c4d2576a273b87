"""Receiving e-mail: each message gets one effect, in one transaction."""
