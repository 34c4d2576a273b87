"""Signatures of requests and webhooks, sealing of secrets, and the files of their keys."""
