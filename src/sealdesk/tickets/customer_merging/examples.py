"""Example bodies for the API reference."""

MERGE = {"into": "0199c0de-1a2b-7c3d-8e4f-5a6b7c8d9e0f"}
