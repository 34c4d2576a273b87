"""The application: `uvicorn bench.conventional.main:app`."""

from fastapi import FastAPI

from bench.conventional import tickets

app = FastAPI(title="Tickets")
app.include_router(tickets.router)
