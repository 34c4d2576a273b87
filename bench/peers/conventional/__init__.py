"""The conventional service, for comparison: FastAPI, SQLAlchemy's ORM and asyncpg.

It lists and creates tickets with the same signatures. It has no rate limit, no sealed secrets, no
row level security and no idempotency, which would make it slower.
"""
