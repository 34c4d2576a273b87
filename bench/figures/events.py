"""Measures what recording an event costs, and how fast webhooks are delivered."""

import time
from collections.abc import Mapping

import msgspec

from bench.databases import cluster
from bench.databases.postgres_data import PostgresData
from bench.databases.sqlite_data import Data
from bench.databases.webhook_databases import (
    DatabaseSet,
    DirectSql,
    make_postgres_databases,
    make_sqlite_databases,
)
from bench.figures import delivery
from bench.figures.figure import Figure, Results, merge_results
from bench.load.clients import WrongResponse
from bench.load.requests import CREATED, Workload
from bench.load.rounds import (
    POSTGRES_PREFIX,
    POSTGRES_SUFFIX,
    Round,
    Rounds,
    RunRound,
    ShowProgress,
)
from bench.plan import Plan
from bench.servers import processes, switched, webhook_installation
from bench.servers.processes import Cores, Service
from bench.servers.switched import Mode

_RECORDED_FIGURE = "CPU of a POST with its event ÷ without"
_SEQUENCED_FIGURE = "the same, and the event sequenced"
_ROUND_NAMES = {
    Mode.UNRECORDED: "POST a ticket, no event",
    Mode.RECORDED: "POST a ticket, its event recorded",
}
_SEQUENCED_APART = "POST a ticket, its event sequenced"
_UNSEQUENCED = "SELECT count(*) FROM (SELECT 1 FROM event_outbox LIMIT 1) AS one"
_SEQUENCED_WITHIN_S = 60.0
_POLL_EVERY_S = 0.05
_SWITCH_S = 0.05


def on_sqlite(plan: Plan, data: Data, show_progress: ShowProgress) -> Results:
    """Measure on SQLite, where `sealdesk serve` delivers. Raises WrongResponse."""
    with Cores() as cores, make_sqlite_databases(data) as files:
        return _measure(plan, data, files, cores, show_progress)


def on_postgres(
    plan: Plan, data: Data, postgres: PostgresData, show_progress: ShowProgress
) -> Results:
    """Measure on PostgreSQL, where `sealdesk worker` delivers. Raises WrongResponse."""
    with (
        Cores() as cores,
        cluster.running_cluster(postgres.directory, postgres.passwords) as database,
        make_postgres_databases(data, database) as databases,
    ):
        return _measure(plan, data, databases, cores, show_progress)


def not_measured(plan: Plan) -> Results:
    """The figures on PostgreSQL without values."""
    recording = _build_recording_figures(POSTGRES_PREFIX, POSTGRES_SUFFIX, {})
    delivered = delivery.build_figures(plan, POSTGRES_PREFIX, POSTGRES_SUFFIX, {})
    return Results([*recording, *delivered], {})


def _measure(
    plan: Plan, data: Data, databases: DatabaseSet, cores: Cores, show_progress: ShowProgress
) -> Results:
    recording = _measure_recording(data, Workload(plan, data), databases, cores, show_progress)
    with webhook_installation.running_receiver(data.settings.data_dir) as receiver:
        delivered = delivery.measure(plan, databases, cores, receiver, show_progress)
    return merge_results(recording, delivered)


def _measure_recording(
    data: Data,
    workload: Workload,
    databases: DatabaseSet,
    cores: Cores,
    show_progress: ShowProgress,
) -> Results:
    """Signed POSTs, the same number in each tenant. Raises WrongResponse."""
    plan = msgspec.structs.replace(workload.plan, round_s=workload.plan.recording_s)
    rounds = Rounds(plan, show_progress, databases.database_s)
    databases.tickets.sql.delete("event_outbox", "TRUE")
    with processes.service(
        data.settings, cores, databases.tickets.env, processes.SWITCHABLE
    ) as service:
        recording = _Recording(workload, databases.tickets.sql, service, rounds)
        runs = {
            databases.prefix + name: recording.prepare(mode)
            for mode, name in _list_rounds(databases.prefix).items()
        }
        # Then the sequencer runs, and receives the signals.
        recording.wait_until_sequenced()
        rounds.run_alternately(f"{databases.prefix}POST with and without its event", runs)
        # Otherwise the next service would index these tickets during rounds.
        recording.switch(Mode.SEQUENCED)
        recording.wait_until_sequenced()
        rounds.wait_until_idle()
    return Results(
        _build_recording_figures(databases.prefix, databases.suffix, rounds.by_name), rounds.by_name
    )


def _list_rounds(prefix: str) -> dict[Mode, str]:
    """Mode → name of its rounds; on SQLite an event is sequenced when it is recorded."""
    return _ROUND_NAMES | ({Mode.SEQUENCED: _SEQUENCED_APART} if prefix == POSTGRES_PREFIX else {})


def _build_recording_figures(
    prefix: str, suffix: str, by_name: Mapping[str, list[Round]]
) -> list[Figure]:
    """The figures of these rounds."""
    costs = {
        mode: [_cost_us(round_) for round_ in by_name.get(prefix + name, ())]
        for mode, name in _list_rounds(prefix).items()
    }
    without = costs.pop(Mode.UNRECORDED)
    ratios = {
        mode: [with_event / alone for with_event, alone in zip(those, without, strict=True)]
        for mode, those in costs.items()
    }
    recorded, *sequenced = ratios.values()
    return [
        Figure(_RECORDED_FIGURE + suffix, "", False, 1.15, 1.15, recorded),
        *(
            Figure(_SEQUENCED_FIGURE + suffix, "", False, None, None, values)
            for values in sequenced
        ),
    ]


def _cost_us(round_: Round) -> float:
    """The CPU time of a request in the service and its database server."""
    return (round_.cpu_us or 0.0) + (round_.database_us or 0.0)


class _Recording:
    """A running service that is switched between the modes."""

    def __init__(
        self, workload: Workload, sql: DirectSql, service: Service, rounds: Rounds
    ) -> None:
        self._make = workload.make_posts_in_all_tenants(workload.make_ticket_bodies())
        self._sql = sql
        self._service = service
        self._rounds = rounds

    def prepare(self, mode: Mode) -> RunRound:
        """A round in this mode, including the time until its events are sequenced."""
        wait_until_done = self.wait_until_sequenced if mode is Mode.SEQUENCED else _wait_for_nothing
        run_round = self._rounds.prepare(self._service, self._make, CREATED, wait_until_done)

        def switch_and_run() -> Round:
            self.switch(mode)
            wait_until_done()
            return run_round()

        return switch_and_run

    def switch(self, mode: Mode) -> None:
        """Switch all processes."""
        for pid in self._service.pids:
            switched.switch(pid, mode)
        time.sleep(_SWITCH_S)

    def wait_until_sequenced(self) -> None:
        """Raises WrongResponse."""
        deadline = time.monotonic() + _SEQUENCED_WITHIN_S
        while self._sql.fetch_value(_UNSEQUENCED):
            if time.monotonic() > deadline:
                raise WrongResponse(f"events are not sequenced within {_SEQUENCED_WITHIN_S:g} s")
            time.sleep(_POLL_EVERY_S)


def _wait_for_nothing() -> None:
    """The other modes have nothing to wait for."""
