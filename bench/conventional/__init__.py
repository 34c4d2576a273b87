"""The service that is measured beside ours: FastAPI, SQLAlchemy's ORM and asyncpg, the usual way.

It does the same work for a signed list of tickets and a signed new one, and only that: no rate
limit, no sealed secrets, no row level security, no idempotency, which would make it slower.
"""
