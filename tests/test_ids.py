"""Ids: UUIDv7, which contain their instant and sort by it."""

import subprocess
import sys
import uuid

from hypothesis import given
from hypothesis import strategies as st

from sealdesk import ids
from tests.support.for_each import for_each

INSTANTS = st.integers(0, 2**48 * 1000 - 1)


@given(at_us=INSTANTS)
def test_an_id_is_a_uuid_of_version_7_in_canonical_text(at_us: int) -> None:
    identifier = ids.mint(at_us)
    parsed = uuid.UUID(identifier)
    assert str(parsed) == identifier
    assert (parsed.version, parsed.variant) == (7, uuid.RFC_4122)
    assert ids.is_canonical(identifier)


@given(at_us=INSTANTS)
def test_an_id_contains_its_instant_to_the_microsecond(at_us: int) -> None:
    assert ids.instant_of(ids.mint(at_us)) == at_us


@given(earlier=INSTANTS, later=INSTANTS)
def test_the_order_of_ids_is_the_order_of_their_instants(earlier: int, later: int) -> None:
    earlier, later = sorted((earlier, later))
    assert earlier == later or ids.mint(earlier) < ids.mint(later)


@given(at_us=INSTANTS)
def test_the_lowest_id_of_an_instant_is_above_all_earlier_ids(at_us: int) -> None:
    assert ids.mint(max(at_us - 1, 0)) < ids.lowest(at_us) <= ids.mint(at_us) or at_us == 0


def test_instants_before_the_epoch_are_below_every_id() -> None:
    assert ids.lowest(-1) == ids.lowest(0) <= ids.mint(0)


def test_forked_processes_mint_different_ids() -> None:
    program = (
        "import os; from sealdesk import ids; pid = os.fork();"
        " pid and os.waitpid(pid, 0); print(ids.mint(1))"
    )
    told = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert len(set(told.stdout.split())) == 2


def test_ids_of_one_instant_rise_in_the_order_of_minting() -> None:
    minted = [ids.mint(at_us) for _ in range(1000) for at_us in (1, 2)]
    assert minted[::2] == sorted(set(minted[::2]))
    assert minted[1::2] == sorted(set(minted[1::2]))


@for_each(
    "text",
    [
        "",
        "0199c0de1a2b7c3d8e4f5a6b7c8d9e0f",
        "0199C0DE-1A2B-7C3D-8E4F-5A6B7C8D9E0F",
        "{0199c0de-1a2b-7c3d-8e4f-5a6b7c8d9e0f}",
        "0199c0de-1a2b-7c3d-8e4f-5a6b7c8d9e0f\n",
        "0199c0de-1a2b-7c3d-8e4f-5a6b7c8d9e0g",
        "\u0660199c0de-1a2b-7c3d-8e4f-5a6b7c8d9e0f",
    ],
)
def test_other_spellings_are_not_canonical(text: str) -> None:
    assert not ids.is_canonical(text)


@given(at_us=st.integers(0, 2**47 * 1000))
def test_a_request_id_begins_with_the_time_of_the_request(at_us: int) -> None:
    request_id = ids.mint_request_id(at_us)
    assert ids.is_request_id(request_id) and request_id != ids.mint_request_id(at_us)
    assert ids.instant_of_request(request_id) == at_us // 1000 * 1000
    assert ids.lowest_request_id(at_us) <= request_id < ids.lowest_request_id(at_us + 1000)
