"""Measures what recording an event costs, and how fast webhooks are delivered."""

import time
from collections.abc import Mapping

import msgspec

from bench import cluster, databases, measure_delivery, servers, switched, webhook_installation
from bench.clients import WrongResponse
from bench.data import Data
from bench.databases import DatabaseSet, DirectSql
from bench.plan import Plan
from bench.postgres_data import PostgresData
from bench.requests import CREATED, Workload
from bench.rounds import (
    POSTGRES_PREFIX,
    POSTGRES_SUFFIX,
    Figure,
    Results,
    Round,
    Rounds,
    RunRound,
    ShowProgress,
    merge_results,
)
from bench.servers import Cores, Service
from bench.switched import Mode

_RECORDED_FIGURE = "CPU of a POST with its event ÷ without"
_SEQUENCED_FIGURE = "the same, and the event sequenced"
_ROUND_NAMES = {
    Mode.UNRECORDED: "POST a ticket, no event",
    Mode.RECORDED: "POST a ticket, its event recorded",
    Mode.SEQUENCED: "POST a ticket, its event sequenced",
}
_UNSEQUENCED = "SELECT count(*) FROM (SELECT 1 FROM events WHERE position IS NULL LIMIT 1) AS one"
_SEQUENCED_WITHIN_S = 60.0
_POLL_EVERY_S = 0.05
_SWITCH_S = 0.05


def on_sqlite(plan: Plan, data: Data, say: ShowProgress) -> Results:
    """Where `sealdesk serve` delivers. Raises WrongResponse."""
    with Cores() as cores, databases.sqlite_databases(data) as files:
        return _measure(plan, data, files, cores, say)


def on_postgres(plan: Plan, data: Data, stored: PostgresData, say: ShowProgress) -> Results:
    """Where `sealdesk worker` does. Raises WrongResponse."""
    with (
        Cores() as cores,
        cluster.running_cluster(stored.directory, stored.passwords) as database,
        databases.postgres_databases(data, database) as found,
    ):
        return _measure(plan, data, found, cores, say)


def not_measured(plan: Plan, reason: str) -> Results:
    """The figures on PostgreSQL without values."""
    recording = _build_recording_figures(POSTGRES_PREFIX, POSTGRES_SUFFIX, {}, reason)
    delivery = measure_delivery.build_figures(plan, POSTGRES_PREFIX, POSTGRES_SUFFIX, {}, reason)
    return Results([*recording, *delivery], {})


def _measure(
    plan: Plan, data: Data, found: DatabaseSet, cores: Cores, say: ShowProgress
) -> Results:
    recording = _measure_recording(data, Workload(plan, data), found, cores, say)
    with webhook_installation.running_receiver(data.settings.data_dir) as receiver:
        delivery = measure_delivery.measure(plan, found, cores, receiver, say)
    return merge_results(recording, delivery)


def _measure_recording(
    data: Data, work: Workload, ground: DatabaseSet, cores: Cores, say: ShowProgress
) -> Results:
    """Signed POSTs in all tenants alike. Raises WrongResponse."""
    plan = msgspec.structs.replace(work.plan, round_s=work.plan.recording_s)
    rounds = Rounds(plan, say, ground.database_s)
    ground.tickets.beside.remove("events", "position IS NULL")
    with servers.service(data.settings, cores, ground.tickets.env, servers.SWITCHABLE) as running:
        recording = _Recording(work, ground.tickets.beside, running, rounds)
        players = {
            ground.prefix + name: recording.player(mode) for mode, name in _ROUND_NAMES.items()
        }
        # Once the events of warming up are, whoever does it has begun and can be told.
        recording.wait_until_sequenced()
        rounds.take_turns(f"{ground.prefix}POST with and without its event", players)
    return Results(_build_recording_figures(ground.prefix, ground.suffix, rounds.kept), rounds.kept)


def _build_recording_figures(
    prefix: str, suffix: str, kept: Mapping[str, list[Round]], lacking: str = ""
) -> list[Figure]:
    """What the rounds say. lacking: why there are none."""
    without, recorded, sequenced = (
        [_cost_us(round_) for round_ in kept.get(prefix + name, ())]
        for name in _ROUND_NAMES.values()
    )
    ratios = [one / other for one, other in zip(recorded, without, strict=True)]
    beside = [one / other for one, other in zip(sequenced, without, strict=True)]
    return [
        Figure(_RECORDED_FIGURE + suffix, "", False, 1.15, 1.15, ratios, lacking),
        Figure(_SEQUENCED_FIGURE + suffix, "", False, None, None, beside, lacking),
    ]


def _cost_us(round_: Round) -> float:
    """What a request cost the service and its database server."""
    return (round_.cpu_us or 0.0) + (round_.database_us or 0.0)


class _Recording:
    """A running service while it is told what to do with events."""

    def __init__(self, work: Workload, beside: DirectSql, running: Service, rounds: Rounds) -> None:
        self._make = work.in_all_tenants(work.new_tickets())
        self._beside = beside
        self._running = running
        self._rounds = rounds

    def player(self, mode: Mode) -> RunRound:
        """One that drives it in this mode; sequencing what it has recorded is part of the round."""
        settle = self.wait_until_sequenced if mode is Mode.SEQUENCED else _wait_for_nothing
        play = self._rounds.load(self._running, self._make, CREATED, settle)

        def switch_and_play() -> Round:
            for pid in self._running.pids:
                switched.switch(pid, mode)
            time.sleep(_SWITCH_S)
            settle()
            return play()

        return switch_and_play

    def wait_until_sequenced(self) -> None:
        """Raises WrongResponse."""
        deadline = time.monotonic() + _SEQUENCED_WITHIN_S
        while self._beside.value(_UNSEQUENCED):
            if time.monotonic() > deadline:
                raise WrongResponse(f"events are not sequenced within {_SEQUENCED_WITHIN_S:g} s")
            time.sleep(_POLL_EVERY_S)


def _wait_for_nothing() -> None:
    """What other modes wait for."""
