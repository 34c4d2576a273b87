"""The text of docs/figures.md: a paragraph for each question."""

NOTES = (
    """\
What is a figure? The median of rounds in which both sides were measured in turn, each when all
servers were idle. A ratio is one of rates (requests per second) unless it says otherwise; "by CPU"
is the same ratio of the CPU time that the server processes used for a request, which other load on
the machine disturbs less. Every request is signed and different, and every response is checked.""",
    """\
What is the load? 32 connections; for pages of the inbox one. New tickets have descriptions of about
400 bytes; half are from new customers, half from existing ones, recent ones more often; all tenants
get the same number. Changes set the priority and a custom field; changes and replies are all in the
big tenant. Server and client each have a core; the last columns show how much of it they used. µs
is CPU time of a request, until the servers are idle again: with what a write leaves to do.""",
    """\
What is the bare handler? A handler on the HTTP protocol of the service, with the same settings. It
checks the same signatures from memory, and encodes 25 tickets from memory (GET) or decodes the body
with the same types (POST, PATCH). It stores nothing. "On uvicorn" is the same handler on uvicorn's
own protocol, with httptools and uvloop.""",
    """\
What is the tight loop? The shortest Python that checks the same signatures, decodes the same bodies
and writes the same rows with the same durability, 32 in a transaction, without a server. Its rows
and indexes are those of 2026-11-27 (`bench/peers/tight/schema.sql`), so that leaner rows of the
service count as progress.""",
    """\
What is django-helpdesk? The newest release, in an environment of its own, with 100,000 tickets
written by `bulk_create`, one worker of gunicorn with threads, and SQLite with `synchronous=NORMAL`,
while the service writes with FULL. Requests have a token, not a signature. Its list is patched to
read one page instead of all tickets, in the order of its index on ids; a new ticket also renders a
mail, which is not sent. Other settings were slower: its other worker, FULL, PostgreSQL.""",
    """\
What is compared on PostgreSQL? The rows are the same, the server has one core, and PostgreSQL and
the client share the other. fsync and synchronous_commit are on, shared_buffers is 256 MB, with ten
connections. pgbench runs on the core of PostgreSQL with 8 clients and prepared statements: the
list's statement as a superuser, planned once as for the service, and `-N` at scale 10. The
conventional stack (`bench/peers/conventional/`) is FastAPI with pydantic models, SQLAlchemy's ORM
and asyncpg on uvicorn with uvloop and httptools: one process, ten connections, its own tables. It
looks up the key, checks the signature and the permission, finds or adds the customer, and commits
ticket and event together. It has no rate limit, no sealed secrets, no row level security, no
idempotency, and fewer fields of a ticket. The processes with a quota have 20 % of a core each.""",
    """\
What does "with search, feed and a webhook for each ticket" mean? Each tenant has an endpoint for
new tickets, in the same process. A round ends when every ticket is indexed for search and its
webhook is delivered once, so its rate and its CPU time include that.""",
    """\
What does a new ticket write? 1,000 tickets, until they are indexed for search; half of the
customers are new. On SQLite a reader follows the log, also when it begins again; the pages are the
different ones in it. On PostgreSQL they are the buffers that are written until the end of a
checkpoint.""",
    """\
What does an event cost? CPU time of service and database together, for the same POSTs to one
process that alternates between modes: without recording events, with recording, and on PostgreSQL,
where sequencing is a step of its own, with sequencing and the consumers of the event log too.""",
    """\
How fast are webhooks? They go to a receiver on the other core, which responds with 204 at once. A
figure counts only if each webhook arrives exactly once and is stored as delivered; one signature in
50 is verified. Each round starts the service (`sealdesk serve` on SQLite, with `sealdesk worker` on
PostgreSQL) while events wait to be delivered to one endpoint; the rate is measured from the first
delivery to the last. Then signed POSTs are sent at a fixed rate, and the delay is the time from
reading a 201 to the delivery. Dead endpoints belong to the same tenant; they refuse connections, or
accept requests and never respond.""",
    """\
How fast are pages? A logged-in agent loads the inbox on one connection, each page right after the
previous one; the figure is the time from the request to the complete page. The views are, in turn:
by priority, by tag, by customer, by assignee, an agent's pending tickets, unassigned tickets, and
from an old ticket on. The first load is the inbox and every file that its HTML names, including
headers, by a browser with an empty cache. Opening a ticket uses the same browser after that.""",
    """\
How fast is the Python client? A process reads 100,000 tickets through `Desk` in pages of 100, on
the core of this process; the server has the other. Its memory is the peak of that process. Signing
is CPU time for each of 20,000 different requests.""",
    """\
How fast is e-mail received? Messages of 20 KiB are sent on 16 connections to `sealdesk serve` with
an empty database, each when the one before it has been answered with 250, which is after its
commit. Each opens a ticket of a new customer. A message of 24 MiB has one file; its memory is the
peak of the server less what it needed before.""",
    """\
How fast is e-mail sent? `sealdesk serve` begins with replies that wait in ten mailboxes, and hands
them to a mail server that takes everything, on one connection for each mailbox: from the first
arrival to the last. Then replies are written one after the other; the delay is from the response to
the arrival.""",
    """\
What does a diagnosis cost? CPU time of the search for the mistake in a signature that fits none,
for the largest bodies and the longest target that are diagnosed. In the server it is the CPU time
of a refusal with a diagnosis, less that of one whose target is a byte too long for it.""",
    """\
How soon is something on the screen? In Chromium, in the big tenant: from the choice of a priority
to the frame that shows "Saved", and from before the POST of a ticket to the frame that shows its
row in the inbox of another person. Chromium runs on both cores.""",
)
