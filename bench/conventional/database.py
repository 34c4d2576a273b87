"""The engine, and one session for each request."""

import os
from collections.abc import AsyncIterator
from typing import Annotated

from fastapi import Depends
from sqlalchemy.ext.asyncio import AsyncSession, async_sessionmaker, create_async_engine

# As many connections as our own service opens by default.
engine = create_async_engine(os.environ["DATABASE_URL"], pool_size=10, max_overflow=0)
make_session = async_sessionmaker(engine, expire_on_commit=False)


async def get_session() -> AsyncIterator[AsyncSession]:
    async with make_session() as session:
        yield session


Session = Annotated[AsyncSession, Depends(get_session)]
