"""What events cost and how fast webhooks are, on one database and then on the other."""

from bench import arrivals, cluster, ground, measure_delivery, measure_recording
from bench.data import Data
from bench.ground import Ground
from bench.plan import Plan
from bench.postgres_data import PostgresData
from bench.results import ON_POSTGRES, POSTGRES, Results, joined
from bench.rounds import Say
from bench.servers import Cores
from bench.work import Work


def on_sqlite(plan: Plan, data: Data, say: Say) -> Results:
    """Where `sealdesk serve` delivers. Raises WrongAnswer."""
    with Cores() as cores, ground.on_sqlite(data) as files:
        return _measured(plan, data, files, cores, say)


def on_postgres(plan: Plan, data: Data, stored: PostgresData, say: Say) -> Results:
    """Where `sealdesk worker` does. Raises WrongAnswer."""
    with (
        Cores() as cores,
        cluster.started(stored.directory, stored.passwords) as database,
        ground.on_postgres(data, database) as databases,
    ):
        return _measured(plan, data, databases, cores, say)


def not_measured(plan: Plan, reason: str) -> Results:
    """The figures on PostgreSQL without values."""
    recording = measure_recording.figures(POSTGRES, ON_POSTGRES, {}, reason)
    delivery = measure_delivery.figures(plan, POSTGRES, ON_POSTGRES, {}, reason)
    return Results([*recording, *delivery], {})


def _measured(plan: Plan, data: Data, found: Ground, cores: Cores, say: Say) -> Results:
    recording = measure_recording.measure(data, Work(plan, data), found, cores, say)
    with arrivals.received(data.settings.data_dir) as receiver:
        delivery = measure_delivery.measure(plan, found, cores, receiver, say)
    return joined(recording, delivery)
