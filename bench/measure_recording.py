"""What recording an event adds to the write that it belongs to."""

import time
from collections.abc import Mapping

import msgspec

from bench import servers, switched
from bench.beside import Beside
from bench.data import Data
from bench.ground import Ground
from bench.load import WrongAnswer
from bench.results import Figure, Results, Round
from bench.rounds import Play, Rounds, Say
from bench.servers import Cores, Delivering
from bench.switched import Mode
from bench.work import CREATED, Work

_FIGURE = "CPU of a POST with its event ÷ without"
_BESIDE = "the same, and the event sequenced"
_DRIVEN = {
    Mode.UNRECORDED: "POST a ticket, no event",
    Mode.RECORDED: "POST a ticket, its event recorded",
    Mode.SEQUENCED: "POST a ticket, its event sequenced",
}
_WAITING = "SELECT count(*) FROM (SELECT 1 FROM events WHERE position IS NULL LIMIT 1) AS one"
_SEQUENCED_WITHIN_S = 60.0
_LOOK_EVERY_S = 0.05
_SWITCHED_S = 0.05


def measure(data: Data, work: Work, ground: Ground, cores: Cores, say: Say) -> Results:
    """Signed POSTs in all tenants alike. Raises WrongAnswer."""
    plan = msgspec.structs.replace(work.plan, round_s=work.plan.recording_s)
    rounds = Rounds(plan, say, ground.database_s)
    ground.tickets.beside.remove("events", "position IS NULL")
    with servers.delivering(data.settings, cores, ground.tickets.env, servers.SWITCHED) as running:
        recording = _Recording(work, ground.tickets.beside, running, rounds)
        players = {ground.prefix + name: recording.player(mode) for mode, name in _DRIVEN.items()}
        # Once the events of warming up are, whoever does it has begun and can be told.
        recording.wait_until_sequenced()
        rounds.take_turns(f"{ground.prefix}POST with and without its event", players)
    return Results(figures(ground.prefix, ground.suffix, rounds.kept), rounds.kept)


def figures(
    prefix: str, suffix: str, kept: Mapping[str, list[Round]], lacking: str = ""
) -> list[Figure]:
    """What the rounds say. lacking: why there are none."""
    without, recorded, sequenced = (
        [_cost_us(round_) for round_ in kept.get(prefix + name, ())] for name in _DRIVEN.values()
    )
    ratios = [one / other for one, other in zip(recorded, without, strict=True)]
    beside = [one / other for one, other in zip(sequenced, without, strict=True)]
    return [
        Figure(_FIGURE + suffix, "", False, 1.15, 1.15, ratios, lacking),
        Figure(_BESIDE + suffix, "", False, None, None, beside, lacking),
    ]


def _cost_us(round_: Round) -> float:
    """What a request cost the service and its database server."""
    return (round_.cpu_us or 0.0) + (round_.database_us or 0.0)


class _Recording:
    """A running service while it is told what to do with events."""

    def __init__(self, work: Work, beside: Beside, running: Delivering, rounds: Rounds) -> None:
        self._make = work.in_all_tenants(work.new_tickets())
        self._beside = beside
        self._running = running
        self._rounds = rounds

    def player(self, mode: Mode) -> Play:
        """One that drives it in this mode; sequencing what it has recorded is part of the round."""
        settle = self.wait_until_sequenced if mode is Mode.SEQUENCED else _nothing
        play = self._rounds.load(self._running, self._make, CREATED, settle)

        def switch_and_play() -> Round:
            for pid in self._running.pids:
                switched.switch(pid, mode)
            time.sleep(_SWITCHED_S)
            settle()
            return play()

        return switch_and_play

    def wait_until_sequenced(self) -> None:
        """Raises WrongAnswer."""
        deadline = time.monotonic() + _SEQUENCED_WITHIN_S
        while self._beside.value(_WAITING):
            if time.monotonic() > deadline:
                raise WrongAnswer(f"events are not sequenced within {_SEQUENCED_WITHIN_S:g} s")
            time.sleep(_LOOK_EVERY_S)


def _nothing() -> None:
    """What other modes wait for."""
