"""How much is built and how long is measured."""

import msgspec


class Plan(msgspec.Struct, frozen=True):
    """The sizes of one benchmark.

    Tenants: a big one, a small one, and others that share `other_tickets`; together `tenants`.
    depth: how many tickets of the big tenant come before the deep page.
    warm_up: requests before the first round. pairs: of requests whose latencies are compared.
    pgbench_scale: hundred thousands of rows in pgbench's own table.
    recording_s: a round of what recording an event costs. webhook_rounds: of deliveries: `events`
    that wait, then tickets for `paced_s`. dead_deliveries: wait for another endpoint meanwhile.
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
    pairs: int
    starts: int
    pgbench_scale: int
    recording_s: float
    webhook_rounds: int
    events: int
    paced_s: float
    dead_deliveries: int


FULL = Plan(
    name="full",
    tenants=100,
    big_tickets=1_000_000,
    small_tickets=10_000,
    other_tickets=90_000,
    depth=900_000,
    big_keys=200,
    keys_each=4,
    warm_up=1_000,
    rounds=5,
    round_s=4.0,
    pairs=1_500,
    starts=7,
    pgbench_scale=10,
    recording_s=1.5,
    webhook_rounds=3,
    events=5_000,
    paced_s=2.5,
    dead_deliveries=1_000_000,
)
QUICK = Plan(
    name="quick",
    tenants=100,
    big_tickets=100_000,
    small_tickets=10_000,
    other_tickets=20_000,
    depth=90_000,
    big_keys=200,
    keys_each=4,
    warm_up=1_000,
    rounds=3,
    round_s=1.5,
    pairs=400,
    starts=3,
    pgbench_scale=10,
    recording_s=1.0,
    webhook_rounds=2,
    events=2_000,
    paced_s=1.5,
    dead_deliveries=100_000,
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
    pairs=15,
    starts=1,
    pgbench_scale=1,
    recording_s=0.2,
    webhook_rounds=1,
    events=60,
    paced_s=0.2,
    dead_deliveries=300,
)
