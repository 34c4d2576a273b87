"""The sizes of a benchmark: how much data is built, and how long the rounds take."""

import msgspec


class Plan(msgspec.Struct, frozen=True):
    """The sizes of one benchmark.

    tenants: a big one, a small one, and the others, which share `other_tickets`.
    depth: the number of tickets of the big tenant before the deep page.
    warm_up: requests before the first round. pairs: requests whose latencies are compared.
    idle_s: servers that use no CPU time for so long are idle; the indexer looks twice a second.
    starts: how often the service is started to measure its start.
    screen_samples: how often each figure of the screen is measured.
    peer_tickets: the number of tickets of django-helpdesk.
    pgbench_scale: the size of pgbench's own table in units of 100,000 rows.
    recording_s: the length of a round that measures the cost of recording an event.
    events: deliveries that wait when a webhook round starts. paced_s: how long each webhook round
    then creates tickets at a fixed rate. dead_deliveries: deliveries to each dead endpoint.
    mail_messages: received, and sent, in each round.
    hanging_rounds: beside endpoints that never respond, whose requests delay the end by seconds.
    """

    name: str
    tenants: int
    big_tickets: int
    small_tickets: int
    other_tickets: int
    depth: int
    big_keys: int
    keys_each: int
    warm_up: int
    rounds: int
    round_s: float
    idle_s: float
    pairs: int
    starts: int
    screen_samples: int
    peer_tickets: int
    pgbench_scale: int
    recording_s: float
    webhook_rounds: int
    hanging_rounds: int
    events: int
    paced_s: float
    dead_deliveries: int
    mail_messages: int


FULL = Plan(
    name="full",
    tenants=100,
    big_tickets=1_000_000,
    small_tickets=10_000,
    other_tickets=90_000,
    depth=900_000,
    big_keys=100,
    keys_each=4,
    warm_up=1_000,
    rounds=5,
    round_s=4.0,
    idle_s=0.6,
    pairs=1_500,
    starts=7,
    screen_samples=30,
    peer_tickets=100_000,
    pgbench_scale=10,
    recording_s=1.5,
    webhook_rounds=5,
    hanging_rounds=5,
    events=5_000,
    paced_s=2.5,
    dead_deliveries=1_000_000,
    mail_messages=3_000,
)
QUICK = Plan(
    name="quick",
    tenants=100,
    big_tickets=100_000,
    small_tickets=10_000,
    other_tickets=20_000,
    depth=90_000,
    big_keys=100,
    keys_each=4,
    warm_up=1_000,
    rounds=3,
    round_s=1.5,
    idle_s=0.6,
    pairs=400,
    starts=3,
    screen_samples=15,
    peer_tickets=100_000,
    pgbench_scale=10,
    recording_s=1.0,
    webhook_rounds=2,
    hanging_rounds=1,
    events=2_000,
    paced_s=1.5,
    dead_deliveries=100_000,
    mail_messages=1_000,
)
TINY = Plan(
    name="tiny",
    tenants=3,
    big_tickets=1_200,
    small_tickets=60,
    other_tickets=40,
    depth=1_000,
    big_keys=3,
    keys_each=2,
    warm_up=32,
    rounds=1,
    round_s=0.05,
    idle_s=0.05,
    pairs=15,
    starts=1,
    screen_samples=2,
    peer_tickets=200,
    pgbench_scale=1,
    recording_s=0.2,
    webhook_rounds=1,
    hanging_rounds=1,
    events=60,
    paced_s=0.2,
    dead_deliveries=300,
    mail_messages=20,
)
